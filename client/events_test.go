package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/helve-dev/helve/client"
	"github.com/helve-dev/helve/event"
)

// A listener reads events one by one.
type listener struct {
	next func() (client.Event, error, bool)
	stop func()
}

func listen(t testing.TB, c *client.Client, q client.EventQuery) *listener {
	t.Helper()
	next, stop := iter.Pull2(c.Events(soon(t), q))
	t.Cleanup(stop)
	return &listener{next, stop}
}

// until returns the events up to the first of a type, that one included.
func (l *listener) until(t testing.TB, kind string) (list []client.Event) {
	t.Helper()
	for {
		e, err, ok := l.next()
		if !ok || err != nil {
			t.Fatalf("waiting for %s: %v, after %v", kind, err, kinds(list))
		}
		if list = append(list, e); e.Type == kind {
			return list
		}
	}
}

func kinds(list []client.Event) (names []string) {
	for _, e := range list {
		names = append(names, e.Type)
	}
	return names
}

// read makes a call at the server itself, without the client.
func (h *house) read(t testing.TB, session string) {
	t.Helper()
	h.write(t, "e.txt", "x\n")
	_, err := h.rt.Call(soon(t), tooledCall("read", session, `{"filePath":"e.txt"}`))
	if err != nil {
		t.Fatal(err)
	}
}

func TestEvents(t *testing.T) {
	h := build(t, nil)
	l := listen(t, h.Client, client.EventQuery{})
	if first := l.until(t, client.EventReload); len(first) != 1 {
		t.Fatalf("before the first there were %v", kinds(first))
	}
	h.read(t, "ses_1")
	list := l.until(t, "call.finished")
	if got := strings.Join(kinds(list), " "); !strings.Contains(got, "call.started") || !strings.Contains(got, "call.running") {
		t.Errorf("the events are %s", got)
	}
	for i, e := range list {
		if e.Session != "ses_1" || e.Instance == "" || e.ID != fmt.Sprintf("%s-%d", e.Instance, e.Seq) || e.Time.IsZero() || i > 0 && e.Seq <= list[i-1].Seq {
			t.Errorf("the event is %+v", e)
		}
	}
	body := must[any](t)(list[len(list)-1].Body())
	end, ok := body.(client.CallFinishedEvent)
	if !ok || end.State != "completed" || end.Result == nil || end.Tool != "read" {
		t.Errorf("the end is %+v", body)
	}
}

func TestEventsOfOneSession(t *testing.T) {
	h := build(t, nil)
	l := listen(t, h.Client, client.EventQuery{Sessions: []string{"ses_2", "ses_3"}, Types: []string{"call.started", "call.finished"}})
	l.until(t, client.EventReload)
	h.read(t, "ses_1")
	h.read(t, "ses_2")
	h.read(t, "ses_3")
	list := append(l.until(t, "call.finished"), l.until(t, "call.finished")...)
	if got := strings.Join(kinds(list), " "); got != "call.started call.finished call.started call.finished" || list[0].Session != "ses_2" || list[2].Session != "ses_3" {
		t.Errorf("the events are %s of %s and %s", got, list[0].Session, list[2].Session)
	}
}

// TestResume cuts the connection again and again, and nothing is lost or comes
// twice.
func TestResume(t *testing.T) {
	h := build(t, nil)
	var lost atomic.Int64
	l := listen(t, h.Client, client.EventQuery{Lost: func(err error, next time.Duration) {
		if err == nil || next <= 0 {
			t.Errorf("lost for %v, next in %v", err, next)
		}
		lost.Add(1)
	}})
	l.until(t, client.EventReload)
	seq := uint64(0)
	for range 3 {
		h.cuts.cut()
		h.read(t, "ses_1") // while nobody is connected
		for _, e := range l.until(t, "call.finished") {
			if e.Type == client.EventReload || seq != 0 && e.Seq != seq+1 {
				t.Errorf("after %d comes %s, %d", seq, e.Type, e.Seq)
			}
			seq = e.Seq
		}
	}
	if lost.Load() < 3 {
		t.Errorf("connections were lost %d times", lost.Load())
	}
}

