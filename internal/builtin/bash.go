package builtin

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/helve-dev/helve/internal/command"
	"github.com/helve-dev/helve/internal/files"
	"github.com/helve-dev/helve/internal/process"
	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

//go:embed bash.md
var bashDoc string

// maxCommand is the longest command line, in bytes: Linux takes no longer
// argument.
const maxCommand = 128<<10 - 1

// A Shell runs command lines.
type Shell interface {
	Run(ctx context.Context, c *tool.Call, cmd process.ShellCommand) (*process.Outcome, error)
	// Facts returns what models are told about the shell.
	Facts() process.Facts
	// Jobs returns the background commands.
	Jobs() *process.Jobs
}

type bashInput struct {
	Command     string `json:"command" jsonschema:"the command line to run"`
	Timeout     *int64 `json:"timeout,omitempty" jsonschema:"milliseconds it may take"`
	Workdir     string `json:"workdir,omitempty" jsonschema:"the folder to run it in"`
	Description string `json:"description,omitempty" jsonschema:"what it does, in five to ten words, for the person who watches"`
	Background  bool   `json:"background,omitempty" jsonschema:"let it go on as a job"`
}

// commands is what the bash tool needs.
type commands struct {
	files      *files.Workspace
	shell      Shell
	checkpoint bool // keep what is about to be destroyed
}

// bash runs a command line in a shell, after permission for every command in it and every file it
// names.
func bash(s commands) tool.Tool {
	spec := tool.Spec{Name: "bash", Description: bashDoc, Destructive: true, OpenWorld: true}
	spec.Offer = func(tool.Audience) (string, bool) { return bashWords(s.shell.Facts()), true }
	return tool.New(spec, func(ctx context.Context, c *tool.Call, in bashInput) (*tool.Result, error) {
		invalid := func(format string, args ...any) error {
			return tool.Fail("invalid-command", format, args...)
		}
		switch {
		case in.Timeout != nil && *in.Timeout <= 0:
			said := fmt.Sprintf("Invalid timeout value: %d. Timeout must be a positive number.", *in.Timeout)
			return nil, &tool.Error{Kind: tool.InvalidInput, Code: "range", Err: errors.New(said)}
		case strings.TrimSpace(in.Command) == "":
			return nil, invalid("The command is empty. Give the command line to run.")
		case strings.IndexByte(in.Command, 0) >= 0:
			return nil, invalid("The command holds a NUL, behind which the system would not read on. Leave it out.")
		case len(in.Command) > maxCommand:
			return nil, tool.Fail("too-large", "The command has %d bytes, and the system takes no more than %d. Write it to a file and run the file.",
				len(in.Command), maxCommand)
		}
		return asking(ctx, c, func(asks *permission.Batch) (*tool.Result, error) {
			dir, err := in.resolveWorkdir(ctx, c.Dir, s.files, asks)
			if err != nil {
				return nil, err
			}
			line := command.ReadLineIn(s.files, command.Location{Dir: c.Dir, Cwd: dir}, in.Command)
			reqs, err := line.Requests(ctx, c)
			if err != nil {
				return nil, err
			}
			_ = asks.Ask(ctx, reqs...) // it only notes
			if err := asks.Submit(ctx); err != nil {
				return nil, err
			}
			return bashCall{s, c, in, line}.run(ctx, dir)
		})
	})
}

// bashWords returns the text about the shell for models.
func bashWords(f process.Facts) string {
	return strings.NewReplacer("${shell}", f.Shell, "${directory}", f.Dir, "${timeout}", fmt.Sprint(f.Timeout.Milliseconds()),
		"${maxLines}", fmt.Sprint(f.Lines), "${maxBytes}", fmt.Sprint(f.Bytes)).Replace(bashDoc)
}

// displayTitle returns the title for people: the description, or the command itself.
func (in bashInput) displayTitle() string {
	if in.Description != "" {
		return in.Description
	}
	first, _, more := strings.Cut(strings.TrimSpace(in.Command), "\n")
	title, cut := text.Cut(first, 100)
	if more || cut {
		title += " …"
	}
	return title
}

// resolveWorkdir returns the working directory of a command, asking for permission as for a file.
func (in bashInput) resolveWorkdir(ctx context.Context, from string, files *files.Workspace, asks *permission.Batch) (string, error) {
	if in.Workdir == "" {
		return from, nil
	}
	p, err := files.ResolveFolder(ctx, asks, from, in.Workdir)
	if err != nil {
		return "", badName(err)
	}
	info, err := os.Stat(p.Real())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", tool.Fail("not-found", "There is no folder %s to run the command in. Give one that exists as workdir, or leave it out.", p.Real())
	case err != nil:
		return "", fmt.Errorf("looking at the folder to run in: %w", err)
	case !info.IsDir():
		return "", tool.Fail("not-a-directory", "%s is a file and no folder to run a command in. Give its folder as workdir.", p.Real())
	}
	return p.Real(), nil
}

// A bashCall is a call of bash in progress.
type bashCall struct {
	commands
	c    *tool.Call
	in   bashInput
	line *command.Judged
}

