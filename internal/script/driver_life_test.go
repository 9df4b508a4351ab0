package script_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/helve-dev/helve/internal/script"
	"github.com/rogpeppe/go-internal/txtar"
	"go.uber.org/goleak"
)

// folderOf writes files given as an archive and gives the folder.
func folderOf(t testing.TB, archive string) string {
	t.Helper()
	root, _ := plantConfig(t, txtar.Parse([]byte(archive)))
	return root
}

const hostModule = `const host = __helve.require("helve:host")` + "\n"

// What plugins wait for when they are started, or when they are told of an event, goes on after
// that.
func TestDriverGoesOn(t *testing.T) {
	h := &recorder{}
	d := newDriver(t, folderOf(t, `
-- plugins/a.ts --
`+hostModule+`
export const A = async ({ client }) => {
  const ready = host.timer(1).then(() => "ready")
  return {
    "shell.env": async (_, output) => { output.env.A = await ready },
    event: async ({ event }) => {
      await host.timer(1)
      await client.app.log({ body: event })
    },
  }
}
`), h)
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := d.Plugins(ctx, script.PluginInput{}); err != nil {
		t.Fatal(err)
	}
	told := make(chan struct{})
	h.onAsk = func(op string) {
		if op == "client" {
			close(told)
		}
	}
	if err := d.Event(ctx, json.RawMessage(`{"type":"x"}`)); err != nil {
		t.Fatal(err)
	}
	cancel()
	<-told
	r, err := d.Hook(t.Context(), "shell.env", nil, json.RawMessage(`{"env":{}}`))
	if err != nil || len(r.Runs) != 1 || r.Runs[0].Error != nil {
		t.Fatalf("%v %+v", err, r.Runs)
	}
	if diff := cmp.Diff(`{"env":{"A":"ready"}}`, string(r.Output)); diff != "" {
		t.Error(diff)
	}
}

// Several calls may be under way; each has the answers that are its own.
func TestDriverAtOnce(t *testing.T) {
	h := &recorder{}
	d := newDriver(t, folderOf(t, `
-- tools/a.ts --
`+hostModule+`
export default {
  description: "waits", args: {},
  async execute({ n }, ctx) {
    await ctx.ask({ permission: "x", patterns: [String(n)] })
    await host.timer(n % 3)
    return { title: ctx.callID, output: "x".repeat(n * 100) }
  },
}
`), h)
	var group sync.WaitGroup
	for n := range 40 {
		group.Go(func() {
			id := fmt.Sprint("call_", n)
			got, err := d.Execute(t.Context(), script.ToolCall{
				File: "tools/a.ts", Export: "default", Args: fmt.Appendf(nil, `{"n":%d}`, n), Context: script.ToolContext{CallID: id},
			})
			if err != nil || got.Title != id || len(got.Output) != n*100 {
				t.Errorf("%s: %v, title %s, %d bytes", id, err, got.Title, len(got.Output))
			}
		})
	}
	group.Wait()
}

// The stack of a fault names the files it went through and nothing of what runs them.
func TestFaultStack(t *testing.T) {
	root := folderOf(t, `
-- tools/a.ts --
import { check } from "../lib/check"
type Args = { list: number[] }
export default {
  description: "", args: {},
  async execute(args: Args) {
    await null
    return args.list.map((n) => check(n))
  },
}
-- lib/check.ts --
export class TooSmallError extends Error {}

export function check(n: number): number {
  if (n < 1) throw new TooSmallError("too small", { cause: n })
  return n
}
`)
	d := newDriver(t, root, &recorder{})
	_, err := d.Execute(t.Context(), script.ToolCall{File: "tools/a.ts", Export: "default", Args: json.RawMessage(`{"list":[1,0]}`)})
	fault, ok := errors.AsType[*script.Fault](err)
	if !ok {
		t.Fatal(err)
	}
	want := `    at TooSmallError (lib/check.ts:1:43)
    at check (lib/check.ts:4:24)
    at <anonymous> (tools/a.ts:7:33)
    at map (native)
    at execute (tools/a.ts:7:22)`
	if diff := cmp.Diff(want, strings.ReplaceAll(fault.Stack, root+"/", "")); diff != "" {
		t.Error(diff)
	}
	if fault.Line != 4 || !strings.HasSuffix(fault.File, "lib/check.ts") {
		t.Errorf("placed at %s:%d:%d", fault.File, fault.Line, fault.Column)
	}
}

// An engine that is new runs the one file a call needs, and no other.
func TestExecuteLoads(t *testing.T) {
	h := &recorder{}
	d := newDriver(t, folderOf(t, `
-- tools/a.ts --
export default { description: "a", args: {}, execute: async () => "a" }
-- tools/b.ts --
`+hostModule+`
host.now("log", { text: "b was run" })
export default { description: "b", args: {}, execute: async () => "b" }
`), h)
	got, err := d.Execute(t.Context(), script.ToolCall{File: "tools/a.ts", Export: "default"})
	if err != nil || got.Output != "a" {
		t.Error(got, err)
	}
	if asked := h.take(); len(asked) != 0 {
		t.Errorf("asked %q", asked)
	}
}

