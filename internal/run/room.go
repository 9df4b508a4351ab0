package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"helve/internal/job"
	"helve/internal/proc"
)

// Options set up a [Room].
type Options struct {
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
	Wall         Wall
	Ephemeral    bool // nothing goes on after a call
	Jobs         job.Options
	NewID        func(prefix string) string // makes identifiers
	Logger       *slog.Logger
}

// Facts are what a model is told about the room.
type Facts struct {
	Shell, Dir   string
	Timeout      time.Duration
	Lines, Bytes int
}

// A Room is where commands run. It starts nothing before the first one.
type Room struct {
	opt    Options
	shell  func() (Shell, error)
	runner *proc.Runner
	jobs   *job.Jobs
	masks  Masks
	wall   walls

	mu      sync.Mutex
	waiting map[callName]chan struct{} // calls whose command can go on without them
}

// A callName is the name of a call.
type callName struct{ session, call string }

// New makes a room.
func New(opt Options) (*Room, error) {
	if opt.Timeout <= 0 {
		opt.Timeout = 2 * time.Minute
	}
	if opt.MaxTimeout <= 0 {
		opt.MaxTimeout = 24 * time.Hour
	}
	if err := opt.Wall.check(); err != nil {
		return nil, err
	}
	jobs, err := job.New(opt.Jobs)
	if err != nil {
		return nil, err
	}
	r := &Room{
		opt: opt, jobs: jobs, runner: proc.New(proc.Options{Helper: opt.Helper}), waiting: map[callName]chan struct{}{},
		shell: sync.OnceValues(func() (Shell, error) { return Find(opt.Shell, os.Getenv) }),
	}
	return r, nil
}

// Facts are what a model is told.
func (r *Room) Facts() Facts {
	f := Facts{Shell: "bash", Dir: r.opt.Dir, Timeout: r.opt.Timeout, Lines: r.opt.Lines, Bytes: r.opt.Bytes}
	if s, err := r.shell(); err == nil {
		f.Shell = s.Name()
	}
	return f
}

// Shell is what runs command lines here, and why.
func (r *Room) Shell() (Shell, error) { return r.shell() }

// Jobs are the commands that go on in the background.
func (r *Room) Jobs() (*job.Jobs, error) { return r.jobs, nil }

// Detach lets the command that a call waits for go on as a job. It reports
// whether there was one.
func (r *Room) Detach(session, call string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	name := callName{session, call}
	detach, ok := r.waiting[name]
	if ok {
		delete(r.waiting, name)
		close(detach)
	}
	return ok
}

// await registers a call that waits; done takes it away.
func (r *Room) await(name callName) (detach <-chan struct{}, done func()) {
	ch := make(chan struct{})
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waiting[name] = ch
	return ch, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.waiting[name] == ch {
			delete(r.waiting, name)
		}
	}
}

func (r *Room) newJobID() string {
	if r.opt.NewID == nil {
		return ""
	}
	return r.opt.NewID("job")
}

// EndSession ends the jobs of a session.
func (r *Room) EndSession(ctx context.Context, session string) error {
	if session == "" {
		return nil
	}
	return r.jobs.EndSession(ctx, session)
}

// Close ends every command with all that it has started.
func (r *Room) Close() error {
	if err := errors.Join(r.jobs.Close(), r.runner.Close(), r.wall.release()); err != nil {
		return fmt.Errorf("ending what was started: %w", err)
	}
	return nil
}
