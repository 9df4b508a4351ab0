package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// BenchmarkStart is what a person waits for: the whole life of a process. The
// peer is the smallest process there is, in the same run.
func BenchmarkStart(b *testing.B) {
	bin, w := build(b), newWorld(b)
	for _, c := range []struct {
		name string
		cmd  func() *exec.Cmd
	}{
		{"true", func() *exec.Cmd { return w.command("/bin/true") }},
		{"version", func() *exec.Cmd { return w.command(bin, "version") }},
		{"tools", func() *exec.Cmd { return w.command(bin, "tools") }},
		{"call", func() *exec.Cmd { return w.command(bin, "call", "read", "filePath=a.txt") }},
	} {
		b.Run(c.name, func(b *testing.B) {
			if out, err := c.cmd().CombinedOutput(); err != nil { // warm the page cache, make the store
				b.Fatalf("%v\n%s", err, out)
			}
			var took []time.Duration
			for b.Loop() {
				cmd := c.cmd()
				start := time.Now()
				if err := cmd.Run(); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(start))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1e3, "median-ms")
			b.ReportMetric(float64(took[0].Microseconds())/1e3, "best-ms")
		})
	}
}

// BenchmarkStartWithFiles is what fifty tool files that are not called cost
// the call of another tool, beside a run without any: in the user's own config
// folder, and in one of a project that was trusted. The runs take turns.
func BenchmarkStartWithFiles(b *testing.B) {
	bin := build(b)
	for _, where := range []string{".config/opencode/tool", "work/.opencode/tool"} {
		b.Run(strings.ReplaceAll(where, "/", "_"), func(b *testing.B) {
			none, fifty := newWorld(b), newWorld(b)
			plantTools(b, filepath.Join(fifty.home, filepath.FromSlash(where)), 50)
			if out, err := fifty.command(bin, "trust", "--yes").CombinedOutput(); err != nil {
				b.Fatalf("%v\n%s", err, out)
			}
			var took [2][]time.Duration
			for b.Loop() {
				for i, w := range []world{none, fifty} {
					start := time.Now()
					if out, err := w.command(bin, "call", "read", "filePath=a.txt").CombinedOutput(); err != nil {
						b.Fatalf("%v\n%s", err, out)
					}
					took[i] = append(took[i], time.Since(start))
				}
			}
			for i, name := range []string{"none", "fifty"} {
				slices.Sort(took[i])
				b.ReportMetric(float64(took[i][len(took[i])/2].Microseconds())/1e3, name+"-median-ms")
			}
			b.ReportMetric(float64((took[1][len(took[1])/2]-took[0][len(took[0])/2]).Microseconds())/1e3, "more-median-ms")
		})
	}
}

func plantTools(tb testing.TB, dir string, n int) {
	tb.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		tb.Fatal(err)
	}
	for i := range n {
		text := fmt.Sprintf("import { tool } from \"@opencode-ai/plugin\"\nexport default tool({\n  description: \"Tool %d\",\n  args: { path: tool.schema.string() },\n  async execute(args) { return args.path },\n})\n%s",
			i, strings.Repeat("// A comment, as real files have them.\n", 50))
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("tool%d.ts", i)), []byte(text), 0o644); err != nil {
			tb.Fatal(err)
		}
	}
}
