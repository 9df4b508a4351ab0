package main_test

import (
	"os/exec"
	"slices"
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
