package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/helve-dev/helve/message"
	"github.com/helve-dev/helve/model"
	"github.com/helve-dev/helve/record"
	"github.com/helve-dev/helve/tool"
)

// BenchmarkCall is the share of the store in a call: Begin and Finish.
func BenchmarkCall(b *testing.B) {
	for _, callers := range []int{1, 64} {
		for _, sync := range []bool{false, true} {
			for _, size := range []int{1 << 10, 50 << 10} {
				b.Run(fmt.Sprintf("callers=%d/sync=%v/output=%dK", callers, sync, size>>10), func(b *testing.B) {
					benchCalls(b, Options{Dir: b.TempDir(), Sync: sync}, callers, size)
				})
			}
		}
	}
	b.Run("memory", func(b *testing.B) { benchCalls(b, Options{}, 1, 1<<10) })
}

func benchCalls(b *testing.B, o Options, callers, size int) {
	s := open(b, o)
	ok(b, s.AddSession(context.Background(), record.Session{ID: "ses_0123456789abcdefghijklmnop", Time: record.SessionTime{Created: 1}}))
	out := strings.Repeat("0123456789abcde\n", size/16)
	took := make([]time.Duration, b.N)
	var next atomic.Int64
	var group sync.WaitGroup
	b.ResetTimer()
	for range callers {
		group.Go(func() {
			for {
				i := next.Add(1) - 1
				if i >= int64(b.N) {
					return
				}
				c := record.Call{
					ID: fmt.Sprintf("call_%026d", i), Session: "ses_0123456789abcdefghijklmnop", Tool: "read",
					Agent: "build", Model: "model", Input: `{"filePath":"/home/user/project/main.go"}`, Started: 1,
				}
				from := time.Now()
				if err := s.Begin(context.Background(), c); err != nil {
					b.Error(err)
					return
				}
				c.State, c.Ended = record.Completed, 2
				c.Result = &tool.Result{Title: "main.go", Output: out, Metadata: map[string]any{"truncated": false}}
				if err := s.Finish(c); err != nil {
					b.Error(err)
					return
				}
				took[i] = time.Since(from)
			}
		})
	}
	group.Wait()
	b.StopTimer()
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
}

// BenchmarkOpen is what a start pays, with nothing to repair.
func BenchmarkOpen(b *testing.B) {
	for _, calls := range []int{0, 20000} {
		b.Run(fmt.Sprintf("calls=%d", calls), func(b *testing.B) {
			dir := b.TempDir()
			s := open(b, Options{Dir: dir})
			for i := range calls {
				ok(b, s.Record(record.Call{ID: fmt.Sprint(i), State: record.Completed, Input: strings.Repeat("x", 1000)}))
			}
			ok(b, s.Close())
			for b.Loop() {
				s, err := Open(Options{Dir: dir})
				ok(b, err)
				b.StopTimer()
				ok(b, s.Close())
				b.StartTimer()
			}
		})
	}
	b.Run("new", func(b *testing.B) {
		for b.Loop() {
			s, err := Open(Options{Dir: b.TempDir()})
			ok(b, err)
			b.StopTimer()
			ok(b, s.Close())
			b.StartTimer()
		}
	})
}

func BenchmarkRead(b *testing.B) {
	s := open(b, Options{Dir: b.TempDir()})
	for i := range 2000 {
		ok(b, s.Record(record.Call{ID: fmt.Sprint(i), Session: "s", State: record.Completed, Input: strings.Repeat("x", 1000)}))
	}
	b.Run("call", func(b *testing.B) {
		for b.Loop() {
			must(s.Call(context.Background(), "1234"))(b)
		}
	})
	b.Run("list100", func(b *testing.B) {
		for b.Loop() {
			must(s.Calls(context.Background(), record.CallQuery{Session: "s"}))(b)
		}
	})
}

// talk is a conversation of n messages with 5 parts each, such as agents have.
func talk(session string, n int) []message.Message {
	var out []message.Message
	for i := range n {
		m := message.Message{Info: message.Info{
			ID: fmt.Sprintf("msg_%026d", i), Session: session, Role: message.Assistant, Time: message.Times{Created: int64(i), Completed: int64(i) + 1},
			Agent: "build", Model: model.Ref{Provider: "provider", Model: "model"}, Parent: "msg_0", Path: &message.Path{Cwd: "/home/user/project", Root: "/home/user/project"},
			Cost: 0.0123, Tokens: model.Tokens{Input: 10, Output: 200, Cache: model.CacheTokens{Read: 30000}}, Finish: "tool-calls",
		}}
		for j, p := range []message.Part{
			{Type: message.StepStart},
			{Type: message.Reasoning, Text: strings.Repeat("I should look at the file first. ", 10), Seal: strings.Repeat("c2ln", 50), Time: &message.Span{Start: 1, End: 2}},
			{Type: message.Text, Text: strings.Repeat("Let me read \"main.go\" and see.\n", 10), Time: &message.Span{Start: 1, End: 2}},
			{Type: message.Tool, CallID: "call_1", Tool: "read", State: &message.State{
				Status: message.Completed, Input: []byte(`{"filePath":"/home/user/project/main.go"}`), Output: strings.Repeat("00001| func main() { fmt.Println(\"x\") }\n", 75),
				Title: "main.go", Metadata: map[string]any{"truncated": false, "preview": "package main"}, Time: &message.Span{Start: 1, End: 2},
			}},
			{Type: message.StepFinish, Reason: "tool-calls", Cost: new(0.0123), Tokens: &model.Tokens{Input: 10, Output: 200}},
		} {
			p.ID, p.Message, p.Session = fmt.Sprintf("prt_%026d", i*5+j), m.Info.ID, session
			m.Parts = append(m.Parts, p)
		}
		out = append(out, m)
	}
	return out
}

// BenchmarkMessages reads a conversation of 1,000 messages and 5,000 parts,
// the last 10 of them, and writes parts.
func BenchmarkMessages(b *testing.B) {
	ctx := context.Background()
	s := open(b, Options{Dir: b.TempDir()})
	said := talk("ses", 1000)
	for _, m := range said {
		ok(b, s.Save(ctx, &m.Info, m.Parts))
	}
	b.Run("read", func(b *testing.B) {
		for b.Loop() {
			if n := len(must(s.Messages(ctx, "ses"))(b)); n != 1000 {
				b.Fatal(n)
			}
		}
	})
	b.Run("put", func(b *testing.B) {
		for b.Loop() {
			ok(b, s.putPart(ctx, said[500].Parts[3]))
		}
	})
	b.Run("put4M", func(b *testing.B) {
		p := message.Part{ID: "prt_big", Session: "other", Message: "m", Type: message.File, Mime: "image/png", URL: "data:image/png;base64," + strings.Repeat("AAAA", 1<<20)}
		for b.Loop() {
			ok(b, s.putPart(ctx, p))
		}
	})
}
