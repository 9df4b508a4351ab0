package custom

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helve-dev/helve/plugin"
	"github.com/helve-dev/helve/tool"
)

// A diary is what happened, in order: tools that came, lines that scripts wrote.
type diary struct {
	mu  sync.Mutex
	all []string
}

func (d *diary) add(what string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.all = append(d.all, what)
}

// keep has a bench write into the diary.
func (d *diary) keep(o *Options) {
	register := o.Register
	o.Register = func(t tool.Tool) (func(), error) {
		d.add("tool " + t.Spec().Name)
		return register(t)
	}
	o.Tell = func(_, _, text string) { d.add(text) }
}

// A file that takes long to load hides no other, and comes when it is there.
func TestSlowFile(t *testing.T) {
	var d diary
	b := newBench(t, `
-- tools/a_slow.ts --
await new Promise((r) => setTimeout(r, 1000))
export default { description: "d", args: {}, execute: () => "slow" }
-- tools/mine.ts --
export default { description: "d", args: {}, execute: () => "mine" }
`, func(_ *bench, o *Options) { d.keep(o) })
	b.set.Gather(t.Context())
	if diff := cmp.Diff([]string{"tool mine", "tool a_slow"}, d.all); diff != "" {
		t.Error(diff)
	}
	for _, name := range b.names() {
		if got := b.output(name, "{}"); got != name && "a_"+got != name {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// A call of a tool that is not loaded yet waits for it.
func TestSlowCalled(t *testing.T) {
	b := newBench(t, `
-- tools/a_slow.ts --
await new Promise((r) => setTimeout(r, 1000))
export default { description: "d", args: {}, execute: () => "slow" }
-- tools/mine.ts --
export default { description: "d", args: {}, execute: () => "mine" }
`, nil)
	go b.set.Gather(t.Context())
	if got := b.output("a_slow", "{}"); got != "slow" {
		t.Error(got)
	}
}

// A plugin that takes long to start hides no tool, but no call goes past it.
func TestSlowPlugin(t *testing.T) {
	var d diary
	b := newBench(t, `
-- plugins/a.ts --
export default async () => {
  await new Promise((r) => setTimeout(r, 1000))
  console.log("started")
  return {}
}
-- tools/mine.ts --
export default { description: "d", args: {}, execute: () => { console.log("called"); return "" } }
`, func(_ *bench, o *Options) { d.keep(o) })
	go b.set.Gather(t.Context())
	b.output("mine", "{}")
	if diff := cmp.Diff([]string{"tool mine", "started", "called"}, d.all); diff != "" {
		t.Error(diff)
	}
}

// What a file that never ends has stopped with it is loaded again.
func TestSlowBesideEndless(t *testing.T) {
	b := newBench(t, `
-- tools/a_slow.ts --
await new Promise((r) => setTimeout(r, 1000))
export default { description: "d", args: {}, execute: () => "slow" }
-- tools/forever.ts --
for (;;);
-- tools/mine.ts --
export default { description: "d", args: {}, execute: () => "mine" }
`, func(_ *bench, o *Options) { o.LoadTimeout = 4 * time.Second })
	b.set.Gather(t.Context())
	if got := b.names(); !slices.Equal(got, []string{"a_slow", "mine"}) {
		t.Error(got)
	}
	if f := b.file("tools/forever.ts"); f.State != plugin.Failed {
		t.Errorf("the endless one: %+v", f)
	}
}
