package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/helve-dev/helve/internal/process"
	"github.com/helve-dev/helve/internal/text"
)

func (a *app) jobsCommand() *cobra.Command {
	var session string
	var asJSON bool
	c := &cobra.Command{
		Use:   "jobs",
		Short: "List the commands that run in the background, and look after them",
		Long: `Jobs lists the commands that runtimes here started in the background, or that
commands left running when they ended. They can be read, fed, signalled and
stopped from any terminal, by the id that stands first in a line.`,
		Example: `  helve jobs
  helve jobs output job_… --follow
  helve jobs stop job_…`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("unknown command %q for \"helve jobs\"", args[0])
			}
			return nil
		},
		RunE: func(*cobra.Command, []string) error {
			jobs, err := a.jobs()
			if err != nil {
				return err
			}
			infos := jobs.List(session)
			if asJSON {
				return a.printJSON(append([]process.JobInfo{}, infos...))
			}
			tw := columns(a.Stdout)
			for _, info := range infos {
				title, _ := text.Cut(info.Title, 60)
				fmt.Fprintf(tw, "%s\t%s\t%s\t%s\n", text.VisibleLine(info.ID), formatTime(info.Began.UnixMilli()), info.Words(), text.VisibleLine(title))
			}
			return tw.Flush()
		},
	}
	c.Flags().StringVar(&session, "session", "", "of this session")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.AddCommand(a.jobOutputCommand(), a.jobWaitCommand(), a.jobWriteCommand(), a.jobSignalCommand(), a.jobStopCommand())
	return c
}

// jobs opens the ledger of all jobs. It makes no file.
func (a *app) jobs() (*process.Jobs, error) {
	data, err := a.dataDir()
	if err != nil {
		return nil, err
	}
	return process.NewJobs(process.JobsOptions{Dir: filepath.Join(data, "jobs")})
}

// ofJob makes a command that does something to the job it is given.
func (a *app) ofJob(c *cobra.Command, do func(ctx context.Context, jobs *process.Jobs, id string) error) *cobra.Command {
	if c.Args == nil {
		c.Args = oneJob
	}
	c.ValidArgsFunction = a.completeJob
	c.RunE = func(c *cobra.Command, args []string) error {
		jobs, err := a.jobs()
		if err != nil {
			return err
		}
		err = do(c.Context(), jobs, args[0])
		if errors.Is(err, process.ErrNoJob) {
			return fmt.Errorf("%w; 'helve jobs' lists those there are", err)
		}
		return err
	}
	return c
}

func oneJob(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usagef("which one? Give the id of a job; 'helve jobs' lists them")
	}
	return nil
}

func (a *app) jobOutputCommand() *cobra.Command {
	var offset int64
	var follow bool
	c := &cobra.Command{
		Use:   "output ID",
		Short: "Print what a job has printed",
		Long: `Output prints what is kept of a job's output: of very much output that is the
beginning and the newest part. It works while the job runs and after it ended.`,
		Example: `  helve jobs output job_…
  helve jobs output job_… --offset -2000
  helve jobs output job_… --follow`,
	}
	c.Flags().Int64Var(&offset, "offset", 0, "begin at this byte; less than 0 counts from the end")
	c.Flags().BoolVarP(&follow, "follow", "f", false, "go on until the job has ended")
	return a.ofJob(c, func(ctx context.Context, jobs *process.Jobs, id string) error {
		return a.copyOutput(ctx, jobs, id, offset, follow)
	})
}

// copyOutput prints what a job has printed, as it is: for a terminal without
// what could repaint it.
func (a *app) copyOutput(ctx context.Context, jobs *process.Jobs, id string, offset int64, follow bool) error {
	for {
		chunk, err := jobs.Output(id, offset, 0)
		if err != nil {
			return err
		}
		if chunk.Skipped > 0 {
			a.printNote(fmt.Sprintf("%d bytes are no longer kept", chunk.Skipped))
		}
		out := chunk.Data
		if isTerminal(a.Stdout) {
			out = []byte(text.Visible(string(out)))
		}
		if _, err := a.Stdout.Write(out); err != nil {
			return err
		}
		offset = chunk.Next
		switch {
		case chunk.Done, !follow && chunk.Next >= chunk.Total:
			return nil
		case len(chunk.Data) > 0:
			continue
		}
		// Wait for more output or the end.
		if _, err := jobs.Watch(ctx, id, process.JobCondition{Offset: offset, Bound: time.Minute}); err != nil {
			return err
		}
	}
}

func (a *app) jobWaitCommand() *cobra.Command {
	var timeout time.Duration
	c := &cobra.Command{
		Use:   "wait ID",
		Short: "Wait until a job has ended; exit 1 if it has not",
		Example: `  helve jobs wait job_…
  helve jobs wait job_… --timeout 30s`,
	}
	c.Flags().DurationVar(&timeout, "timeout", 24*time.Hour, "wait no longer than this")
	return a.ofJob(c, func(ctx context.Context, jobs *process.Jobs, id string) error {
		info, err := jobs.Wait(ctx, id, timeout)
		if err != nil {
			return err
		}
		fmt.Fprintln(a.Stdout, info.Words())
		if info.State == process.JobRunning {
			return &silent{exitFailed}
		}
		return nil
	})
}

func (a *app) jobWriteCommand() *cobra.Command {
	var end bool
	c := &cobra.Command{
		Use:   "write ID",
		Short: "Send standard input to the standard input of a job",
		Long: `Write sends what it reads from standard input to a job that was started in the
background. With --close the job then reads the end.`,
		Example: `  echo yes | helve jobs write job_…`,
	}
	c.Flags().BoolVar(&end, "close", false, "close the job's input afterwards")
	return a.ofJob(c, func(ctx context.Context, jobs *process.Jobs, id string) error {
		const most = 1 << 20
		data, err := io.ReadAll(io.LimitReader(a.Stdin, most+1))
		if err != nil {
			return err
		}
		if len(data) > most {
			return usagef("no more than %d bytes can be sent at once", most)
		}
		return jobs.Write(ctx, id, data, end)
	})
}

func (a *app) jobSignalCommand() *cobra.Command {
	var name string
	c := &cobra.Command{
		Use:   "signal ID [SIGNAL]",
		Short: "Send a signal to a job with all that it has started",
		Example: `  helve jobs signal job_…
  helve jobs signal job_… HUP`,
	}
	c.Flags().StringVar(&name, "signal", "INT", "which one")
	c.Args = func(c *cobra.Command, args []string) error {
		switch {
		case len(args) < 2:
			return oneJob(c, args)
		case len(args) > 2, c.Flags().Changed("signal") && args[1] != name:
			return usagef("which signal? Give the id of a job and one signal")
		}
		name = args[1]
		return nil
	}
	return a.ofJob(c, func(ctx context.Context, jobs *process.Jobs, id string) error { return jobs.Signal(ctx, id, name) })
}

func (a *app) jobStopCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "stop ID",
		Short:   "End a job with all that it has started",
		Example: `  helve jobs stop job_…`,
	}
	return a.ofJob(c, func(ctx context.Context, jobs *process.Jobs, id string) error {
		info, err := jobs.Stop(ctx, id)
		if err != nil {
			return err
		}
		fmt.Fprintln(a.Stdout, info.Words())
		return nil
	})
}

// completeJob offers the jobs there are.
func (a *app) completeJob(_ *cobra.Command, named []string, _ string) ([]string, cobra.ShellCompDirective) {
	jobs, err := a.jobs()
	if err != nil || len(named) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var out []string
	for _, info := range jobs.List("") {
		out = append(out, info.ID+"\t"+text.VisibleLine(info.Title))
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}
