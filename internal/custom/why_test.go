package custom

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/plugin"
)

func TestWhy(t *testing.T) {
	other := realTemp(t)
	plant(t, other, "-- tools/secret.ts --\n"+toolA)
	b := newBench(t, `
-- tools/good.ts --
export default { description: "d", args: {}, execute: () => "" }
-- tools/broken.ts --
export default {
  args: {}
-- tools/named.ts --
export const other = { description: "d", args: {}, execute: () => "" }
-- tools/later.ts --
export default { description: "d", args: {}, execute: () => "" }
-- tools/bad.ts --
export default { description: "d", args: {}, execute: () => "" }
export const schema = { description: "d", args: { a: { type: "array", items: 7 } }, execute: () => "" }
-- tools/empty.ts --
export const help = () => 1
-- plugins/plug.ts --
export const P = () => ({ config: () => {} })
`, func(b *bench, o *Options) {
		o.Folders = append(o.Folders, plugin.Folder{Path: other, Trusted: func() bool { return false }})
		b.rule = func(permission.Request) error { return errors.New("no") }
	})
	if diff := cmp.Diff([]string{"bad", "broken", "empty", "good", "later", "named", "secret"}, b.set.Names()); diff != "" {
		t.Error(diff)
	}
	for _, name := range []string{"good", "broken", "named_other", "bad", "empty"} {
		b.set.Need(t.Context(), name)
	}
	if diff := cmp.Diff([]string{"bad", "good", "later", "named_other", "secret"}, b.set.Names()); diff != "" {
		t.Error(diff)
	}
	for name, want := range map[string]string{
		"good": "", "later": "", "nothing": "", "plug": "", "": "", "goo": "", "good_x": "",
		"broken":     "The file DIR/broken.ts would define it, but could not be loaded: DIR/broken.ts:3:1: ",
		"broken_x":   "The file DIR/broken.ts would define it, but could not be loaded: ",
		"named":      "The file DIR/named.ts is named like it, but defines named_other: only a default export has the name of the file.",
		"bad_schema": "The file DIR/bad.ts may define it, but something is wrong with it: Its tool bad_schema can not be used: ",
		"empty":      "The file DIR/empty.ts is named like it, but exports no tool",
		"secret":     "The file " + filepath.Join(other, "tools", "secret.ts") + " would define it, but " + other + " is not trusted: look at it and run 'helve trust'.",
	} {
		want = strings.ReplaceAll(want, "DIR/", filepath.Join(b.root, "tools")+string(filepath.Separator))
		if got := b.set.Why(name); (got == "") != (want == "") || !strings.HasPrefix(got, want) || strings.Contains(got, "\n") {
			t.Errorf("%s: %q, not %q", name, got, want)
		}
	}
}

// The tools of a plugin that could not be loaded are not known, so it is told of where nothing else
// explains that one is not there.
func TestWhyPlugin(t *testing.T) {
	b := newBench(t, `
-- plugins/plug.ts --
export const P = () => { throw new Error("no home") }
-- tools/broken.ts --
export default {
`, nil)
	b.set.Gather(t.Context())
	for name, want := range map[string]string{"search": "It may be a tool of the plugin plug, which could not be loaded: ", "broken": "The file "} {
		if got := b.set.Why(name); !strings.HasPrefix(got, want) || strings.Contains(got, "\n") {
			t.Errorf("%s: %q, not %q", name, got, want)
		}
	}
}

// Hooks that nobody calls are told of, and tools that take the place of others.
func TestProblemsOfReady(t *testing.T) {
	b := newBench(t, `
-- plugins/typo.ts --
export const P = () => ({ "tool.execute.befor": () => {}, config: () => {}, "session.created": () => {} })
-- plugins/nofunction.ts --
export const P = () => ({ "tool.execute.before": "a text" })
-- plugins/idle.ts --
export const P = (input) => ({ ...input, auth: { provider: "p", methods: [] }, "chat.headers": () => {}, config: () => {}, name: "idle" })
-- tools/read.ts --
export default { description: "d", args: {}, execute: () => "" }
-- tools/both.ts --
export default { description: "d", args: {}, execute: () => "" }
-- tools/hooks.ts --
export const P = () => ({ event: () => {} })
-- tools/helper.ts --
export const help = () => 1
`, func(b *bench, o *Options) {
		o.Builtin = func(name string) bool { return name == "read" }
		o.Entries = []plugin.Entry{{Spec: "./tools/both.ts", Base: b.root}, {Spec: "tools/hooks.ts", Base: b.root}}
	})
	for name, want := range map[string]string{"both": "but it is no plugin", "hooks": "", "helper": "It exports no tool"} {
		b.set.Gather(t.Context())
		f := b.file("tools/" + name + ".ts")
		if f.State != plugin.Ready || f.Problem != "" || !strings.Contains(strings.Join(f.Notes, " "), want) || len(f.Tools) != map[string]int{"both": 1}[name] || len(f.Hooks) != map[string]int{"hooks": 1}[name] {
			t.Errorf("%+v", f)
		}
	}
	b.set.Gather(t.Context())
	if f := b.file("plugins/typo.ts"); f.State != plugin.Ready || !strings.Contains(f.Problem, `there is no hook "tool.execute.befor", so nothing calls it: did you mean "tool.execute.before"?`) ||
		!strings.Contains(f.Problem, `there is no hook "session.created", so nothing calls it: take it out, or use "event" if it is the name of an event`) {
		t.Errorf("%+v", f)
	}
	if f := b.file("tools/read.ts"); f.Problem != "" || len(f.Notes) != 1 || f.Notes[0] != "Its tool read takes the place of the built-in one." {
		t.Errorf("%+v", f)
	}
	if f := b.file("plugins/idle.ts"); f.State != plugin.Ready || f.Problem != "" || len(f.Notes) != 3 || !strings.Contains(strings.Join(f.Notes, " "), "Its hook auth is called for a provider that the config has without a key") || !strings.Contains(strings.Join(f.Notes, " "), "does not call its hook chat.headers.") {
		t.Errorf("%+v", f)
	}
	if f := b.file("plugins/nofunction.ts"); f.State != plugin.Failed || !strings.Contains(f.Problem, "The hook tool.execute.before is a string, not a function") {
		t.Errorf("%+v", f)
	}
}
