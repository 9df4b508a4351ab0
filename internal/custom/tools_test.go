package custom

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

func TestToolErrors(t *testing.T) {
	b := newBench(t, `
-- tools/bad.ts --
export default { description: "Throws", args: {}, execute() {
  throw new Error("No such thing: 42")
} }
export const text = { description: "Throws a text", args: {}, async execute() { throw "just text" } }
export const exit = { description: "Exits", args: {}, async execute() { process.exit(3) } }
export const loop = { description: "Loops", args: {}, execute() { for (;;); } }
export const memory = { description: "Eats", args: {}, execute() { const all = []; for (;;) all.push(new Uint8Array(1 << 20).fill(1)) } }
export const piece = { description: "Eats at once", args: {}, execute: () => "q".repeat(100 << 20) }
export const nothing = { description: "Throws null", args: {}, execute() { throw null } }
export const shell = { description: "Fails", args: {}, execute() {
  throw Object.assign(new Error("Failed with exit code 1"), { exitCode: 1, stderr: Buffer.from("ls: no such folder\n"), stdout: Buffer.from("out") })
} }
export const printed = { description: "Fails", args: {}, execute() {
  throw Object.assign(new Error("Failed with exit code 2"), { exitCode: 2, stderr: Buffer.alloc(0), stdout: Buffer.alloc(9000, 120) })
} }
export const cause = { description: "Fails", args: {}, execute() {
  throw new Error("outer: said", { cause: new Error("said", { cause: new TypeError("inner", { cause: "deep" }) }) })
} }
export const fine = { description: "Works", args: {}, execute: () => "fine" }
`, func(_ *bench, o *Options) { o.Memory = 32 << 20; o.LoadTimeout = 6 * time.Second })
	for _, c := range []struct{ name, text, code, hint string }{
		{"bad", "No such thing: 42", "script-error", "It was thrown at " + filepath.Join(b.root, "tools", "bad.ts") + ":2:"},
		{"bad_text", "just text", "script-error", ""},
		{"bad_exit", "The tool bad_exit ended by process.exit(3) instead of returning a result.", "script-exit", "bad.ts:5:"},
		{"bad_loop", "The tool bad_loop ran for 3s without waiting for anything", "script-endless", ""},
		{"bad_memory", "The tool bad_memory used more than 32 MiB of memory and was stopped.", "script-memory", ""},
		{"bad_piece", "The tool bad_piece used more than 32 MiB of memory and was stopped.", "script-memory", ""},
		{"bad_nothing", "The script threw null, which says nothing. If it has no such throw, ", "script-error", ""},
		{"bad_shell", "Failed with exit code 1\nls: no such folder$", "script-error", "bad.ts:11:"},
		{"bad_printed", "Failed with exit code 2\n" + strings.Repeat("x", 2048) + "$", "script-error", ""},
		{"bad_cause", "outer: said\nCaused by TypeError: inner\nCaused by deep$", "script-error", ""},
	} {
		_, err := b.call(t.Context(), c.name, `{}`)
		e, ok := errors.AsType[*tool.Error](err)
		if !ok || !strings.HasPrefix(e.Error()+"$", c.text) || e.Code != c.code || !strings.Contains(e.Hint, c.hint) || e.Kind != tool.Failed || e.Tool != c.name {
			t.Errorf("%s: %#v", c.name, err)
		}
		if got := b.output("bad_fine", `{}`); got != "fine" {
			t.Errorf("after %s: %s", c.name, got)
		}
	}
}

func TestToolAsks(t *testing.T) {
	b := newBench(t, greet, nil)
	no := &tool.Error{Kind: tool.Rejected, Code: "rejected", Err: errors.New("The user said no.")}
	b.rule = func(permission.Request) error { return no }
	_, err := b.call(t.Context(), "greet", `{"name":"x"}`)
	if !errors.Is(err, no) {
		t.Error(err)
	}
	want := []permission.Request{{Permission: "greet", Patterns: []string{"*"}, Always: []string{"*"}, Metadata: map[string]any{"file": filepath.Join(b.root, "tools", "greet.ts")}}}
	if diff := cmp.Diff(want, b.asked); diff != "" {
		t.Error(diff)
	}
}

// A refusal that a script does not catch is that of the call; one that it makes something else of
// is its own.
func TestRefusalKeepsItsKind(t *testing.T) {
	b := newBench(t, `
-- tools/x.ts --
export default { description: "Asks", args: {}, async execute(args, ctx) {
  await ctx.ask({ permission: "deploy", patterns: ["prod"], always: [], metadata: {} })
  return "deployed"
} }
export const other = { description: "Asks", args: {}, async execute(args, ctx) {
  try { await ctx.ask({ permission: "deploy", patterns: ["prod"], always: [], metadata: {} }) } catch { throw new Error("other") }
} }
`, nil)
	no := &tool.Error{Kind: tool.Denied, Code: "denied", Err: errors.New("A rule denies deploy.")}
	b.rule = func(r permission.Request) error {
		if r.Permission == "deploy" {
			return no
		}
		return nil
	}
	if _, err := b.call(t.Context(), "x", `{}`); tool.KindOf(err) != tool.Denied || err.Error() != "A rule denies deploy." {
		t.Errorf("%v %v", tool.KindOf(err), err)
	}
	if _, err := b.call(t.Context(), "x_other", `{}`); tool.KindOf(err) != tool.Failed || err.Error() != "other" {
		t.Errorf("%v %v", tool.KindOf(err), err)
	}
}

