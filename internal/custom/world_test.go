package custom

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/helve-dev/helve/internal/files"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// Scripts reach files by the rules of whoever calls them; while they are loaded nobody is asked.
func TestFilesByTheRules(t *testing.T) {
	b := newBench(t, `
-- tools/files.ts --
import fs from "fs"
import { writeFile } from "fs/promises"
export const early = { description: fs.existsSync("note.txt") ? fs.readFileSync("note.txt", "utf8") : "none", args: {}, execute: () => "" }
export const read = { description: "d", args: { path: { type: "string" } }, execute: ({ path }) => fs.readFileSync(path, "utf8") }
export const caught = { description: "d", args: {}, execute: () => { try { return fs.readFileSync("secret.env", "utf8") } catch (e) { return e.code + " " + e.message } } }
export const write = { description: "d", args: {}, execute: async () => { await writeFile("out.txt", "written"); return "ok" } }
-- note.txt --
a note
-- secret.env --
KEY=1
`, func(b *bench, o *Options) {
		o.Files = &files.Workspace{Worktree: b.root, History: files.NewHistory(files.HistoryOptions{Dir: filepath.Join(t.TempDir(), "history")})}
	})
	b.rule = func(r permission.Request) error {
		if r.Permission == "read" && strings.Contains(strings.Join(r.Patterns, " "), ".env") {
			return &tool.Error{Kind: tool.Denied, Code: "denied", Err: errors.New("A rule denies reading .env files.")}
		}
		return nil
	}
	if got := b.output("files_read", `{"path":"note.txt"}`); got != "a note\n" {
		t.Error(got)
	}
	if early, _ := b.tool("files_early"); early.Spec().Description != "a note\n" {
		t.Errorf("%q", early.Spec().Description)
	}
	if _, err := b.call(t.Context(), "files_read", `{"path":"secret.env"}`); tool.KindOf(err) != tool.Denied {
		t.Errorf("%v %v", tool.KindOf(err), err)
	}
	if got := b.output("files_caught", `{}`); got != "EACCES A rule denies reading .env files." {
		t.Error(got)
	}
	b.output("files_write", `{}`)
	if data, err := os.ReadFile(filepath.Join(b.root, "out.txt")); err != nil || string(data) != "written" {
		t.Error(string(data), err)
	}
}

// While a person thinks about a question that a script waits for, nothing else runs in its engine,
// and no hook is late by that.
func TestHookBesideQuestion(t *testing.T) {
	const most = 2 * time.Second
	b := newBench(t, `
-- tools/x.ts --
import fs from "fs"
export default { description: "d", args: {}, execute: () => fs.readFileSync("note.txt", "utf8") }
-- plugins/p.ts --
export const P = () => ({ "tool.execute.before": (i, o) => { o.args.seen = true } })
-- note.txt --
a note
`, func(b *bench, o *Options) {
		o.HookTimeout = most
		o.Files = &files.Workspace{Worktree: b.root, History: files.NewHistory(files.HistoryOptions{Dir: filepath.Join(t.TempDir(), "history")})}
	})
	b.set.Gather(t.Context())
	asked, answer, done := make(chan struct{}), make(chan struct{}), make(chan string)
	b.rule = func(r permission.Request) error {
		if r.Permission == "read" {
			close(asked)
			<-answer
		}
		return nil
	}
	go func() {
		r, err := b.call(t.Context(), "x", `{}`)
		if err != nil {
			done <- err.Error()
			return
		}
		done <- r.Output
	}()
	<-asked
	go func() { // the person answers when the hook would be late
		watch := &b.set.units[0].engines[within].watch
		for watch.total() < 2*most {
			runtime.Gosched()
		}
		close(answer)
	}()
	if got := b.hook("tool.execute.before", `{"tool":"read"}`, `{"args":{}}`); string(got.Output) != `{"args":{"seen":true}}` {
		t.Errorf("%s %+v", got.Output, got.Runs)
	}
	if got := <-done; got != "a note\n" {
		t.Error(got)
	}
}
