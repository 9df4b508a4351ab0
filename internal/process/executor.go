package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

const (
	// grace is between asking a command to end and ending it; less where the
	// caller has given up and does not wait long either.
	grace      = time.Second
	shortGrace = 200 * time.Millisecond
	// slack is what a command gets beyond its time, so that one that needs
	// just that long is not ended.
	slack = 100 * time.Millisecond
	// settleIn is how long a background command is watched before the call returns, so that an
	// immediate failure is reported at once.
	settleIn = 500 * time.Millisecond
)

// A ShellCommand is a command line to run.
type ShellCommand struct {
	Line, Dir     string
	Title         string
	Session, Call string
	Timeout       time.Duration     // the executor's when 0
	Background    bool              // it becomes a job at once
	ReadOnly      bool              // the worktree must not be changed, as far as there is a sandbox
	Locked        bool              // and where there is no sandbox, nothing is run
	Sieve         PathFilter        // which files may be read, for the sandbox
	Set           map[string]string // variables it gets beside the usual ones
	Show          int               // bytes that the caller can show, with the hint; the executor's limit when 0
	Hint          func(path string) string
	Watch         func(preview string)
	// Ended, if set, is called when the command went on as a job and no process of it runs any
	// more, before the job is shown as ended.
	Ended func()
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
	Cancelled bool          // whoever waited for it does no longer
	Overdue   bool          // and that because their time was up
	Timeout   time.Duration // what it was given
	Job       string        // the job that goes on
	Running   []string      // the programs of it that do
	Detached  []string      // the programs of it that nothing looks after any more
	Log       string        // the file that they print to
	Wall      string        // the level of the wall it ran behind; "" for none
	Warning   string        // what could not be done about it
}

// ErrNoJobs says that no command can run in the background, because the program ends with the call.
var ErrNoJobs = errors.New("nothing can go on in the background here, because this program ends with the call")

// An execution is a command under way.
type execution struct {
	room    *Executor
	cmd     ShellCommand
	out     *Outcome
	capture *Capture
	process *Process
	secrets *redactor
	detach  <-chan *JobSlot // gets a place when the command is to go on as a job
	slot    *JobSlot        // the place that is kept for it; nil for none

	detached bool // what it leaves running goes on
}

// Run runs a command to its end, or until its time is up, ctx ends, or it goes on as a job. A
// command that fails is not an error; one that cannot be started is, and [ErrFull] is returned if
// it should start as a job and there are too many.
func (r *Executor) Run(ctx context.Context, cmd ShellCommand) (*Outcome, error) {
	slot, err := r.reserve(cmd)
	if err != nil {
		return nil, err
	}
	if slot != nil {
		defer slot.Release() // unless it was used
	}
	sh, err := r.shell()
	if err != nil {
		return nil, err
	}
	site, err := r.site(ctx, cmd)
	if err != nil {
		return nil, err
	}
	env, secrets := r.opt.Env.withVars(cmd.Set).Build(os.Environ())
	env = append(append(env, "PWD="+cmd.Dir), site.env...)
	x := &execution{room: r, cmd: cmd, slot: slot, out: &Outcome{Wall: site.level, Warning: site.warning, Timeout: r.timeout(cmd)}}
	x.secrets = newRedactor(secrets)
	x.detached = !cmd.Background && !cmd.ReadOnly && !site.place.Wall && r.opt.Detach != nil && r.opt.Detach(cmd.Line)
	x.capture = x.newCapture()
	var done func()
	x.detach, done = r.waitForSlot(callName{cmd.Session, cmd.Call})
	defer done()
	args := sh.args(cmd.Line)
	x.process, err = x.capture.Start(ctx, r.runner, Command{
		Path: args[0], Args: args[1:], Env: env, Dir: cmd.Dir, Place: site.place, Stdin: cmd.Background, Detached: x.detached,
	})
	if err != nil {
		return nil, err
	}
	x.waitCall(ctx)
	if len(x.out.Detached) > 0 {
		x.out.Log = x.capture.Log()
	} else if log := x.capture.Log(); log != "" {
		_ = os.Remove(log)
	}
	x.setOutput()
	return x.out, nil
}

// reserve reserves a slot for a command that starts as a job; nil for others.
func (r *Executor) reserve(cmd ShellCommand) (*JobSlot, error) {
	switch {
	case !cmd.Background:
		return nil, nil
	case r.opt.Ephemeral:
		return nil, ErrNoJobs
	}
	return r.jobs.Reserve()
}

func (r *Executor) timeout(cmd ShellCommand) time.Duration {
	if cmd.Timeout <= 0 {
		return min(r.opt.Timeout, r.opt.MaxTimeout)
	}
	return min(cmd.Timeout, r.opt.MaxTimeout)
}

// limits returns the executor's options with the limits of the command. The notes beside the output
// count against them too.
func (x *execution) limits() ExecutorOptions {
	o := x.room.opt
	if x.cmd.Show > 0 {
		o.Bytes, o.Lines = min(o.Bytes, x.cmd.Show)-min(1500, x.cmd.Show/4), max(o.Lines-20, 1)
	}
	return o
}

// newCapture makes what takes the output.
func (x *execution) newCapture() *Capture {
	// Enough for what is shown is kept at hand, of the beginning and of the end.
	head, tail := max(x.room.opt.Bytes, previewBytes), max(x.room.opt.Bytes, previewBytes)
	opt := CaptureOptions{
		Head: head, Tail: tail, Limit: int64(x.limits().Bytes), Lines: int64(x.limits().Lines - 1), Quota: x.room.opt.Quota,
		Filter: x.secrets.filter(),
		Spill: func() (io.WriteCloser, error) {
			w, path, err := x.room.opt.Spill()
			x.out.Path = path
			return w, err
		},
	}
	if x.cmd.Watch != nil {
		opt.Listen = func(o Output) { x.cmd.Watch(preview(o)) }
	}
	return NewCapture(opt)
}