func TestCancel(t *testing.T) {
	b := newBench(t, `
-- tools/wait.ts --
export default { description: "Waits", args: {}, async execute(args, ctx) {
  ctx.metadata({ title: "waiting" })
  await new Promise((done) => ctx.abort.addEventListener("abort", done))
  return "never seen"
} }
export const ever = { description: "Never ends", args: {}, async execute(args, ctx) {
  ctx.metadata({ title: "waiting" })
  await new Promise(() => {})
} }
`, nil)
	stop := errors.New("enough")
	for _, name := range []string{"wait", "wait_ever"} {
		ctx, cancel := context.WithCancelCause(t.Context())
		b.told = func(string) { cancel(stop) }
		if _, err := b.call(ctx, name, `{}`); !errors.Is(err, stop) {
			t.Errorf("%s: %v", name, err)
		}
		cancel(nil)
	}
}

// The calls of one session are under way at once; those of another wait for them.
func TestAtOnce(t *testing.T) {
	b := newBench(t, `
-- tools/meet.ts --
let waiting
export default { description: "Two meet", args: {}, async execute() {
  if (!waiting) { await new Promise((done) => { waiting = done }); return "first" }
  const other = waiting
  waiting = undefined
  other()
  return "second"
} }
`, nil)
	b.set.Gather(t.Context())
	got := make(chan string, 2)
	for range 2 {
		go func() {
			r, err := b.call(t.Context(), "meet", `{}`)
			if err != nil {
				got <- err.Error()
				return
			}
			got <- r.Output
		}()
	}
	if diff := cmp.Diff([]string{"first", "second"}, sorted([]string{<-got, <-got})); diff != "" {
		t.Error(diff)
	}
}

func TestResults(t *testing.T) {
	b := newBench(t, `
-- tools/r.ts --
export const text = { description: "d", args: {}, execute: () => "text" }
export const none = { description: "d", args: {}, execute: () => undefined }
export const object = { description: "d", args: {}, execute: () => ({ a: [1] }) }
export const full = { description: "d", args: {}, execute: () => ({ title: "T", output: "O", metadata: { n: 1 },
  attachments: [{ type: "file", mime: "text/plain", url: "data:text/plain;base64,aGk=", filename: "hi.txt", id: "mine" }, { junk: 1 },
    { mime: "image/png", url: "data:image/png;base64,!!" }, { mime: "image/png", url: "data:image/png;base64" }, { mime: "text/plain", url: "data:,hi" }, 5] }) }
export const odd = { description: "d", args: {}, execute: () => ({ title: "one\ntwo " + "é".repeat(500), output: 5, metadata: [1], attachments: "x" }) }
export const deep = { description: "d", args: {}, execute() { const m = {}; m.m = m; return { output: "O", metadata: m } } }
`, nil)
	for name, want := range map[string]*tool.Result{
		"r_text":   {Output: "text", Metadata: map[string]any{}},
		"r_none":   {Output: "", Metadata: map[string]any{}},
		"r_object": {Output: `{"a":[1]}`, Metadata: map[string]any{}},
		"r_full": {Title: "T", Output: "O", Metadata: map[string]any{"n": 1.0},
			Attachments: []tool.Attachment{{Type: "file", Mime: "text/plain", URL: "data:text/plain;base64,aGk=", Filename: "hi.txt"}, {Type: "file", Mime: "text/plain", URL: "data:,hi"}}},
		"r_odd":  {Title: "one two " + strings.Repeat("é", 96) + "…", Output: "5", Metadata: map[string]any{}},
		"r_deep": {Output: "O", Metadata: map[string]any{}},
	} {
		got, err := b.call(t.Context(), name, `{}`)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// Models are told of defaults, but tools get what the model gave.
func TestDefaultsAreShown(t *testing.T) {
	b := newBench(t, greet, nil)
	b.set.Gather(t.Context())
	loud, _ := b.tool("greet_loud")
	p := loud.Spec().Schema.Properties["name"]
	if string(p.Default) != `"all"` || p.Description != "" {
		t.Errorf("%+v", p)
	}
	c := &tool.Call{Tool: "greet_loud", Input: json.RawMessage(`{}`)}
	if _, err := loud.Check(c, false); err != nil || string(c.Input) != `{}` {
		t.Errorf("%s, %v", c.Input, err)
	}
}
