package builtin

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/helve-dev/helve/internal/process"
	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

//go:embed job.md
var jobDoc string

type jobInput struct {
	Action  string `json:"action" jsonschema:"what to do"`
	ID      string `json:"id,omitempty" jsonschema:"the job"`
	Offset  int64  `json:"offset,omitempty" jsonschema:"where to begin in the output, in bytes; less than 0 counts from the end"`
	Until   string `json:"until,omitempty" jsonschema:"wait: a text to wait for"`
	Timeout *int64 `json:"timeout,omitempty" jsonschema:"wait: milliseconds"`
	Input   string `json:"input,omitempty" jsonschema:"write: what to send"`
	Close   bool   `json:"close,omitempty" jsonschema:"write: close it afterwards"`
	Signal  string `json:"signal,omitempty" jsonschema:"signal: which"`
}

const (
	jobWait    = 30 * time.Second // unless told otherwise
	jobMaxWait = 10 * time.Minute
	jobShown   = 32 << 10 // bytes of output in one answer
)

// jobTool manages the background commands of the session.
func jobTool(shell Shell) tool.Tool {
	spec := tool.Spec{Name: "job", Description: jobDoc, Permission: "bash", Destructive: true, OpenWorld: true}
	return tool.New(spec, func(ctx context.Context, c *tool.Call, in jobInput) (*tool.Result, error) {
		j := jobCall{jobs: shell.Jobs().For(c.Session), c: c, in: in}
		if in.Action != "list" && in.ID == "" {
			return nil, tool.Fail("invalid-job", "The action %q needs the id of a job. The action list shows them.", in.Action)
		}
		res, err := j.act(ctx)
		switch {
		case errors.Is(err, process.ErrNoJob):
			return nil, tool.Fail("not-found", "There is no job %q in this session. The action list shows those there are.", in.ID)
		case errors.Is(err, process.ErrEnded):
			return nil, j.notRunning()
		}
		return res, err
	})
}

type jobCall struct {
	jobs *process.Jobs
	c    *tool.Call
	in   jobInput
}

func (j jobCall) act(ctx context.Context) (*tool.Result, error) {
	switch j.in.Action {
	case "list":
		infos := j.jobs.List("")
		lines := make([]string, len(infos))
		for i, info := range infos {
			lines[i] = fmt.Sprintf("%s  %s  %s", info.ID, info.Words(), text.VisibleLine(info.Title))
		}
		out := strings.Join(lines, "\n")
		if out == "" {
			out = "There are no jobs in this session."
		}
		return &tool.Result{Title: text.Count(len(infos), "job", "jobs"), Output: out, Metadata: map[string]any{"jobs": infos}}, nil
	case "output":
		return j.showOutput(nil)
	case "wait":
		return j.wait(ctx)
	case "write":
		if err := j.c.Ask(ctx, jobRequest(j.in.ID, j.in.Input)); err != nil {
			return nil, err
		}
		if err := j.jobs.Write(ctx, j.in.ID, []byte(j.in.Input), j.in.Close); err != nil {
			return nil, err
		}
		return j.said("Sent %d bytes.", len(j.in.Input))
	case "signal":
		if err := j.jobs.Signal(ctx, j.in.ID, j.in.Signal); err != nil {
			return nil, err
		}
		return j.said("Sent %s.", j.in.Signal)
	case "stop":
		if info, ok := j.jobs.Get(j.in.ID); ok && info.State != process.JobRunning {
			return nil, process.ErrEnded
		}
		if _, err := j.jobs.Stop(ctx, j.in.ID); err != nil {
			return nil, err
		}
		return j.showOutput(nil)
	}
	return nil, tool.Fail("invalid-action", "There is no action %q. It is one of list, output, wait, write, signal and stop.", j.in.Action)
}

// notRunning is the error for operations that need a running job.
func (j jobCall) notRunning() error {
	how := "ended"
	if info, ok := j.jobs.Get(j.in.ID); ok && info.State != process.JobRunning {
		how = info.Words()
	}
	return tool.Fail("ended", "The job %s is no longer running: %s. The action output shows what it has printed; to run its command again, call bash.",
		j.in.ID, how)
}

