//go:build unix

package custom

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helve-dev/helve/internal/files"
	"github.com/helve-dev/helve/internal/process"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/plugin"
	"github.com/helve-dev/helve/tool"
)

// newShell is where programs of a test run.
func newShell(t *testing.T, dir string, readable ...string) *process.Executor {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data := t.TempDir()
	shell, err := process.NewExecutor(process.ExecutorOptions{
		Dir: dir, Helper: self, Wall: process.SandboxOptions{Roots: []string{dir}, Readable: readable}, Lines: 2000, Bytes: 50 << 10,
		Private: func(name string) string { return filepath.Join(data, name) }, Jobs: process.JobsOptions{Dir: filepath.Join(data, "jobs")},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := shell.Close(); err != nil {
			t.Error(err)
		}
	})
	return shell
}

func (b *bench) executable(name, text string) {
	b.t.Helper()
	b.write(name, text)
	if err := os.Chmod(filepath.Join(b.root, filepath.FromSlash(name)), 0o755); err != nil { //nolint:gosec // it is to be run
		b.t.Fatal(err)
	}
	for _, u := range b.set.units { // whether a file can be run is looked at once a second
		if f, ok := u.source.(*folderSource); ok {
			u.mu.Lock()
			f.asked = f.asked.Add(-programsPause)
			u.mu.Unlock()
		}
	}
}

// A program that takes long to say what it is hides no other.
func TestSlowProgram(t *testing.T) {
	var d diary
	b := newBench(t, `
-- tools/z.ts --
export default { description: "d", args: {}, execute: () => "script" }
`, func(b *bench, o *Options) {
		d.keep(o)
		o.Shell = newShell(t, b.root)
	})
	const text = "#!/bin/sh\n[ $1 = describe ] && sleep SECONDS && echo '{\"description\": \"d\", \"parameters\": {\"type\": \"object\"}}'\n"
	b.executable("tools/a", strings.ReplaceAll(text, "SECONDS", "1.5"))
	b.executable("tools/b", strings.ReplaceAll(text, "SECONDS", "0"))
	b.set.Gather(t.Context())
	if diff := cmp.Diff([]string{"tool z", "tool b", "tool a"}, d.all); diff != "" {
		t.Error(diff)
	}
}

func TestPrograms(t *testing.T) {
	b := newBench(t, `
-- tools/both.ts --
export default { description: "of the script", args: {}, execute: () => "script" }
`, func(b *bench, o *Options) {
		o.Shell = newShell(t, b.root)
	})
	const count = `#!/bin/sh
case "$1" in
describe) echo '{"description": "Counts", "parameters": {"type": "object", "properties": {"n": {"type": "number"}}}}' ;;
call) echo "ANSWER" ;;
esac
`
	b.executable("tools/count", strings.ReplaceAll(count, "ANSWER", "one"))
	b.executable("tools/both.sh", strings.ReplaceAll(count, "ANSWER", "program"))
	b.executable("tools/broken", "#!/bin/sh\nexit 3\n")
	if got := b.output("count", `{"n":1}`); strings.TrimSpace(got) != "one" {
		t.Error(got)
	}
	if diff := cmp.Diff([]string{"count"}, b.names()); diff != "" || b.set.units[0].build != nil {
		t.Error("more was loaded than was needed", diff)
	}
	b.set.Gather(t.Context())
	if diff := cmp.Diff([]string{"both", "count"}, b.names()); diff != "" {
		t.Error(diff)
	}
	if got := b.output("both", `{}`); strings.TrimSpace(got) != "program" {
		t.Error(got)
	}
	if f := b.file("tools/both.ts"); !strings.Contains(f.Problem, "hidden by") {
		t.Errorf("%+v", f)
	}
	if f := b.file("tools/broken"); f.State != plugin.Failed || f.Problem == "" || f.Kind != "program" || f.Engine != "program" {
		t.Errorf("%+v", f)
	}
	if f := b.file("tools/count"); f.State != plugin.Ready || f.Hash == "" || !cmp.Equal(f.Tools, []string{"count"}) {
		t.Errorf("%+v", f)
	}
	engine := b.set.units[0].engines[within]
	b.executable("tools/count", strings.ReplaceAll(strings.ReplaceAll(count, "ANSWER", "two"), "Counts", "Counts more"))
	if got := b.output("count", `{}`); strings.TrimSpace(got) != "two" {
		t.Error(got)
	}
	if c, _ := b.tool("count"); c.Spec().Description != "Counts more" || b.set.units[0].engines[within] != engine {
		t.Error(c.Spec().Description, "or the scripts were loaded again")
	}
	if err := os.Remove(filepath.Join(b.root, "tools", "both.sh")); err != nil {
		t.Fatal(err)
	}
	b.look()
	b.set.Gather(t.Context())
	if got := b.output("both", `{}`); got != "script" {
		t.Error(got)
	}
}

