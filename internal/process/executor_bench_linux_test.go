package process

import (
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"
)

// BenchmarkSpawn runs "true" in bash by os/exec and through rooms without a
// wall and behind one, in turn, and gives the median of each and how many
// times that of os/exec it is.
func BenchmarkSpawn(b *testing.B) {
	shell, err := FindShell("", os.Getenv)
	if err != nil {
		b.Fatal(err)
	}
	names := []string{"exec", "off", "write", "strict"}
	runs := map[string]func(){"exec": func() {
		args := shell.args("true")
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			b.Fatalf("%s: %v", out, err)
		}
	}}
	for _, level := range names[1:] {
		r := room(b, func(o *ExecutorOptions) { o.Wall.Level = level })
		runs[level] = func() { do(b, r, ShellCommand{Line: "true"}) }
		runs[level]() // the supervisor is started once
	}
	took := map[string][]time.Duration{}
	for b.Loop() {
		for _, name := range names {
			start := time.Now()
			runs[name]()
			took[name] = append(took[name], time.Since(start))
		}
	}
	median := func(name string) float64 {
		slices.Sort(took[name])
		return float64(took[name][len(took[name])/2])
	}
	for _, name := range names {
		b.ReportMetric(median(name)/1e6, name+"-ms")
		b.ReportMetric(median(name)/median("exec"), name+"-ratio")
	}
}

// BenchmarkOutput takes a gigabyte from a command, beside cat that throws the
// same away.
func BenchmarkOutput(b *testing.B) {
	const line = "head -c 1073741824 /dev/zero | tr '\\0' '\\n'"
	r := room(b, nil)
	for name, run := range map[string]func(){
		"cat":   func() { do(b, r, ShellCommand{Line: line + " | cat >/dev/null"}) },
		"taken": func() { do(b, r, ShellCommand{Line: line + " | cat"}) },
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(1 << 30)
			for b.Loop() {
				run()
			}
		})
	}
}
