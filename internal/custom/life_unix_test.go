//go:build unix

package custom

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"github.com/helve-dev/helve/internal/script"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// gone checks that a process is no more. One that was killed is there until init has looked at it,
// which nobody is told of.
func gone(t *testing.T, pid int) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH); time.Sleep(time.Millisecond) {
		if state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil && strings.Contains(string(state), ") Z ") {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("process %d is still there", pid)
		}
	}
}

const life1 = `
import { spawn } from "node:child_process"
import fs from "node:fs"
const child = (detached) => spawn("sleep", ["1000"], { stdio: "inherit", detached }).pid
export default { description: "d", args: {}, async execute(args, { abort, ask }) {
  switch (args.do) {
    case "pid": return String(process.pid)
    case "child": return process.pid + " " + child(args.detached)
    case "exit": process.exit(3)
    case "signal": process.kill(process.pid, "SIGKILL"); return new Promise(() => {})
    case "crash": setTimeout(() => { throw new Error("nobody catches this") }); Promise.reject(new Error("nor this")); await new Promise((r) => setTimeout(r, 20)); return "alive"
    case "polite": return await new Promise((_, fail) => { abort.onabort = () => { fs.writeFileSync(args.mark, "aborted"); fail(new Error("aborted")) }; ask({ permission: "begun" }) })
    case "stubborn": await ask({ permission: "begun" }); return await new Promise(() => {})
    case "loop": await ask({ permission: "begun" }); for (;;);
    case "later": setTimeout(() => { for (;;); }, 1); return "later"
    case "wait": await ask({ permission: "wait" }); return "no"
    case "garbage": fs.writeSync(3, "garbage\n"); return await new Promise(() => {})
    case "flood": for (;;) fs.writeSync(3, "x".repeat(1000))
    case "half": fs.writeSync(3, '{"kind":"answer","id":1'); process.exit(0)
    case "print": await new Promise((done) => process.stdout.write("x".repeat(300000) + "\n", done)); console.log("done"); return "printed"
    case "stdin": return JSON.stringify(fs.readFileSync(0, "utf8"))
    case "long": return "é".repeat(args.length)
    case "undefined": return
    case "env": return JSON.stringify(process.env)
    case "length": return String(args.text.length)
  }
} }
`

// life is a worker of the file above.
func (k *kit) life() *Worker {
	k.write("tools/life.ts", life1)
	return k.start("tools/life.ts")
}

func do(what string) script.ToolCall {
	return call("tools/life.ts", `{"do":"`+what+`"}`)
}

// A process that ends under a call fails it with the reason, and the next call has a new one.
func TestVanish(t *testing.T) {
	each(t, func(t *testing.T, k *kit) {
		w := k.life()
		for what, why := range map[string]string{
			"exit": "process.exit(3)", "signal": "killed", "garbage": "descriptor 3", "half": "no frame",
		} {
			_, err := w.Execute(t.Context(), do(what))
			if !errors.Is(err, ErrWorkerGone) || !strings.Contains(err.Error(), why) {
				t.Errorf("%s: %v", what, err)
			}
		}
		if got := k.run(w, "tools/life.ts", `{"do":"undefined"}`).Output; got != "" {
			t.Error(got)
		}
	})
}

// A folder that ends its process each time is not started for ever.
func TestRestartLimit(t *testing.T) {
	each(t, func(t *testing.T, k *kit) {
		w := k.life()
		for range mostStarts {
			if _, err := w.Execute(t.Context(), do("exit")); !errors.Is(err, ErrWorkerGone) {
				t.Fatal(err)
			}
		}
		_, err := w.Execute(t.Context(), do("pid"))
		if err == nil || !strings.Contains(err.Error(), "within a minute") || !strings.Contains(err.Error(), "process.exit(3)") {
			t.Error(err)
		}
	})
}

// Errors that nothing catches are told, and end nothing.
func TestUncaught(t *testing.T) {
	each(t, func(t *testing.T, k *kit) {
		w := k.life()
		if got := k.run(w, "tools/life.ts", `{"do":"crash"}`).Output; got != "alive" {
			t.Error(got)
		}
		if heard := k.heard(); !strings.Contains(heard, "nobody catches this") || !strings.Contains(heard, "nor this") {
			t.Error(heard)
		}
	})
}

