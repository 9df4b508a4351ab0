package custom

import (
	"context"
	"github.com/helve-dev/helve/internal/script"
	"sync"
	"time"
)

// A stopwatch measures how long an engine was blocked by a question that a script waits for without
// yielding. A person may take minutes to reply, and nothing else can run in the engine meanwhile,
// so that time counts for no call.
type stopwatch struct {
	mu    sync.Mutex
	held  time.Duration
	since time.Time // zero while nothing holds the engine up
}

func (s *stopwatch) start() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.since = time.Now()
}

func (s *stopwatch) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held += time.Since(s.since)
	s.since = time.Time{}
}

func (s *stopwatch) total() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.since.IsZero() {
		return s.held
	}
	return s.held + time.Since(s.since)
}

// grit is the shortest interval between two checks of the clock.
const grit = 10 * time.Millisecond

// withLimit cancels a context with errLate after some time in which the engine was not blocked.
func (s *stopwatch) withLimit(ctx context.Context, most time.Duration) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	began, before := time.Now(), s.total()
	var timer *time.Timer
	set := make(chan struct{})
	timer = time.AfterFunc(most, func() {
		<-set
		used := time.Since(began) - (s.total() - before)
		if used < most && ctx.Err() == nil {
			timer.Reset(max(most-used, grit))
			return
		}
		cancel(errLate)
	})
	close(set)
	return ctx, func() {
		cancel(nil)
		timer.Stop()
	}
}

// A watched is a host that reports to the stopwatch when it blocks the engine.
type watched struct {
	script.Host
	watch *stopwatch
}

func (w watched) Now(ctx context.Context, op string, arg script.Data) (script.Data, error) {
	w.watch.start()
	defer w.watch.stop()
	return w.Host.Now(ctx, op, arg)
}
