//go:build unix

package custom

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/helve-dev/helve/internal/script"
)

const greeter = `
import { tool } from "@opencode-ai/plugin"
import { join } from "node:path"
import { count } from "../lib/shared"
export default tool({
  description: "Greets.",
  args: { name: tool.schema.string().describe("who"), times: tool.schema.number().int().optional().default(1) },
  async execute(args, context) {
    context.metadata({ title: "greeting", metadata: { name: args.name } })
    console.log("printed by", args.name)
    return { title: "t", output: "hello " + JSON.stringify(args) + " " + count(), metadata: { session: context.sessionID }, attachments: [{ type: "file" }] }
  },
})
export const where = tool({ description: "Where.", args: {}, execute: async () => [process.cwd(), import.meta.dir, join("a", "b")].join(" ") })
export const notATool = 1
`

const shared = `let n = 0; export const count = () => ++n`

const second = `
import { z } from "zod"
import { count } from "../lib/shared.ts"
export default { description: "Counts.", args: { a: z.enum(["x", "y"]) }, execute: async () => String(count()) }
`

// Files define and run tools as they do in the embedded engine, and share the modules they import.
func TestTools(t *testing.T) {
	each(t, func(t *testing.T, k *kit) {
		k.write("tools/greet.ts", greeter)
		k.write("tools/second.ts", second)
		k.write("lib/shared.ts", shared)
		w := k.start("tools/greet.ts", "tools/second.ts")
		told, err := w.Load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, f := range told {
			if f.Error != nil {
				t.Fatal(f.Error, f.Error.Stack)
			}
			for _, one := range f.Tools {
				ids = append(ids, one.ID+" "+one.Description)
			}
		}
		if diff := cmp.Diff([]string{"greet Greets.", "greet_where Where.", "second Counts."}, ids); diff != "" {
			t.Error(diff)
		}
		var schema map[string]any
		if err := json.Unmarshal(told[0].Tools[0].Schema, &schema); err != nil {
			t.Fatal(err)
		}
		want := map[string]any{
			"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "required": []any{"name"},
			"properties": map[string]any{
				"name":  map[string]any{"type": "string", "description": "who"},
				"times": map[string]any{"type": "integer", "default": 1.0, "minimum": -9007199254740991.0, "maximum": 9007199254740991.0},
			},
		}
		if diff := cmp.Diff(want, schema); diff != "" {
			t.Error(diff)
		}
		ctx := context.WithValue(t.Context(), callKey{}, "first")
		out, err := w.Execute(ctx, call("tools/greet.ts", `{"name":"Ö\n"}`))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(script.Outcome{
			Title: "t", Output: `hello {"name":"Ö\n"} 1`, Metadata: json.RawMessage(`{"session":"s"}`), Attachments: json.RawMessage(`[{"type":"file"}]`),
		}, out); diff != "" {
			t.Error(diff)
		}
		if got := k.run(w, "tools/second.ts", `{"a":"x"}`).Output; got != "2" {
			t.Errorf("the shared module is not shared: %s", got)
		}
		where := call("tools/greet.ts", "{}")
		where.Export = "where"
		if out, err = w.Execute(ctx, where); err != nil || out.Output != k.dir+" "+filepath.Join(k.root, "tools")+" a/b" {
			t.Error(out.Output, err)
		}
		if !slices.Contains(k.asks(), `meta first {"title":"greeting","metadata":{"name":"Ö\n"}}`) {
			t.Error("no metadata:", k.asks())
		}
	})
}