// A new process has the plugins of the old one, and says what hooks they have.
func TestPluginsAgain(t *testing.T) {
	each(t, func(t *testing.T, k *kit) {
		k.write("plugins/p.ts", `export default async (input, options) => ({
			"shell.env": async (input, output) => { output.env.A = options.a },
			"chat.message": async () => process.exit(1),
		})`)
		w := k.start("plugins/p.ts")
		if _, err := w.Plugins(t.Context(), script.PluginInput{}, script.PluginEntry{File: "plugins/p.ts", Options: json.RawMessage(`{"a":"b"}`)}); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			out, err := w.Hook(t.Context(), "shell.env", nil, json.RawMessage(`{"env":{}}`))
			if err != nil || string(out.Output) != `{"env":{"A":"b"}}` {
				t.Errorf("%s %v", out.Output, err)
			}
			if _, err := w.Hook(t.Context(), "chat.message", nil, nil); !errors.Is(err, ErrWorkerGone) {
				t.Error(err)
			}
		}
	})
}

// begun cancels a context when a tool says that it has begun.
func (k *kit) begun(t *testing.T) context.Context {
	ctx, cancel := context.WithCancelCause(t.Context())
	answer := k.opt.Requests
	k.opt.Requests = func(c context.Context, op string, arg json.RawMessage) (json.RawMessage, error) {
		if strings.Contains(string(arg), "begun") {
			cancel(errors.New("enough"))
		}
		return answer(c, op, arg)
	}
	return ctx
}

// A call that listens to its signal ends, and the process stays.
func TestCancelPolite(t *testing.T) {
	each(t, func(t *testing.T, k *kit) {
		ctx := k.begun(t)
		k.opt.grace = time.Minute
		w := k.life()
		before := k.run(w, "tools/life.ts", `{"do":"pid"}`).Output
		mark := filepath.Join(k.dir, "mark")
		if _, err := w.Execute(ctx, call("tools/life.ts", `{"do":"polite","mark":"`+mark+`"}`)); err == nil || err.Error() != "enough" {
			t.Error(err)
		}
		if _, err := os.Stat(mark); err != nil {
			t.Error("the signal did not fire:", err)
		}
		if after := k.run(w, "tools/life.ts", `{"do":"pid"}`).Output; after != before {
			t.Error("the process was ended")
		}
	})
}

// A call that does not end after its cancel, or cannot, ends the process; so does one that others
// wait for.
func TestCancelStubborn(t *testing.T) {
	for _, what := range []string{"stubborn", "loop"} {
		t.Run(what, func(t *testing.T) {
			each(t, func(t *testing.T, k *kit) {
				ctx := k.begun(t)
				k.opt.grace = 50 * time.Millisecond
				w := k.life()
				pid, err := strconv.Atoi(k.run(w, "tools/life.ts", `{"do":"pid"}`).Output)
				if err != nil {
					t.Fatal(err)
				}
				waiting := make(chan error)
				go func() {
					_, err := w.Execute(t.Context(), do("wait"))
					waiting <- err
				}()
				if _, err := w.Execute(ctx, do(what)); err == nil || err.Error() != "enough" {
					t.Error(err)
				}
				if err := <-waiting; !errors.Is(err, ErrWorkerGone) || !strings.Contains(err.Error(), "being cancelled") {
					t.Error(err)
				}
				gone(t, pid)
				k.run(w, "tools/life.ts", `{"do":"pid"}`)
			})
		})
	}
}

// A process that stopped answering while nobody called it is ended, so that the next call does not
// wait for it.
func TestPing(t *testing.T) {
	each(t, func(t *testing.T, k *kit) {
		k.opt.pulse = 200 * time.Millisecond
		w := k.life()
		pid, err := strconv.Atoi(k.run(w, "tools/life.ts", `{"do":"pid"}`).Output)
		if err != nil {
			t.Fatal(err)
		}
		w.mu.Lock()
		l := w.life
		w.mu.Unlock()
		k.run(w, "tools/life.ts", `{"do":"later"}`)
		<-l.gone
		if !strings.Contains(l.reason().Error(), "did not answer") {
			t.Error(l.reason())
		}
		gone(t, pid)
		k.run(w, "tools/life.ts", `{"do":"pid"}`)
	})
}

