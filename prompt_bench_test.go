package helve_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/model"
)

// stepper is a model that calls a tool so many times, at once each time, and
// then is done.
func stepper(steps int) *brain {
	return &brain{answer: func(req model.Request) []model.Event {
		if n := turnsOf(req); n < steps {
			return callsTool("glob", map[string]any{"pattern": fmt.Sprintf("none%d", n)})
		}
		return says("done")
	}}
}

func thinkingRuntime(b *testing.B, br *brain) *helve.Runtime {
	b.Helper()
	dir := b.TempDir()
	r, err := helve.Open(helve.Options{Dir: dir, Worktree: dir, DataDir: b.TempDir(), Models: agent.Models{
		Default: model.Ref{Provider: "bench", Model: "brain"},
		Find:    func(model.Ref) (model.Model, error) { return model.Model{Provider: br}, nil },
	}})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = r.Close() })
	return r
}

// BenchmarkStep is what the loop adds to a model that answers at once: from one
// request to the next, with a tool call between that finds nothing.
func BenchmarkStep(b *testing.B) {
	for _, steps := range []int{10, 100} {
		b.Run(fmt.Sprintf("steps=%d", steps), func(b *testing.B) {
			var mu sync.Mutex
			var last time.Time
			var gaps []time.Duration
			br := stepper(steps)
			answer := br.answer
			br.answer = func(req model.Request) []model.Event {
				mu.Lock()
				defer mu.Unlock()
				if turnsOf(req) > 0 {
					gaps = append(gaps, time.Since(last))
				}
				out := answer(req)
				last = time.Now()
				return out
			}
			r := thinkingRuntime(b, br)
			for b.Loop() {
				turn, err := r.Turns().Prompt(b.Context(), agent.Prompt{Text: "go"})
				if err != nil || turn.End != agent.EndDone || turn.Steps != steps+1 {
					b.Fatalf("%+v, %v", turn, err)
				}
			}
			slices.Sort(gaps)
			b.ReportMetric(float64(gaps[len(gaps)/2].Microseconds()), "µs/step-median")
			b.ReportMetric(float64(gaps[len(gaps)*99/100].Microseconds()), "µs/step-p99")
		})
	}
}

// BenchmarkHundredSessions is 100 sessions at once in one process, ten steps each.
func BenchmarkHundredSessions(b *testing.B) {
	const sessions, steps = 100, 10
	r := thinkingRuntime(b, stepper(steps))
	for b.Loop() {
		var group sync.WaitGroup
		for range sessions {
			group.Go(func() {
				if turn, err := r.Turns().Prompt(b.Context(), agent.Prompt{Text: "go"}); err != nil || turn.End != agent.EndDone {
					b.Errorf("%+v, %v", turn, err)
				}
			})
		}
		group.Wait()
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*sessions*(steps+1)), "µs/step")
}

// BenchmarkSessionMemory is what a session holds in memory while its model
// thinks, with a conversation of 200 KB behind it.
func BenchmarkSessionMemory(b *testing.B) {
	const sessions = 100
	var waiting atomic.Int32
	release := make(chan struct{})
	br := &brain{answer: func(req model.Request) []model.Event {
		if turnsOf(req) < 4 {
			return callsTool("bash", map[string]any{"command": fmt.Sprintf("head -c 50000 /dev/zero | tr '\\0' x; echo %d", turnsOf(req)), "description": "x"})
		}
		waiting.Add(1)
		<-release
		return says("done")
	}}
	r := thinkingRuntime(b, br)
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapInuse + m.StackInuse
	}
	before := heap()
	var group sync.WaitGroup
	for range sessions {
		group.Go(func() {
			if turn, err := r.Turns().Prompt(b.Context(), agent.Prompt{Text: strings.Repeat("go ", 10)}); err != nil || turn.End != agent.EndDone {
				b.Errorf("%+v, %v", turn, err)
			}
		})
	}
	for waiting.Load() < sessions {
		time.Sleep(10 * time.Millisecond)
	}
	br.mu.Lock()
	br.reqs = nil // what the test itself has kept
	br.mu.Unlock()
	after := heap()
	close(release)
	group.Wait()
	for b.Loop() { // the figure below is all
	}
	b.ReportMetric(float64(after-before)/sessions/1024, "KiB/session")
}
