package mcpserve

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"pgregory.net/rapid"

	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/tool"
)

func TestNews(t *testing.T) {
	t.Parallel()
	tests := []struct{ before, now, want string }{
		{"", "", ""},
		{"", "a", "a"},
		{"a", "ab", "b"},
		{"abc", "bcd", "d"},
		{"...\n\nabc", "...\n\nbcd", "d"},
		{"abc", "...\n\nbcd", "d"},
		{"abc", "xyz", "xyz"},
		{"abc", "", ""},
		{"aaab", "aab", ""},
		{"abab", "abac", "ac"},
	}
	for _, tt := range tests {
		if got := news(tt.before, tt.now); got != tt.want {
			t.Errorf("news(%q, %q) = %q, want %q", tt.before, tt.now, got, tt.want)
		}
	}
}

// Whatever part of an output is shown, the news are never more than is new:
// the longest overlap is found.
func TestOverlap(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune("ab\n")), 0, 30, -1)
		a, b := text.Draw(t, "a"), text.Draw(t, "b")
		want := 0
		for n := min(len(a), len(b)); n > 0; n-- {
			if strings.HasSuffix(a, b[:n]) {
				want = n
				break
			}
		}
		if got := overlap(a, b); got != want {
			t.Fatalf("got %d, want %d", got, want)
		}
	})
}

func TestTail(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s") + strings.Repeat("ä", rapid.IntRange(0, 200).Draw(t, "more"))
		got := tail(s, 100)
		if len(got) > 100 && len(s) > 100 || !utf8.ValidString(got) && utf8.ValidString(s) {
			t.Fatalf("%d bytes: %q", len(got), got)
		}
		if len(s) <= 100 && got != s {
			t.Fatalf("%q became %q", s, got)
		}
	})
}

// A reporter keeps its pace, tells only what is new, and is silent once it has
// stopped.
func TestReporter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var got []string
		ctx, end := context.WithCancel(t.Context())
		r := &reporter{end: end, done: make(chan struct{}), wake: make(chan struct{}, 1), calls: map[string]*printing{},
			send: func(s progressReport) error {
				got = append(got, fmt.Sprintf("%v %v %q", time.Since(start), s.n, s.message))
				return nil
			}}
		go r.run(ctx)
		output := func(inner, s string) {
			r.report(inner, event.CallProgress{Title: "title", Metadata: map[string]any{"output": s}})
		}
		output("", "")
		synctest.Wait()
		output("", "a\n")
		output("", "a\nb\n")
		time.Sleep(progressPace / 2)
		output("inner", "x\x1b")
		time.Sleep(progressPace)
		output("", "a\nb\n") // nothing new
		time.Sleep(progressBeat)
		output("", "a\nb\nc")
		r.stop()
		synctest.Wait()
		n := len(got)
		output("", "a\nb\ncd")
		time.Sleep(time.Minute)
		want := []string{`0s 1 "title"`, `100ms 2 "a\nb\nx\\x1b"`, `15.1s 3 "title"`}
		if diff := cmp.Diff(want, got[:min(len(got), 3)]); diff != "" {
			t.Error(diff)
		}
		if len(got) != n {
			t.Errorf("after the end: %q", got[n:])
		}
	})
}

