package custom

import (
	"errors"
	"github.com/helve-dev/helve/internal/process"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const climber = `
import fs from "node:fs"
import { execFileSync } from "node:child_process"
const attempt = (f) => { try { f(); return "done" } catch (e) { return e.code ?? e.message } }
export default { description: "d", args: {}, async execute(args, { directory }) {
  return JSON.stringify({
    inside: attempt(() => fs.writeFileSync(args.inside, "x")),
    outside: attempt(() => fs.writeFileSync(args.outside, "x")),
    child: attempt(() => execFileSync("/bin/sh", ["-c", 'echo x > "$0"', args.outside], { stdio: "ignore" })) === "done",
    masked: attempt(() => fs.readFileSync(args.masked)),
  })
} }
`

// walled runs a test in the real sandbox, with every runtime there is. A level of off is for
// commands: a worker has a sandbox all the same.
func walled(t *testing.T, test func(t *testing.T, k *kit), levels ...string) {
	for _, name := range []string{"node", "bun"} {
		for _, level := range levels {
			t.Run(name+" "+level, func(t *testing.T) {
				if _, err := lookPath(name); err != nil {
					t.Skipf("%s is not here (bun is where HELVE_BUN says)", name)
				}
				k := newKitAt(t, name, false, level)
				if lacks := k.opt.Shell.Lacks(); lacks != "" {
					t.Skip(lacks)
				}
				test(t, k)
			})
		}
	}
}

// Behind the sandbox a file does what it may in the project, and nothing beyond it; what the rules
// keep from being read is not there.
func TestWall(t *testing.T) {
	walled(t, func(t *testing.T, k *kit) {
		k.write("tools/climb.ts", climber)
		outside, masked := filepath.Join(t.TempDir(), "outside"), filepath.Join(k.dir, "secret.env")
		if err := os.WriteFile(masked, []byte("secret"), 0o600); err != nil {
			t.Fatal(err)
		}
		k.opt.Sieve = process.PathFilter{Key: "no secrets", Names: func(file string) []string { return []string{file} }, Passes: func(names ...string) bool {
			return !strings.HasSuffix(names[0], ".env")
		}}
		w := k.start("tools/climb.ts")
		got := k.run(w, "tools/climb.ts", `{"inside":"`+filepath.Join(k.dir, "inside")+`","outside":"`+outside+`","masked":"`+masked+`"}`).Output
		if !strings.Contains(got, `"inside":"done"`) || !strings.Contains(got, `"child":false`) || strings.Contains(got, `"outside":"done"`) || strings.Contains(got, `"masked":"done"`) {
			t.Error(got)
		}
		if _, err := os.Stat(outside); !errors.Is(err, os.ErrNotExist) {
			t.Error("it wrote outside")
		}
		if _, err := os.Stat(filepath.Join(k.dir, "inside")); err != nil {
			t.Error(err)
		}
		if _, err := w.Execute(t.Context(), call("tools/climb.ts", `{}`)); err != nil {
			t.Error(err)
		}
	}, "off", "strict")
}

// What a file starts ends with the worker, though it has made itself a session of its own.
func TestWallCloses(t *testing.T) {
	walled(t, func(t *testing.T, k *kit) {
		w := k.life()
		k.run(w, "tools/life.ts", `{"do":"child","detached":true}`)
		w.mu.Lock()
		l := w.life
		w.mu.Unlock()
		before, err := l.process.Survivors()
		if err != nil || len(before) < 2 {
			t.Errorf("%v %v", before, err)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		if left, err := l.process.Survivors(); err != nil || len(left) > 0 {
			t.Errorf("%v %v", left, err)
		}
	}, "off")
}

// A runtime in a folder that is private in the sandbox is shown there, by its real name.
func TestHiddenRuntime(t *testing.T) {
	k := newKit(t, "node", false)
	if lacks := k.opt.Shell.Lacks(); lacks != "" {
		t.Skip(lacks)
	}
	hidden := filepath.Join(t.TempDir(), "node")
	if err := os.WriteFile(hidden, []byte("#!/bin/sh\necho v20.0.0\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "node")
	if err := os.Symlink(hidden, link); err != nil {
		t.Fatal(err)
	}
	k.opt.LookPath = func(string) (string, error) { return link, nil }
	real, err := filepath.EvalSymlinks(hidden)
	if err != nil {
		t.Fatal(err)
	}
	if found, err := FindRuntime(t.Context(), k.opt); err != nil || found != (WorkerRuntime{Name: "node", Path: real, Private: true}) {
		t.Errorf("%+v %v", found, err)
	}
}

// So is a config folder that the sandbox hides.
func TestHiddenFolder(t *testing.T) {
	walled(t, func(t *testing.T, k *kit) {
		k.root = t.TempDir() // no part of the project, and so of the temporary folder that is not shared
		k.write("tools/life.ts", life1)
		_, err := StartWorker(t.Context(), k.opt, WorkerFolder{Root: k.root, Files: []string{"tools/life.ts"}})
		if err == nil || !strings.Contains(err.Error(), k.root+" can not be read behind the wall") {
			t.Error(err)
		}
	}, "off")
}

// What the files import is shown to bun where the sandbox hides the config folder, and nothing else
// of it.
func TestReads(t *testing.T) {
	if _, err := lookPath("bun"); err != nil {
		t.Skip("bun is not here (it is where HELVE_BUN says)")
	}
	k := newKit(t, "bun", false)
	if lacks := k.opt.Shell.Lacks(); lacks != "" {
		t.Skip(lacks)
	}
	k.root = t.TempDir() // no part of the project
	k.write("lib/x.ts", "export const x = 'X'")
	k.write("y.ts", "export const y = 'Y'")
	k.write("secret.txt", "secret")
	k.write("tools/a.ts", `import { x } from "../lib/x"; import { y } from "../y"; import { existsSync } from "node:fs"
		export default { description: "d", args: {}, execute: async () => x + y + existsSync(import.meta.dirname + "/../secret.txt") }`)
	reads := []string{filepath.Join(k.root, "tools"), filepath.Join(k.root, "lib"), filepath.Join(k.root, "y.ts")}
	w, err := StartWorker(t.Context(), k.opt, WorkerFolder{Root: k.root, Files: []string{"tools/a.ts"}, Reads: reads})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, err := w.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := k.run(w, "tools/a.ts", "{}").Output; got != "XYfalse" {
		t.Error(got)
	}
}

// Without a sandbox nothing is run.
func TestNoWall(t *testing.T) {
	k := newKit(t, "auto", false)
	data := t.TempDir()
	bare, err := process.NewExecutor(process.ExecutorOptions{Dir: k.dir, Private: func(name string) string { return filepath.Join(data, name) }, Jobs: process.JobsOptions{Dir: data}})
	if err != nil {
		t.Fatal(err)
	}
	defer bare.Close()
	k.opt.Shell = bare
	k.write("tools/life.ts", life1)
	if _, err := StartWorker(t.Context(), k.opt, WorkerFolder{Root: k.root, Files: []string{"tools/life.ts"}}); err == nil || !strings.Contains(err.Error(), "behind the wall or not at all") {
		t.Error(err)
	}
}