func TestResumeByID(t *testing.T) {
	h := build(t, nil)
	l := listen(t, h.Client, client.EventQuery{})
	l.until(t, client.EventReload)
	h.read(t, "ses_1")
	first := l.until(t, "call.finished")
	h.read(t, "ses_2")
	again := listen(t, h.Client, client.EventQuery{After: first[len(first)-1].ID})
	list := again.until(t, "call.finished")
	if list[0].Type == client.EventReload || list[0].Seq != first[len(first)-1].Seq+1 || list[0].Session != "ses_2" {
		t.Errorf("it goes on with %+v", list[0])
	}
	old := listen(t, h.Client, client.EventQuery{After: "another-5"})
	if list := old.until(t, client.EventMissed); len(list) != 2 || list[0].Type != client.EventReload {
		t.Errorf("after an id of another server come %v", kinds(list))
	}
}

// TestRestart replaces the server while somebody listens.
func TestRestart(t *testing.T) {
	h := build(t, nil)
	l := listen(t, h.Client, client.EventQuery{})
	before := l.until(t, client.EventReload)[0]
	h.serve(t)
	h.cuts.cut()
	list := l.until(t, client.EventReload)
	if after := list[len(list)-1]; after.Instance == before.Instance {
		t.Errorf("after the restart it is still %s", after.Instance)
	}
	h.read(t, "ses_1")
	l.until(t, "call.finished")
}

func TestEventsEnd(t *testing.T) {
	h := build(t, nil)
	ctx, cancel := context.WithCancelCause(soon(t))
	defer cancel(nil)
	why := errors.New("enough")
	n := 0
	for e, err := range h.Events(ctx, client.EventQuery{}) {
		if n++; n == 1 && (err != nil || e.Type != client.EventReload) {
			t.Fatalf("the first is %v, %v", e, err)
		}
		cancel(why)
		if n == 2 && !errors.Is(err, why) {
			t.Errorf("the last is %v, %v", e, err)
		}
	}
	if n != 2 {
		t.Errorf("there were %d events", n)
	}
	for range h.Events(soon(t), client.EventQuery{}) { // leaving ends it too
		break
	}
	stranger := must[*client.Client](t)(client.New(h.URL(), strings.Repeat("x", 40)))
	defer stranger.Close()
	for _, err := range stranger.Events(soon(t), client.EventQuery{}) {
		if p := problem(t, err); p.Status != 401 {
			t.Errorf("with a wrong token: %v", err)
		}
	}
	nobody := must[*client.Client](t)(client.New("http://127.0.0.1:1", token))
	for _, err := range nobody.Events(soon(t), client.EventQuery{}) {
		holds(t, err.Error(), "is a server running there?")
	}
}

// TestLostForGood takes the server away.
func TestLostForGood(t *testing.T) {
	h := build(t, nil)
	l := listen(t, h.Client, client.EventQuery{Patience: time.Millisecond})
	l.until(t, client.EventReload)
	h.cuts.Listener.Close()
	h.cuts.cut()
	for {
		_, err, ok := l.next()
		if !ok {
			t.Fatal("it ended without a word")
		}
		if err != nil {
			holds(t, err.Error(), "the server was lost")
			return
		}
	}
}

// stream is a server that says the same on every connection.
func stream(t *testing.T, text ...string) (*client.Client, *atomic.Int64, *atomic.Value) {
	t.Helper()
	var n atomic.Int64
	var last atomic.Value
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i := int(n.Add(1)) - 1
		last.Store(r.Header.Get("Last-Event-ID"))
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		if strings.HasPrefix(text[0], "<") {
			w.Header().Set("Content-Type", "text/html")
		}
		_, _ = io.WriteString(w, text[min(i, len(text)-1)])
	}))
	t.Cleanup(srv.Close)
	c := must[*client.Client](t)(client.New(srv.URL, token, client.WithMaxBody(4096)))
	t.Cleanup(c.Close)
	return c, &n, &last
}

