package custom

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// The time in which an engine is held up does not count.
func TestLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s stopwatch
		ctx, cancel := s.withLimit(t.Context(), time.Second)
		defer cancel()
		time.Sleep(500 * time.Millisecond)
		s.start()
		time.Sleep(time.Hour)
		s.stop()
		time.Sleep(400 * time.Millisecond)
		synctest.Wait()
		if ctx.Err() != nil {
			t.Error("the time of a question was counted")
		}
		time.Sleep(100*time.Millisecond + 2*grit)
		synctest.Wait()
		if context.Cause(ctx) != errLate {
			t.Error(context.Cause(ctx))
		}
		ctx, cancel = s.withLimit(t.Context(), time.Second)
		cancel()
		if context.Cause(ctx) != context.Canceled {
			t.Error(context.Cause(ctx))
		}
	})
}
