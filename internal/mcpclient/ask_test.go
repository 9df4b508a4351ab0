package mcpclient

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/helve-dev/helve/mcp"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
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
	var asked mcp.Elicitation
	var answer mcp.ElicitationAnswer
	var first atomic.Bool
	first.Store(true)
	s := fake("one", "")
	s.Timeout = time.Second
	b := newBench(t, mcp.Options{Servers: []mcp.Server{s}}, mcp.Host{Ask: func(_ context.Context, server string, e mcp.Elicitation) (mcp.ElicitationAnswer, error) {
		asked = e
		if first.CompareAndSwap(true, false) {
			time.Sleep(1200 * time.Millisecond) // longer than a call may be silent
		}
		return answer, nil
	}})
	b.gather()
	answer = mcp.ElicitationAnswer{Action: "accept", Values: map[string]any{"name": "Ada", "age": "36", "likes": []string{"b"}}}
	got := said(t, b.must("one_ask", nil).Output)
	want := map[string]any{"action": "accept", "content": map[string]any{"name": "Ada", "age": 36.0, "colour": "blue", "likes": []any{"b"}, "ok": true}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	wantAsked := mcp.Elicitation{Message: "who are you?", Fields: []mcp.Field{
		{Name: "name", Title: "Name", Type: "string", Required: true},
		{Name: "age", Type: "integer"},
		{Name: "colour", Type: "enum", Options: []mcp.FieldOption{{Value: "red", Title: "red"}, {Value: "blue", Title: "blue"}}, Default: "blue"},
		{Name: "likes", Type: "multi-enum", Options: []mcp.FieldOption{{Value: "a", Title: "a"}, {Value: "b", Title: "b"}}},
		{Name: "ok", Type: "boolean", Default: true},
	}}
	if d := cmp.Diff(wantAsked, asked); d != "" {
		t.Error(d)
	}
	answer = mcp.ElicitationAnswer{}
	if got := said(t, b.must("one_ask", nil).Output); got["action"] != "decline" {
		t.Errorf("%v", got)
	}
	for _, values := range []map[string]any{{}, {"name": "x", "age": 0}, {"name": "x", "colour": "green"}, {"name": "x", "likes": []any{"z"}}, {"name": "x", "ok": "maybe"}, {"name": 5}} {
		answer = mcp.ElicitationAnswer{Action: "accept", Values: values}
		if got := said(t, b.must("one_ask", nil).Output); got["code"] != -32602.0 {
			t.Errorf("%v was taken: %v", values, got)
		}
	}
	answer = mcp.ElicitationAnswer{Action: "accept"}
	if got := said(t, b.must("one_visit", nil).Output); got["action"] != "accept" || asked.URL != "https://example.com/x" || asked.Message != "sign in" {
		t.Errorf("%v %+v", got, asked)
	}
	// A call that needs a visit first is made again after it.
	gate := map[string]any{"text": filepath.Join(t.TempDir(), "gate")}
	if got := b.must("one_gated", gate).Output; got != "paid" || asked.URL != "https://example.com/pay" {
		t.Errorf("%s %+v", got, asked)
	}
	answer = mcp.ElicitationAnswer{Action: "decline"}
	gate["text"] = filepath.Join(t.TempDir(), "gate")
	if err := b.fails("one_gated", gate); err.Error() != "MCP error -32042: open it" {
		t.Error(err)
	}
}

func TestClean(t *testing.T) {
	s := mcp.Server{URL: "https://user:pw@example.com/x?token=abc", Headers: map[string]string{"Authorization": "Bearer 12345678"}}
	got := redact(s, `Post "https://user:pw@example.com/x?token=abc": Bearer 12345678 `+strings.Repeat("x", 2*maxSaid))
	if strings.Contains(got, "pw") || strings.Contains(got, "abc") || strings.Contains(got, "1234") || len(got) > maxSaid {
		t.Error(got)
	}
}

