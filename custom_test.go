package helve_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/plugin"
	"github.com/helve-dev/helve/scripts"
	"github.com/helve-dev/helve/tool"
)

// plant writes the files of an archive into a new folder.
func plant(t *testing.T, archive string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range txtar.Parse([]byte(archive)).Files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// owned opens a runtime in a project with a config folder of its own.
func owned(t *testing.T, archive string, opt helve.Options) (*helve.Runtime, string) {
	t.Helper()
	dir := plant(t, archive)
	opt.Dir, opt.Worktree = dir, dir
	opt.Scripts = scripts.Engine()
	opt.Plugins.Folders = append(opt.Plugins.Folders, plugin.Folder{Path: filepath.Join(dir, ".opencode"), Project: true})
	return open(t, opt), dir
}

func callJSON(t *testing.T, rt *helve.Runtime, name, args string) (*tool.Result, error) {
	t.Helper()
	return rt.Call(t.Context(), tool.Call{Tool: name, Input: json.RawMessage(args)})
}

const pluginProject = `
-- a.txt --
one
two
-- .opencode/tool/lines.ts --
import { tool } from "@opencode-ai/plugin"
import { readFileSync } from "node:fs"
export default tool({
  description: "Counts lines",
  args: { path: tool.schema.string() },
  async execute(args) { return String(readFileSync(args.path, "utf8").trim().split("\n").length) },
})
-- .opencode/plugin/guard.ts --
export const Guard = async ({ client }) => ({
  "tool.execute.before": async (input, output) => {
    if (output.args.path === "forbidden") throw new Error("guard says no")
    if (output.args.path === "alias") output.args.path = "a.txt"
    if (output.args.path === "bad") output.args.path = 7
    if (output.args.path === "cached") output.result = { title: "kept", output: "from the guard" }
  },
  "tool.execute.after": async (input, output) => { output.output += "|" + input.args.path; output.metadata.seen = true },
})
`

func TestPluginSeesCalls(t *testing.T) {
	rt, _ := owned(t, pluginProject, helve.Options{Unattended: true})
	for _, test := range []struct{ path, want, fails string }{
		{path: "a.txt", want: "2|a.txt"},
		{path: "alias", want: "2|a.txt"},
		{path: "cached", want: "from the guard|cached"},
		{path: "forbidden", fails: "guard says no"},
		{path: "bad", fails: "plugins"},
	} {
		res, err := callJSON(t, rt, "lines", `{"path": "`+test.path+`"}`)
		switch {
		case test.fails != "":
			if err == nil || !strings.Contains(err.Error(), test.fails) {
				t.Errorf("%s: %v, %v", test.path, res, err)
			}
		case err != nil:
			t.Errorf("%s: %v", test.path, err)
		case res.Output != test.want || res.Metadata["seen"] != true:
			t.Errorf("%s: %+v", test.path, res)
		}
	}
	// The hooks of plugins see built-in tools as well.
	if _, err := callJSON(t, rt, "list", `{"path": "forbidden"}`); err == nil || !strings.Contains(err.Error(), "guard says no") {
		t.Errorf("a built-in tool was not refused: %v", err)
	}
}

// Nothing of a folder that is not trusted runs, and a required plugin that is
// not there lets no call pass.
func TestUntrustedFolder(t *testing.T) {
	trusted := false
	dir := plant(t, pluginProject)
	rt := open(t, helve.Options{Dir: dir, Worktree: dir, Unattended: true, Scripts: scripts.Engine(), Plugins: plugin.Options{
		Folders:  []plugin.Folder{{Path: filepath.Join(dir, ".opencode"), Project: true, Trusted: func() bool { return trusted }}},
		Required: []string{"guard"},
	}})
	_, err := callJSON(t, rt, "read", `{"filePath": "a.txt"}`)
	if e := kindOf(t, err); e.Kind != tool.Denied || !strings.Contains(e.Error(), "not trusted") {
		t.Errorf("a call went on without the plugin it needs: %+v", e)
	}
	if _, err := callJSON(t, rt, "lines", `{"path": "a.txt"}`); err == nil {
		t.Error("a tool of a folder that is not trusted ran")
	}
}

func TestPermissionHook(t *testing.T) {
	const project = `
-- .env --
KEY=1
-- other.env --
KEY=2
-- .opencode/tool/peek.ts --
export default { description: "peeks", args: {}, async execute() { return await Bun.file("other.env").text() } }
-- .opencode/plugin/answer.ts --
export default async () => ({
  "permission.ask": async (input, output) => { output.status = input.permission === "read" && input.patterns.some((p) => p.endsWith("other.env")) ? "allow" : "deny" },
})
`
	rt, _ := owned(t, project, helve.Options{Unattended: true})
	if res, err := callJSON(t, rt, "read", `{"filePath": "other.env"}`); err != nil || !strings.Contains(res.Output, "KEY=2") {
		t.Errorf("the plugin's yes did not count: %v, %v", res, err)
	}
	_, err := callJSON(t, rt, "read", `{"filePath": ".env"}`)
	if e := kindOf(t, err); e.Kind != tool.Denied {
		t.Errorf("the plugin's no did not count: %+v", e)
	}
	// A plugin does not answer for scripts: they would allow themselves what they want.
	_, err = callJSON(t, rt, "peek", `{}`)
	if e := kindOf(t, err); e.Kind != tool.Unattended {
		t.Errorf("a script was allowed by a plugin: %+v", e)
	}
}

// Full spares a tool questions, and nothing else.
func TestFull(t *testing.T) {
	const project = `
-- a.env --
KEY=1
-- b.env --
KEY=2
-- .opencode/tool/peek.ts --
export default { description: "peeks", args: { path: { type: "string" } }, async execute({ path }) { return await Bun.file(path).text() } }
`
	agents := agent.Specs(agent.SpecOptions{User: permission.Ruleset{{Permission: "read", Pattern: "*b.env", Action: permission.Deny}}})
	rt, _ := owned(t, project, helve.Options{Unattended: true, Agents: agents, Plugins: plugin.Options{Full: []string{"peek"}}})
	if res, err := callJSON(t, rt, "peek", `{"path": "a.env"}`); err != nil || !strings.Contains(res.Output, "KEY=1") {
		t.Errorf("%v, %v", res, err)
	}
	_, err := callJSON(t, rt, "peek", `{"path": "b.env"}`)
	if e := kindOf(t, err); e.Kind != tool.Denied {
		t.Errorf("%+v", e)
	}
}

func TestShellEnvAndDefinition(t *testing.T) {
	const project = `
-- .opencode/plugin/words.ts --
export default async () => ({
  "shell.env": async (input, output) => { output.env.FROM_PLUGIN = "yes in " + (input.cwd === process.cwd()) },
  "tool.definition": async (input, output) => { if (input.toolID === "read") output.description = "READ, SAYS THE PLUGIN" },
})
`
	rt, _ := owned(t, project, helve.Options{Unattended: true})
	res, err := callJSON(t, rt, "bash", `{"command": "echo $FROM_PLUGIN", "description": "says it"}`)
	if err != nil || strings.TrimSpace(res.Output) != "yes in true" {
		t.Errorf("%v, %v", res, err)
	}
	specs := rt.Tools(tool.Audience{})
	i := slices.IndexFunc(specs, func(s tool.Spec) bool { return s.Name == "read" })
	if specs[i].Description != "READ, SAYS THE PLUGIN" {
		t.Errorf("the description is %q", specs[i].Description)
	}
}

// Events reach plugins, which talk to the runtime by their client.
func TestEventsAndClient(t *testing.T) {
	const project = `
-- .opencode/plugin/watch.ts --
export default async ({ client }) => ({
  event: async ({ event }) => {
    if (event.type !== "session.idle") return
    const { data } = await client.session.get({ path: { id: event.properties.sessionID } })
    const messages = await client.session.messages({ path: { id: data.id } })
    const prompt = await client.session.prompt({ path: { id: data.id }, body: {} })
    await client.tui.showToast({ body: { message: [data.id, messages.data[0].parts[0].tool, typeof prompt.error].join(" "), variant: "info" } })
  },
})
`
	rt, _ := owned(t, project, helve.Options{Unattended: true})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if _, err := rt.Call(ctx, tool.Call{Tool: "list", Session: "ses_1", Input: json.RawMessage(`{}`)}); err != nil {
		t.Fatal(err)
	}
	rt.Plugins().Notify("session.idle", json.RawMessage(`{"sessionID": "ses_1"}`))
	for e := range rt.Events(ctx, 0) {
		n, ok := e.Properties.(event.Notice)
		if !ok || n.Name != "tui.toast.show" {
			continue
		}
		if got := string(n.Body); !strings.Contains(got, `"ses_1 list object"`) {
			t.Errorf("the toast says %s", got)
		}
		return
	}
	t.Error("there was no toast")
}

// A plugin that writes down what it hears does not hear of that again.
func TestPluginLogIsNoEvent(t *testing.T) {
	const project = `
-- .opencode/plugin/log.ts --
import { appendFileSync } from "fs"
export default async ({ client }) => ({
  event: async ({ event }) => {
    if (event.type === "file.edited") appendFileSync("heard.log", event.properties.file.split("/").pop() + "\n")
    if (event.type === "session.idle") await client.tui.showToast({ body: { message: require("fs").readFileSync("heard.log", "utf8"), variant: "info" } })
  },
})
`
	rt, _ := owned(t, project, helve.Options{Unattended: true})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if _, err := callJSON(t, rt, "WRITE", `{"filePath": "a.txt", "content": "a"}`); err != nil {
		t.Fatal(err)
	}
	for range 3 { // each of these would come after what the plugin's own writing made it hear
		rt.Plugins().Notify("session.idle", nil)
	}
	toasts := 0
	for e := range rt.Events(ctx, 0) {
		if n, ok := e.Properties.(event.Notice); ok && n.Name == "tui.toast.show" {
			if !strings.Contains(string(n.Body), `"a.txt\n"`) {
				t.Errorf("it heard %s", n.Body)
			}
			if toasts++; toasts == 3 {
				return
			}
		}
	}
	t.Errorf("%d toasts", toasts)
}

// What a tool or a plugin says about the bounds of its output does not count.
func TestBoundsAreOurs(t *testing.T) {
	const project = `
-- .opencode/tool/flood.ts --
export default { description: "d", args: {}, async execute() { return { output: "x\n".repeat(1e5), metadata: { truncated: true, outputPath: "/etc/passwd" } } } }
-- .opencode/plugin/p.ts --
export default async () => ({
  "tool.execute.before": async (i, o) => { if (i.tool === "list") o.result = { output: "y\n".repeat(1e5), metadata: { truncated: true } } },
  "tool.execute.after": async (i, o) => { o.metadata.outputPath = "/etc/passwd"; o.metadata.truncated = true },
})
`
	rt, _ := owned(t, project, helve.Options{Unattended: true})
	for _, name := range []string{"flood", "list"} {
		res, err := callJSON(t, rt, name, `{}`)
		if err != nil {
			t.Fatal(err)
		}
		path, _ := res.Metadata["outputPath"].(string)
		if len(res.Output) > 60_000 || res.Metadata["truncated"] != true || path == "/etc/passwd" || path == "" {
			t.Errorf("%s: %d bytes, %v", name, len(res.Output), res.Metadata)
		}
	}
}

// Who calls a tool whose file is broken is told why it is not there.
func TestBrokenToolIsExplained(t *testing.T) {
	const project = `
-- .opencode/tool/broken.ts --
export default { description: "x" args: {} }
-- .opencode/tool/fine.ts --
export default { description: "x", args: {}, async execute() { return "fine" } }
`
	rt, _ := owned(t, project, helve.Options{Unattended: true})
	_, err := callJSON(t, rt, "broken", `{}`)
	if e := kindOf(t, err); e.Kind != tool.UnknownTool || !strings.Contains(e.Error(), "broken.ts:1") {
		t.Errorf("%+v", e)
	}
	_, err = callJSON(t, rt, "fin", `{}`)
	if e := kindOf(t, err); !strings.Contains(e.Error(), "fine") || !strings.Contains(e.Hint, `"fine"`) {
		t.Errorf("%+v", e)
	}
	if res, err := callJSON(t, rt, "FINE", `{}`); err != nil || res.Output != "fine" {
		t.Errorf("%v, %v", res, err)
	}
}

// Without an engine, tools and plugins of users are refused when the runtime opens.
func TestNoEngine(t *testing.T) {
	dir := t.TempDir()
	for _, opt := range []plugin.Options{{Folders: []plugin.Folder{{Path: dir}}}, {Entries: []plugin.Entry{{Spec: "./a.ts", Base: dir}}}} {
		_, err := helve.Open(helve.Options{Dir: dir, Plugins: opt})
		if err == nil || !strings.Contains(err.Error(), "import github.com/helve-dev/helve/scripts and set Options.Scripts to scripts.Engine()") {
			t.Errorf("%v", err)
		}
	}
}