// Files that need more than the embedded engine has run in bun or node, if that is allowed.
func TestWorker(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("there is no node")
	}
	if node, err = filepath.EvalSymlinks(node); err != nil {
		t.Fatal(err)
	}
	b := newBench(t, `
-- tools/native.ts --
export default { description: "d", args: {}, async execute(args, ctx) {
  const m = new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]))
  ctx.metadata({ title: "in" })
  await ctx.ask({ permission: "deploy", patterns: ["x"], always: [], metadata: {} })
  return "in " + (m instanceof WebAssembly.Module) + " " + ctx.sessionID
} }
-- plugins/w.ts --
export const W = () => ({ "tool.execute.before": (i, o) => { o.args.w = new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])) instanceof WebAssembly.Module } })
-- plugins/p.ts --
export const P = () => ({ "tool.execute.before": (i, o) => { o.args.p = 1 } })
-- tools/plain.ts --
export default { description: "d", args: {}, execute: () => "plain" }
`, func(b *bench, o *Options) {
		o.Shell = newShell(t, b.root, filepath.Dir(node))
		o.Worker = "node"
		o.Files = &files.Workspace{Worktree: b.root, History: files.NewHistory(files.HistoryOptions{Dir: filepath.Join(t.TempDir(), "history")})}
	})
	if lacks := b.set.opt.Shell.Lacks(); lacks != "" {
		t.Skip("there is no wall: " + lacks)
	}
	deny := &tool.Error{Kind: tool.Denied, Code: "denied", Err: errors.New("The rules do not allow worker: add one.")}
	b.rule = func(r permission.Request) error {
		if r.Permission == "worker" {
			return deny
		}
		return nil
	}
	b.set.Gather(t.Context())
	f := b.file("tools/native.ts")
	if f.State != plugin.Failed || !strings.Contains(f.Problem, "it uses WebAssembly, which the embedded engine does not have: The rules do not allow worker") || !cmp.Equal(f.Needs, []string{"WebAssembly"}) {
		t.Errorf("%+v", f)
	}
	if got := b.output("plain", `{}`); got != "plain" {
		t.Error(got)
	}
	b.rule = func(r permission.Request) error {
		if r.Permission == "deploy" {
			return deny
		}
		return nil
	}
	b.write("tools/more.ts", "export default { description: 'd', args: {}, execute: () => 'more' }")
	b.set.Gather(t.Context())
	if f := b.file("tools/native.ts"); f.State != plugin.Ready || f.Engine != "node" {
		t.Fatalf("%+v", f)
	}
	if _, err := b.call(t.Context(), "native", `{}`); tool.KindOf(err) != tool.Denied {
		t.Errorf("%v %v", tool.KindOf(err), err)
	}
	b.rule = nil
	if got := b.output("native", `{}`); got != "in true ses_1" {
		t.Error(got)
	}
	if got := b.hook("tool.execute.before", `{"tool":"x"}`, `{"args":{}}`); string(got.Output) != `{"args":{"p":1,"w":true}}` || len(got.Runs) != 2 {
		t.Errorf("%s %+v", got.Output, got.Runs)
	}
}

// What a file needs that it does not have in node, bun itself or a place that can be written, it
// says beside what node says.
func TestNodeLacks(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("there is no node")
	}
	if node, err = filepath.EvalSymlinks(node); err != nil {
		t.Fatal(err)
	}
	b := newBench(t, `
-- tools/native.ts --
import { suffix } from "part"
import { dlopen } from "bun:ffi"
export default { description: suffix, args: {}, execute: () => typeof dlopen }
-- tools/settings.ts --
import { createServer } from "net"
import { writeFileSync } from "fs"
writeFileSync("/helve-settings.json", "{}")
export default { description: "d", args: {}, execute: () => typeof createServer }
-- node_modules/part/package.json --
{"main":"index.ts"}
-- node_modules/part/index.ts --
export const suffix: string = "a"
`, func(b *bench, o *Options) {
		o.Shell = newShell(t, b.root, filepath.Dir(node))
		o.Worker = "node"
	})
	if lacks := b.set.opt.Shell.Lacks(); lacks != "" {
		t.Skip("there is no wall: " + lacks)
	}
	b.set.Gather(t.Context())
	if f := b.file("tools/native.ts"); f.State != plugin.Failed || f.Engine != "node" || !strings.Contains(f.Problem, "It uses bun:ffi, which node does not have: install bun") {
		t.Errorf("%+v", f)
	}
	if f := b.file("tools/settings.ts"); f.State != plugin.Failed || !strings.Contains(f.Problem, "EROFS") || !strings.Contains(f.Problem, "In node it runs behind the wall") {
		t.Errorf("%+v", f)
	}
}