func (b bashCall) run(ctx context.Context, dir string) (*tool.Result, error) {
	title := b.in.displayTitle()
	report := func(preview string) {
		b.c.Progress(title, map[string]any{"output": preview, "description": title})
	}
	report("")
	kept, err := b.checkpointLosses(ctx, dir)
	if err != nil {
		return nil, err
	}
	if kept != nil && len(kept.Left) > 0 {
		b.c.Progress(title, map[string]any{"output": "", "description": title, "notKept": kept.Left})
	}
	cmd := process.ShellCommand{
		Line: b.in.Command, Dir: dir, Title: title, Background: b.in.Background, Watch: report, Ended: kept.recordLossesLater(b.files.OnTrouble),
	}
	if b.in.Timeout != nil {
		cmd.Timeout = time.Duration(min(*b.in.Timeout, maxTimeout)) * time.Millisecond
	}
	out, err := b.shell.Run(ctx, b.c, cmd)
	if err != nil {
		return nil, errors.Join(bashError(err), kept.cancel())
	}
	if out.Job != "" { // it is settled when the job has ended
		return b.buildResult(title, out, kept.promise()), nil
	}
	res := b.buildResult(title, out, kept.recordLosses())
	if kept != nil && kept.ID() != "" {
		res.Metadata["undo"] = map[string]any{"id": kept.ID(), "files": len(kept.Changed())}
	}
	return res, b.failure(ctx, out, res)
}

// maxTimeout is a timeout in milliseconds above any limit, but small enough to fit in nanoseconds.
const maxTimeout = 1 << 40

// buildResult returns the result for a command that has ended.
func (b bashCall) buildResult(title string, out *process.Outcome, notes []string) *tool.Result {
	said := append(outcomeNotes(out), notes...)
	output, preview := out.Text, out.Preview
	if len(said) > 0 {
		block := "\n\n<bash_metadata>\n" + strings.Join(said, "\n") + "\n</bash_metadata>"
		output, preview = output+block, preview+block
	}
	meta := map[string]any{"output": preview, "exit": nil, "description": title, "truncated": out.Truncated}
	if out.Exit != nil {
		meta["exit"] = *out.Exit
	}
	if out.Signal != "" {
		meta["signal"] = out.Signal
	}
	if out.Path != "" {
		meta["outputPath"] = out.Path
	}
	if out.Job != "" {
		meta["job"] = out.Job
	}
	if out.Wall != "" {
		meta["wall"] = out.Wall
	}
	return &tool.Result{Title: title, Output: output, Metadata: meta}
}

// outcomeNotes returns notes for the model beside the output of a command.
func outcomeNotes(o *process.Outcome) (notes []string) {
	if o.TimedOut {
		notes = append(notes, fmt.Sprintf("bash tool terminated command after exceeding timeout %d ms", o.Timeout.Milliseconds()))
	}
	switch {
	case o.Overdue:
		notes = append(notes, "bash tool terminated command because the time that the call was given was up")
	case o.Cancelled:
		notes = append(notes, "User aborted the command")
	}
	switch {
	case o.Job != "" && o.Exit == nil && o.Signal == "":
		notes = append(notes, "It goes on in the background as job "+o.Job+". Use the job tool to see its output, to wait for it or to stop it.")
	case o.Job != "":
		notes = append(notes, fmt.Sprintf("What the command started goes on in the background as job %s: %s. Use the job tool to see its output or to stop it.",
			o.Job, strings.Join(o.Running, ", ")))
	}
	if len(o.Detached) > 0 {
		notes = append(notes, fmt.Sprintf("What the command started goes on by itself, as the setting bash.detach allows: %s. It cannot be seen or stopped as a job; kill ends it. What it prints without a redirection goes to %s.",
			strings.Join(o.Detached, ", "), o.Log))
	}
	if o.Signal != "" && !o.TimedOut && !o.Cancelled {
		notes = append(notes, "The command was ended by the signal "+o.Signal)
	}
	if o.Warning != "" {
		notes = append(notes, o.Warning)
	}
	return notes
}

// failure returns the error of a command that was stopped early, or nil for one that ended by
// itself, whatever its exit code. The error carries the result, which the model is shown all the
// same.
func (b bashCall) failure(ctx context.Context, out *process.Outcome, res *tool.Result) error {
	if !out.TimedOut && !out.Cancelled {
		return nil
	}
	e := tool.Fail("timeout", "%s", strings.TrimLeft(res.Output, "\n"))
	e.Hint = "Give it a longer timeout, or let it go on with background."
	if out.Cancelled && ctx.Err() != nil {
		e = tool.Failf("%w", ctx.Err()) // which the runtime words as it does for every tool
	}
	e.Answer = res
	return e
}

// bashError returns the error for a command that could not be started.
func bashError(err error) error {
	var walled *process.SandboxError
	switch {
	case errors.As(err, &walled):
		e := tool.Fail("wall", "%w", err)
		e.Kind = tool.Denied
		return e
	case errors.Is(err, process.ErrNoJobs):
		e := tool.Fail("no-jobs", "%w", err)
		e.Hint = "Call it from a program that stays, such as helve call --jsonl."
		return e
	case errors.Is(err, process.ErrFull):
		e := tool.Fail("jobs-full", "The command was not started, because %w.", err)
		e.Hint = "Stop a job with the job tool, or run the command without background."
		return e
	case errors.Is(err, fs.ErrNotExist):
		return tool.Fail("not-found", "The command could not be started: %w", err)
	}
	return err
}
