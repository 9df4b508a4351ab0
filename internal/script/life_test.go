package script

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// blocking is a host whose answers wait until their context ends; begun hears of every request.
func blocking(begun chan<- string) Host {
	wait := func(ctx context.Context, op string, _ Data) (Data, error) {
		begun <- op
		<-ctx.Done()
		return Data{}, ctx.Err()
	}
	return testHost{now: wait, later: wait}
}

const waiting = `
	globalThis.ok = () => "ok";
	globalThis.now = () => { try { __now("now", "1") } catch { for (;;); } };
	globalThis.later = () => __later("later", "1");
	globalThis.never = () => { __later("never", "0"); return new Promise(() => {}) };
	globalThis.told = async () => {
		__later("cancelled", "0").then(async () => { globalThis.heard = true; for (;;) await null; });
		__later("told", "0");
		for (;;) await null;
	};
	globalThis.idle = () => {
		__later("cancelled", "0").then(() => { globalThis.heardIdle = true });
		__later("idle", "0");
		return new Promise(() => {});
	};
	globalThis.wasTold = () => globalThis.heard && globalThis.heardIdle;
	globalThis.timer = () => { __later("timer", '{"ms":1}').then(() => { globalThis.rang = true }); };
	globalThis.lasting = async () => { __later("timer", '{"ms":1}').then(() => __later("rang", "0")); };
`

func TestCancel(t *testing.T) {
	begun := make(chan string)
	v := open(t, VMOptions{Host: blocking(begun)}, waiting)
	for _, f := range []string{"now", "later", "never", "told", "idle"} {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() {
			_, err := v.Call(ctx, f, Data{})
			done <- err
		}()
		<-begun
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", f, err)
		}
		if got, err := ask(t, v, "ok", ""); err != nil || got != `"ok"` {
			t.Errorf("after %s: %s, %v", f, got, err)
		}
	}
	if got, err := ask(t, v, "wasTold", ""); got != "true" {
		t.Error("not told:", got, err)
	}
	if u := v.Usage(); u.Requests != 0 {
		t.Errorf("%+v", u)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := v.Call(ctx, "ok", Data{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestCloseWhileCallsRun(t *testing.T) {
	for _, f := range []string{"now", "later", "never", "loop"} {
		begun := make(chan string, 9)
		v, err := NewVM(VMOptions{Host: blocking(begun)})
		if err != nil {
			t.Fatal(err)
		}
		source := waiting + `globalThis.loop = () => { __later("loop", "0"); for (;;); };`
		if err := v.Load(t.Context(), "test.js", Code{Source: source}); err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				if _, err := v.Call(t.Context(), f, Data{}); !errors.Is(err, ErrClosed) {
					t.Errorf("%s: %v", f, err)
				}
			})
		}
		<-begun
		if err := v.Close(); err != nil {
			t.Error(f, err)
		}
		all.Wait()
		if _, err := v.Call(t.Context(), "ok", Data{}); !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
		if err := v.Close(); err != nil {
			t.Error("again:", err)
		}
	}
}

func TestHostPanics(t *testing.T) {
	wild := func(context.Context, string, Data) (Data, error) { panic("wild") }
	v := open(t, VMOptions{Host: testHost{now: wild, later: wild}}, `
		globalThis.now = () => { try { __now("n", "0") } catch (e) { return e.message } };
		globalThis.later = async () => { try { await __later("l", "0") } catch (e) { return e.message } };`)
	for f, want := range map[string]string{"now": `"n: the host failed: wild"`, "later": `"l: the host failed: wild"`} {
		if got, err := ask(t, v, f, ""); got != want {
			t.Error(got, err)
		}
	}
}

