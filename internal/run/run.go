package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"helve/internal/job"
	"helve/internal/proc"
)

const (
	// grace is between asking a command to end and ending it; less where the
	// caller has given up and does not wait long either.
	grace      = time.Second
	shortGrace = 200 * time.Millisecond
	// slack is what a command gets beyond its time, so that one that needs
	// just that long is not ended.
	slack = 100 * time.Millisecond
	// settleIn is how long a command in the background is watched before the
	// call returns, so that one that fails at once is told of at once.
	settleIn = 500 * time.Millisecond
)

// A Command is a command line to run.
type Command struct {
	Line, Dir     string
	Title         string
	Session, Call string
	Timeout       time.Duration // the room's when 0
	Background    bool          // it becomes a job at once
	ReadOnly      bool          // the worktree is not to be changed
	Sieve         Sieve         // what may be read, for the wall
	Hint          func(path string) string
	Watch         func(preview string)
}

// An Outcome is how a command ended, or how far it is.
type Outcome struct {
	Text      string // what it printed, as a model is shown it
	Preview   string // the newest part of it, for people
	Truncated bool
	Path      string // the whole output, where it was too long
	Exit      *int   // nil where it was ended by a signal, or goes on
	Signal    string

	TimedOut  bool
	Cancelled bool
	Timeout   time.Duration // what it was given
	Job       string        // the job that goes on
	Running   []string      // the programs of it that do
	Wall      string        // the level of the wall it ran behind; "" for none
	Warning   string        // what could not be done about it
}

// Notes are what a model is told beside the output.
func (o *Outcome) Notes() (notes []string) {
	if o.TimedOut {
		notes = append(notes, fmt.Sprintf("bash tool terminated command after exceeding timeout %d ms", o.Timeout.Milliseconds()))
	}
	if o.Cancelled {
		notes = append(notes, "User aborted the command")
	}
	switch {
	case o.Job != "" && o.Exit == nil && o.Signal == "":
		notes = append(notes, "It goes on in the background as job "+o.Job+". Use the job tool to see its output, to wait for it or to stop it.")
	case o.Job != "":
		notes = append(notes, fmt.Sprintf("What the command started goes on in the background as job %s: %s. Use the job tool to see its output or to stop it.",
			o.Job, strings.Join(o.Running, ", ")))
	}
	if o.Signal != "" && !o.TimedOut && !o.Cancelled {
		notes = append(notes, "The command was ended by the signal "+o.Signal)
	}
	if o.Warning != "" {
		notes = append(notes, o.Warning)
	}
	return notes
}

// ErrNoJobs says that nothing can go on in the background, because the program
// ends with the call.
var ErrNoJobs = errors.New("nothing can go on in the background here, because this program ends with the call")

// An execution is a command under way.
type execution struct {
	room    *Room
	cmd     Command
	out     *Outcome
	capture *proc.Capture
	process *proc.Process
	secrets *redactor
}

// Run runs a command to its end, or until its time is up, ctx ends, or it goes
// on as a job. That it fails is no error; that it can not be started is.
func (r *Room) Run(ctx context.Context, cmd Command) (*Outcome, error) {
	if cmd.Background && r.opt.Ephemeral {
		return nil, ErrNoJobs
	}
	shell, err := r.shell()
	if err != nil {
		return nil, err
	}
	site, err := r.site(ctx, cmd)
	if err != nil {
		return nil, err
	}
	env, secrets := r.opt.Env.Build(os.Environ())
	env = append(append(env, "PWD="+cmd.Dir), site.env...)
	x := &execution{room: r, cmd: cmd, out: &Outcome{Wall: site.level, Warning: site.warning, Timeout: r.timeout(cmd)}}
	x.secrets = newRedactor(secrets)
	x.capture = x.newCapture()
	detach, done := r.await(callName{cmd.Session, cmd.Call})
	defer done()
	args := shell.args(cmd.Line)
	x.process, err = x.capture.Start(ctx, r.runner, proc.Command{
		Path: args[0], Args: args[1:], Env: env, Dir: cmd.Dir, Place: site.place, Stdin: cmd.Background,
	})
	if err != nil {
		return nil, err
	}
	if err := x.follow(ctx, detach); err != nil {
		return nil, err
	}
	x.tell()
	return x.out, nil
}

func (r *Room) timeout(cmd Command) time.Duration {
	if cmd.Timeout <= 0 {
		return min(r.opt.Timeout, r.opt.MaxTimeout)
	}
	return min(cmd.Timeout, r.opt.MaxTimeout)
}

