package custom

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/helve-dev/helve/plugin"
)

// Files do not share their mistakes, whatever they do while they are loaded.
func TestFilesAlone(t *testing.T) {
	b := newBench(t, `
-- tools/good.ts --
export default { description: "d", args: {}, execute: () => "good" }
-- tools/syntax.ts --
export default { description: "d"
  args: {} }
-- tools/missing.ts --
import x from "no-such-package"
export default { description: x, args: {}, execute: () => "" }
-- tools/throws.ts --

throw new TypeError("at import")
-- tools/exits.js --
process.exit(1)
-- tools/forever.js --
for (;;);
-- tools/never.js --
module.exports = {}
await new Promise(() => {})
-- tools/nothing.ts --
export const help = () => 1
-- tools/types.d.ts --
export type X = 1
-- tools/good.test.ts --
import { test } from "bun:test"
test("good", () => {})
-- plugins/good.spec.js --
describe("good", () => {})
-- tools/deep/x.ts --
export default { description: "d", args: {}, execute: () => "" }
-- tools/.dot.ts --
export default { description: "d", args: {}, execute: () => "dot" }
-- tools/zz.ts --
export default { description: "d", args: {}, execute: () => "last" }
export const schema = { description: "d", args: { a: { type: "array", items: 7 } }, execute: () => "" }
export const unnamable = { description: "d", args: 5, execute: () => "" }
-- tool/singular.js --
export default { description: "d", args: {}, execute: () => "singular" }
`, func(_ *bench, o *Options) { o.LoadTimeout = 3 * time.Second })
	if err := os.Symlink(filepath.Join(b.root, "tools", "deep", "x.ts"), filepath.Join(b.root, "tools", "linked.ts")); err != nil {
		t.Skip(err)
	}
	b.set.Gather(t.Context())
	if diff := cmp.Diff([]string{"good", "linked", "singular", "zz"}, b.names()); diff != "" {
		t.Error(diff)
	}
	for name, want := range map[string]string{
		"syntax": "syntax.ts:2:3: ", "missing": "Install it: run 'npm install no-such-package'", "throws": "throws.ts:2:",
		"exits": "process.exit(1) was called", "forever": "without waiting for anything and was stopped",
		"never": "", "zz": "args is a number, not an object of schemas\nIts tool zz_schema can not be used",
	} {
		f := plugin.File{}
		for _, some := range b.set.Status() {
			if some.Name == name {
				f = some
			}
		}
		state := plugin.Failed
		if name == "zz" {
			state = plugin.Ready
		}
		if f.State != state || !strings.Contains(f.Problem, want) || !strings.HasPrefix(f.Problem, filepath.Join(b.root, "tools")) && name != "zz" {
			t.Errorf("%s: %+v", name, f)
		}
	}
	for _, f := range b.set.Status() {
		if strings.HasPrefix(f.Name, "good.") {
			t.Errorf("a test is looked at: %+v", f)
		}
	}
	for name, want := range map[string]string{"good": "good", "zz": "last", "singular": "singular"} {
		if got := b.output(name, `{}`); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// Nothing of a folder is loaded but what may define the tool that is called.
func TestNeedLoadsLittle(t *testing.T) {
	b := newBench(t, `
-- tools/a.ts --
export default { description: "d", args: {}, execute: () => "a" }
-- tools/a_b.ts --
export const c = { description: "d", args: {}, execute: () => "abc" }
-- tools/other.ts --
console.log("loaded")
export default { description: "d", args: {}, execute: () => "other" }
`, nil)
	b.set.Need(t.Context(), "read")
	if u := b.set.units[0]; u.build != nil || u.engines[within] != nil {
		t.Error("something was built for a tool that no file can have")
	}
	if got := b.output("a_b_c", `{}`); got != "abc" {
		t.Error(got)
	}
	if diff := cmp.Diff([]string{"a", "a_b_c"}, b.names()); diff != "" {
		t.Error(diff)
	}
	if f := b.file("tools/other.ts"); f.State != plugin.NotLoaded || len(b.lines) > 0 {
		t.Errorf("%+v %v", f, b.lines)
	}
	if got := b.output("other", `{}`); got != "other" {
		t.Error(got)
	}
}

func TestReload(t *testing.T) {
	file := func(text string) string {
		return `export default { description: "d", args: {}, execute: () => ` + text + ` }`
	}
	b := newBench(t, "-- tools/a.ts --\n"+file(`"one"`)+"\n-- tools/b.ts --\nimport { h } from '../lib/h'\n"+file("h")+"\n-- lib/h.ts --\nexport const h = 'help'\n", nil)
	b.set.Gather(t.Context())
	if got := b.output("a", `{}`); got != "one" {
		t.Fatal(got)
	}
	added, changes := b.added, b.changes
	if changes != 1 {
		t.Errorf("%d changes", changes)
	}
	b.write("tools/a.ts", file(`"two"`))
	if got := b.output("a", `{}`); got != "two" {
		t.Error(got)
	}
	if b.added != added || b.changes != changes+1 {
		t.Errorf("registered %d anew, %d changes", b.added-added, b.changes-changes)
	}
	b.write("lib/h.ts", "export const h = 'other'\n")
	if got := b.output("b", `{}`); got != "other" {
		t.Error(got)
	}
	b.write("tools/a.ts", `export default { description: "new", args: {}, execute: () => 1 }`)
	b.set.Gather(t.Context())
	if a, _ := b.tool("a"); a.Spec().Description != "new" || b.added != added+1 {
		t.Error(a.Spec().Description, b.added-added)
	}
	b.write("tools/a.ts", "export default {")
	b.set.Gather(t.Context())
	if diff := cmp.Diff([]string{"b"}, b.names()); diff != "" || b.file("tools/a.ts").State != plugin.Failed {
		t.Error(diff, b.file("tools/a.ts"))
	}
	b.write("tools/a.ts", file(`"again"`))
	if got := b.output("a", `{}`); got != "again" {
		t.Error(got)
	}
	if err := os.Remove(filepath.Join(b.root, "tools", "a.ts")); err != nil {
		t.Fatal(err)
	}
	b.look()
	b.set.Need(t.Context(), "a")
	if diff := cmp.Diff([]string{"b"}, b.names()); diff != "" {
		t.Error(diff)
	}
	b.write("tools/c.ts", file(`"c"`))
	if got := b.output("c", `{}`); got != "c" {
		t.Error(got)
	}
}

// A call that is under way when its file changes ends with what it began with.
func TestReloadUnderWay(t *testing.T) {
	b := newBench(t, `
-- tools/slow.ts --
export default { description: "d", args: {}, async execute(args, ctx) {
  ctx.metadata({ title: "in" })
  await ctx.ask({ permission: "go", patterns: ["x"] })
  return "old"
} }
`, nil)
	in, goOn := make(chan struct{}), make(chan struct{})
	b.told = func(string) { close(in) }
	b.rule = ruleWaits(goOn)
	got := make(chan string)
	go func() {
		r, err := b.call(t.Context(), "slow", `{}`)
		if err != nil {
			got <- err.Error()
			return
		}
		got <- r.Output
	}()
	<-in
	b.write("tools/slow.ts", `export default { description: "d", args: {}, execute: () => "new" }`)
	if now := b.output("slow", `{}`); now != "new" {
		t.Error(now)
	}
	close(goOn)
	if old := <-got; old != "old" {
		t.Error(old)
	}
}

func TestTrust(t *testing.T) {
	var trusted atomic.Bool
	b := newBench(t, greet, func(b *bench, o *Options) {
		o.Folders[0].Trusted, o.Folders[0].Project = trusted.Load, true
	})
	b.set.Gather(t.Context())
	f := b.file("tools/greet.ts")
	if b.names() != nil || f.State != plugin.NotTrusted || f.Hash != "" || !strings.Contains(f.Problem, "is not trusted: look at it and run 'helve trust'") {
		t.Errorf("%v %+v", b.names(), f)
	}
	trusted.Store(true)
	b.look()
	if got := b.output("greet", `{"name":"x"}`); got != "Hello x from build" {
		t.Error(got)
	}
	trusted.Store(false)
	b.write("tools/greet.ts", "console.log('bad')")
	b.set.Gather(t.Context())
	f = b.file("tools/greet.ts")
	if b.names() != nil || f.State != plugin.NotTrusted || !strings.Contains(f.Problem, "has changed since it was trusted: look at it and run 'helve trust'") || len(b.lines) > 0 {
		t.Errorf("%v %+v %v", b.names(), f, b.lines)
	}
}

// A folder that changes while it is read is not run.
func TestTrustAfterBuild(t *testing.T) {
	var asked atomic.Int32
	b := newBench(t, "-- tools/x.js --\nconsole.log('ran')", func(b *bench, o *Options) {
		o.Folders[0].Trusted = func() bool { return asked.Add(1) <= 2 }
	})
	b.set.Gather(t.Context())
	if asked.Load() < 3 || len(b.lines) > 0 {
		t.Error(asked.Load(), b.lines)
	}
}

// Of two tools of one name the later folder's counts, and the other file says so.
func TestCollision(t *testing.T) {
	other := realTemp(t)
	plant(t, other, "-- tools/same.ts --\nexport default { description: 'theirs', args: {}, execute: () => 'later' }")
	b := newBench(t, "-- tools/same.ts --\nexport default { description: 'ours', args: {}, execute: () => 'earlier' }", func(b *bench, o *Options) {
		o.Folders = append(o.Folders, plugin.Folder{Path: other})
	})
	b.set.Gather(t.Context())
	if got := b.output("same", `{}`); got != "later" {
		t.Error(got)
	}
	if f := b.file("tools/same.ts"); !strings.Contains(f.Problem, "Its tool same is hidden by that of "+filepath.Join(other, "tools", "same.ts")) {
		t.Errorf("%+v", f)
	}
	if err := os.Remove(filepath.Join(other, "tools", "same.ts")); err != nil {
		t.Fatal(err)
	}
	b.look()
	if got := b.output("same", `{}`); got != "earlier" {
		t.Error(got)
	}
}

// A caller that gives up does not wait, and what it began is finished for others.
func TestGiveUp(t *testing.T) {
	b := newBench(t, greet, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	b.set.Gather(ctx)
	if got := b.output("greet", `{"name":"x"}`); got != "Hello x from build" {
		t.Error(got)
	}
}

func TestWatch(t *testing.T) {
	changed := make(chan struct{}, 100)
	b := newBench(t, "-- tools/w.ts --\nexport default { description: 'first', args: {}, execute: () => '' }", func(b *bench, o *Options) {
		o.Watch = time.Millisecond
		o.Changed = func() { changed <- struct{}{} }
	})
	b.set.Gather(t.Context())
	<-changed
	b.write("tools/w.ts", "export default { description: 'second', args: {}, execute: () => '' }")
	<-changed
	if w, _ := b.tool("w"); w.Spec().Description != "second" {
		t.Error(w.Spec().Description)
	}
}