// What goes wrong in a file or in its call is a fault that says where.
func TestFaults(t *testing.T) {
	each(t, func(t *testing.T, k *kit) {
		k.write("tools/good.js", `export default { description: "d", args: {}, execute: async () => "fine" }`)
		k.write("tools/syntax.ts", "export default {\n  description: ,\n}\n")
		k.write("tools/throws.ts", "const kind: string = \"TypeError\"\n\nthrow new TypeError(kind)\n")
		k.write("tools/fails.ts", "interface A { a: string }\nexport default { description: \"d\", args: {}, async execute(a: A) {\n  throw Object.assign(new RangeError(\"too much\"), { code: \"E1\", left: 3 })\n} }\n")
		k.write("tools/missing.ts", `import x from "no-such-package"; export default { description: "d", args: {}, execute: async () => x }`)
		w := k.start("tools/good.js", "tools/syntax.ts", "tools/throws.ts", "tools/fails.ts", "tools/missing.ts")
		told, err := w.Load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]bool{}
		for _, f := range told {
			got[f.File] = f.Error == nil
			if f.File == "tools/throws.ts" && (f.Error.Message != "TypeError" || f.Error.Line != 3 || f.Error.File != filepath.Join(k.root, f.File)) {
				t.Errorf("%+v", f.Error)
			}
			if f.File == "tools/missing.ts" && !strings.Contains(f.Error.Message, "no-such-package") {
				t.Errorf("%+v", f.Error)
			}
		}
		want := map[string]bool{"tools/good.js": true, "tools/syntax.ts": false, "tools/throws.ts": false, "tools/fails.ts": true, "tools/missing.ts": false}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		_, err = w.Execute(t.Context(), call("tools/fails.ts", "{}"))
		fault, ok := errors.AsType[*script.Fault](err)
		if !ok {
			t.Fatal(err)
		}
		if fault.Error() != "RangeError: too much" || fault.Code != "E1" || fault.Line != 3 || fault.File != filepath.Join(k.root, "tools/fails.ts") {
			t.Errorf("%+v", fault)
		}
		if string(fault.Data) != `{"code":"E1","left":3}` {
			t.Errorf("%s", fault.Data)
		}
		if strings.Contains(fault.Stack, "[eval]") || strings.Contains(fault.Stack, "helve:") {
			t.Errorf("our own frames are in the stack:\n%s", fault.Stack)
		}
		if _, err = w.Execute(t.Context(), call("tools/throws.ts", "{}")); err == nil || err.Error() != "TypeError: TypeError" {
			t.Error(err)
		}
		if got := k.run(w, "tools/good.js", "{}").Output; got != "fine" {
			t.Error(got)
		}
	})
}

// Arguments are checked against the schema before the tool sees them.
func TestArguments(t *testing.T) {
	each(t, func(t *testing.T, k *kit) {
		k.write("tools/second.ts", second)
		k.write("lib/shared.ts", shared)
		w := k.start("tools/second.ts")
		_, err := w.Execute(t.Context(), call("tools/second.ts", `{"a":"z"}`))
		if err == nil || !strings.Contains(err.Error(), "The second tool was called with invalid arguments") {
			t.Error(err)
		}
	})
}

const guardPlugin = `
export const Guard = async ({ client, directory, $ }) => {
  const started = await client.app.log({ body: { message: "started" } })
  return {
    "tool.execute.before": async (input, output) => {
      if (input.tool === "bad") throw new Error("not this one")
      output.args.seen = (await client.session.get({ id: input.callID })).data.for + " " + started.data.for + " " + directory
    },
    "tool.execute.after": async (input, output) => { output.output += "!" },
    event: async ({ event }) => { if (event.type === "bad") throw new Error("bad event"); await client.event.seen(event) },
    config: async (config) => { config.added = true },
    dispose: async () => { console.error("disposed") },
    tool: { extra: { description: "An extra.", args: {}, execute: async () => "extra" } },
  }
}
`

// thrown is what the first hook threw that did, or nil.
func thrown(r script.HookResult) *script.Fault {
	for _, run := range r.Runs {
		if run.Error != nil {
			return run.Error
		}
	}
	return nil
}