func TestHostLeaves(t *testing.T) {
	leave := func(context.Context, string, Data) (Data, error) { runtime.Goexit(); panic("unreachable") }
	v := open(t, VMOptions{Host: testHost{now: leave, later: leave}}, `
		globalThis.now = () => __now("n", "0");
		globalThis.later = () => __later("l", "0").catch((e) => e.message);`)
	if got, err := ask(t, v, "later", ""); got != `"the host gave no answer"` {
		t.Error(got, err)
	}
	if _, err := ask(t, v, "now", ""); !errors.Is(err, ErrLost) {
		t.Error(err)
	}
}

// TestGivenUp: a built-in function that asks nobody is given up, and what it burns ends.
func TestGivenUp(t *testing.T) {
	for name, stuck := range map[string]string{
		"names":   `[].indexOf.call({ length: 2 ** 53 - 1 }, 1, 2 ** 40)`,
		"numbers": `[].indexOf.call({ length: 2 ** 53 - 1 }, 1)`,
		"sparse":  `new Array(2 ** 32 - 1).lastIndexOf(1)`,
		"reverse": `[].reverse.call({ length: 2 ** 53 - 1 })`,
		"copy":    `[].copyWithin.call({ length: 2 ** 53 - 1 }, 1)`,
	} {
		t.Run(name, func(t *testing.T) {
			v := open(t, VMOptions{Turn: 100 * time.Millisecond, patience: 50 * time.Millisecond}, `
				globalThis.stuck = () => `+stuck+`;
				globalThis.never = () => new Promise(() => {});`)
			other := make(chan error)
			go func() {
				_, err := v.Call(t.Context(), "never", Data{})
				other <- err
			}()
			if _, err := ask(t, v, "stuck", ""); !errors.Is(err, ErrLost) {
				t.Error(err)
			}
			if err := <-other; !errors.Is(err, ErrLost) {
				t.Error(err)
			}
			<-v.gone
			if u := v.Usage(); u.Memory != 0 || u.Calls != 0 {
				t.Errorf("%+v", u)
			}
		})
	}
}

// TestOwners: calls of two owners never overlap, those of one do.
func TestOwners(t *testing.T) {
	type asked struct {
		owner  string
		answer chan struct{}
	}
	requests := make(chan asked)
	host := testHost{later: func(ctx context.Context, _ string, _ Data) (Data, error) {
		a := asked{ctx.Value(ownerKey{}).(string), make(chan struct{})}
		requests <- a
		<-a.answer
		return Data{}, nil
	}}
	v := open(t, VMOptions{Host: host}, `globalThis.work = async () => { await __later("a", "0"); await __later("b", "0") };`)
	var all sync.WaitGroup
	for _, owner := range []string{"ann", "ann", "bob", "bob", "ann"} {
		all.Go(func() {
			if _, err := v.Call(WithOwner(t.Context(), owner), "work", Data{}); err != nil {
				t.Error(err)
			}
		})
	}
	held := map[string][]asked{}
	for range 10 {
		a := <-requests
		held[a.owner] = append(held[a.owner], a)
		if len(held["ann"]) > 0 && len(held["bob"]) > 0 {
			t.Error("two owners at once")
		}
		close(a.answer)
		held[a.owner] = held[a.owner][1:]
	}
	all.Wait()
}

// TestNested: a host may call the VM for the call it answers, whoever the owner is; from Now it may
// not.
func TestNested(t *testing.T) {
	var v *VM
	again := func(ctx context.Context, _ string, _ Data) (Data, error) {
		return v.Call(WithOwner(ctx, "child"), "inner", Data{})
	}
	v = open(t, VMOptions{Host: testHost{now: again, later: again}}, `
		globalThis.inner = () => "inner";
		globalThis.outer = async () => JSON.parse(await __later("x", "0"));
		globalThis.inNow = () => __now("x", "0");`)
	ctx := WithOwner(t.Context(), "parent")
	if d, err := v.Call(ctx, "outer", Data{}); string(d.JSON) != `"inner"` {
		t.Error(string(d.JSON), err)
	}
	if _, err := v.Call(ctx, "inNow", Data{}); err == nil || !strings.Contains(err.Error(), ErrBusy.Error()) {
		t.Error(err)
	}
}

