package script

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

// TestStress: many callers of several owners, some of whom lose interest, against a VM that is
// closed under their hands.
func TestStress(t *testing.T) {
	host := testHost{now: echo, later: func(ctx context.Context, op string, arg Data) (Data, error) {
		select {
		case <-time.After(time.Duration(rand.IntN(2000)) * time.Microsecond):
		case <-ctx.Done():
		}
		return arg, ctx.Err()
	}}
	v := open(t, VMOptions{Host: host, Turn: 10 * time.Second}, `
		globalThis.work = async (n) => { for (let i = 0; i < n; i++) { __now("n", "1"); await __later("l", "2"); await __later("timer", '{"ms":0}') } return n };
		globalThis.spread = async (n) => (await Promise.all(Array.from({ length: n }, () => __later("l", "3")))).length;
		globalThis.leave = async (n) => { for (let i = 0; i < n; i++) __later("l", "4").catch(() => {}); return n };
		globalThis.spin = async (n) => { for (let i = 0; i < n * 1000; i++) if (i % 100 === 0) await null; return n };
		globalThis.fail = async () => { await __later("l", "5"); throw new Error("failed") };`)
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			for range 15 {
				f := []string{"work", "spread", "leave", "spin", "fail"}[rand.IntN(5)]
				ctx := WithOwner(t.Context(), rand.IntN(2))
				cancel := func() {}
				if rand.IntN(3) == 0 {
					ctx, cancel = context.WithTimeout(ctx, time.Duration(rand.IntN(3000))*time.Microsecond)
				}
				d, err := v.Call(ctx, f, Data{JSON: []byte("5")})
				thrown, ok := errors.AsType[*Thrown](err)
				switch {
				case errors.Is(err, context.DeadlineExceeded) && ctx.Err() != nil:
				case f == "fail" && ok && thrown.Message == "failed":
				case f != "fail" && err == nil && string(d.JSON) == "5":
				default:
					t.Errorf("%s: %s, %v", f, d.JSON, err)
				}
				cancel()
			}
		})
	}
	all.Wait()
	if got, err := ask(t, v, "work", "1"); err != nil || got != "1" {
		t.Error(got, err)
	}
	if u := v.Usage(); u.Calls != 0 || u.Requests != 0 {
		t.Errorf("%+v", u)
	}
}