const hello = "event: hello\ndata: {\"instance\":\"i\",\"seq\":4,\"resumed\":false}\n\n"

// TestFrames reads what a server may send within the rules of event streams.
func TestFrames(t *testing.T) {
	big := strings.Repeat("x", 3000)
	c, _, _ := stream(t, hello+": ping\n\n"+
		"id: i-5\r\nevent: a\r\ndata: {\"seq\":5,\"type\":\"a\",\r\ndata: \"properties\":{\"sessionID\":\"s\"}}\r\n\r\n"+
		"retry: 7\n\n"+
		"id:i-6\nevent:b\ndata:{\"seq\":6,\"properties\":{\"text\":\""+big+"\"}}\n\n"+
		"id: i-9\nevent: at\ndata: {\"seq\":9}\n\n")
	l := listen(t, c, client.EventQuery{Types: []string{"a", "b"}})
	list := l.until(t, "b")
	if got := strings.Join(kinds(list), " "); got != "reload a b" || list[1].Session != "s" || list[2].Seq != 6 {
		t.Errorf("the events are %s: %+v", got, list)
	}
}

// TestWhereToGoOn looks at what a client asks for after a connection was lost.
func TestWhereToGoOn(t *testing.T) {
	resumed := strings.Replace(hello, "false", "true", 1)
	event := "id: i-5\nevent: a\ndata: {\"seq\":5,\"type\":\"a\",\"properties\":{}}\n\n"
	end := "id: i-6\nevent: end\ndata: {\"seq\":6,\"type\":\"end\",\"properties\":{}}\n\n"
	for name, c := range map[string]struct {
		first, second string
		last, kinds   string
	}{
		"nothing came":      {hello, resumed + end, "i-4", "reload end"},
		"an event came":     {hello + event, resumed + end, "i-5", "reload a end"},
		"a place came":      {hello + "id: i-9\nevent: at\ndata: {\"seq\":9}\n\n", resumed + end, "i-9", "reload end"},
		"half an event":     {hello + event[:30], resumed + event + end, "i-4", "reload a end"},
		"another server":    {hello + event, hello + end, "i-5", "reload a reload end"},
		"too slow":          {hello + "id: i-5\nevent: events.missed\ndata: {\"seq\":5,\"type\":\"events.missed\",\"properties\":{\"count\":2}}\n\n", resumed + end, "i-5", "reload events.missed end"},
		"too slow, later":   {hello + event + "id: i-8\nevent: events.missed\ndata: {\"seq\":8,\"type\":\"events.missed\",\"properties\":{\"count\":2}}\n\n", resumed + end, "i-8", "reload a events.missed reload end"},
		"missed and reload": {hello + event, hello + "id: i-8\nevent: events.missed\ndata: {\"seq\":8,\"type\":\"events.missed\",\"properties\":{}}\n\n" + end, "i-5", "reload a reload events.missed end"},
	} {
		cl, n, last := stream(t, c.first, c.second)
		l := listen(t, cl, client.EventQuery{})
		list := l.until(t, "end")
		if got := strings.Join(kinds(list), " "); got != c.kinds || n.Load() != 2 || last.Load() != c.last {
			t.Errorf("%s: %s, %d connections, the last from %v", name, got, n.Load(), last.Load())
		}
		l.stop()
	}
}

// TestBadStreams ends with an error instead of going round and round.
func TestBadStreams(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"a page":    {"<html>", "text/html"},
		"greeting":  {"event: hello\ndata: x\n\n", "not understood"},
		"event":     {hello + "id: i-5\nevent: a\ndata: {\n\n", "not understood"},
		"too long":  {hello + "data: " + strings.Repeat("x", 5000) + "\n\n", "too long"},
		"many long": {hello + strings.Repeat("data: "+strings.Repeat("x", 100)+"\n", 50) + "\n\n", "too long"},
	} {
		cl, n, _ := stream(t, c.text)
		var last error
		for _, err := range cl.Events(soon(t), client.EventQuery{}) {
			last = err
		}
		if last == nil || !strings.Contains(last.Error(), c.want) || n.Load() != 1 {
			t.Errorf("%s: %v after %d connections", name, last, n.Load())
		}
	}
}

