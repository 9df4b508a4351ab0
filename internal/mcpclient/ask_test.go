package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// said returns the result that a server got for its question.
func said(t *testing.T, line string) map[string]any {
	t.Helper()
	var m struct{ Result, Error map[string]any }
	if err := json.Unmarshal([]byte(line), &m); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	if m.Error != nil {
		return m.Error
	}
	return m.Result
}

func TestElicit(t *testing.T) {
	var asked Elicitation
	var answer Answer
	var first atomic.Bool
	first.Store(true)
	s := fake("one", "")
	s.Timeout = time.Second
	b := newBench(t, Options{Servers: []Server{s}, Ask: func(_ context.Context, server string, e Elicitation) (Answer, error) {
		asked = e
		if first.CompareAndSwap(true, false) {
			time.Sleep(1200 * time.Millisecond) // longer than a call may be silent
		}
		return answer, nil
	}})
	b.gather()
	answer = Answer{Action: "accept", Values: map[string]any{"name": "Ada", "age": "36", "likes": []string{"b"}}}
	got := said(t, b.must("one_ask", nil).Output)
	want := map[string]any{"action": "accept", "content": map[string]any{"name": "Ada", "age": 36.0, "colour": "blue", "likes": []any{"b"}, "ok": true}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	wantAsked := Elicitation{Message: "who are you?", Fields: []Field{
		{Name: "name", Title: "Name", Type: "string", Required: true},
		{Name: "age", Type: "integer"},
		{Name: "colour", Type: "enum", Options: []Option{{"red", "red"}, {"blue", "blue"}}, Default: "blue"},
		{Name: "likes", Type: "multi-enum", Options: []Option{{"a", "a"}, {"b", "b"}}},
		{Name: "ok", Type: "boolean", Default: true},
	}}
	if d := cmp.Diff(wantAsked, asked, cmpopts.IgnoreUnexported(Field{})); d != "" {
		t.Error(d)
	}
	answer = Answer{}
	if got := said(t, b.must("one_ask", nil).Output); got["action"] != "decline" {
		t.Errorf("%v", got)
	}
	for _, values := range []map[string]any{{}, {"name": "x", "age": 0}, {"name": "x", "colour": "green"}, {"name": "x", "likes": []any{"z"}}, {"name": "x", "ok": "maybe"}, {"name": 5}} {
		answer = Answer{Action: "accept", Values: values}
		if got := said(t, b.must("one_ask", nil).Output); got["code"] != -32602.0 {
			t.Errorf("%v was taken: %v", values, got)
		}
	}
	answer = Answer{Action: "accept"}
	if got := said(t, b.must("one_visit", nil).Output); got["action"] != "accept" || asked.URL != "https://example.com/x" || asked.Message != "sign in" {
		t.Errorf("%v %+v", got, asked)
	}
	// A call that needs a visit first is made again after it.
	gate := map[string]any{"text": filepath.Join(t.TempDir(), "gate")}
	if got := b.must("one_gated", gate).Output; got != "paid" || asked.URL != "https://example.com/pay" {
		t.Errorf("%s %+v", got, asked)
	}
	answer = Answer{Action: "decline"}
	gate["text"] = filepath.Join(t.TempDir(), "gate")
	if err := b.fails("one_gated", gate); err.Error() != "MCP error -32042: open it" {
		t.Error(err)
	}
}

func TestClean(t *testing.T) {
	s := Server{URL: "https://user:pw@example.com/x?token=abc", Headers: map[string]string{"Authorization": "Bearer 12345678"}}
	got := s.clean(`Post "https://user:pw@example.com/x?token=abc": Bearer 12345678 ` + strings.Repeat("x", 2*maxSaid))
	if strings.Contains(got, "pw") || strings.Contains(got, "abc") || strings.Contains(got, "1234") || len(got) > maxSaid {
		t.Error(got)
	}
}

func TestNobodyToAsk(t *testing.T) {
	b := newBench(t, Options{Servers: []Server{fake("one", "")}})
	b.gather()
	if got := said(t, b.must("one_ask", nil).Output); got["code"] == nil {
		t.Errorf("%v", got)
	}
	if got := b.must("one_ping", nil).Output; !strings.Contains(got, `"result":{}`) {
		t.Errorf("ping: %s", got)
	}
}

func TestElicitFlood(t *testing.T) {
	var now, most atomic.Int32
	b := newBench(t, Options{Servers: []Server{fake("one", "")}, Ask: func(context.Context, string, Elicitation) (Answer, error) {
		most.Store(max(most.Load(), now.Add(1)))
		time.Sleep(20 * time.Millisecond)
		now.Add(-1)
		return Answer{Action: "accept"}, nil
	}})
	b.gather()
	got := b.must("one_floodask", nil).Output
	if most.Load() != 1 {
		t.Errorf("%d questions at once", most.Load())
	}
	var busy, cancel, accept int
	_, _ = fmt.Sscanf(strings.NewReplacer("map[", "", "]", "", "accept:", "", "busy:", "", "cancel:", "").Replace(got), "%d %d %d", &accept, &busy, &cancel)
	if accept < maxQuestions || accept+busy+cancel != 40 || busy+cancel == 0 {
		t.Errorf("%s", got)
	}
}

func TestAskEndsWithServer(t *testing.T) {
	asked := make(chan struct{}, 1)
	s := fake("one", "")
	s.Timeout = 300 * time.Millisecond
	b := newBench(t, Options{Servers: []Server{s}, Ask: func(ctx context.Context, _ string, _ Elicitation) (Answer, error) {
		asked <- struct{}{}
		<-ctx.Done()
		return Answer{}, ctx.Err()
	}})
	b.gather()
	go func() { _, _ = b.call(t.Context(), "one_ask", nil) }()
	<-asked
	if err := b.pool.Disconnect("one"); err != nil { // does not wait for the person
		t.Fatal(err)
	}
}

func TestElicitationForms(t *testing.T) {
	for _, bad := range []any{
		map[string]any{"type": "object", "properties": map[string]any{"x": map[string]any{"type": "object"}}},
		map[string]any{"type": "object", "properties": map[string]any{"x": map[string]any{"type": "array"}}},
		"text", 5,
	} {
		if q, err := elicitation(&mcp.ElicitParams{RequestedSchema: bad}); err == nil {
			t.Errorf("%v gave %+v", bad, q)
		}
	}
	q, err := elicitation(&mcp.ElicitParams{Message: strings.Repeat("ä", maxQuestion), RequestedSchema: map[string]any{
		"properties": map[string]any{"b": map[string]any{"type": "string", "oneOf": []any{map[string]any{"const": "v", "title": "V"}}}, "a": map[string]any{"type": "number", "default": "x"}},
	}})
	if err != nil || len(q.Message) > maxQuestion || q.Fields[0].Name != "a" || q.Fields[0].Default != nil || q.Fields[1].Options[0] != (Option{"v", "V"}) {
		t.Errorf("%+v %v", q, err)
	}
}

// A tool that has changed since it was first used asks again, with the
// difference, and is not shown in its new words until it is approved.
func TestDrift(t *testing.T) {
	pins := filepath.Join(t.TempDir(), "pins.json")
	b := newBench(t, Options{Servers: []Server{fake("one", "few")}, Pins: pins})
	b.gather()
	b.must("one_echo", nil)
	if err := b.pool.Add(fake("one", "few drift")); err != nil {
		t.Fatal(err)
	}
	b.gather()
	if shown := b.tools["one_echo"].Spec().Description; strings.Contains(shown, "passwords") {
		t.Errorf("a model is shown %q", shown)
	}
	infos := b.pool.Tools("one")
	if len(infos) != 3 || infos[0].Changed == "" || !infos[0].Pinned || infos[1].Pinned || !strings.Contains(infos[0].Definition.Description, "passwords") {
		t.Errorf("%+v", infos)
	}
	b.mu.Lock()
	b.allowed = false // allowed once
	b.mu.Unlock()
	for range 2 {
		b.must("one_echo", nil)
		if last := b.asked[len(b.asked)-1]; !strings.Contains(last.Changed, "passwords") {
			t.Errorf("asked %+v", last)
		}
	}
	b.mu.Lock()
	b.allowed = true // from now on
	b.mu.Unlock()
	b.must("one_echo", nil)
	b.until("the new words", func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		return strings.Contains(b.tools["one_echo"].Spec().Description, "passwords")
	})
	b.must("one_echo", nil)
	if last := b.asked[len(b.asked)-1]; last.Changed != "" {
		t.Errorf("asked %+v", last)
	}
	if err := b.pool.Approve("one", "nothing"); err == nil {
		t.Error("a tool that is not there was approved")
	}
	if err := b.pool.Approve("x", "echo"); !errors.Is(err, ErrUnknown) {
		t.Error(err)
	}
}

