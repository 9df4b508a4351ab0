package helve

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A lingering source is gathered when it is let go.
type lingering struct {
	free     chan struct{}
	gathered atomic.Int32
}

func (l *lingering) Need(context.Context, string) {}
func (l *lingering) Close() error                 { return nil }
func (l *lingering) Gather(ctx context.Context) {
	l.gathered.Add(1)
	select {
	case <-l.free:
	case <-ctx.Done():
	}
}

// A list waits a second for a source that is slow, once, and not at all for
// one that is there. What it has not waited for goes on until the runtime ends.
func TestReadyWaitsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow, quick := &lingering{free: make(chan struct{})}, &lingering{free: make(chan struct{})}
		close(quick.free)
		r := &Runtime{sources: []*sourceState{{source: slow}, {source: quick}}}
		r.ctx, r.cancel = context.WithCancel(t.Context())
		took := func(f func(context.Context)) time.Duration {
			began := time.Now()
			f(t.Context())
			return time.Since(began)
		}
		if d := took(r.Ready); d != patience {
			t.Errorf("the first list waited %s", d)
		}
		if d := took(r.Ready); d != 0 {
			t.Errorf("the second list waited %s", d)
		}
		if n := quick.gathered.Load(); n != 2 {
			t.Errorf("the other source was gathered %d times", n)
		}
		time.AfterFunc(time.Minute, func() { close(slow.free) })
		if d := took(r.Gather); d != time.Minute {
			t.Errorf("who wants all waited %s", d)
		}
		synctest.Wait()
		slow.free = make(chan struct{})
		if d := took(r.Ready); d != patience {
			t.Errorf("a source that starts anew was waited for %s", d)
		}
		r.cancel()
		r.underway.Wait()
	})
}
