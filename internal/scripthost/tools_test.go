package scripthost

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/internal/plugins"
	"github.com/helve-dev/helve/internal/script"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// A watcher is a host that sees how a tool gets on.
type watcher struct {
	*room
	seen []string
}

func (w *watcher) Progress(_ *tool.Call, title string, metadata map[string]any) {
	w.seen = append(w.seen, fmt.Sprint(title, " ", metadata))
}

func TestMeta(t *testing.T) {
	r := newRoom(t, `{}`)
	w := &watcher{room: r}
	r.call.Host = w
	for _, arg := range []string{
		`{"title": "half", "metadata": {"n": 1}}`, `{}`, `{"title": 5, "metadata": [1]}`, `{"title": null, "metadata": {"a": {"b": null}}}`,
	} {
		r.must("meta", json.RawMessage(arg))
	}
	if diff := cmp.Diff([]string{"half map[n:1]", " map[]", " map[]", " map[a:map[b:<nil>]]"}, w.seen); diff != "" {
		t.Error(diff)
	}
	if _, err := r.do("meta", map[string]any{"metadata": map[string]string{"x": strings.Repeat("x", longestReport)}}); err == nil || !strings.Contains(err.Error(), "put it into the output") {
		t.Error(err)
	}
}

func TestMetaIsNotAFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t, `{}`)
		w := &watcher{room: r}
		r.call.Host = w
		for range 10 * reportsAtOnce {
			r.must("meta", map[string]any{"title": "x"})
		}
		if len(w.seen) != reportsAtOnce {
			t.Errorf("%d reports", len(w.seen))
		}
		time.Sleep(time.Second)
		r.must("meta", map[string]any{"title": "last"})
		if w.seen[len(w.seen)-1] != "last map[]" {
			t.Error("a report after a while was left out")
		}
	})
}

func TestAsk(t *testing.T) {
	for _, c := range []struct {
		arg  string
		want permission.Request
	}{
		{`{"permission": "deploy", "patterns": ["prod"], "always": ["prod", "*"], "metadata": {"x": 1}}`,
			permission.Request{Permission: "deploy", Patterns: []string{"prod"}, Always: []string{"prod"}, Metadata: map[string]any{"x": 1.0, "tool": "custom"}}},
		{`{"permission": "custom", "patterns": ["prod"], "always": ["*"]}`,
			permission.Request{Permission: "custom", Patterns: []string{"prod"}, Always: []string{"*"}, Metadata: map[string]any{"tool": "custom"}}},
		{`{}`, permission.Request{Permission: "custom", Patterns: []string{"*"}, Metadata: map[string]any{"tool": "custom"}}},
		{`{"permission": 7, "patterns": "one", "always": "one", "metadata": [1]}`,
			permission.Request{Permission: "custom", Patterns: []string{"one"}, Always: []string{"one"}, Metadata: map[string]any{"tool": "custom"}}},
		{`{"permission": "", "patterns": null, "always": {"a": 1}, "metadata": null}`,
			permission.Request{Permission: "custom", Patterns: []string{"*"}, Metadata: map[string]any{"tool": "custom"}}},
		{`{"permission": "bash", "patterns": ["ls", 5, null, true], "metadata": {"tool": "bash"}}`,
			permission.Request{Permission: "bash", Patterns: []string{"ls", "5", "true"}, Metadata: map[string]any{"tool": "custom"}}},
	} {
		r := newRoom(t, `{"*": "allow"}`)
		r.must("ask", json.RawMessage(c.arg))
		if len(r.told) != 1 {
			t.Fatalf("%s: %v", c.arg, r.told)
		}
		if diff := cmp.Diff(c.want, r.told[0]); diff != "" {
			t.Errorf("%s: %s", c.arg, diff)
		}
	}
}

func TestAskIsAnswered(t *testing.T) {
	r := newRoom(t, `{"*": "ask", "deploy": {"*": "deny", "test": "allow"}}`)
	for arg, want := range map[string]string{
		`{"permission": "deploy", "patterns": ["test"]}`:         "ok",
		`{"permission": "deploy", "patterns": ["prod"]}`:         "EACCES permission",
		`{"permission": "deploy", "patterns": ["test", "prod"]}`: "EACCES permission",
		`{"permission": "deploy", "patterns": []}`:               "ok",
		`{"permission": "other"}`:                                "EACCES permission",
	} {
		if got := r.code("ask", json.RawMessage(arg)); got != want {
			t.Errorf("%s: %s, want %s", arg, got, want)
		}
	}
	r.person = func(permission.Request) error { return nil }
	if got := r.code("ask", json.RawMessage(`{"permission": "other"}`)); got != "ok" {
		t.Error(got)
	}
	for _, patterns := range []any{strings.Repeat("x", longestAsk), make([]int, mostPatterns+1)} {
		if _, err := r.do("ask", map[string]any{"patterns": patterns}); err == nil || !strings.Contains(err.Error(), "ask about less at a time") {
			t.Error(err)
		}
	}
}