func TestApprove(t *testing.T) {
	pins := filepath.Join(t.TempDir(), "pins.json")
	b := newBench(t, Options{Servers: []Server{fake("one", "few")}, Pins: pins})
	b.gather()
	b.must("one_echo", nil)
	if err := b.pool.Add(fake("one", "few drift")); err != nil {
		t.Fatal(err)
	}
	b.gather()
	if err := b.pool.Approve("one", "echo"); err != nil {
		t.Fatal(err)
	}
	if i := b.pool.Tools("one")[0]; i.Changed != "" || !i.Pinned {
		t.Errorf("%+v", i)
	}
	b.until("the new words", func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		return strings.Contains(b.tools["one_echo"].Spec().Description, "passwords")
	})
}

func TestBadTool(t *testing.T) {
	b := newBench(t, Options{Servers: []Server{fake("one", "few bad")}})
	b.gather()
	s := b.status("one")
	if s.State != Connected || s.Tools != 3 || len(s.Off) != 1 || s.Off[0].Tool != "bad" || s.Off[0].Reason == "" {
		t.Errorf("%+v", s)
	}
	infos := b.pool.Tools("one")
	if i := infos[len(infos)-1]; len(infos) != 4 || i.Name != "" || i.Off == "" {
		t.Errorf("%+v", infos)
	}
}