// Plugins have hooks, events, a client and tools, and each request is for the call whose work it
// is.
func TestPlugins(t *testing.T) {
	each(t, func(t *testing.T, k *kit) {
		k.write("plugins/guard.ts", guardPlugin)
		w := k.start("plugins/guard.ts")
		at := func(name string) context.Context { return context.WithValue(t.Context(), callKey{}, name) }
		told, err := w.Plugins(at("starting"), script.PluginInput{Directory: "/d", Worktree: "/w"})
		if err != nil {
			t.Fatal(err)
		}
		if len(told) != 1 || told[0].Error != nil || len(told[0].Plugins) != 1 || told[0].Plugins[0].Tools[0].ID != "extra" {
			t.Fatalf("%+v", told)
		}
		if !w.Has("config") || w.Has("chat.message") {
			t.Error("which hooks there are is not known")
		}
		hooked, err := w.Hook(at("one"), "tool.execute.before", json.RawMessage(`{"tool":"x","callID":"c"}`), json.RawMessage(`{"args":{}}`))
		if err != nil || thrown(hooked) != nil || string(hooked.Output) != `{"args":{"seen":"one starting /d"}}` {
			t.Errorf("%s %v %v", hooked.Output, thrown(hooked), err)
		}
		hooked, err = w.Hook(at("two"), "tool.execute.before", json.RawMessage(`{"tool":"bad"}`), json.RawMessage(`{"args":{}}`))
		if fault := thrown(hooked); err != nil || fault == nil || fault.Message != "not this one" || fault.Line == 0 {
			t.Errorf("%v %v", fault, err)
		}
		hooked, err = w.Hook(at("three"), "config", json.RawMessage(`{"a":1}`), nil)
		if err != nil || string(hooked.Output) != `{"a":1,"added":true}` {
			t.Errorf("%s %v", hooked.Output, err)
		}
		if hooked, err = w.Hook(at("none"), "chat.message", nil, json.RawMessage(`7`)); err != nil || string(hooked.Output) != "7" {
			t.Errorf("%s %v", hooked.Output, err)
		}
		for _, kind := range []string{"bad", "good"} {
			if err := w.Event(at("event"), json.RawMessage(`{"type":"`+kind+`"}`)); err != nil {
				t.Fatal(err)
			}
		}
		extra := script.ToolCall{File: "plugins/guard.ts", Export: "Guard", Tool: "extra"}
		if out, err := w.Execute(at("four"), extra); err != nil || out.Output != "extra" {
			t.Error(out, err)
		}
		runs, err := w.Dispose(t.Context())
		if err != nil || len(runs) != 1 || w.Has("event") {
			t.Error(runs, err)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		heard := k.heard()
		if !strings.Contains(heard, "error: plugins/guard.ts: event bad: Error: bad event") || !strings.Contains(heard, "info: disposed") {
			t.Error(heard)
		}
		if !slices.ContainsFunc(k.asks(), func(one string) bool { return strings.HasPrefix(one, `client event {"method":"event.seen"`) }) {
			t.Error(k.asks())
		}
	})
}

// A refusal reaches the tool as what it is, and the tool's own errors stay its own.
func TestAsk(t *testing.T) {
	each(t, func(t *testing.T, k *kit) {
		k.write("tools/ask.ts", `export default { description: "d", args: {}, async execute(args, { ask }) {
			const said = []
			for (const permission of ["fine", "secret", "plain"]) {
				try { await ask({ permission, patterns: ["*"] }); said.push("yes") } catch (e) { said.push(e instanceof Error, e.name, e.message, e.code) }
			}
			return JSON.stringify(said)
		} }`)
		w := k.start("tools/ask.ts")
		if got := k.run(w, "tools/ask.ts", "{}").Output; got != `["yes",true,"RefusedError","the rules deny it","EACCES",true,"Error","no",null]` {
			t.Error(got)
		}
	})
}

// Requests of a call that is over are refused; those of what a plugin set going are not, for they
// are nobody's call.
func TestLateRequests(t *testing.T) {
	each(t, func(t *testing.T, k *kit) {
		k.write("tools/late.ts", `let tried; let client
			export const late = async (input) => { client = input.client; setTimeout(async () => { globalThis.seen = await client.late.one() }, 1); return {} }
			export default { description: "d", args: {}, async execute(args, { ask }) {
				if (args.first) { tried = new Promise((done) => setTimeout(() => ask({ permission: "p" }).then(() => done("allowed"), (e) => done(e.message)), 5)); return "" }
				while (!globalThis.seen) await new Promise((r) => setTimeout(r, 1))
				return await tried + "; " + globalThis.seen.data.for
			} }`)
		k.write("plugins/late.ts", `export { late } from "../tools/late"`)
		w := k.start("tools/late.ts", "plugins/late.ts")
		if _, err := w.Plugins(context.WithValue(t.Context(), callKey{}, "quiet"), script.PluginInput{}, script.PluginEntry{File: "plugins/late.ts"}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Load(context.WithValue(t.Context(), callKey{}, "quiet")); err != nil {
			t.Fatal(err)
		}
		k.run(w, "tools/late.ts", `{"first":true}`)
		if got := k.run(w, "tools/late.ts", `{}`).Output; got != "the call that ask was made for is over: wait for it before the call returns; quiet" {
			t.Error(got)
		}
	})
}

// A file that makes frames of its own gets no more than others do.
func TestForgedRequest(t *testing.T) {
	each(t, func(t *testing.T, k *kit) {
		k.write("tools/forge.ts", `import fs from "node:fs"
			export default { description: "d", args: {}, async execute(args, { ask }) {
				for (const op of ["fs.read", "proc.start", ""]) for (const number of [0, 77]) {
					fs.writeSync(3, JSON.stringify({ kind: "ask", ask: number, lasting: true, op, arg: {} }) + "\n")
				}
				await ask({ permission: "last" })
				return "done"
			} }`)
		w := k.start("tools/forge.ts")
		k.run(w, "tools/forge.ts", "{}")
		if err := w.Close(); err != nil { // it waits for all requests
			t.Error(err)
		}
		if asked := k.asks(); len(asked) != 1 || !strings.HasPrefix(asked[0], "ask ") {
			t.Error(asked)
		}
	})
}