// newCapture makes what takes the output.
func (x *execution) newCapture() *proc.Capture {
	head, tail := x.room.opt.memory()
	opt := proc.CaptureOptions{
		Head: head, Tail: tail, Limit: int64(x.room.opt.Bytes), Lines: int64(x.room.opt.Lines - 1), Quota: x.room.opt.Quota,
		Filter: x.secrets.filter(),
		Spill: func() (io.WriteCloser, error) {
			w, path, err := x.room.opt.Spill()
			x.out.Path = path
			return w, err
		},
	}
	if x.cmd.Watch != nil {
		opt.Listen = func(o proc.Output) { x.cmd.Watch(preview(o)) }
	}
	return proc.NewCapture(opt)
}

// follow waits for whatever ends the call.
func (x *execution) follow(ctx context.Context, detach <-chan struct{}) error {
	limit := x.out.Timeout + slack
	if x.cmd.Background {
		limit = settleIn
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-x.process.Done():
		return x.ended()
	case <-detach:
		return x.goOn(x.capture.Detach())
	case <-timer.C:
		if x.cmd.Background {
			return x.goOn(x.capture.Detach())
		}
		x.out.TimedOut = true
	case <-ctx.Done():
		x.out.Cancelled = true
	}
	return x.kill()
}

// kill ends the command with all that it has started.
func (x *execution) kill() error {
	wait := grace
	if x.out.Cancelled {
		wait = shortGrace
	}
	left, err := x.process.End(wait)
	if rest := x.capture.Settle(); rest != nil {
		err = errors.Join(err, rest.Close())
	}
	if err != nil {
		x.warn("the command could not be ended cleanly: %v", err)
	}
	for _, s := range left {
		x.warn("process %d (%s) could not be ended", s.PID, s.Name)
	}
	return nil
}

func (x *execution) warn(format string, args ...any) {
	if x.out.Warning != "" {
		x.out.Warning += "; "
	}
	x.out.Warning += fmt.Sprintf(format, args...)
}

// ended is what there is to do when the command itself has ended. What it
// started may go on.
func (x *execution) ended() error {
	status := x.process.Status()
	rest := x.capture.Settle()
	switch {
	case status.Err != nil:
		x.warn("how it ended is not known: %v", status.Err)
	case status.Signal != 0:
		x.out.Signal = signalName(status.Signal)
	default:
		x.out.Exit = &status.Code
	}
	left, err := x.process.Survivors()
	if err != nil {
		x.warn("what it left running is not known: %v", err)
	}
	if len(left) == 0 {
		if rest != nil {
			return rest.Close()
		}
		return nil
	}
	for _, s := range left {
		x.out.Running = append(x.out.Running, fmt.Sprintf("%s (%d)", s.Name, s.PID))
	}
	if x.room.opt.Ephemeral {
		x.warn("What the command left running was ended: %s", strings.Join(x.out.Running, ", "))
		return x.end(rest)
	}
	return x.goOn(rest)
}

// goOn makes the command, or what it left, a job.
func (x *execution) goOn(rest *proc.Rest) error {
	so := x.capture.Output()
	streams := job.Streams{Head: []byte(so.Head + so.Tail)}
	if rest != nil {
		streams.Out = &redacted{ReadCloser: rest, by: x.secrets}
	}
	if in := x.process.Stdin(); in != nil {
		streams.In = in
	}
	info, err := x.room.jobs.Add(job.Spec{
		ID: x.room.newJobID(), Session: x.cmd.Session, Call: x.cmd.Call, Command: x.cmd.Line, Title: x.cmd.Title, Dir: x.cmd.Dir, PID: x.process.PID(),
	}, tree{x.process}, streams)
	if err == nil {
		x.out.Job = info.ID
		return nil
	}
	x.warn("it could not go on in the background and was ended: %v", err)
	return x.end(rest)
}

// end ends what is left of a command whose output was taken.
func (x *execution) end(rest *proc.Rest) error {
	x.out.Running = nil
	_, err := x.process.End(grace)
	if rest != nil {
		err = errors.Join(err, rest.Close())
	}
	return err
}

// tell puts what was printed into the outcome.
func (x *execution) tell() {
	so := x.capture.Output()
	x.out.Preview = preview(so)
	x.out.Text, x.out.Truncated = x.room.opt.shown(so)
	if so.SpillErr != nil {
		x.warn("the whole output could not be saved: %v", so.SpillErr)
	}
	if so.SpillFull {
		x.warn("only the first %d bytes of the output were saved", so.Spilled)
	}
	if x.out.Truncated && x.out.Path != "" && x.cmd.Hint != nil {
		x.out.Text = strings.TrimSuffix(x.out.Text, "\n") + "\n\n" + x.cmd.Hint(x.out.Path)
	}
}
