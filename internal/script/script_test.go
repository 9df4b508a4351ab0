package script_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helve-dev/helve/internal/bundle"
	"github.com/helve-dev/helve/internal/script"
)

// evaluate gives what an expression comes to in an engine, as JSON.
func evaluate(t *testing.T, v *script.VM, expression string) string {
	t.Helper()
	source := "globalThis.evaluated = async () => (" + expression + ");"
	if err := v.Load(t.Context(), "evaluated.js", script.Code{Source: source}); err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	answer, err := v.Call(t.Context(), "evaluated", script.Data{})
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return string(answer.JSON)
}

func TestEveryModuleLoads(t *testing.T) {
	if raceDetector {
		t.Skip("one goroutine only, and a hundred times slower under the race detector")
	}
	v := newEngine(t, newWorld(t))
	for _, name := range slices.Sorted(maps.Keys(script.Modules())) {
		quoted, err := json.Marshal(name)
		if err != nil {
			t.Fatal(err)
		}
		if name == "sys" || strings.HasPrefix(name, "zod/") { // names for the bundler
			continue
		}
		if got := evaluate(t, v, "typeof __helve.require("+string(quoted)+")"); got != `"object"` && got != `"function"` {
			t.Errorf("%s is %s", name, got)
		}
	}
}

func TestNodeNames(t *testing.T) {
	v := newEngine(t, newWorld(t))
	if got := evaluate(t, v, `__helve.require("node:fs/promises") === __helve.require("fs").promises`); got != "true" {
		t.Error("node:fs/promises is another module than fs.promises")
	}
	if got := evaluate(t, v, `(() => { try { __helve.require("nope"); } catch (e) { return [e.message, e.code]; } })()`); got != `["Cannot find module 'nope'","MODULE_NOT_FOUND"]` {
		t.Errorf("a module that is not there: %s", got)
	}
}

// TestGlobals asks for every global that globals.js promises.
func TestGlobals(t *testing.T) {
	if raceDetector {
		t.Skip("one goroutine only, and a hundred times slower under the race detector")
	}
	v := newEngine(t, newWorld(t))
	for line := range strings.Lines(readZodFile(t, filepath.Join("js", "globals.js"))) {
		name, _, ok := strings.Cut(strings.TrimPrefix(line, "  "), ": [\"")
		if !ok || !strings.HasPrefix(line, "  ") || strings.ContainsAny(name, " /") {
			continue
		}
		if got := evaluate(t, v, "typeof "+name); got == `"undefined"` {
			t.Errorf("%s is not there", name)
		}
	}
	if got := evaluate(t, v, `typeof __now + typeof __later + typeof __drop + typeof __text + typeof __bytes`); got != `"`+strings.Repeat("undefined", 5)+`"` {
		t.Errorf("the engine's natives are still there: %s", got)
	}
	if got := evaluate(t, v, `(() => { globalThis.fetch = 5; const kept = fetch; return kept; })()`); got != "5" {
		t.Errorf("a global can not be replaced: %s", got)
	}
}