func TestPluginOptions(t *testing.T) {
	d := newDriver(t, folderOf(t, `
-- plugins/a.ts --
export const A = async (_, options) => ({ "shell.env": async (_, o) => { o.env.A = String(options?.key) } })
-- plugins/b.ts --
export default { id: "b", server: async (_, options) => ({ "shell.env": async (_, o) => { o.env.B = String(options?.key) } }) }
-- plugins/c.ts --
throw new Error("not to be run")
`), &recorder{})
	told, err := d.Plugins(t.Context(), script.PluginInput{},
		script.PluginEntry{File: "plugins/b.ts", Options: json.RawMessage(`{"key":"v"}`)}, script.PluginEntry{File: "plugins/a.ts"})
	if err != nil || len(told) != 2 || told[0].Error != nil || told[1].Error != nil {
		t.Fatal(told, err)
	}
	r, err := d.Hook(t.Context(), "shell.env", nil, json.RawMessage(`{"env":{}}`))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(`{"env":{"B":"v","A":"undefined"}}`, string(r.Output)); diff != "" {
		t.Error(diff)
	}
}

func TestDriverRefuses(t *testing.T) {
	d := newDriver(t, folderOf(t, "-- plugins/a.ts --\nexport const A = () => ({ event() {}, config() {} })\n-- tools/a.ts --\nexport default 1\n"), &recorder{})
	if _, err := d.Plugins(t.Context(), script.PluginInput{}); err != nil {
		t.Fatal(err)
	}
	bad := json.RawMessage(`{"a":`)
	for name, try := range map[string]func() error{
		"execute": func() error {
			_, err := d.Execute(t.Context(), script.ToolCall{File: "tools/a.ts", Export: "default", Args: bad})
			return err
		},
		"hook":  func() error { _, err := d.Hook(t.Context(), "config", bad, nil); return err },
		"event": func() error { return d.Event(t.Context(), bad) },
	} {
		if err := try(); err == nil || !strings.Contains(err.Error(), "argument") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Nothing is left running when an engine is closed with a call under way.
func TestDriverLeavesNothing(t *testing.T) {
	before := goleak.IgnoreCurrent()
	t.Run("calls", func(t *testing.T) {
		h := &recorder{}
		begun := make(chan struct{})
		h.onAsk = func(string) { close(begun) }
		d := newDriver(t, folderOf(t, "-- tools/a.ts --\nexport default { description: '', execute: (_, c) => { c.abort; c.metadata({}); return new Promise(() => {}) } }\n"), h)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() {
			_, err := d.Execute(ctx, script.ToolCall{File: "tools/a.ts", Export: "default"})
			done <- err
		}()
		<-begun
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	goleak.VerifyNone(t, before)
}

// Arguments that are nested very deeply may be refused, but do the engine no harm.
func TestExecuteDeep(t *testing.T) {
	d := newDriver(t, folderOf(t, "-- tools/a.ts --\nexport default { description: '', args: { a: {} }, execute: async (a) => JSON.stringify(a) }\n"), &recorder{})
	call := script.ToolCall{File: "tools/a.ts", Export: "default"}
	for _, depth := range []int{100, 1000, 9_000, 200_000} {
		text := strings.Repeat("[", depth) + strings.Repeat("]", depth)
		call.Args = json.RawMessage(text)
		got, err := d.Execute(t.Context(), call)
		if err == nil && got.Output != text {
			t.Errorf("depth %d came back with %d bytes", depth, len(got.Output))
		}
		if err != nil && depth <= 1000 {
			t.Errorf("depth %d: %v", depth, err)
		}
	}
	call.Args = json.RawMessage("[1]")
	if got, err := d.Execute(t.Context(), call); err != nil || got.Output != "[1]" {
		t.Error(got, err)
	}
}

// With all globals in place a tool has what the engine alone does not give.
func TestDriverWithGlobals(t *testing.T) {
	w := newWorld(t)
	w.add(map[string]operation{
		"meta": op(func(any) (any, error) { return nil, nil }),
	})
	d := driverAfter(t, folderOf(t, `
-- tools/a.ts --
import { tool } from "@opencode-ai/plugin"
export default tool({
  description: "uses globals",
  args: { ms: tool.schema.number() },
  async execute({ ms }, ctx) {
    const both = AbortSignal.any([ctx.abort, AbortSignal.timeout(60000)])
    const stopped = new Promise((resolve) => both.addEventListener("abort", () => resolve("stopped")))
    const slept = new Promise((resolve) => setTimeout(() => resolve("slept"), ms))
    return [await Promise.race([stopped, slept]), ctx.abort instanceof AbortSignal, Buffer.from("aGk=", "base64").toString()].join(" ")
  },
})
-- plugins/p.ts --
export const P = async ({ $, serverUrl }) => ({
  "shell.env": async (_, output) => {
    output.env.URL = serverUrl.origin
    output.env.ESCAPED = $.escape("a b")
  },
})
`), w, script.Prelude())
	got, err := d.Execute(t.Context(), script.ToolCall{File: "tools/a.ts", Export: "default", Args: json.RawMessage(`{"ms":1}`)})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("slept true hi", got.Output); diff != "" {
		t.Error(diff)
	}
	if _, err := d.Plugins(t.Context(), script.PluginInput{ServerURL: "http://127.0.0.1:1234/x"}); err != nil {
		t.Fatal(err)
	}
	r, err := d.Hook(t.Context(), "shell.env", nil, json.RawMessage(`{"env":{}}`))
	if err != nil || len(r.Runs) != 1 || r.Runs[0].Error != nil {
		t.Fatalf("%v %+v", err, r.Runs)
	}
	if diff := cmp.Diff(`{"env":{"URL":"http://127.0.0.1:1234","ESCAPED":"\"a b\""}}`, string(r.Output)); diff != "" {
		t.Error(diff)
	}
}