// The numbers that a call gives are those of its reports, and they grow
// whatever it gives.
func TestReporterTakesNumbers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var got []string
		last := 0.0
		r := newReporter(t.Context(), true, func(ctx context.Context, n float64, message string) error {
			if n <= last {
				t.Errorf("%v follows %v", n, last)
			}
			last = n
			total, _ := ctx.Value(totalKey{}).(float64)
			got = append(got, fmt.Sprintf("%.2f of %v %q", n, total, message))
			return nil
		})
		note := func(inner string, m map[string]any) {
			r.report(inner, event.CallProgress{Title: "title", Metadata: m})
			time.Sleep(2 * progressPace)
		}
		time.Sleep(progressBeat + 2*progressPace) // nothing is known yet
		note("", map[string]any{"output": "aa", "progress": 0.25})
		note("", map[string]any{"output": "aab", "progress": 0.5, "total": 4})
		note("", map[string]any{"output": "aab", "progress": 0.75, "total": 4})
		note("", map[string]any{"output": "aab", "progress": 0.75}) // nothing new
		note("inner", map[string]any{"output": "x", "progress": 3})
		note("", map[string]any{"output": "back", "progress": -7})
		time.Sleep(progressBeat)
		note("", map[string]any{"output": "", "progress": 4})
		note("", map[string]any{"output": "max", "progress": math.MaxFloat64})
		note("", map[string]any{"output": "more", "progress": 5})
		r.stop()
		want := []string{
			`0.00 of 0 ""`, `0.25 of 0 "aa"`, `0.50 of 4 "aab"`, `0.75 of 4 "title"`, `0.75 of 4 "x"`, `0.75 of 4 "back"`, `0.75 of 4 "title"`, `4.00 of 4 "title"`,
			fmt.Sprintf(`%.2f of 4 "max"`, math.MaxFloat64),
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

// A client gets the numbers of another program's tool, with the total.
func TestProgressNumbers(t *testing.T) {
	t.Parallel()
	h := build(t, nil, nil, nil)
	told := make(chan *mcp.ProgressNotificationParams, 100)
	cs := h.connect(t, &mcp.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
		told <- r.Params
	}})
	call(t, cs, "glob", map[string]any{"pattern": "*"}) // the runtime is there
	release := make(chan struct{})
	remove, err := h.runtime(t).Register(own(t, "slow", func(_ context.Context, c *tool.Call) (*tool.Result, error) {
		c.Progress("step", map[string]any{"output": "step 3", "progress": 3.0, "total": 10.0})
		<-release
		return &tool.Result{Output: "done"}, nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	defer remove()
	p := &mcp.CallToolParams{Name: "slow", Arguments: map[string]any{}}
	p.SetProgressToken(7)
	done := make(chan error, 1)
	go func() {
		_, err := cs.CallTool(t.Context(), p)
		done <- err
	}()
	if got := <-told; got.Progress != 3 || got.Total != 10 || got.Message != "step 3" {
		t.Errorf("got %v of %v, %q", got.Progress, got.Total, got.Message)
	}
	close(release)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// The new part of an output reaches the client while the call goes on, and
// nothing does after its answer.
func TestProgress(t *testing.T) {
	t.Parallel()
	h := build(t, nil, nil, nil)
	var mu sync.Mutex
	var messages []string
	numbers := []float64{}
	cs := h.connect(t, &mcp.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
		mu.Lock()
		defer mu.Unlock()
		if r.Params.ProgressToken != "tok" {
			t.Errorf("token %v", r.Params.ProgressToken)
		}
		messages, numbers = append(messages, r.Params.Message), append(numbers, r.Params.Progress)
	}})
	h.write(t, "go", "")
	p := &mcp.CallToolParams{Name: "bash", Arguments: map[string]any{
		"command": "echo first; while [ -e go ]; do sleep 0.05; done; echo second; while [ ! -e end ]; do sleep 0.05; done", "description": "prints"}}
	p.SetProgressToken("tok")
	done := make(chan string, 1)
	go func() {
		res, err := cs.CallTool(t.Context(), p)
		if err != nil {
			done <- err.Error()
			return
		}
		done <- said(res)
	}()
	saw := func(word string) {
		t.Helper()
		for {
			mu.Lock()
			all := strings.Join(messages, "")
			mu.Unlock()
			if strings.Contains(all, word) {
				return
			}
			select {
			case early := <-done:
				t.Fatalf("ended with %s before %q was told", early, word)
			case <-time.After(10 * time.Millisecond):
			}
		}
	}
	saw("first")
	call(t, cs, "bash", map[string]any{"command": "rm go", "description": "goes on"})
	saw("second")
	h.write(t, "end", "")
	contains(t, <-done, "first\nsecond")
	mu.Lock()
	defer mu.Unlock()
	if all := strings.Join(messages, ""); strings.Count(all, "first") != 1 || strings.Count(all, "second") != 1 {
		t.Errorf("told more than what is new: %q", messages)
	}
	for i := 1; i < len(numbers); i++ {
		if numbers[i] <= numbers[i-1] {
			t.Errorf("numbers: %v", numbers)
		}
	}
}

// The reports of calls that a call makes are told too.
func TestInnerProgress(t *testing.T) {
	t.Parallel()
	h := build(t, nil, nil, nil)
	told := make(chan string, 100)
	cs := h.connect(t, &mcp.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
		told <- r.Params.Message
	}})
	call(t, cs, "glob", map[string]any{"pattern": "*"}) // the runtime is there
	release := make(chan struct{})
	remove, err := h.runtime(t).Register(own(t, "slow", func(_ context.Context, c *tool.Call) (*tool.Result, error) {
		c.Progress("slow", map[string]any{"output": "from inside"})
		<-release
		return &tool.Result{Output: "done"}, nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	defer remove()
	p := &mcp.CallToolParams{Name: "batch", Arguments: map[string]any{"tool_calls": []any{map[string]any{"tool": "slow", "parameters": map[string]any{}}}}}
	p.SetProgressToken(7)
	done := make(chan error, 1)
	go func() {
		_, err := cs.CallTool(t.Context(), p)
		done <- err
	}()
	for message := range told {
		if strings.Contains(message, "from inside") {
			break
		}
	}
	close(release)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// A client that wants to be told everything, and has no progress token, gets
// the same as log messages; others get none.
func TestProgressAsLog(t *testing.T) {
	t.Parallel()
	h := build(t, nil, nil, nil)
	told := make(chan string, 100)
	cs := h.connect(t, &mcp.ClientOptions{LoggingMessageHandler: func(_ context.Context, r *mcp.LoggingMessageRequest) {
		if data, ok := r.Params.Data.(map[string]any); ok {
			told <- fmt.Sprint(data["event"], " ", data["message"])
		}
	}})
	call(t, cs, "glob", map[string]any{"pattern": "*"}) // the runtime is there
	seen := make(chan struct{}, 1)
	remove, err := h.runtime(t).Register(own(t, "slow", func(ctx context.Context, c *tool.Call) (*tool.Result, error) {
		c.Progress("slow", map[string]any{"output": "half of it"})
		select {
		case <-seen:
		case <-ctx.Done():
		}
		return &tool.Result{Output: "done"}, nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	defer remove()
	run := func(level mcp.LoggingLevel) (all []string) {
		if err := cs.SetLoggingLevel(t.Context(), &mcp.SetLoggingLevelParams{Level: level}); err != nil {
			t.Fatal(err)
		}
		if level != "debug" {
			seen <- struct{}{}
		}
		done := make(chan string, 1)
		go func() { done <- call(t, cs, "slow", map[string]any{}) }()
		for message := range told {
			all = append(all, message)
			if strings.HasPrefix(message, "call.progress") {
				seen <- struct{}{}
			}
			if strings.HasPrefix(message, "call.finished") {
				break
			}
		}
		contains(t, <-done, "done")
		return all
	}
	want := []string{"call.started <nil>", "call.progress half of it", "call.finished <nil>"}
	if diff := cmp.Diff(want, run("debug")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"call.finished <nil>"}, run("info")); diff != "" {
		t.Error(diff)
	}
}