func TestClient(t *testing.T) {
	var answer json.RawMessage
	var fails error
	r := newRoom(t, `{}`, func(o *plugins.Services) {
		o.Client = func(_ context.Context, c *tool.Call, method string, args json.RawMessage) (json.RawMessage, error) {
			if c.ID != "call_1" || method != "session.get" || string(args) != `{"a":1}` {
				t.Errorf("%s %s %s", c.ID, method, args)
			}
			return answer, fails
		}
	})
	ask := map[string]any{"method": "session.get", "args": map[string]int{"a": 1}}
	for _, c := range []struct {
		answer string
		fails  error
		want   string
	}{
		{`{"data":[1]}`, nil, `{"data":[1]}`},
		{``, nil, `null`},
		{``, errors.New("no luck"), `{"error":{"data":{"message":"no luck"},"message":"no luck","name":"UnknownError"}}`},
	} {
		answer, fails = json.RawMessage(c.answer), c.fails
		if got := r.must("client", ask); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
	answer, fails = json.RawMessage(`"`+strings.Repeat("x", longestAnswer)+`"`), nil
	if got := r.must("client", ask); !strings.Contains(got, "ask for less at a time") {
		t.Error(shorten(got))
	}
	if got := r.must("client", map[string]any{"method": "x", "args": strings.Repeat("x", longestQuery)}); !strings.Contains(got, "too much to ask with") {
		t.Error(shorten(got))
	}
	nobody := newRoom(t, `{}`)
	if got := nobody.must("client", map[string]any{"method": "a.b", "args": nil}); !strings.Contains(got, `"message":"a.b is not known here`) {
		t.Error(got)
	}
}

func TestLog(t *testing.T) {
	r := newRoom(t, `{}`)
	for _, arg := range []string{`{"level": "warn", "text": "a"}`, `{"level": "loud", "text": "b"}`, `{"text": ""}`} {
		r.must("log", json.RawMessage(arg))
	}
	r.must("log", map[string]any{"level": "error", "text": strings.Repeat("é", longestLine)})
	want := []event.ScriptLogged{{Tool: "custom", Level: "warn", Text: "a"}, {Tool: "custom", Level: "info", Text: "b"}, {Tool: "custom", Level: "info", Text: ""},
		{Tool: "custom", Level: "error", Text: strings.Repeat("é", longestLine/2) + fmt.Sprintf("… (%d bytes more)", longestLine)}}
	if diff := cmp.Diff(want, r.lines); diff != "" {
		t.Error(diff)
	}
	deaf := newRoom(t, `{}`, func(o *plugins.Services) { o.Tell = nil })
	deaf.must("log", map[string]any{"text": "x"})
}

func TestLogIsNotAFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t, `{}`)
		for range linesAtOnce + 1000 {
			r.must("log", map[string]any{"level": "info", "text": "x"})
		}
		if len(r.lines) != linesAtOnce {
			t.Errorf("%d lines", len(r.lines))
		}
		time.Sleep(time.Second / linesASecond)
		r.must("log", map[string]any{"level": "info", "text": "y"})
		want := []event.ScriptLogged{{Tool: "custom", Level: "warn", Text: "There were too many lines at a time: 1000 were left out here."}, {Tool: "custom", Level: "info", Text: "y"}}
		if diff := cmp.Diff(want, r.lines[linesAtOnce:]); diff != "" {
			t.Error(diff)
		}
		r.must("log", map[string]any{"level": "info", "text": "z"})
		if err := r.world.Close(); err != nil {
			t.Error(err)
		}
		if last := r.lines[len(r.lines)-1]; last.Text != "There were too many lines at a time: 1 were left out here." {
			t.Error(last)
		}
	})
}

func TestModuleSource(t *testing.T) {
	r := newRoom(t, `{}`)
	data, err := r.do("module.source", map[string]any{"name": "path"})
	if err != nil || len(data.Raw) == 0 {
		t.Error(err)
	}
	_, err = r.do("module.source", map[string]any{"name": "no/such"})
	if f, ok := errors.AsType[*script.Failure](err); !ok || f.Code != "ENOENT" {
		t.Error(err)
	}
}