func TestConsole(t *testing.T) {
	w := newWorld(t)
	v := newEngine(t, w)
	evaluate(t, v, `(() => {
		console.log("plain");
		console.log("a %s %d", "b", 2, { c: [1] });
		console.error(new TypeError("bad"));
		console.warn("careful"); console.debug("small"); console.info({ a: { b: {} } });
		console.group("g"); console.log("in\nside"); console.groupEnd(); console.log("out");
		console.assert(1 === 2, "sum"); console.count(); console.count();
		console.table([{ a: 1, b: "x" }, { a: 2 }]);
		process.stdout.write("half "); process.stdout.write("line\nrest");
	})()`)
	got := w.logged()
	if i := slices.IndexFunc(got, func(line string) bool { return strings.HasPrefix(line, "error TypeError: bad\n    at ") }); i < 0 {
		t.Errorf("no stack in %q", got)
	} else {
		got = slices.Delete(got, i, i+1)
	}
	want := []string{
		"info plain", "info a b 2 { c: [ 1 ] }", "warn careful", "debug small", "info { a: { b: {} } }", "info g", "info   in\n  side", "info out",
		"error Assertion failed: sum", "info default: 1", "info default: 2",
		"info ┌───┬───┬─────┐\n│   │ a │ b   │\n├───┼───┼─────┤\n│ 0 │ 1 │ 'x' │\n│ 1 │ 2 │     │\n└───┴───┴─────┘",
		"info half line",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestTimersAreForgotten sets timers in calls that end before them.
func TestTimersAreForgotten(t *testing.T) {
	v := newEngine(t, newWorld(t))
	if err := v.Load(t.Context(), "set.js", script.Code{Source: `globalThis.set = () => { for (let i = 0; i < 500; i++) setTimeout(() => { throw new Error("too late"); }, 60000, "x".repeat(1000)); };`}); err != nil {
		t.Fatal(err)
	}
	var first int64
	for i := range 60 {
		if _, err := v.Call(t.Context(), "set", script.Data{}); err != nil {
			t.Fatal(err)
		}
		if i == 10 {
			first = v.Usage().Memory
		}
	}
	if now := v.Usage(); now.Requests != 0 || now.Memory > first+4<<20 {
		t.Errorf("%d requests are open, memory grew from %d to %d", now.Requests, first, now.Memory)
	}
}

func TestProcessExit(t *testing.T) {
	v := newEngine(t, newWorld(t))
	got := evaluate(t, v, `(() => { try { process.exit(3); } catch (e) { return [e.name, e.code, e.exitCode, e.message]; } })()`)
	if want := `["ProcessExit","ERR_PROCESS_EXIT",3,"process.exit(3) was called"]`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestBundled runs a program the bundler made of files that import our modules, with them compiled
// in and without.
func TestBundled(t *testing.T) {
	root := emptyFolder(t)
	const tool = `import fs, { readFileSync } from "fs";
import * as path from "node:path";
import { homedir } from "os";
import EventEmitter from "events";
import { promisify } from "util";
export default async () => {
  class Own extends EventEmitter {}
  let got; new Own().on("x", (v) => { got = v; }).emit("x", 5);
  fs.writeFileSync(path.join(__dirname, "out"), "text");
  return [readFileSync(path.join(__dirname, "out"), "utf8"), typeof homedir(), got, typeof promisify, Buffer.from("hi").toString("hex"), new URL("x", "http://a").href];
};`
	if err := os.WriteFile(filepath.Join(root, "a.ts"), []byte(tool), 0o600); err != nil {
		t.Fatal(err)
	}
	made, err := bundle.Build(t.Context(), bundle.Options{Root: root, Files: []string{"a.ts"}, Virtual: script.Modules()})
	if err != nil {
		t.Fatal(err)
	}
	if !made.Files[0].Loads() || len(made.Files[0].Needs) > 0 {
		t.Fatalf("%+v", made.Files[0])
	}
	uses := script.Uses(made.Code)
	if diff := cmp.Diff([]string{"buffer", "events", "fs", "os", "path", "url", "util"}, uses); diff != "" {
		t.Error(diff)
	}
	for name, parts := range map[string]string{"with parts": script.Parts(uses...), "without": ""} {
		t.Run(name, func(t *testing.T) {
			v := newEngine(t, newWorld(t))
			program := parts + "globalThis.program = (() => { const exports = {};\n" + made.Code + "\nreturn exports; })();"
			if err := v.Load(t.Context(), "program.js", script.Code{Source: program}); err != nil {
				t.Fatal(err)
			}
			got := evaluate(t, v, `(await program.files[0].load()).exports.default()`)
			if want := `["text","string",5,"function","6869","http://a/x"]`; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

func BenchmarkPrelude(b *testing.B) {
	code, err := script.Compile("prelude.js", script.Prelude())
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(len(code)), "bytes")
	for b.Loop() {
		b.StopTimer()
		v, err := script.NewVM(script.VMOptions{Host: &world{}})
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		if err := v.Load(b.Context(), "prelude.js", script.Code{Bytecode: code}); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if err := v.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

// BenchmarkFiles reads a file of one megabyte as text, and a small one many times.
func BenchmarkFiles(b *testing.B) {
	dir := b.TempDir()
	for name, size := range map[string]int{"large": 1 << 20, "small": 100} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.Repeat("x", size)), 0o600); err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			w := &world{ops: map[string]operation{}, cwd: dir}
			w.add(w.machineOps())
			w.add(fileOps())
			v, err := script.NewVM(script.VMOptions{Host: w})
			if err != nil {
				b.Fatal(err)
			}
			defer func() {
				if err := v.Close(); err != nil {
					b.Error(err)
				}
			}()
			source := script.Prelude() + `const { readFileSync } = __helve.require("fs"); globalThis.read = ([file, n]) => { let size = 0; for (let i = 0; i < n; i++) size += readFileSync(file, "utf8").length; return size; };`
			if err := v.Load(b.Context(), "read.js", script.Code{Source: source}); err != nil {
				b.Fatal(err)
			}
			arg, err := json.Marshal([]any{filepath.Join(dir, name), b.N})
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(size))
			b.ResetTimer()
			if _, err := v.Call(b.Context(), "read", script.Data{JSON: arg}); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// BenchmarkFirstUse loads fs in a new engine, from the program's bytecode or from its text.
func BenchmarkFirstUse(b *testing.B) {
	w := &world{ops: map[string]operation{}}
	w.add(w.machineOps())
	for name, parts := range map[string]string{"bytecode": script.Parts("fs"), "text": ""} {
		b.Run(name, func(b *testing.B) {
			prelude, err := script.Compile("prelude.js", script.Prelude())
			if err != nil {
				b.Fatal(err)
			}
			code, err := script.Compile("program.js", parts+`__helve.require("fs");`)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				b.StopTimer()
				v, err := script.NewVM(script.VMOptions{Host: w})
				if err != nil {
					b.Fatal(err)
				}
				if err := v.Load(b.Context(), "prelude.js", script.Code{Bytecode: prelude}); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
				if err := v.Load(b.Context(), "program.js", script.Code{Bytecode: code}); err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				if err := v.Close(); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
		})
	}
}

// TestZodLacks wants members of zod that are not built to say so, and its other names to lead to
// it.
func TestZodLacks(t *testing.T) {
	v := newEngine(t, newWorld(t))
	got := evaluate(t, v, `(() => { try { __helve.require("zod").templateLiteral(["a"]); } catch (e) { return e.message; } })()`)
	if want := `"z.templateLiteral is not available to tools that run in the embedded engine"`; got != want {
		t.Errorf("z.templateLiteral: %s", got)
	}
	for _, name := range []string{"zod/v3", "zod/v4", "zod/mini", "zod/v4-mini", "zod/v4/mini", "zod/v4/core"} {
		if source := script.Modules()[name]; source != script.Modules()["zod"] {
			t.Errorf("%s is %q", name, source)
		}
	}
}