// TestBodies reads every type of event that the document knows, with all that it
// may hold: a key that no struct has would be lost.
func TestBodies(t *testing.T) {
	doc := documented(t)
	kinds := doc.events(t)
	if len(kinds) < 30 {
		t.Errorf("there are %d types of events only", len(kinds))
	}
	for kind, schema := range kinds {
		whole := must[[]byte](t)(json.Marshal(doc.sample(schema, 0)))
		body, err := client.Event{Type: kind, Properties: whole}.Body()
		if _, raw := body.(json.RawMessage); raw || err != nil {
			t.Errorf("%s: %T, %v", kind, body, err)
			continue
		}
		var want, got any
		if err := errors.Join(json.Unmarshal(whole, &want), json.Unmarshal(must[[]byte](t)(json.Marshal(body)), &got)); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(want, got) {
			t.Errorf("%s: of %v there is %v left", kind, want, got)
		}
		if _, err := (client.Event{Type: kind, Properties: json.RawMessage(`{`)}).Body(); err == nil {
			t.Errorf("%s: what is no JSON is taken", kind)
		}
	}
	if body, err := (client.Event{Type: "something.new", Properties: json.RawMessage(`{"a":1}`)}).Body(); err != nil || fmt.Sprintf("%T", body) != "json.RawMessage" {
		t.Errorf("of a new type: %T, %v", body, err)
	}
}

// A plan is a schema of the document.
type plan struct {
	Type       string
	Format     string
	Ref        string `json:"$ref"`
	Const      string
	Enum       []any
	Items      *plan
	Properties map[string]*plan
	Additional json.RawMessage `json:"additionalProperties"`
	OneOf      []*plan
}

type plans map[string]*plan

func documented(t *testing.T) plans {
	t.Helper()
	var doc struct{ Components struct{ Schemas plans } }
	if err := json.Unmarshal(must[[]byte](t)(os.ReadFile("../docs/openapi.json")), &doc); err != nil {
		t.Fatal(err)
	}
	return doc.Components.Schemas
}

// events are the properties of events, by type.
func (d plans) events(t *testing.T) map[string]*plan {
	t.Helper()
	out := map[string]*plan{}
	for _, one := range d["Event"].OneOf {
		if kind := one.Properties["type"].Const; kind != "" {
			out[kind] = one.Properties["properties"]
		}
	}
	return out
}

// sample is a value with all that a schema names, which no struct leaves out.
func (d plans) sample(p *plan, deep int) any {
	switch {
	case p.Ref != "":
		return d.sample(d[strings.TrimPrefix(p.Ref, "#/components/schemas/")], deep)
	case len(p.Enum) > 0:
		return p.Enum[0]
	case p.Format == "date-time":
		return "2026-01-02T03:04:05Z"
	}
	switch p.Type {
	case "integer", "number":
		return 7
	case "boolean":
		return true
	case "array":
		if deep > 4 { // it may hold itself
			return []any{}
		}
		return []any{d.sample(p.Items, deep+1)}
	case "object":
		out := map[string]any{}
		for name, one := range p.Properties {
			if v := d.sample(one, deep+1); !reflect.DeepEqual(v, []any{}) {
				out[name] = v
			}
		}
		if len(p.Properties) == 0 && len(p.Additional) > 0 {
			out["key"] = "value"
		}
		return out
	}
	return "text"
}

// TestOutput reads what a command has printed so far.
func TestOutput(t *testing.T) {
	call := event.CallProgress{ID: "c", Session: "s", Tool: "t", Title: "x", Metadata: map[string]any{"output": "so far"}}
	text := must[[]byte](t)(json.Marshal(call))
	body := must[any](t)(client.Event{Type: "call.progress", Properties: text}.Body())
	got := body.(client.CallProgressEvent)
	if got.ID != "c" || got.Session != "s" || got.Tool != "t" || got.Title != "x" || got.Output() != "so far" {
		t.Errorf("it is %+v", got)
	}
}