// Close ends the process with what it has started, though that holds its descriptors.
func TestCloseEndsAll(t *testing.T) {
	each(t, func(t *testing.T, k *kit) {
		begun := k.begun(t)
		w := k.life()
		first, second, _ := strings.Cut(k.run(w, "tools/life.ts", `{"do":"child","detached":false}`).Output, " ")
		waiting := make(chan error)
		go func() {
			_, err := w.Execute(t.Context(), do("stubborn"))
			waiting <- err
		}()
		<-begun.Done()
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		if err := <-waiting; !errors.Is(err, ErrWorkerClosed) {
			t.Error(err)
		}
		for _, text := range []string{first, second} {
			pid, err := strconv.Atoi(text)
			if err != nil {
				t.Fatal(err)
			}
			gone(t, pid)
		}
		if _, err := w.Execute(t.Context(), do("pid")); !errors.Is(err, ErrWorkerClosed) {
			t.Error(err)
		}
	})
}

// What files print and read does not meet the frames.
func TestDescriptors(t *testing.T) {
	each(t, func(t *testing.T, k *kit) {
		done := make(chan struct{})
		k.opt.Tell = func(level, text string) {
			k.tell(level, text)
			if text == "done" {
				close(done)
			}
		}
		w := k.life()
		if got := k.run(w, "tools/life.ts", `{"do":"print"}`).Output; got != "printed" {
			t.Error(got)
		}
		if got := k.run(w, "tools/life.ts", `{"do":"stdin"}`).Output; got != `""` {
			t.Error(got)
		}
		<-done
		heard := k.heard()
		if strings.Count(heard, "x") < 300000 {
			t.Errorf("%d bytes were heard", len(heard))
		}
	})
}

// Long results and arguments come whole; those that are too long are an error of their call alone.
func TestLong(t *testing.T) {
	each(t, func(t *testing.T, k *kit) {
		k.opt.frame = 1 << 20
		w := k.life()
		if got := k.run(w, "tools/life.ts", `{"do":"long","length":400000}`).Output; got != strings.Repeat("é", 400000) {
			t.Errorf("%d bytes came", len(got))
		}
		if got := k.run(w, "tools/life.ts", `{"do":"length","text":"`+strings.Repeat("y", 900<<10)+`"}`).Output; got != strconv.Itoa(900<<10) {
			t.Error(got)
		}
		_, err := w.Execute(t.Context(), call("tools/life.ts", `{"do":"long","length":600000}`))
		if _, ok := errors.AsType[*script.Fault](err); !ok || !strings.Contains(err.Error(), "longer than") {
			t.Error(err)
		}
		if _, err = w.Execute(t.Context(), call("tools/life.ts", `{"text":"`+strings.Repeat("y", 1<<20)+`"}`)); !errors.Is(err, errLong) {
			t.Error(err)
		}
		if _, err := w.Execute(t.Context(), do("flood")); !errors.Is(err, ErrWorkerGone) || !errors.Is(err, errLong) {
			t.Error(err)
		}
		k.run(w, "tools/life.ts", `{"do":"pid"}`)
	})
}

// Many calls at once have the answers that are theirs.
func TestWorkerAtOnce(t *testing.T) {
	each(t, func(t *testing.T, k *kit) {
		k.write("tools/echo.ts", `let n = 0; export default { description: "d", args: {}, async execute(args, { ask }) {
			await new Promise((r) => setTimeout(r, (n++ * 7) % 5)); await ask({ permission: "p", patterns: [args.who] }); return args.who } }`)
		w := k.start("tools/echo.ts")
		var all sync.WaitGroup
		for i := range 100 {
			who := fmt.Sprint("caller ", i)
			all.Go(func() {
				out, err := w.Execute(context.WithValue(t.Context(), callKey{}, who), call("tools/echo.ts", `{"who":"`+who+`"}`))
				if err != nil || out.Output != who {
					t.Error(out.Output, err)
				}
			})
		}
		all.Wait()
		for _, one := range k.asks() {
			words := strings.Fields(one)
			if !strings.Contains(one, `["caller `+words[2]+`"]`) {
				t.Error("a request was made for another call:", one)
			}
		}
	})
}

