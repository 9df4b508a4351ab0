package custom

import (
	"context"
	_ "embed" // for worker.js
	"encoding/json"
	"errors"
	"fmt"
	"github.com/helve-dev/helve/internal/process"
	"github.com/helve-dev/helve/internal/script"
	"log/slog"
	"sync"
	"time"
)

//go:embed worker.js
var workerSource string

// ErrWorkerGone is wrapped by the errors of calls whose process ended before they did. The next
// call starts a new one.
var ErrWorkerGone = errors.New("the worker is gone")

// ErrWorkerClosed is the error of calls after Close.
var ErrWorkerClosed = errors.New("the worker was closed")

// WorkerOptions set up a worker.
type WorkerOptions struct {
	Shell   *process.Executor // starts the process, in its sandbox
	Runtime string            // auto, bun, node or off; auto when empty
	// Dir is where files work, that of the project.
	Dir string
	// LookPath finds a program; exec.LookPath when nil.
	LookPath func(name string) (string, error)
	// Sieve reports what may be read, for the sandbox.
	Sieve  process.PathFilter
	Logger *slog.Logger
	// Tell receives what files print and log, a line at a time; nil drops it. Calls do not overlap,
	// and it must not block.
	Tell func(level, text string)
	// Requests serves what files request from the host: "client", "ask" and "meta", never another,
	// with the arguments listed in script's OPS.md. ctx has the values of the call they work for
	// and ends with it; outside of calls it has the values of the last Load, Plugins or Event. A
	// *script.Fault is thrown as it is. The result of "meta" is ignored, and it must not block; the
	// others may.
	Requests func(ctx context.Context, op string, arg json.RawMessage) (json.RawMessage, error)

	open  bool          // without the sandbox, for tests
	grace time.Duration // after a cancel; cancelGrace when 0
	pulse time.Duration // between pings; pingEvery when 0
	frame int           // the longest frame in bytes; maxFrame when 0
}

// A WorkerFolder is what a worker serves.
type WorkerFolder struct {
	Root string // the config folder, absolute
	// Files are the tool and plugin files, relative to Root with slashes, or absolute.
	Files []string
	// Also are further folders whose files may become part of what node runs, absolute.
	Also []string
	// Reads lists files and folders, absolute, beside those of the files that Bun must read: their
	// imports.
	Reads []string
	// Bundle, if set, returns the program for Node: the body of a CommonJS module as package bundle
	// makes it, and the folder from which its packages are found. If it is nil the worker bundles
	// Files, without the packages.
	Bundle func(ctx context.Context) (code, dir string, err error)
}

// A Worker calls the tools and plugins of one folder in a process of its own. Its methods may be
// called from any goroutine; they return a [*script.Fault], or an error of the process or of ctx.
// When the ctx of a call ends, its signal is aborted; if the call has not ended two seconds later,
// the process is killed.
type Worker struct {
	opt     WorkerOptions
	folder  WorkerFolder
	runtime WorkerRuntime

	starting chan struct{}  // has one token, for whoever starts a process
	telling  sync.Mutex     // held while a message is delivered
	work     sync.WaitGroup // requests and watches of all processes
	hooks    script.Hooks   // of all plugins

	mu      sync.Mutex
	closed  bool
	life    *workerProcess
	starts  []time.Time     // newest last
	started *startedPlugins // what a new process has to start
	quiet   context.Context // what files work for when no call is in progress
}

// startedPlugins are the arguments of the last call of Plugins.
type startedPlugins struct {
	Input   script.PluginInput   `json:"input"`
	Entries []script.PluginEntry `json:"files,omitempty"`
}

// StartWorker finds a runtime and starts the process. ctx bounds the starting only.
func StartWorker(ctx context.Context, opt WorkerOptions, folder WorkerFolder) (*Worker, error) {
	if opt.grace == 0 {
		opt.grace = cancelGrace
	}
	if opt.pulse == 0 {
		opt.pulse = pingEvery
	}
	if opt.frame == 0 {
		opt.frame = maxFrame
	}
	if opt.Logger == nil {
		opt.Logger = slog.New(slog.DiscardHandler)
	}
	found, err := FindRuntime(ctx, opt)
	if err != nil {
		return nil, err
	}
	w := &Worker{opt: opt, folder: folder, runtime: found, starting: make(chan struct{}, 1), quiet: context.WithoutCancel(ctx)}
	w.starting <- struct{}{}
	if _, err := w.living(ctx, false); err != nil {
		_ = w.Close() // it failed already, with an error reported
		return nil, err
	}
	return w, nil
}

// Runtime returns the runtime that runs the files.
func (w *Worker) Runtime() WorkerRuntime { return w.runtime }

// Close ends the process with all that it has started. Calls in progress fail. Nothing of the
// worker runs when it returns; it waits for Requests, which should return when its ctx has ended.
func (w *Worker) Close() error {
	w.mu.Lock()
	w.closed = true
	l := w.life
	w.mu.Unlock()
	if l != nil {
		l.kill(ErrWorkerClosed)
	}
	<-w.starting // whoever starts a process has seen that it is over
	w.mu.Lock()
	l = w.life
	w.mu.Unlock()
	w.starting <- struct{}{}
	if l == nil {
		return nil
	}
	<-l.gone
	w.work.Wait()
	return l.left
}

const (
	// mostStarts is how often a process may be started within startsWithin.
	mostStarts   = 5
	startsWithin = time.Minute
)

// living returns the running process, or a new one, in which the plugins are started again if
// restore is set.
func (w *Worker) living(ctx context.Context, restore bool) (*workerProcess, error) {
	if l, err := w.current(); l != nil || err != nil {
		return l, err
	}
	select {
	case <-w.starting:
		defer func() { w.starting <- struct{}{} }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if l, err := w.current(); l != nil || err != nil {
		return l, err
	}
	if err := w.mayStart(); err != nil {
		return nil, err
	}
	l, err := w.startProcess(ctx)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	started := w.started
	w.mu.Unlock()
	if restore && started != nil {
		if _, err := w.startPlugins(ctx, l, *started); err != nil {
			l.kill(err)
			return nil, fmt.Errorf("starting the plugins again: %w", err)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	l.ready = true
	return l, nil
}

// current is the process that runs; nil for none.
func (w *Worker) current() (*workerProcess, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.closed:
		return nil, ErrWorkerClosed
	case w.life == nil || !w.life.ready || w.life.isOver():
		return nil, nil
	}
	return w.life, nil
}

// mayStart counts the starts, so that a folder whose process keeps dying does not keep the machine
// busy.
func (w *Worker) mayStart() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	if len(w.starts) >= mostStarts {
		if wait := startsWithin - now.Sub(w.starts[len(w.starts)-mostStarts]); wait > 0 {
			return fmt.Errorf("%s was started %d times within a minute for the files of %s, and ended each time; the last time: %w. Mend the file that does this, or try again in %s",
				w.runtime.Name, mostStarts, w.folder.Root, w.why(), wait.Round(time.Second))
		}
		w.starts = w.starts[1:]
	}
	w.starts = append(w.starts, now)
	return nil
}

// why is how the last process ended.
func (w *Worker) why() error {
	if w.life == nil {
		return ErrWorkerGone
	}
	if why := w.life.reason(); why != nil {
		return why
	}
	return ErrWorkerGone
}