func TestNobodyToAsk(t *testing.T) {
	b := newBench(t, mcp.Options{Servers: []mcp.Server{fake("one", "")}}, mcp.Host{})
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
	b := newBench(t, mcp.Options{Servers: []mcp.Server{fake("one", "")}}, mcp.Host{Ask: func(context.Context, string, mcp.Elicitation) (mcp.ElicitationAnswer, error) {
		most.Store(max(most.Load(), now.Add(1)))
		time.Sleep(20 * time.Millisecond)
		now.Add(-1)
		return mcp.ElicitationAnswer{Action: "accept"}, nil
	}})
	b.gather()
	got := b.must("one_floodask", nil).Output
	if most.Load() != 1 {
		t.Errorf("%d questions at once", most.Load())
	}
	var n struct{ Accept, Busy, Cancel, Decline int }
	if err := json.Unmarshal([]byte(got), &n); err != nil {
		t.Fatal(err)
	}
	if n.Accept < maxQuestions || n.Accept > maxAsked || n.Accept+n.Busy+n.Cancel+n.Decline != 40 {
		t.Errorf("%s", got)
	}
}

// Who has said no twice is not asked again by the same call, and a server that
// goes on asking does not live on by that.
func TestElicitDeclined(t *testing.T) {
	var asked atomic.Int32
	s := fake("one", "")
	s.Timeout = 3 * time.Second // the server has to be there within it, too
	b := newBench(t, mcp.Options{Servers: []mcp.Server{s}}, mcp.Host{Ask: func(context.Context, string, mcp.Elicitation) (mcp.ElicitationAnswer, error) {
		asked.Add(1)
		return mcp.ElicitationAnswer{Action: "decline"}, nil
	}})
	b.gather()
	for i := range 2 {
		if err := b.fails("one_nag", nil); err.Code != "timeout" {
			t.Errorf("%v (%s)", err, err.Code)
		}
		if n := asked.Load(); n != int32((i+1)*maxDeclines) {
			t.Errorf("after %d calls the person was asked %d times", i+1, n)
		}
	}
}

// Only an answer that goes along with a question gives a call its time again;
// else it goes on with what it had left.
func TestPatience(t *testing.T) {
	l := newLink(newPeer(New(mcp.Options{}, mcp.Host{}), mcp.Server{Name: "one"}))
	_, w := l.trackCall()
	for _, accepted := range []bool{false, true, false} {
		l.pauseCalls()
		if still, _ := l.paused(w); !still {
			t.Error("time does not stand still")
		}
		l.resume(accepted)
		if still, answered := l.paused(w); still || answered != accepted {
			t.Errorf("accepted %v: %v, %v", accepted, still, answered)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		p := newIdleTimer(10 * time.Second)
		for range 8 {
			time.Sleep(time.Second)
			p.setPaused(true)
			time.Sleep(time.Minute)
			p.setPaused(false)
		}
		<-p.timer.C
		if took := time.Since(begin); took != 10*time.Second+8*time.Minute {
			t.Errorf("it took %v", took)
		}
		begin = time.Now()
		p.setPaused(true)
		p.renew()
		p.setPaused(false)
		<-p.timer.C
		if took := time.Since(begin); took != 10*time.Second {
			t.Errorf("renewed, it took %v", took)
		}
	})
}

func TestElicitMost(t *testing.T) {
	var asked atomic.Int32
	s := fake("one", "")
	s.Timeout = 3 * time.Second // the server has to be there within it, too
	b := newBench(t, mcp.Options{Servers: []mcp.Server{s}}, mcp.Host{Ask: func(context.Context, string, mcp.Elicitation) (mcp.ElicitationAnswer, error) {
		asked.Add(1)
		return mcp.ElicitationAnswer{Action: "accept"}, nil
	}})
	b.gather()
	if err := b.fails("one_nag", nil); err.Code != "timeout" {
		t.Errorf("%v (%s)", err, err.Code)
	}
	if n := asked.Load(); n != maxAsked {
		t.Errorf("the person was asked %d times", n)
	}
	if log := strings.Join(b.pool.Log("one"), "\n"); strings.Count(log, "asks too much") != 1 {
		t.Errorf("the log is\n%s", log)
	}
}

