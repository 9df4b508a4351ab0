package custom

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// A bunWorker is Bun as others would run tools in it: a process that stays.
type bunWorker struct {
	b     *testing.B
	cmd   *exec.Cmd
	in    *json.Encoder
	out   *bufio.Reader
	close func()
}

// bunFiles plants the tool file of the benchmarks and what it imports, and gives Bun and the file;
// it skips where there is no Bun.
func bunFiles(b *testing.B) (bun, dir string) {
	b.Helper()
	bun = os.Getenv("HELVE_BUN")
	if bun == "" {
		b.Skip("HELVE_BUN does not say where Bun is")
	}
	dir = realTemp(b)
	plant(b, dir, sixTools()+`-- node_modules/@opencode-ai/plugin/index.mjs --
import { z } from "zod"
export const tool = Object.assign((t) => t, { schema: z })
-- node_modules/@opencode-ai/plugin/package.json --
{"name": "@opencode-ai/plugin", "main": "index.mjs"}
`)
	if err := os.Symlink(filepath.Join(filepath.Dir(filepath.Dir(bun)), "zod"), filepath.Join(dir, "node_modules", "zod")); err != nil {
		b.Fatal(err)
	}
	text, err := os.ReadFile("testdata/bench/worker.mjs")
	if err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "worker.mjs"), text, 0o600); err != nil {
		b.Fatal(err)
	}
	return bun, dir
}

func startBun(b *testing.B, bun, dir string) *bunWorker {
	b.Helper()
	cmd := exec.Command(bun, "worker.mjs")
	cmd.Dir = dir
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	w := &bunWorker{b: b, cmd: cmd, in: json.NewEncoder(in), out: bufio.NewReader(out), close: func() {
		_ = in.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}}
	if line, err := w.out.ReadString('\n'); err != nil || line != "ready\n" {
		w.close()
		b.Fatalf("Bun says %q: %v", line, err)
	}
	return w
}

func (w *bunWorker) ask(question any) string {
	w.b.Helper()
	if err := w.in.Encode(question); err != nil {
		w.b.Fatal(err)
	}
	line, err := w.out.ReadString('\n')
	if err != nil {
		w.b.Fatal(err)
	}
	return strings.TrimSpace(line)
}

// BenchmarkBeside holds the engine against a worker in Bun, in turns: until the first engine is
// there with six tools of a file, and one call.
func BenchmarkBeside(b *testing.B) {
	bun, dir := bunFiles(b)
	load := map[string]string{"load": filepath.Join(dir, "tools", "six.ts")}
	b.Run("first/bun", func(b *testing.B) {
		for b.Loop() {
			w := startBun(b, bun, dir)
			w.ask(load)
			w.close()
		}
	})
	b.Run("first/helve", func(b *testing.B) {
		x := newBench(b, sixTools(), withCache(b.TempDir()))
		x.set.Gather(b.Context())
		for b.Loop() {
			s := New(x.set.opt)
			s.opt.Register = x.register
			s.Gather(b.Context())
			if err := s.Close(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("call/bun", func(b *testing.B) {
		w := startBun(b, bun, dir)
		defer w.close()
		w.ask(load)
		call := map[string]any{"tool": "t0", "args": map[string]string{"path": "x"}}
		for b.Loop() {
			if got := w.ask(call); got != `"x"` {
				b.Fatal(got)
			}
		}
		var bytes float64
		if err := json.Unmarshal([]byte(w.ask(map[string]bool{"memory": true})), &bytes); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(bytes/(1<<20), "MiB")
	})
	b.Run("call/helve", func(b *testing.B) {
		x := newBench(b, sixTools(), nil)
		x.output("six_t0", `{"path":"x"}`)
		for b.Loop() {
			x.output("six_t0", `{"path":"x"}`)
		}
	})
	b.Run("memory/helve", func(b *testing.B) {
		const engines = 20
		x := newBench(b, sixTools(), nil)
		x.set.Gather(b.Context())
		for b.Loop() {
			runtime.GC()
			before := resident()
			var sets []*Set
			for range engines {
				s := New(x.set.opt)
				s.opt.Register = x.register
				s.Gather(b.Context())
				sets = append(sets, s)
			}
			runtime.GC()
			b.ReportMetric(float64(resident()-before)/(1<<20)/engines, "MiB/engine")
			for _, s := range sets {
				if err := s.Close(); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}
