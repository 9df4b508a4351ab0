package process

import (
	"io"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"
)

// BenchmarkRunnerSpawn compares a bare command with one that goes through us.
func BenchmarkRunnerSpawn(b *testing.B) {
	b.Run("bare", func(b *testing.B) {
		for b.Loop() {
			if err := exec.Command("bash", "-c", "true").Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("bare, output", func(b *testing.B) {
		for b.Loop() {
			if _, err := exec.Command("bash", "-c", "true").CombinedOutput(); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, way := range []string{"keeper", "direct"} {
		b.Run(way, func(b *testing.B) {
			r := newRunner(b, way)
			run(b, r, bash("true"))
			for b.Loop() {
				run(b, r, bash("true"))
			}
		})
	}
	b.Run("keeper, parallel", func(b *testing.B) {
		r := newRunner(b, "keeper")
		run(b, r, bash("true"))
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				run(b, r, bash("true"))
			}
		})
	})
	b.Run("keeper, survivors", func(b *testing.B) {
		r := newRunner(b, "keeper")
		c := NewCapture(CaptureOptions{})
		p, err := c.Start(b.Context(), r, bash("sleep 1000"))
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if _, err := p.Survivors(); err != nil {
				b.Fatal(err)
			}
		}
		_, _ = p.End(0)
		c.Settle()
	})
}

// BenchmarkOverhead takes turns, so that the ratio holds on a busy machine too.
func BenchmarkOverhead(b *testing.B) {
	for _, way := range []string{"keeper", "direct"} {
		b.Run(way, func(b *testing.B) {
			r := newRunner(b, way)
			run(b, r, bash("true"))
			var bare, ours []time.Duration
			for b.Loop() {
				start := time.Now()
				if _, err := exec.Command("bash", "-c", "true").CombinedOutput(); err != nil {
					b.Fatal(err)
				}
				between := time.Now()
				run(b, r, bash("true"))
				bare, ours = append(bare, between.Sub(start)), append(ours, time.Since(between))
			}
			slices.Sort(bare)
			slices.Sort(ours)
			half := len(bare) / 2
			b.ReportMetric(float64(bare[half].Microseconds()), "µs-bare")
			b.ReportMetric(float64(ours[half].Microseconds()), "µs-ours")
			b.ReportMetric(float64(ours[half])/float64(bare[half]), "ratio")
		})
	}
}

// BenchmarkCapture compares reading a gigabyte with throwing it away.
func BenchmarkCapture(b *testing.B) {
	const size = 1 << 30
	b.Run("cat", func(b *testing.B) {
		b.SetBytes(size)
		for b.Loop() {
			if err := exec.Command("bash", "-c", "yes | head -c 1G | cat >/dev/null").Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
	for name, spill := range map[string]func() (io.WriteCloser, error){
		"capture": nil,
		"spill":   func() (io.WriteCloser, error) { return os.CreateTemp(b.TempDir(), "") },
	} {
		b.Run(name, func(b *testing.B) {
			r := newRunner(b, "keeper")
			b.SetBytes(size)
			for b.Loop() {
				c := NewCapture(CaptureOptions{Spill: spill})
				p, err := c.Start(b.Context(), r, bash("yes | head -c 1G"))
				if err != nil {
					b.Fatal(err)
				}
				<-p.Done()
				c.Settle()
				if c.Output().Bytes != size {
					b.Fatal(c.Output().Bytes)
				}
			}
		})
	}
}