// wait shows the output of a job once it has ended, has printed the expected text, or the time is
// up.
func (j jobCall) wait(ctx context.Context) (*tool.Result, error) {
	bound := j.patience()
	info, seen, err := j.until(ctx, bound)
	if err != nil {
		return nil, err
	}
	var note []string
	ended := info.State != process.JobRunning
	switch {
	case seen:
		note = append(note, "it has printed what was waited for")
	case !ended:
		note = append(note, fmt.Sprintf("still running after %d ms, begun %s ago", bound.Milliseconds(), time.Since(info.Began).Round(100*time.Millisecond)))
	case j.in.Until != "":
		note = append(note, "it has ended and not printed what was waited for")
	}
	res, err := j.showOutput(note)
	if err != nil {
		return nil, err
	}
	res.Metadata["timedOut"], res.Metadata["ended"] = !seen && !ended, ended
	if j.in.Until != "" {
		res.Metadata["seen"] = seen
	}
	return res, nil
}

// patience returns how long a wait may take. It limits the number as milliseconds, because a large
// one would overflow in nanoseconds.
func (j jobCall) patience() time.Duration {
	if j.in.Timeout == nil {
		return jobWait
	}
	return time.Duration(min(max(*j.in.Timeout, 0), jobMaxWait.Milliseconds())) * time.Millisecond
}

func (j jobCall) until(ctx context.Context, bound time.Duration) (info process.JobInfo, seen bool, err error) {
	if j.in.Until == "" {
		info, err = j.jobs.Wait(ctx, j.in.ID, bound)
		return info, false, err
	}
	sight, err := j.jobs.Watch(ctx, j.in.ID, process.JobCondition{Offset: j.in.Offset, Text: j.in.Until, Bound: bound})
	return sight.JobInfo, sight.Seen, err
}

// jobRequest asks for permission to type into a running program, which may execute it as code.
func jobRequest(id, input string) permission.Request {
	line := "job " + id + " <<< " + input
	return permission.Request{
		Permission: "bash", Patterns: []string{line},
		Uncertainties: map[string][]permission.Uncertainty{line: {{Why: "what a running program does with its input is not known"}}},
		Metadata:      map[string]any{"job": id, "input": input},
	}
}

func (j jobCall) said(format string, args ...any) (*tool.Result, error) {
	info, ok := j.jobs.Get(j.in.ID)
	if !ok {
		return nil, process.ErrNoJob
	}
	return &tool.Result{
		Title: j.in.Action + " " + j.in.ID, Output: fmt.Sprintf(format, args...) + " The job is " + info.Words() + ".",
		Metadata: map[string]any{"job": info},
	}, nil
}

// showOutput shows the output of a job since an offset.
func (j jobCall) showOutput(notes []string) (*tool.Result, error) {
	chunk, err := j.jobs.Output(j.in.ID, j.in.Offset, jobShown)
	if err != nil {
		return nil, err
	}
	info, ok := j.jobs.Get(j.in.ID)
	if !ok {
		return nil, process.ErrNoJob
	}
	notes = append(notes, "the job is "+info.Words())
	if chunk.Skipped > 0 {
		notes = append(notes, fmt.Sprintf("%d bytes before this are no longer kept", chunk.Skipped))
	}
	if chunk.Next < chunk.Total {
		notes = append(notes, fmt.Sprintf("%d more bytes: go on from offset %d", chunk.Total-chunk.Next, chunk.Next))
	} else {
		notes = append(notes, fmt.Sprintf("next offset: %d", chunk.Next))
	}
	return &tool.Result{
		Title:    "output of " + j.in.ID,
		Output:   strings.ToValidUTF8(string(chunk.Data), "\uFFFD") + "\n\n<job_metadata>\n" + strings.Join(notes, "\n") + "\n</job_metadata>",
		Metadata: map[string]any{"job": info, "offset": chunk.Offset, "next": chunk.Next, "total": chunk.Total, "truncated": chunk.Next < chunk.Total},
	}, nil
}
