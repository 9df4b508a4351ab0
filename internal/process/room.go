package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"
)

// ExecutorOptions configure an [Executor].
type ExecutorOptions struct {
	Dir     string // where commands run that name no folder
	Shell   string // the configured shell; "" for the system's bash
	Env     Environment
	Timeout time.Duration // of commands that do not say; two minutes when 0
	// MaxTimeout bounds the time of every command; a day when 0.
	MaxTimeout time.Duration

	Lines, Bytes int                                    // of output that are shown
	Quota        int64                                  // bytes of output that are saved
	Spill        func() (io.WriteCloser, string, error) // makes a file for a long output
	Private      func(name string) string               // names a folder of the runtime's own
	Helper       string                                 // a program that calls [Helper]
	Wall         SandboxOptions
	Ephemeral    bool // nothing goes on after a call
	// Detach reports whether what a line leaves running
	// may outlive the runtime; nil is never.
	Detach func(command string) bool
	Jobs   JobsOptions
	NewID  func(prefix string) string // makes identifiers
	Logger *slog.Logger
}

// Facts describe the executor to a model.
type Facts struct {
	Shell, Dir   string
	Timeout      time.Duration
	Lines, Bytes int
}

// An Executor is where commands run. It starts nothing before the first one.
type Executor struct {
	opt    ExecutorOptions
	shell  func() (Shell, error)
	runner *Runner
	jobs   *Jobs
	masks  Masks
	wall   walls

	mu      sync.Mutex
	waiting map[callName]*waiter // calls whose command can go on without them
}

// A callName is the name of a call.
type callName struct{ session, call string }

// NewExecutor returns an executor.
func NewExecutor(opt ExecutorOptions) (*Executor, error) {
	if opt.Timeout <= 0 {
		opt.Timeout = 2 * time.Minute
	}
	if opt.MaxTimeout <= 0 {
		opt.MaxTimeout = 24 * time.Hour
	}
	if err := opt.Wall.check(); err != nil {
		return nil, err
	}
	jobs, err := NewJobs(opt.Jobs)
	if err != nil {
		return nil, err
	}
	r := &Executor{
		opt: opt, jobs: jobs, runner: NewRunner(RunnerOptions{Helper: opt.Helper}), waiting: map[callName]*waiter{},
		shell: sync.OnceValues(func() (Shell, error) { return FindShell(opt.Shell, os.Getenv) }),
	}
	return r, nil
}

// Facts returns what a model needs to know about the executor.
func (r *Executor) Facts() Facts {
	f := Facts{Shell: "bash", Dir: r.opt.Dir, Timeout: r.opt.Timeout, Lines: r.opt.Lines, Bytes: r.opt.Bytes}
	if s, err := r.shell(); err == nil {
		f.Shell = s.Name()
	}
	return f
}

// Shell is what runs command lines here, and why.
func (r *Executor) Shell() (Shell, error) { return r.shell() }

// Jobs returns the background commands.
func (r *Executor) Jobs() *Jobs { return r.jobs }

// A waiter is a call that waits for its command.
type waiter struct {
	slots chan *JobSlot // gets the place for its command; holds one
	over  bool          // the call waits no more
}

// Detach turns the command of a call into a job. It reports whether there was one, and a slot for
// it: without a slot the call continues.
func (r *Executor) Detach(session, call string) bool {
	if r.opt.Ephemeral {
		return false
	}
	name := callName{session, call}
	r.mu.Lock()
	w := r.waiting[name]
	delete(r.waiting, name)
	r.mu.Unlock()
	if w == nil {
		return false
	}
	slot, err := r.jobs.Reserve() // not under the lock: it looks at the disk
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case err == nil && !w.over:
		w.slots <- slot
		return true
	case err == nil:
		slot.Release()
	case !w.over:
		r.waiting[name] = w
	}
	return false
}

// waitForSlot registers a call that waits; done takes it away, and gives back a place
// that was not used.
func (r *Executor) waitForSlot(name callName) (detach <-chan *JobSlot, done func()) {
	w := &waiter{slots: make(chan *JobSlot, 1)}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waiting[name] = w
	return w.slots, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		w.over = true
		if r.waiting[name] == w {
			delete(r.waiting, name)
		}
		select {
		case slot := <-w.slots:
			slot.Release()
		default:
		}
	}
}

func (r *Executor) newJobID() string {
	if r.opt.NewID == nil {
		return ""
	}
	return r.opt.NewID("job")
}

// EndSession ends the jobs of a session.
func (r *Executor) EndSession(ctx context.Context, session string) error {
	if session == "" {
		return nil
	}
	return r.jobs.EndSession(ctx, session)
}

// Close ends every command with all that it has started.
func (r *Executor) Close() error {
	if err := errors.Join(r.jobs.Close(), r.runner.Close(), r.wall.release()); err != nil {
		return fmt.Errorf("ending what was started: %w", err)
	}
	return nil
}