// The process has the variables that commands have, and so no secrets.
func TestEnvironment(t *testing.T) {
	t.Setenv("SOME_API_KEY", "hidden-value")
	each(t, func(t *testing.T, k *kit) {
		if err := os.WriteFile(filepath.Join(k.dir, ".env"), []byte("FROM_DOTENV=hidden-value\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		w := k.life()
		got := k.run(w, "tools/life.ts", `{"do":"env"}`).Output
		if strings.Contains(got, "hidden-value") || !strings.Contains(got, `"PWD":"`+k.dir+`"`) {
			t.Error(got)
		}
	})
}

// A worker that cannot be started says so, and leaves nothing.
func TestNoStart(t *testing.T) {
	each(t, func(t *testing.T, k *kit) {
		k.write("tools/life.ts", life1)
		k.opt.Dir = filepath.Join(k.dir, "missing")
		_, err := StartWorker(t.Context(), k.opt, WorkerFolder{Root: k.root, Files: []string{"tools/life.ts"}})
		if err == nil || !strings.Contains(err.Error(), "ENOENT") {
			t.Error(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := StartWorker(ctx, k.opt, WorkerFolder{Root: k.root}); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

// Which runtime is found, and what is said when none is.
func TestFind(t *testing.T) {
	k := newKit(t, "", true)
	bin := t.TempDir()
	for name, text := range map[string]string{"bun": "echo 1.4.4", "node": "echo v20.1.0", "old": "echo v18.19.0", "odd": "echo what", "broken": "exit 1"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ setting, bun, node, want string }{
		{"", "bun", "node", "runs bun"},
		{"auto", "", "node", "runs node"},
		{"auto", "broken", "node", "runs node"},
		{"auto", "odd", "node", "runs node"},
		{"node", "bun", "node", "runs node"},
		{"bun", "", "node", "bun was not found. Install bun"},
		{"auto", "", "old", "too old. Install bun (https://bun.com), or node 20 or newer"},
		{"auto", "", "", "bun was not found; node was not found"},
		{"off", "bun", "node", "switched off"},
		{"deno", "bun", "node", "not one of auto, bun, node, off"},
	} {
		opt := k.opt
		opt.Runtime = c.setting
		opt.LookPath = func(name string) (string, error) {
			program := map[string]string{"bun": c.bun, "node": c.node}[name]
			if program == "" {
				return "", exec.ErrNotFound
			}
			return filepath.Join(bin, program), nil
		}
		found, err := FindRuntime(t.Context(), opt)
		got := "runs " + found.Name
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// Whatever is going on, Close ends it, and nothing is started after it.
func TestCloseAnyTime(t *testing.T) {
	each(t, func(t *testing.T, k *kit) {
		k.write("tools/life.ts", life1)
		begun := k.begun(t)
		for _, wait := range []bool{false, true} {
			w, err := StartWorker(t.Context(), k.opt, WorkerFolder{Root: k.root, Files: []string{"tools/life.ts"}})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := w.Execute(t.Context(), do("exit")); !errors.Is(err, ErrWorkerGone) {
				t.Error(err)
			}
			var all sync.WaitGroup
			for range 4 { // they meet while a process is started for them
				all.Go(func() {
					if _, err := w.Execute(t.Context(), do("stubborn")); !errors.Is(err, ErrWorkerClosed) {
						t.Error(err)
					}
				})
			}
			if wait {
				<-begun.Done()
			}
			if err := w.Close(); err != nil {
				t.Error(err)
			}
			all.Wait()
		}
	})
}

func BenchmarkWorkerCall(b *testing.B) {
	for _, name := range []string{"node", "bun"} {
		b.Run(name, func(b *testing.B) {
			if _, err := lookPath(name); err != nil {
				b.Skip(err)
			}
			k := newKit(b, name, true)
			w := k.life()
			k.run(w, "tools/life.ts", `{"do":"pid"}`)
			for b.Loop() {
				k.run(w, "tools/life.ts", `{"do":"undefined"}`)
			}
		})
	}
}

func BenchmarkStart(b *testing.B) {
	for _, name := range []string{"node", "bun"} {
		b.Run(name, func(b *testing.B) {
			if _, err := lookPath(name); err != nil {
				b.Skip(err)
			}
			k := newKit(b, name, true)
			k.write("tools/life.ts", life1)
			for b.Loop() {
				w, err := StartWorker(b.Context(), k.opt, WorkerFolder{Root: k.root, Files: []string{"tools/life.ts"}})
				if err != nil {
					b.Fatal(err)
				}
				k.run(w, "tools/life.ts", `{"do":"undefined"}`)
				if err := w.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