// TestTimers: those of a call end with it, those of a lasting one go on.
func TestTimers(t *testing.T) {
	rang := make(chan string, 1)
	v := open(t, VMOptions{Host: testHost{later: func(ctx context.Context, op string, _ Data) (Data, error) {
		rang <- fmt.Sprint(op, " ", ctx.Err())
		return Data{}, nil
	}}}, waiting)
	if _, err := ask(t, v, "timer", ""); err != nil {
		t.Fatal(err)
	}
	if u := v.Usage(); u.Requests != 0 {
		t.Errorf("%+v", u)
	}
	ctx, cancel := context.WithCancel(Lasting(t.Context()))
	if _, err := v.Call(ctx, "lasting", Data{}); err != nil {
		t.Fatal(err)
	}
	cancel()
	if got := <-rang; got != "rang <nil>" {
		t.Error(got)
	}
}

func TestDrop(t *testing.T) {
	begun, ended := make(chan string), make(chan error)
	host := testHost{later: func(ctx context.Context, op string, _ Data) (Data, error) {
		if op == "sync" {
			return Data{}, nil
		}
		begun <- op
		<-ctx.Done()
		ended <- ctx.Err()
		return Data{}, ctx.Err()
	}}
	v := open(t, VMOptions{Host: host}, `
		globalThis.start = async () => {
			__later("work", "0", undefined, 7);
			let taken; try { await __later("work", "0", undefined, 7) } catch (e) { taken = e instanceof TypeError }
			while (!globalThis.go) await __later("sync", "0");
			__drop(7); __drop(7); __drop(8);
			return taken;
		};
		globalThis.release = () => { globalThis.go = true };`)
	done := make(chan string)
	go func() {
		got, err := ask(t, v, "start", "")
		done <- fmt.Sprint(got, err)
	}()
	<-begun
	if _, err := ask(t, v, "release", ""); err != nil {
		t.Error(err)
	}
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if got := <-done; got != "true<nil>" {
		t.Error(got)
	}
}

// TestOpenClose: nothing is left behind by a thousand engines, whatever way they end.
func TestOpenClose(t *testing.T) {
	rounds := 1000
	if testing.Short() || raceEnabled {
		rounds = 30
	}
	one := func(i int) {
		v, err := NewVM(VMOptions{Host: testHost{now: echo, later: echo}, Memory: 4 << 20})
		if err != nil {
			t.Fatal(err)
		}
		source := `globalThis.f = async () => { await __later("x", "0"); __later("timer", '{"ms":1e6}'); return 1 };
			globalThis.g = () => { const a = []; for (;;) a.push(new Uint8Array(1 << 16)) };`
		if err := v.Load(t.Context(), "x.js", Code{Source: source}); err != nil {
			t.Fatal(err)
		}
		if i%8 == 0 {
			if _, err := v.Call(t.Context(), "g", Data{}); !errors.Is(err, ErrMemory) {
				t.Fatal(err)
			}
		} else if _, err := v.Call(t.Context(), "f", Data{}); err != nil {
			t.Fatal(err)
		}
		if err := v.Close(); err != nil {
			t.Fatal(err)
		}
	}
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	for i := range 20 {
		one(i)
	}
	before, resident := heap(), residentBytes(t)
	for i := range rounds {
		one(i)
	}
	after, residentAfter := heap(), residentBytes(t)
	t.Logf("heap %d -> %d KiB, resident %d -> %d KiB", before>>10, after>>10, resident>>10, residentAfter>>10)
	if after > before+1<<20 {
		t.Errorf("heap grew from %d to %d", before, after)
	}
	if residentAfter > resident+64<<20 {
		t.Errorf("resident memory grew from %d to %d", resident, residentAfter)
	}
}
