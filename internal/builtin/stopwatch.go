package builtin

import (
	"context"
	"sync"
	"time"
)

// A stopwatch is a context that ends when its time is up, or with its parent. It can be paused
// while a person is asked.
type stopwatch struct {
	context.Context
	over   chan struct{}
	unhook func() bool

	mu      sync.Mutex
	timer   *time.Timer
	left    time.Duration // when it last started to run
	started time.Time
	err     error
}

// newStopwatch starts a stopwatch, to be stopped by the caller.
func newStopwatch(parent context.Context, left time.Duration) *stopwatch {
	w := &stopwatch{Context: parent, over: make(chan struct{}), left: left, started: time.Now()}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = time.AfterFunc(left, func() { w.end(context.DeadlineExceeded) })
	w.unhook = context.AfterFunc(parent, func() { w.end(parent.Err()) })
	return w
}

func (w *stopwatch) end(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return
	}
	w.err = err
	w.timer.Stop()
	close(w.over)
}

// stop releases the resources of the stopwatch.
func (w *stopwatch) stop() {
	w.unhook()
	w.end(context.Canceled)
}

// stopTimer pauses the stopwatch until resume.
func (w *stopwatch) stopTimer() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer.Stop()
	w.left -= time.Since(w.started)
}

func (w *stopwatch) resume() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.started = time.Now()
	if w.err == nil {
		w.timer.Reset(max(w.left, 0))
	}
}

// Deadline returns when the time is up, unless it is paused before.
func (w *stopwatch) Deadline() (time.Time, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.started.Add(w.left), true
}

// Done is closed when the time is up.
func (w *stopwatch) Done() <-chan struct{} { return w.over }

// Err says why it has ended; nil while it runs.
func (w *stopwatch) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}
