package helve_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// report adds the median and the 99th percentile to a benchmark.
func report(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Nanoseconds())/1e3, "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds())/1e3, "p99-µs")
}

func benchRuntime(b *testing.B, dataDir string) *helve.Runtime {
	rt, err := helve.Open(helve.Options{Dir: b.TempDir(), DataDir: dataDir})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { rt.Close() })
	spec := tool.Spec{Name: "echo", Description: "Says it again."}
	if _, err := rt.Register(tool.New(spec, bare)); err != nil {
		b.Fatal(err)
	}
	return rt
}

func bare(_ context.Context, _ *tool.Call, in echoInput) (*tool.Result, error) {
	return &tool.Result{Title: "echo", Output: in.Say}, nil
}

// BenchmarkRoad is what the road of a call costs beside calling the tool's
// function: with the record on disk, with it in memory, and the function
// alone with its arguments decoded.
func BenchmarkRoad(b *testing.B) {
	input := []byte(`{"say":"hello"}`)
	b.Run("function", func(b *testing.B) {
		for b.Loop() {
			var in echoInput
			if err := json.Unmarshal(input, &in); err != nil {
				b.Fatal(err)
			}
			if _, err := bare(b.Context(), nil, in); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, where := range []string{"memory", "disk"} {
		b.Run(where, func(b *testing.B) {
			dir := ""
			if where == "disk" {
				dir = b.TempDir()
			}
			rt := benchRuntime(b, dir)
			var took []time.Duration
			for b.Loop() {
				start := time.Now()
				if _, err := rt.Call(b.Context(), tool.Call{Tool: "echo", Session: "s", Input: input}); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(start))
			}
			report(b, took)
		})
	}
}

// BenchmarkSessions makes a call in each of 1,000 sessions at once.
func BenchmarkSessions(b *testing.B) {
	const sessions = 1000
	rt := benchRuntime(b, b.TempDir())
	round := 0
	for b.Loop() {
		var wg sync.WaitGroup
		for i := range sessions {
			wg.Go(func() {
				call := tool.Call{Tool: "echo", Session: fmt.Sprint("s", i), Input: []byte(`{"say":"hello"}`)}
				if _, err := rt.Call(b.Context(), call); err != nil {
					b.Error(err)
				}
			})
		}
		wg.Wait()
		round++
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(round*sessions), "µs/call")
}

// BenchmarkWaiting lets 10,000 requests wait and answers them, the newest
// first.
func BenchmarkWaiting(b *testing.B) {
	const requests = 10_000
	for b.Loop() {
		asked := make(chan string, requests)
		e := permission.NewEngine(permission.EngineOptions{OnAsk: func(r permission.Request) { asked <- r.ID }})
		var wg sync.WaitGroup
		for i := range requests {
			wg.Go(func() {
				req := permission.Request{Session: fmt.Sprint(i), Permission: "bash", Patterns: []string{"ls"}}
				if err := e.Ask(b.Context(), req, permission.Policy{}); err != nil {
					b.Error(err)
				}
			})
		}
		ids := make([]string, requests)
		for i := range ids {
			ids[i] = <-asked
		}
		for _, id := range slices.Backward(ids) {
			if err := e.Reply(id, permission.Reply{Verdict: permission.ReplyOnce}); err != nil {
				b.Fatal(err)
			}
		}
		wg.Wait()
	}
}
