package custom

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helve-dev/helve/internal/plugins"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/plugin"
	"github.com/helve-dev/helve/tool"
)

func (b *bench) hook(name, input, output string) plugins.Hooked {
	b.t.Helper()
	c := &tool.Call{ID: "call_1", Session: "ses_1", Agent: "build", Dir: b.root, Host: b}
	done, err := b.set.Hook(b.t.Context(), c, name, json.RawMessage(input), json.RawMessage(output))
	if err != nil {
		b.t.Fatal(err)
	}
	return done
}

func TestHooks(t *testing.T) {
	other := realTemp(t)
	plant(t, other, `
-- plugins/c.ts --
export const C = async ({ directory }, options) => ({
  "tool.execute.before": async (input, output) => { output.args.c = [input.tool, directory] },
  "tool.execute.after": async (input, output) => { throw new Error("c") },
  config: async (config) => { config.c = true },
})
`)
	b := newBench(t, `
-- plugins/a.ts --
export const A = async () => ({
  "tool.execute.before": async (input, output) => { output.args.a = 1; if (input.tool === "stop") throw new Error("not that") },
  "tool.execute.after": async (input, output) => { output.output += "!" },
})
-- plugin/b.js --
export default async (input, options) => ({
  "tool.execute.before": (input, output) => { output.args.b = options?.x },
  config: (config) => { config.b = config.given + 1 },
  tool: { fromplugin: { description: "d", args: {}, execute: () => "of a plugin" } },
})
`, func(b *bench, o *Options) {
		o.Folders = append(o.Folders, plugin.Folder{Path: other})
		o.Entries = []plugin.Entry{{Spec: "./plugin/b.js", Base: b.root, Options: json.RawMessage(`{"x":"opt"}`)}}
	})
	if b.set.Has("tool.execute.before") {
		t.Error("something was loaded before it was needed")
	}
	b.set.Need(t.Context(), "read")
	for hook, want := range map[string]bool{"tool.execute.before": true, "config": true, "event": false, "chat.message": false} {
		if got := b.set.Has(hook); got != want {
			t.Errorf("%s: %v", hook, got)
		}
	}
	got := b.hook("tool.execute.before", `{"tool":"read"}`, `{"args":{}}`)
	if want := `{"args":{"b":"opt","a":1,"c":["read",` + string(must(json.Marshal(b.root))) + `]}}`; string(got.Output) != want {
		t.Errorf("%s, not %s", got.Output, want)
	}
	var names []string
	for _, r := range got.Runs {
		names = append(names, r.Name+" "+r.Source)
	}
	if diff := cmp.Diff([]string{"b " + filepath.Join(b.root, "plugin", "b.js"), "a " + filepath.Join(b.root, "plugins", "a.ts"), "c " + filepath.Join(other, "plugins", "c.ts")}, names); diff != "" {
		t.Error(diff)
	}
	got = b.hook("tool.execute.before", `{"tool":"stop"}`, `{"args":{}}`)
	if last := got.Runs[len(got.Runs)-1]; len(got.Runs) != 2 || last.Thrown == "" || last.Error.Error() != "Error: not that" {
		t.Errorf("%+v", got.Runs)
	}
	got = b.hook("tool.execute.after", `{"tool":"read"}`, `{"output":"x"}`)
	if string(got.Output) != `{"output":"x!"}` || got.Runs[0].Error != nil || got.Runs[1].Thrown == "" {
		t.Errorf("%s %+v", got.Output, got.Runs)
	}
	if got = b.hook("config", `{"given":1}`, ``); string(got.Output) != `{"given":1,"b":2,"c":true}` {
		t.Errorf("%s", got.Output)
	}
	if got = b.hook("chat.message", `{}`, `{"same":1}`); string(got.Output) != `{"same":1}` || got.Runs != nil {
		t.Errorf("%s %+v", got.Output, got.Runs)
	}
	if got := b.output("fromplugin", `{}`); got != "of a plugin" {
		t.Error(got)
	}
	if f := b.file("plugins/a.ts"); !slices.Equal(f.Hooks, []string{"tool.execute.after", "tool.execute.before"}) || f.Kind != "plugin" {
		t.Errorf("%+v", f)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Hooks that do not end are errors of their runs, and the next folder's run all the same.
func TestHooksLate(t *testing.T) {
	other := realTemp(t)
	plant(t, other, "-- plugins/fine.ts --\nexport const F = () => ({ 'tool.execute.before': (i, o) => { o.args.fine = 1 } })")
	b := newBench(t, `
-- plugins/late.ts --
export const L = () => ({ "tool.execute.before": async (i, o) => {
  if (i.tool === "wait") await new Promise(() => {})
  if (i.tool === "loop") for (;;);
  if (i.tool === "bad") o.args.self = o
} })
-- tools/x.ts --
export default { description: "d", args: {}, execute: () => "x" }
`, func(b *bench, o *Options) {
		o.HookTimeout, o.LoadTimeout = time.Second, time.Minute
		o.Folders = append(o.Folders, plugin.Folder{Path: other})
	})
	b.set.Gather(t.Context())
	for _, what := range []string{"wait", "loop", "bad", "nothing"} {
		got := b.hook("tool.execute.before", `{"tool":"`+what+`"}`, `{"args":{}}`)
		if len(got.Runs) != 2 || got.Runs[0].Name != "late" || got.Runs[0].Thrown != "" || (got.Runs[0].Error == nil) != (what == "nothing") || got.Runs[1].Error != nil {
			t.Errorf("%s: %+v", what, got.Runs)
		}
		if string(got.Output) != `{"args":{"fine":1}}` {
			t.Errorf("%s: %s", what, got.Output)
		}
	}
	if got := b.output("x", `{}`); got != "x" {
		t.Error(got)
	}
}

// A hook that eats all it may have is told so, and the engine's tools still answer.
// It has time enough: which of two limits ends it must not hang on the machine.
func TestHooksEat(t *testing.T) {
	b := newBench(t, `
-- plugins/eat.ts --
export const E = () => ({ "tool.execute.before": () => { const all = []; for (;;) all.push(new Uint8Array(1 << 20).fill(1)) } })
-- tools/x.ts --
export default { description: "d", args: {}, execute: () => "x" }
`, func(b *bench, o *Options) { o.HookTimeout, o.Memory = time.Minute, 32<<20 })
	b.set.Gather(t.Context())
	if got := b.hook("tool.execute.before", `{"tool":"x"}`, `{"args":{}}`); got.Runs[0].Error == nil || !strings.Contains(got.Runs[0].Error.Error(), "memory") {
		t.Errorf("%+v", got.Runs)
	}
	if got := b.output("x", `{}`); got != "x" {
		t.Error(got)
	}
}

// A hook does not wait for the long call of another session for ever.
func TestHookBesideLongCall(t *testing.T) {
	b := newBench(t, `
-- tools/slow.ts --
export default { description: "d", args: {}, async execute(args, ctx) {
  ctx.metadata({ title: "in" })
  await ctx.ask({ permission: "go", patterns: ["x"] })
  return "done"
} }
-- plugins/p.ts --
export const P = () => ({ "tool.execute.before": (i, o) => { o.args.seen = true } })
`, nil)
	b.set.Gather(t.Context())
	in, goOn, done := make(chan struct{}), make(chan struct{}), make(chan string)
	b.told = func(string) { close(in) }
	b.rule = ruleWaits(goOn)
	go func() {
		r, err := b.callAs(t.Context(), &tool.Call{ID: "c", Session: "another", Agent: "plan", Tool: "slow", Input: json.RawMessage("{}")})
		if err != nil {
			done <- err.Error()
			return
		}
		done <- r.Output
	}()
	<-in
	if got := b.hook("tool.execute.before", `{"tool":"read"}`, `{"args":{}}`); string(got.Output) != `{"args":{"seen":true}}` {
		t.Errorf("%s %+v", got.Output, got.Runs)
	}
	close(goOn)
	if got := <-done; got != "done" {
		t.Error(got)
	}
}

// Plugins that ruin the engine when they start lose only themselves.
func TestPluginsAlone(t *testing.T) {
	b := newBench(t, `
-- plugins/a.ts --
export const A = () => ({ event: () => {} })
-- plugins/forever.ts --
export const F = () => { for (;;); }
-- plugins/never.ts --
export const N = () => new Promise(() => {})
-- plugins/throws.ts --
export const first = () => ({ "chat.message": () => {} })
export const second = () => { throw new Error("second") }
-- plugins/z.ts --
export const Z = () => ({ config: () => {} })
-- tools/x.ts --
export default { description: "d", args: {}, execute: () => "x" }
`, func(_ *bench, o *Options) { o.LoadTimeout = 3 * time.Second })
	b.set.Gather(t.Context())
	for name, want := range map[string]string{"a": "", "forever": "without waiting", "never": "was not loaded within", "throws": "throws.ts:2:41: Error: second", "z": ""} {
		f := b.file("plugins/" + name + ".ts")
		if (f.State == plugin.Ready) != (want == "") || !strings.Contains(f.Problem, want) {
			t.Errorf("%s: %+v", name, f)
		}
	}
	for _, hook := range []string{"event", "chat.message", "config"} {
		if !b.set.Has(hook) {
			t.Error(hook)
		}
	}
	if got := b.output("x", `{}`); got != "x" {
		t.Error(got)
	}
}

func TestEvents(t *testing.T) {
	lines := make(chan string, 100)
	b := newBench(t, `
-- plugins/e.ts --
export const E = () => ({ event: async ({ event }) => {
  if (event.type === "bad") throw new Error("bad event")
  console.log(event.type + " " + JSON.stringify(event.properties))
}, dispose: () => { console.log("disposed") } })
`, func(b *bench, o *Options) { o.Tell = func(_, _, text string) { lines <- text } })
	b.set.Event("early", nil)
	b.set.Event("next", json.RawMessage(`{"n":1}`))
	if u := b.set.units[0]; u.build != nil {
		t.Error("an event loaded a plugin")
	}
	b.set.Need(t.Context(), "read")
	b.set.Event("bad", nil)
	b.set.Event("last", json.RawMessage(`{"n":2}`))
	for _, want := range []string{"early {}", `next {"n":1}`, "plugins/e.ts: event bad: Error: bad event", `last {"n":2}`} {
		if got := <-lines; got != want {
			t.Errorf("%s, not %s", got, want)
		}
	}
	b.write("plugins/e.ts", "export const E = () => ({})")
	b.set.Need(t.Context(), "read")
	if got := <-lines; got != "disposed" {
		t.Error(got)
	}
}

// Events never make who publishes wait, and too many are not kept.
func TestEventsBounded(t *testing.T) {
	b := newBench(t, "-- plugins/e.ts --\nexport const E = () => ({ event: () => {} })", nil)
	for range 3 * maxEvents {
		b.set.Event("x", nil)
	}
	m := b.set.events
	m.mu.Lock()
	n := len(m.queue)
	m.mu.Unlock()
	if n != maxEvents {
		t.Error(n)
	}
}

func TestConfigPlugins(t *testing.T) {
	b := newBench(t, `
-- sub/opencode.json --
{}
-- node_modules/@scope/pkg/package.json --
{"name": "@scope/pkg", "main": "main.js", "type": "module"}
-- node_modules/@scope/pkg/main.js --
import { help } from "helper"
export const P = async (input, options) => ({ config: (c) => { c.scoped = [help, options.o] } })
-- node_modules/helper/index.js --
exports.help = "helped"
-- node_modules/far/package.json --
{"name": "far", "exports": {".": {"import": "./dist/index.js"}}}
-- node_modules/far/dist/index.js --
export default { id: "far", server: async () => ({ config: (c) => { c.far = true } }) }
-- sub/local.ts --
export const L = () => ({ config: (c) => { c.local = true } })
-- lib/inner.ts --
export const I = () => ({ config: (c) => { c.inner = true } })
`, func(b *bench, o *Options) {
		base := filepath.Join(b.root, "sub")
		o.Folders = []plugin.Folder{{Path: filepath.Join(b.root, "lib")}}
		o.Entries = []plugin.Entry{
			{Spec: "@scope/pkg@1.2.3", Base: base, Options: json.RawMessage(`{"o":7}`)},
			{Spec: "./local.ts", Base: base},
			{Spec: "file://" + filepath.ToSlash(filepath.Join(b.root, "lib", "inner.ts")), Base: base},
			{Spec: "far", Base: base},
			{Spec: "absent@latest", Base: base},
			{Spec: "./absent.ts", Base: base},
			{Spec: "../../../../../etc/../x", Base: base},
			{Spec: "opencode-copilot-auth@0.0.9", Base: base},
		}
	})
	b.set.Gather(t.Context())
	if got := b.hook("config", `{}`, ``); string(got.Output) != `{"scoped":["helped",7],"local":true,"far":true,"inner":true}` {
		t.Errorf("%s %+v", got.Output, got.Runs)
	}
	var bad []string
	told := false
	for _, f := range b.set.Status() {
		switch {
		case f.Name == "opencode-copilot-auth":
			told = f.State == plugin.NotLoaded && len(f.Notes) == 1 && strings.HasPrefix(f.Notes[0], "It only signs in")
		case f.State != plugin.Ready:
			bad = append(bad, f.Name+": "+f.Problem)
		}
	}
	if len(bad) != 3 || bad[0] != "absent: the plugin absent@latest is not installed, and helve installs nothing by itself. Install it: run 'npm install absent@latest' or 'bun add absent@latest' in "+filepath.Join(b.root, "sub") ||
		!strings.Contains(bad[1], "there is no such file, but the config lists it") {
		t.Errorf("%q", bad)
	}
	if !told {
		t.Error("nothing is told of a plugin that is not loaded on purpose")
	}
	plant(t, b.root, "-- node_modules/absent/index.js --\nexport const A = () => ({ event: () => {} })")
	b.look()
	b.set.Need(t.Context(), "read")
	if !b.set.Has("event") {
		t.Errorf("a package that was installed is not seen: %+v", b.set.Status())
	}
}

// The hooks of a call that ends stop with it.
func TestHookCancelled(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("enough")
	b := newBench(t, "-- plugins/p.ts --\nexport const P = () => ({ config: async () => { console.log('in'); await new Promise(() => {}) } })", func(_ *bench, o *Options) {
		o.Tell = func(_, _, _ string) { cancel(stop) }
	})
	b.set.Need(t.Context(), "x")
	if _, err := b.set.Hook(ctx, nil, "config", json.RawMessage(`{}`), nil); !errors.Is(err, stop) {
		t.Error(err)
	}
}

// A plugin that asks the runtime for something while it starts, which brings tools again, does not
// wait for itself.
func TestAskWhileLoading(t *testing.T) {
	b := newBench(t, `
-- plugins/p.ts --
export const P = async ({ client }) => { const { data } = await client.tool.ids(); return { config: (c) => { c.ids = data } } }
-- tools/x.ts --
export default { description: "d", args: {}, execute: () => "x" }
`, func(b *bench, o *Options) {
		o.Services.Client = func(ctx context.Context, _ *tool.Call, _ string, _ json.RawMessage) (json.RawMessage, error) {
			b.set.Gather(ctx)
			return json.RawMessage(`{"data":["x"]}`), nil
		}
	})
	b.set.Gather(t.Context())
	if got := b.hook("config", `{}`, ``); string(got.Output) != `{"ids":["x"]}` {
		t.Errorf("%s %+v %+v", got.Output, got.Runs, b.set.Status())
	}
}

// A plugin that answers for permissions is asked on behalf of a tool of its own folder.
func TestHookInside(t *testing.T) {
	b := newBench(t, `
-- plugins/p.ts --
export const P = () => ({ "permission.ask": async (input, output) => { output.status = "deny" } })
-- tools/x.ts --
export default { description: "d", args: {}, async execute(args, ctx) {
  try { await ctx.ask({ permission: "deploy", patterns: ["x"] }); return "allowed" } catch (e) { return e.message }
} }
`, nil)
	b.ask = func(ctx context.Context, c *tool.Call, req permission.Request) error {
		if req.Permission != "deploy" {
			return nil
		}
		done, err := b.set.Hook(ctx, c, "permission.ask", json.RawMessage(`{}`), json.RawMessage(`{"status":"ask"}`))
		if err != nil {
			return err
		}
		return errors.New(string(done.Output))
	}
	if got := b.output("x", `{}`); got != `{"status":"deny"}` {
		t.Error(got)
	}
}