// waitCall waits for whatever ends the call.
func (x *execution) waitCall(ctx context.Context) {
	limit := x.out.Timeout + slack
	if x.cmd.Background {
		limit = settleIn
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-x.process.Done():
		x.commandEnded()
		return
	case slot := <-x.detach:
		if x.slot == nil {
			x.slot = slot
		} else {
			slot.Release() // it has one
		}
		x.goOn(x.capture.Detach())
		return
	case <-timer.C:
		if x.cmd.Background {
			x.goOn(x.capture.Detach())
			return
		}
		x.out.TimedOut = true
	case <-ctx.Done():
		x.out.Cancelled = true
		x.out.Overdue = errors.Is(ctx.Err(), context.DeadlineExceeded)
	}
	wait := grace
	if x.out.Cancelled {
		wait = shortGrace
	}
	x.kill(wait)
}

// kill ends the command with all that it has started, or what is left of it.
func (x *execution) kill(wait time.Duration) {
	left, err := x.process.End(wait)
	if err != nil {
		x.warn("the command could not be ended cleanly: %v", err)
	}
	for _, s := range left {
		x.warn("process %d (%s) could not be ended", s.PID, s.Name)
	}
	x.letGo(x.capture.Settle())
}

// letGo lets go of an output that is not read on.
func (x *execution) letGo(rest *Rest) {
	if rest == nil {
		return
	}
	if err := rest.Close(); err != nil {
		x.warn("the output could not be closed: %v", err)
	}
}

func (x *execution) warn(format string, args ...any) {
	if x.out.Warning != "" {
		x.out.Warning += "; "
	}
	x.out.Warning += fmt.Sprintf(format, args...)
}

// commandEnded handles the end of the command itself. What it started may go on.
func (x *execution) commandEnded() {
	status := x.process.Status()
	rest := x.capture.Settle()
	switch {
	case status.Err != nil:
		x.warn("how it ended is not known: %v", status.Err)
	case status.Signal != 0:
		x.out.Signal = signalNameOf(status.Signal)
	default:
		x.out.Exit = &status.Code
	}
	left, err := x.process.Survivors()
	if err != nil {
		x.warn("what it left running is not known: %v", err)
	}
	if len(left) == 0 {
		x.letGo(rest)
		return
	}
	for _, s := range left {
		x.out.Running = append(x.out.Running, fmt.Sprintf("%s (%d)", s.Name, s.PID))
	}
	if x.detached {
		x.out.Running, x.out.Detached = nil, x.out.Running
		x.letGo(rest)
		return
	}
	if x.room.opt.Ephemeral {
		x.warn("What the command left running was ended: %s", strings.Join(x.out.Running, ", "))
		x.out.Running = nil
		x.kill(grace)
		return
	}
	x.goOn(rest)
}

// goOn turns the command, or what it left running, into a job. If that fails, it ends them.
func (x *execution) goOn(rest *Rest) {
	// The job goes on from the output until now.
	so := x.capture.Output()
	gap := ""
	if so.Omitted > 0 {
		gap = fmt.Sprintf("\n...%d bytes are left out here...\n", so.Omitted)
		if x.out.Path != "" && so.SpillErr == nil && !so.SpillFull {
			gap = fmt.Sprintf("\n...%d bytes are left out here; the whole until then is in %s...\n", so.Omitted, x.out.Path)
		}
	}
	streams := JobStreams{Head: []byte(so.Head + gap + so.Tail + so.Unfinished)}
	if rest != nil {
		streams.Out = x.secrets.reader(rest.Pipe())
	}
	if in := x.process.Stdin(); in != nil {
		streams.In = in
	}
	info, err := x.adder()(JobSpec{
		ID: x.room.newJobID(), Session: x.cmd.Session, Call: x.cmd.Call, Command: x.cmd.Line, Title: x.cmd.Title, Dir: x.cmd.Dir,
		PID: x.process.PID(), Ended: x.cmd.Ended,
	}, processTree{x.process}, streams)
	if err == nil {
		x.out.Job = info.ID
		if rest != nil {
			rest.HandedOn()
		}
		return
	}
	what := "The command"
	if len(x.out.Running) > 0 {
		what = "What the command left running (" + strings.Join(x.out.Running, ", ") + ")"
	}
	x.warn("%s could not go on in the background and was ended: %v", what, err)
	x.out.Running = nil
	x.kill(grace)
}

// adder adds the command to the jobs: in the place that is kept for it, or in
// any that is free.
func (x *execution) adder() func(JobSpec, JobProcess, JobStreams) (JobInfo, error) {
	if x.slot == nil {
		select {
		case x.slot = <-x.detach: // it was let go when it ended
		default:
			return x.room.jobs.Add
		}
	}
	return x.slot.Add
}

// setOutput stores the output in the outcome.
func (x *execution) setOutput() {
	so := x.capture.Output()
	x.out.Preview = preview(so)
	x.out.Text, x.out.Truncated = x.limits().shownOutput(so)
	if so.SpillErr != nil {
		x.warn("the whole output could not be saved: %v", so.SpillErr)
	}
	if so.SpillFull {
		x.warn("only the first %d bytes of the output were saved", so.Spilled)
	}
	if x.out.Truncated && x.out.Path != "" && x.cmd.Hint != nil {
		if x.out.Text = strings.TrimSuffix(x.out.Text, "\n"); x.cmd.Show > 0 {
			x.out.Text = x.cmd.Hint(x.out.Path) + "\n\n" + x.out.Text
		} else {
			x.out.Text += "\n\n" + x.cmd.Hint(x.out.Path)
		}
	}
}