func TestReservedName(t *testing.T) {
	b := newBench(t, Options{Servers: []Server{fake("built", "few in"), fake("ok", "few")}})
	b.gather()
	s := b.status("built")
	if s.State != Failed || s.Tools != 0 || !strings.Contains(s.Error, `"in" of the server "built"`) || !strings.Contains(s.Error, "built-in tool") {
		t.Errorf("%+v", s)
	}
	if names := b.names(); slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, "built_") }) {
		t.Errorf("%v", names)
	}
}

func TestJournal(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "logs")
	j := newJournal(dir, "My Server")
	for i := range 1500 {
		j.add("stderr", fmt.Sprintf("line %d %s", i, strings.Repeat("x", 1000)))
	}
	j.add("stderr", strings.Repeat("ä", keptLine))
	if n := len(j.lines()); n > keptLines || j.bytes > keptBytes {
		t.Errorf("%d lines, %d bytes", n, j.bytes)
	}
	j.close()
	j.add("stderr", "too late")
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 2 {
		t.Fatalf("%v %v", files, err)
	}
	for _, f := range files {
		info, err := os.Stat(f)
		if err != nil || info.Size() > fileBytes || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", f, info, err)
		}
	}
	if a, b := fileName("a b"), fileName("a-b"); a == b {
		t.Errorf("two servers share %s", a)
	}
	flood := newJournal("", "x")
	for i := range 100_000 {
		flood.add("stderr", fmt.Sprint("line ", i))
	}
	flood.tokens = burstLines
	flood.add("stderr", "calm again")
	dropped := 0
	for _, line := range flood.lines() {
		_, said, _ := strings.Cut(line, " helve: ")
		var n int
		_, _ = fmt.Sscanf(said, "%d lines were dropped", &n)
		dropped += n
	}
	if dropped < 50_000 {
		t.Errorf("only %d lines were dropped", dropped)
	}
}