func TestElicitAddress(t *testing.T) {
	for address, want := range map[string]bool{
		"https://example.com/x?y": true, "http://127.0.0.1:80/": true, "HTTPS://example.com": true,
		"javascript:alert(1)": false, "file:///etc/passwd": false, "https://good.example@evil.example/": false,
		"https:///x": false, "//example.com": false, "https://:80/": false, "https://a\x1b": false,
	} {
		if openable(address) != want {
			t.Errorf("%s: %v", address, !want)
		}
	}
	b := newBench(t, mcp.Options{Servers: []mcp.Server{fake("one", "")}}, mcp.Host{Ask: func(context.Context, string, mcp.Elicitation) (mcp.ElicitationAnswer, error) {
		t.Error("the person was asked")
		return mcp.ElicitationAnswer{Action: "accept"}, nil
	}})
	b.gather()
	if got := said(t, b.must("one_lure", nil).Output); got["action"] != "decline" {
		t.Errorf("%v", got)
	}
	if log := strings.Join(b.pool.Log("one"), "\n"); !strings.Contains(log, "no plain web address") {
		t.Errorf("the log is\n%s", log)
	}
}

// Progress does not let the time run while the person is being asked.
func TestProgressWhileAsked(t *testing.T) {
	s := fake("one", "")
	s.Timeout = 2 * time.Second
	var b *bench
	b = newBench(t, mcp.Options{Servers: []mcp.Server{s}}, mcp.Host{Ask: func(ctx context.Context, _ string, _ mcp.Elicitation) (mcp.ElicitationAnswer, error) {
		b.until("progress", func() bool {
			b.mu.Lock()
			defer b.mu.Unlock()
			return len(b.progress) > 0
		})
		select { // longer than a call may be silent
		case <-time.After(2 * s.Timeout):
		case <-ctx.Done():
		}
		return mcp.ElicitationAnswer{Action: "accept"}, nil
	}})
	b.gather()
	if got := b.must("one_askbusy", nil).Output; !strings.Contains(got, "accept") {
		t.Errorf("%s", got)
	}
}

func TestAskEndsWithServer(t *testing.T) {
	asked := make(chan struct{}, 1)
	s := fake("one", "")
	s.Timeout = 3 * time.Second
	b := newBench(t, mcp.Options{Servers: []mcp.Server{s}}, mcp.Host{Ask: func(ctx context.Context, _ string, _ mcp.Elicitation) (mcp.ElicitationAnswer, error) {
		asked <- struct{}{}
		<-ctx.Done()
		return mcp.ElicitationAnswer{}, ctx.Err()
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
		if q, err := elicitation(&sdk.ElicitParams{RequestedSchema: bad}); err == nil {
			t.Errorf("%v gave %+v", bad, q)
		}
	}
	q, err := elicitation(&sdk.ElicitParams{Message: strings.Repeat("ä", maxQuestion), RequestedSchema: map[string]any{
		"properties": map[string]any{"b": map[string]any{"type": "string", "oneOf": []any{map[string]any{"const": "v", "title": "V"}}}, "a": map[string]any{"type": "number", "default": "x"}},
	}})
	if err != nil || len(q.Message) > maxQuestion || q.Fields[0].Name != "a" || q.Fields[0].Default != nil || q.Fields[1].Options[0] != (mcp.FieldOption{Value: "v", Title: "V"}) {
		t.Errorf("%+v %v", q, err)
	}
}

func TestBadTool(t *testing.T) {
	b := newBench(t, mcp.Options{Servers: []mcp.Server{fake("one", "few bad")}}, mcp.Host{})
	b.gather()
	s := b.status("one")
	if s.State != mcp.Connected || s.Tools != 3 || len(s.Off) != 1 || s.Off[0].Tool != "bad" || s.Off[0].Reason == "" {
		t.Errorf("%+v", s)
	}
	infos := b.pool.Tools("one")
	if i := infos[len(infos)-1]; len(infos) != 4 || i.Name != "" || i.Off == "" {
		t.Errorf("%+v", infos)
	}
}

func TestReservedName(t *testing.T) {
	b := newBench(t, mcp.Options{Servers: []mcp.Server{fake("built", "few in"), fake("ok", "few")}}, mcp.Host{})
	b.gather()
	s := b.status("built")
	if s.State != mcp.Failed || s.Tools != 0 || !strings.Contains(s.Error, `"in" of the server "built"`) || !strings.Contains(s.Error, "built-in tool") {
		t.Errorf("%+v", s)
	}
	if names := b.names(); slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, "built_") }) {
		t.Errorf("%v", names)
	}
}
