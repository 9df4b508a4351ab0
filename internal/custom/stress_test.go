package custom

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/helve-dev/helve/tool"
)

// descriptors counts what the process has open; 0 where that cannot be told.
func descriptors() int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(entries)
}

// resident is the memory of the process, the engines' own included; 0 where that cannot be told.
func resident() int {
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var size, pages int
	if _, err := fmt.Sscan(string(data), &size, &pages); err != nil {
		return 0
	}
	return pages * os.Getpagesize()
}

// Reloading costs nothing that stays: memory, goroutines, descriptors.
func TestReloadsLeaveNothing(t *testing.T) {
	rounds := 1000
	switch {
	case raceDetector:
		rounds = 24
	case testing.Short():
		rounds = 60
	}
	b := newBench(t, "-- tools/n.ts --\n-- plugins/p.ts --\nexport const P = () => ({ config: () => {}, dispose: () => {} })\n", nil)
	round := func(i int) {
		b.write("tools/n.ts", `export default { description: "d", args: {}, execute: () => "`+strconv.Itoa(i)+`" }`)
		if got := b.output("n", `{}`); got != strconv.Itoa(i) {
			t.Fatalf("%s, not %d", got, i)
		}
	}
	settled := func() (goroutines, open, memory int) {
		b.idle()
		runtime.GC()
		return runtime.NumGoroutine(), descriptors(), resident()
	}
	for i := range rounds / 4 {
		round(i)
	}
	g0, d0, m0 := settled()
	for i := range rounds {
		round(i)
	}
	g1, d1, m1 := settled()
	for until := time.Now().Add(10 * time.Second); g1 > g0+3 && time.Now().Before(until); { // on a busy machine the last take a while to return
		time.Sleep(20 * time.Millisecond)
		g1, d1, m1 = settled()
	}
	if g1 > g0+3 || d1 > d0+3 || m1 > m0+24<<20 {
		t.Errorf("goroutines %d to %d, descriptors %d to %d, memory %d to %d MiB", g0, g1, d0, d1, m0>>20, m1>>20)
	}
	t.Logf("goroutines %d to %d, descriptors %d to %d, memory %d to %d MiB", g0, g1, d0, d1, m0>>20, m1>>20)
}

// idle waits until engines that were replaced have ended.
func (b *bench) idle() {
	for _, u := range b.set.units {
		u.turn <- struct{}{}
		<-u.turn
	}
	for b.set.ending.Load() > 0 {
		runtime.Gosched()
	}
}

// Calls, hooks, events, reloads and looks at once, by several sessions.
func TestAllAtOnce(t *testing.T) {
	rounds := 60
	if raceDetector || testing.Short() {
		rounds = 10
	}
	b := newBench(t, `
-- tools/n.ts --
export default { description: "d", args: { v: { type: "number" } }, async execute({ v }) { await new Promise((r) => setTimeout(r, 1)); return String(v) } }
export const eat = { description: "d", args: {}, execute() { const all = []; for (;;) all.push(new Uint8Array(1 << 20).fill(1)) } }
-- plugins/p.ts --
export const P = () => ({ "tool.execute.before": async (i, o) => { o.args.n = i.n }, event: () => {}, config: () => {} })
`, func(_ *bench, o *Options) { o.Memory = 32 << 20 })
	b.set.Gather(t.Context())
	var all sync.WaitGroup
	for s := range 3 {
		session := "ses_" + strconv.Itoa(s)
		all.Go(func() {
			for i := range rounds {
				r, err := b.callAs(t.Context(), &tool.Call{ID: "c", Session: session, Agent: "build", Tool: "n", Input: json.RawMessage(`{"v":` + strconv.Itoa(i) + `}`)})
				if err == nil && r.Output != strconv.Itoa(i) {
					t.Errorf("%s, not %d", r.Output, i)
				}
				if e, ok := err.(*tool.Error); err != nil && (!ok || e.Code != "script-lost") {
					t.Error(err)
				}
			}
		})
		all.Go(func() {
			for i := range rounds {
				c := &tool.Call{ID: "c", Session: session, Agent: "build", Dir: b.root, Host: b}
				done, err := b.set.Hook(t.Context(), c, "tool.execute.before", json.RawMessage(`{"n":`+strconv.Itoa(i)+`}`), json.RawMessage(`{"args":{}}`))
				if err != nil {
					t.Error(err)
				}
				if len(done.Runs) == 1 && done.Runs[0].Error == nil && string(done.Output) != `{"args":{"n":`+strconv.Itoa(i)+`}}` {
					t.Errorf("%s", done.Output)
				}
				b.set.Event("x", nil)
				b.set.Status()
			}
		})
	}
	all.Go(func() {
		for range rounds / 5 {
			if _, err := b.call(t.Context(), "n_eat", `{}`); err == nil {
				t.Error("memory without end")
			}
		}
	})
	all.Go(func() {
		for i := range rounds / 2 {
			b.write("plugins/q.ts", "export const Q = () => ({ config: () => "+strconv.Itoa(i)+" })")
			b.set.Gather(t.Context())
		}
	})
	all.Wait()
}
