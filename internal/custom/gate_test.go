package custom

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// Whatever the order of comings and goings, only calls of one owner are inside, and nobody waits
// for ever.
func TestGateProperty(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		steps := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) [3]int {
			return [3]int{rapid.IntRange(0, 2).Draw(rt, "owner"), rapid.IntRange(1, 50).Draw(rt, "stay"), rapid.IntRange(0, 60).Draw(rt, "patience")}
		}), 1, 12).Draw(rt, "steps")
		synctest.Test(t, func(t *testing.T) {
			var g turnQueue
			inside := map[string]int{}
			entered := 0
			done := make(chan struct{}, len(steps))
			lock := make(chan struct{}, 1)
			for _, s := range steps {
				go func() {
					defer func() { done <- struct{}{} }()
					who := string(rune('a' + s[0]))
					ctx, cancel := context.WithTimeout(t.Context(), time.Duration(s[2])*time.Millisecond)
					defer cancel()
					ctx, leave, err := g.waitTurn(ctx, who)
					if err != nil {
						return
					}
					if !g.isInside(ctx) {
						rt.Error("what is inside is not known")
					}
					lock <- struct{}{}
					inside[who]++
					entered++
					for other, n := range inside {
						if other != who && n > 0 {
							rt.Errorf("%s beside %s", who, other)
						}
					}
					<-lock
					time.Sleep(time.Duration(s[1]) * time.Millisecond)
					lock <- struct{}{}
					inside[who]--
					<-lock
					leave()
				}()
			}
			for range steps {
				<-done
			}
			if g.inside != 0 || len(g.waiting) != 0 || entered == 0 && steps[0][2] > 0 {
				rt.Errorf("%d inside, %d waiting, %d entered", g.inside, len(g.waiting), entered)
			}
		})
	})
}

func TestGateShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g turnQueue
		_, leave, err := g.waitTurn(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		_, who, out, err := g.short(t.Context(), "b", time.Second)
		if err != nil || who != "a" || time.Since(began) != time.Second {
			t.Error(who, err, time.Since(began))
		}
		out()
		_, who, out, err = g.short(t.Context(), "a", time.Second)
		if err != nil || who != "a" || time.Since(began) != time.Second {
			t.Error("it waited for its own owner", who, err)
		}
		out()
		_, who, out, err = g.short(t.Context(), "b", time.Second)
		if err != nil || who != "a" || time.Since(began) != time.Second {
			t.Error("it waited twice for the same call", who, err, time.Since(began))
		}
		out()
		if _, _, _, err := g.short(t.Context(), "c", 0); err != nil {
			t.Error(err)
		}
		g.release()
		ctx, cancel := context.WithCancelCause(t.Context())
		stop := errors.New("enough")
		cancel(stop)
		if _, _, _, err := g.short(ctx, "d", time.Second); !errors.Is(err, stop) {
			t.Error(err)
		}
		go func() {
			time.Sleep(time.Millisecond)
			leave()
		}()
		if _, who, out, err = g.short(t.Context(), "e", time.Second); err != nil || who != "e" {
			t.Error(who, err)
		}
		out()
	})
}

// Who has another way waits once for a stay of somebody else, and anew for the next.
func TestGateTry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g turnQueue
		stay := func() func() {
			_, leave, err := g.waitTurn(t.Context(), "a")
			if err != nil {
				t.Fatal(err)
			}
			return leave
		}
		waits := func(want time.Duration) {
			t.Helper()
			began := time.Now()
			if _, _, err := g.waitTurnFor(t.Context(), "b", time.Second); !errors.Is(err, errBusy) || time.Since(began) != want {
				t.Error(err, time.Since(began))
			}
		}
		leave := stay()
		if _, _, out, err := g.short(t.Context(), "b", time.Millisecond); err != nil {
			t.Error(err)
		} else {
			out()
		}
		waits(time.Second)
		waits(0)
		leave()
		ctx, out, err := g.waitTurnFor(t.Context(), "b", time.Second)
		if err != nil || !g.isInside(ctx) {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		if ctx.Err() != nil {
			t.Error("what is inside ends with the wait for it")
		}
		out()
		leave = stay()
		waits(time.Second)
		leave()
	})
}
