package server

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/message"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/record"
	"github.com/helve-dev/helve/tool"
)

// A streamStage is a hub over a real runtime, served over real connections.
type streamStage struct {
	rt  *helve.Runtime
	hub *hub
	url string
}

func newStreamStage(t *testing.T, limits ring) *streamStage {
	t.Helper()
	rt, err := helve.Open(helve.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = rt.Close() })
	h := newTestHub(rt)
	h.mu.Lock()
	h.ring.maxFrames, h.ring.maxBytes = limits.maxFrames, limits.maxBytes
	h.mu.Unlock()
	srv := httptest.NewServer(h)
	t.Cleanup(func() { h.close(); srv.Close() })
	return &streamStage{rt, h, srv.URL}
}

// newTestHub is a hub over a runtime, or over one in which nothing happens.
func newTestHub(rt *helve.Runtime) *hub {
	return newHub(func(ctx context.Context) iter.Seq[event.Event] {
		if rt != nil {
			return rt.Events(ctx, 0)
		}
		return func(func(event.Event) bool) { <-ctx.Done() }
	}, "inst", slog.New(slog.DiscardHandler))
}

func wholeRing() ring { return ring{maxFrames: streamFrames, maxBytes: streamBytes} }

// settle waits until the hub has n events, and returns the newest number.
func (s *streamStage) settle(t *testing.T, n uint64) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		s.hub.mu.RLock()
		last := s.hub.ring.last
		s.hub.mu.RUnlock()
		if last >= n {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the hub has %d events, not %d", last, n)
		}
	}
}

func (s *streamStage) notify(session string, n int) {
	for i := range n {
		s.rt.Plugins().Notify("test.tick", json.RawMessage(fmt.Sprintf(`{"sessionID":%q,"n":%d}`, session, i)))
	}
}

// push adds a large event by hand, which is quicker than to encode it.
func (s *streamStage) push(seq uint64) {
	data := `{"text":"` + strings.Repeat("x", 256<<10) + `"}`
	s.hub.add(encodedEvent{seq: seq, kind: "test.big"}, eventBlock("inst-"+strconv.FormatUint(seq, 10), "test.big", []byte(data)))
}

// A toldEvent is one event as a client reads it.
type toldEvent struct {
	id, name, data string
}

func (e toldEvent) seq(t *testing.T) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(strings.TrimPrefix(e.id, "inst-"), 10, 64)
	if err != nil {
		t.Fatalf("id %q", e.id)
	}
	return n
}

// A streamReader reads a stream by the rules of server-sent events.
type streamReader struct {
	body   io.ReadCloser
	lines  *bufio.Reader
	cancel context.CancelFunc
}

func (s *streamStage) listen(t *testing.T, query, last string) *streamReader {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/v1/events?"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "text/event-stream")
	if last != "" {
		req.Header.Set("Last-Event-ID", last)
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = res.Body.Close() })
	if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("answered %d, %s", res.StatusCode, res.Header.Get("Content-Type"))
	}
	return &streamReader{res.Body, bufio.NewReader(res.Body), cancel}
}

// close goes away without a word.
func (l *streamReader) close() { l.cancel(); _ = l.body.Close() }

func (l *streamReader) read() (e toldEvent, err error) {
	for {
		line, err := l.lines.ReadString('\n')
		if err != nil {
			return e, err
		}
		line = strings.TrimSuffix(line, "\n")
		key, value, _ := strings.Cut(line, ": ")
		switch {
		case line == "" && e.name != "":
			return e, nil
		case line == "" || strings.HasPrefix(line, ":"):
		case key == "id":
			e.id = value
		case key == "event":
			e.name = value
		case key == "data" && e.data == "":
			e.data = value
		default:
			return e, fmt.Errorf("line %q", line)
		}
	}
}

func (l *streamReader) next(t *testing.T) toldEvent {
	t.Helper()
	e, err := l.read()
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func (l *streamReader) hello(t *testing.T) (begin streamStart) {
	t.Helper()
	e := l.next(t)
	if e.name != "hello" || e.id != "" {
		t.Fatalf("began with %+v", e)
	}
	if err := json.Unmarshal([]byte(e.data), &begin); err != nil {
		t.Fatal(err)
	}
	return begin
}

// Whoever connects again with the last id sees every event it wants exactly
// once and in order, however often and wherever the connection breaks.
func TestStreamSurvivesBrokenConnections(t *testing.T) {
	const events = 3000
	s := newStreamStage(t, wholeRing())
	var wg sync.WaitGroup
	wg.Go(func() {
		random := rand.New(rand.NewPCG(7, 7))
		for i := range events {
			session := "ses_" + strconv.Itoa(random.IntN(4))
			s.rt.Plugins().Notify("test."+strconv.Itoa(random.IntN(3)), json.RawMessage(fmt.Sprintf(`{"sessionID":%q,"n":%d}`, session, i)))
			if random.IntN(50) == 0 {
				time.Sleep(time.Duration(random.IntN(3000)) * time.Microsecond)
			}
		}
		s.rt.Plugins().Notify("test.last", json.RawMessage(`{"sessionID":"ses_1"}`))
	})
	queries := []string{"", "session=ses_1", "session=ses_1&session=ses_2", "types=test.1,test.last", "session=ses_1&types=test.0,test.last"}
	got := make([][]string, 2*len(queries))
	for i := range got {
		wg.Go(func() { got[i] = brokenReads(t, s, queries[i%len(queries)], uint64(i)) })
	}
	wg.Wait()
	for i, have := range got {
		query, _ := url.ParseQuery(queries[i%len(queries)])
		var want []string
		for e := range s.rt.Events(t.Context(), 0) {
			f, text, err := encodeEvent("inst", e)
			if err != nil {
				t.Fatal(err)
			}
			if eventFilterOf(query).wants(&f) {
				want = append(want, string(text))
			}
			if e.Type == "test.last" {
				break
			}
		}
		if !slices.Equal(have, want) {
			t.Errorf("%v: %d events, not the %d that there were, or not in order", query, len(have), len(want))
		}
	}
}

// brokenReads reads until the last event, with connections that break.
func brokenReads(t *testing.T, s *streamStage, query string, seed uint64) (blocks []string) {
	random := rand.New(rand.NewPCG(seed, 1))
	last := "inst-0"
	for {
		var l *streamReader
		if random.IntN(2) == 0 {
			l = s.listen(t, query, last)
		} else {
			l = s.listen(t, query+"&after="+last, "")
		}
		if begin := l.hello(t); !begin.Resumed || begin.Instance != "inst" || "inst-"+strconv.FormatUint(begin.Seq, 10) != last {
			t.Errorf("after %s: %+v", last, begin)
			return nil
		}
		for range 1 + random.IntN(400) {
			e, err := l.read()
			if err != nil {
				t.Error(err)
				return nil
			}
			last = e.id
			if e.name != "at" {
				blocks = append(blocks, "id: "+e.id+"\nevent: "+e.name+"\ndata: "+e.data+"\n\n")
			}
			if e.name == "test.last" {
				return blocks
			}
		}
		l.close()
	}
}

func TestStreamBegins(t *testing.T) {
	s := newStreamStage(t, ring{maxFrames: 10, maxBytes: streamBytes})
	s.notify("ses_1", 30) // 21 to 30 are kept
	s.settle(t, 30)
	for _, c := range []struct {
		name, query, id string
		seq             uint64
		resumed         bool
		missed          string // properties; empty: not told
		first           uint64 // that follows
	}{
		{"no id", "", "", 30, false, "", 31},
		{"empty id", "after=", "", 30, false, "", 31},
		{"newest", "", "inst-30", 30, true, "", 31},
		{"one back", "after=inst-29", "", 29, true, "", 30},
		{"header before query", "after=inst-22", "inst-25", 25, true, "", 26},
		{"oldest", "", "inst-20", 20, true, "", 21},
		{"too old", "", "inst-19", 20, false, `{"count":1}`, 21},
		{"the beginning", "", "inst-0", 20, false, `{"count":20}`, 21},
		{"of another instance", "", "tsni-25", 20, false, `{}`, 21},
		{"not yet there", "", "inst-31", 20, false, `{}`, 21},
		{"no number", "", "inst-", 20, false, `{}`, 21},
		{"a negative number", "", "inst--1", 20, false, `{}`, 21},
		{"too large a number", "", "inst-99999999999999999999999", 20, false, `{}`, 21},
		{"nonsense", "after=%00%ff", "", 20, false, `{}`, 21},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := s.listen(t, c.query, c.id)
			if begin := l.hello(t); begin.Seq != c.seq || begin.Resumed != c.resumed {
				t.Errorf("began with %+v", begin)
			}
			if c.missed != "" {
				e := l.next(t)
				if e.name != "events.missed" || e.seq(t) != c.seq || !strings.Contains(e.data, `"properties":`+c.missed+"}") {
					t.Errorf("told %+v", e)
				}
			}
			if c.first <= 30 {
				if e := l.next(t); e.seq(t) != c.first {
					t.Errorf("goes on with %s", e.id)
				}
			}
			l.close()
		})
	}
	l := s.listen(t, "", "")
	l.hello(t)
	s.notify("ses_1", 1)
	if e := l.next(t); e.id != "inst-31" {
		t.Errorf("without an id the first is %s", e.id)
	}
}

// Texts with line breaks of every kind stay on their line, and a plugin's name
// for its event is one line too.
func TestStreamLines(t *testing.T) {
	s := newStreamStage(t, wholeRing())
	l := s.listen(t, "", "")
	l.hello(t)
	text := "one\ntwo\r\nthree\rfour\u2028five\u2029six\x00\n\ndata: {}\n\nevent: hello"
	quoted, _ := json.Marshal(text)
	s.rt.Plugins().Notify("test.spread", json.RawMessage("{\r\n \"sessionID\": \"ses_1\",\r\n\n \"text\": "+string(quoted)+"\n}\n"))
	s.rt.Plugins().Notify("test\nid: inst-9\n\n: x\r\x00", json.RawMessage("{\"raw\":\"a\u2028b\"}"))
	s.rt.Plugins().Notify("test.broken", json.RawMessage("{\"raw\":\"\xff\xfe\"}"))
	s.rt.Plugins().Notify("test.end", nil)
	e := l.next(t)
	var got struct {
		Seq        uint64
		Time       time.Time
		Type       string
		Properties struct{ SessionID, Text string }
	}
	if err := json.Unmarshal([]byte(e.data), &got); err != nil {
		t.Fatal(err)
	}
	if got.Properties.Text != text || got.Type != "test.spread" || e.name != got.Type || got.Seq != e.seq(t) || got.Time.IsZero() {
		t.Errorf("got %+v", got)
	}
	if e := l.next(t); e.name != "testid: inst-9: x" || strings.ContainsRune(e.data, '\u2028') {
		t.Errorf("got %+v", e)
	}
	if e := l.next(t); e.name != "test.broken" || !json.Valid([]byte(e.data)) {
		t.Errorf("got %+v", e)
	}
	if e := l.next(t); e.name != "test.end" {
		t.Errorf("got %+v", e)
	}
}

func TestStreamFilters(t *testing.T) {
	s := newStreamStage(t, wholeRing())
	own := s.listen(t, "session=ses_own&session=&types=", "")
	ends := s.listen(t, "types=call.finished,%20test.end&types=call.running", "")
	own.hello(t)
	ends.hello(t)
	for _, session := range []string{"ses_other", "ses_own"} {
		_, err := s.rt.Call(t.Context(), tool.Call{ID: "call_1", Session: session, Tool: "nosuch", Input: json.RawMessage(`{}`)})
		if err == nil {
			t.Fatal("a call of no tool is good")
		}
	}
	s.rt.Plugins().Notify("test.end", json.RawMessage(`{"session":"ses_own"}`))
	for _, want := range []string{"call.started", "session.created", "call.finished", "test.end"} {
		if e := own.next(t); e.name != want || !strings.Contains(e.data, `"ses_own"`) {
			t.Errorf("own: %+v, not %s", e, want)
		}
	}
	for _, want := range []string{"call.finished", "call.finished", "test.end"} {
		if e := ends.next(t); e.name != want {
			t.Errorf("ends: %+v, not %s", e, want)
		}
	}
}

func TestEventSession(t *testing.T) {
	notice := func(body string) event.Payload { return event.Notice{Name: "test", Body: json.RawMessage(body)} }
	for i, c := range []struct {
		kind string
		body event.Payload
		want string
	}{
		{"call.started", event.CallStarted{Call: tool.Call{Session: "ses_1", Input: json.RawMessage(`{}`)}}, "ses_1"},
		{"call.running", event.CallRunning{Session: "ses_1", Input: json.RawMessage(`{}`)}, "ses_1"},
		{"call.progress", event.CallProgress{Session: "ses_1"}, "ses_1"},
		{"call.finished", event.CallFinished{Session: "ses_1"}, "ses_1"},
		{"permission.asked", event.PermissionAsked{Request: permission.Request{Session: "ses_1"}}, "ses_1"},
		{"permission.replied", event.PermissionReplied{Session: "ses_1"}, "ses_1"},
		{"question.asked", event.QuestionAsked{QuestionRequest: tool.QuestionRequest{Session: "ses_1"}}, "ses_1"},
		{"question.replied", event.QuestionReplied{Session: "ses_1"}, "ses_1"},
		{"todo.updated", event.TodosChanged{Session: "ses_1"}, "ses_1"},
		{"file.edited", event.FileEdited{Session: "ses_1"}, "ses_1"},
		{"file.watcher.updated", event.FileChanged{File: "a"}, ""},
		{"job.updated", event.JobChanged{Job: record.Job{Session: "ses_1"}}, "ses_1"},
		{"tools.changed", event.ToolsChanged{}, ""},
		{"message.updated", event.MessageUpdated{Info: message.Info{ID: "msg_1", Session: "ses_1"}}, "ses_1"},
		{"message.part.updated", event.PartUpdated{Part: message.Part{Session: "ses_1"}}, "ses_1"},
		{"message.part.delta", event.PartDelta{Session: "ses_1"}, "ses_1"},
		{"message.part.removed", event.PartRemoved{Session: "ses_1"}, "ses_1"},
		{"session.updated", event.SessionUpdated{Info: record.Session{ID: "ses_1"}}, "ses_1"},
		{"session.status", event.SessionStatus{Session: "ses_1"}, "ses_1"},
		{"session.error", event.SessionError{}, ""},
		{"hook.ran", notice(`{"call":{"session":"ses_1"}}`), "ses_1"},
		{"message.updated", notice(`{"info":{"id":"msg_1","sessionID":"ses_1"}}`), "ses_1"},
		{"message.updated", notice(`{"info":{"id":"msg_1"}}`), ""},
		{"session.deleted", notice(`{"info":{"id":"ses_1"}}`), "ses_1"},
		{"test", notice(`{"part":{"sessionID":"ses_1"}}`), "ses_1"},
		{"test", notice(`{"sessionID":7,"session":"ses_1"}`), "ses_1"},
		{"test", notice(`[1]`), ""},
		{"test", notice(``), ""},
	} {
		f, _, err := encodeEvent("inst", event.Event{Seq: 1, Type: c.kind, Properties: c.body})
		if err != nil || f.session.Value() != c.want {
			t.Errorf("%d, %s: session %q, %v", i, c.kind, f.session.Value(), err)
		}
	}
	f, text, err := encodeEvent("inst", event.Event{Seq: 1, Type: "test", Properties: notice(`{`)})
	if err == nil || f.session.Value() != "" || !strings.HasSuffix(string(text), "\"properties\":null}\n\n") {
		t.Errorf("of what is not JSON: %s, %v", text, err)
	}
}

// What the runtime's own feed has lost is told to everybody, whatever they
// want to hear of, and the numbers go on after it.
func TestStreamPassesMissedOn(t *testing.T) {
	h := newTestHub(nil)
	srv := httptest.NewServer(h)
	defer srv.Close()
	defer h.close()
	s := &streamStage{hub: h, url: srv.URL}
	l := s.listen(t, "session=ses_1&types=test", "")
	l.hello(t)
	for _, e := range []event.Event{
		{Seq: 500, Type: "events.missed", Properties: event.Missed{Count: 500}},
		{Seq: 501, Type: "test", Properties: event.Notice{Name: "test", Body: json.RawMessage(`{"sessionID":"ses_1"}`)}},
	} {
		f, text, err := encodeEvent("inst", e)
		if err != nil {
			t.Fatal(err)
		}
		h.add(f, text)
	}
	if e := l.next(t); e.name != "events.missed" || e.id != "inst-500" || !strings.Contains(e.data, `{"count":500}`) {
		t.Errorf("got %+v", e)
	}
	if e := l.next(t); e.id != "inst-501" {
		t.Errorf("got %+v", e)
	}
	for id, first := range map[string]string{"inst-0": "inst-500", "inst-499": "inst-500", "inst-500": "inst-501"} {
		l := s.listen(t, "", id)
		if begin := l.hello(t); !begin.Resumed {
			t.Errorf("%s: %+v", id, begin)
		}
		if e := l.next(t); e.id != first {
			t.Errorf("after %s comes %s", id, e.id)
		}
	}
}

// Who does not read is told how much it missed, and its stream ends; others do
// not feel it.
func TestStreamSlowSubscriber(t *testing.T) {
	s := newStreamStage(t, ring{maxFrames: 20, maxBytes: streamBytes})
	slow, quick := s.listen(t, "", ""), s.listen(t, "", "")
	slow.hello(t)
	quick.hello(t)
	const events = 200 // more than the system's buffers take
	for i := uint64(1); i <= events; i++ {
		s.push(i)
		if e := quick.next(t); e.seq(t) != i {
			t.Fatalf("event %d is %s", i, e.id)
		}
	}
	var last uint64
	for {
		e := slow.next(t)
		if e.name == "events.missed" {
			var m struct{ Properties missed }
			if err := json.Unmarshal([]byte(e.data), &m); err != nil || m.Properties.Count != e.seq(t)-last || m.Properties.Count == 0 {
				t.Errorf("after %d: %s", last, e.data)
			}
			break
		}
		if e.seq(t) != last+1 {
			t.Fatalf("%s after %d", e.id, last)
		}
		last++
	}
	if e, err := slow.read(); !errors.Is(err, io.EOF) {
		t.Errorf("goes on with %+v, %v", e, err)
	}
}

func TestRing(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	k := ring{maxFrames: 50, maxBytes: 300 << 10, first: 1}
	var want []string
	for seq := uint64(1); seq < 2000; seq += 1 + random.Uint64N(2) {
		text := strings.Repeat("x", random.IntN(10<<10)) + strconv.FormatUint(seq, 10)
		if random.IntN(100) == 0 {
			text += strings.Repeat("y", 400<<10) // more than is kept
		}
		k.add(encodedEvent{seq: seq}, []byte(text))
		want = append(want, text)
		if len(k.frames) == 0 || len(k.frames) > 50 || len(k.frames) > 1 && k.bytes > 300<<10 {
			t.Fatalf("%d frames of %d bytes are kept", len(k.frames), k.bytes)
		}
		if k.end() != uint64(len(want))+1 || k.last != seq || k.find(k.gone) != k.first || k.find(seq) != k.end() {
			t.Fatalf("first %d, end %d, gone %d", k.first, k.end(), k.gone)
		}
		into := make([]encodedEvent, 60)
		n := k.read(k.first, into)
		var run []byte
		for i, f := range into[:n] {
			text := want[len(want)-n+i]
			if string(f.text) != text {
				t.Fatalf("frame %d is another", f.seq)
			}
			if longer, ok := f.appendRun(run); ok {
				if string(longer) != string(run)+text {
					t.Fatalf("frame %d does not follow the one before", f.seq)
				}
				run = longer
			} else {
				run = f.text
			}
		}
	}
}

// Large texts do not take more room than they need, and small ones lie side by
// side around them.
func TestRingLaysOut(t *testing.T) {
	k := ring{maxFrames: 50, maxBytes: streamBytes, first: 1}
	for i, size := range []int{100, slabShare + 1, 200, slabShare} {
		k.add(encodedEvent{seq: uint64(i + 1)}, make([]byte, size))
	}
	if large := k.frames[1].text; cap(large) != len(large) {
		t.Errorf("%d bytes are held for %d", cap(large), len(large))
	}
	if _, ok := k.frames[1].appendRun(k.frames[0].text); ok {
		t.Error("a large text lies among the small ones")
	}
	if _, ok := k.frames[2].appendRun(k.frames[1].text); ok {
		t.Error("a small text lies behind a large one")
	}
	run := k.frames[0].text
	for _, i := range []int{2, 3} {
		longer, ok := k.frames[i].appendRun(run)
		if !ok {
			t.Fatalf("text %d does not lie behind the small ones before it", i)
		}
		run = longer
	}
	if len(run) != 300+slabShare {
		t.Errorf("small texts are %d bytes", len(run))
	}
}

// What is dropped is let go of, though what follows in the same array is kept.
func TestRingLetsGo(t *testing.T) {
	k := ring{maxFrames: 2, maxBytes: streamBytes, first: 1}
	k.frames = make([]encodedEvent, 0, 8)
	whole := k.frames[:8]
	for seq := range uint64(6) {
		k.add(encodedEvent{seq: seq + 1, kind: "test"}, []byte("text"))
	}
	for i, f := range whole {
		if held := f.text != nil; held != (i == 4 || i == 5) {
			t.Errorf("frame %d is held: %t", i, held)
		}
	}
}

// close ends streams that wait, that are being written to and whose peer does
// not read; nobody can connect any more, and no goroutine is left.
func TestStreamClose(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	rt, err := helve.Open(helve.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rt.Close() }()
	h := newTestHub(rt)
	srv := httptest.NewServer(h)
	defer srv.Close()
	defer http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	s := &streamStage{rt, h, srv.URL}
	stuck, waits := s.listen(t, "", ""), s.listen(t, "session=none", "")
	stuck.hello(t)
	waits.hello(t)
	defer stuck.close()
	defer waits.close()
	for i := range uint64(100) {
		s.push(i + 1)
	}
	h.close()
	h.close() // again does no harm
	if e, err := waits.read(); !errors.Is(err, io.EOF) && err == nil && e.name != "at" {
		t.Errorf("goes on with %+v, %v", e, err)
	}
	for {
		if _, err := stuck.read(); err != nil {
			break
		}
	}
	res, err := http.Get(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	var problem problem
	if err := json.NewDecoder(res.Body).Decode(&problem); err != nil || problem.Status != 503 || problem.Code != "closed" || res.StatusCode != 503 {
		t.Errorf("afterwards: %d, %+v, %v", res.StatusCode, problem, err)
	}
}

// When the runtime ends, streams end after its last event.
func TestStreamEndsWithTheRuntime(t *testing.T) {
	s := newStreamStage(t, wholeRing())
	l := s.listen(t, "", "")
	l.hello(t)
	s.notify("ses_1", 500)
	s.settle(t, 1)
	if err := s.rt.Close(); err != nil {
		t.Fatal(err)
	}
	last := uint64(0)
	for {
		e, err := l.read()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				t.Error(err)
			}
			break
		}
		last = e.seq(t)
	}
	if last < 500 {
		t.Errorf("the last is %d", last)
	}
}

// A streamPage is a response that notes what is written and when it is flushed.
type streamPage struct {
	mu    sync.Mutex
	head  http.Header
	text  strings.Builder
	sends []string
}

func (p *streamPage) Header() http.Header { return p.head }
func (p *streamPage) WriteHeader(int)     {}
func (p *streamPage) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(b)
}
func (p *streamPage) Flush() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sends = append(p.sends, p.text.String())
	p.text.Reset()
}

// take returns what was sent since.
func (p *streamPage) take() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := p.sends
	p.sends = nil
	return out
}

// By a clock of its own: the first event at once, the next ones together, a
// ping every 15 seconds, and a number for who hears nothing.
func TestStreamTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newTestHub(nil)
		all, other := &streamPage{head: http.Header{}}, &streamPage{head: http.Header{}}
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for target, p := range map[string]*streamPage{"/v1/events": all, "/v1/events?session=ses_2": other} {
			wg.Go(func() { h.ServeHTTP(p, httptest.NewRequestWithContext(ctx, http.MethodGet, target, nil)) })
		}
		var seq uint64
		add := func() string {
			seq++
			f, text, err := encodeEvent("inst", event.Event{Seq: seq, Type: "test",
				Properties: event.Notice{Name: "test", Body: json.RawMessage(`{"sessionID":"ses_1"}`)}})
			if err != nil {
				t.Fatal(err)
			}
			h.add(f, text)
			synctest.Wait()
			return string(text)
		}
		expect := func(p *streamPage, want ...string) {
			t.Helper()
			synctest.Wait()
			if got := p.take(); !slices.Equal(got, want) {
				t.Fatalf("sent %q, not %q", got, want)
			}
		}
		hello := "event: hello\ndata: {\"instance\":\"inst\",\"seq\":0,\"resumed\":false}\n\n"
		expect(all, hello)
		expect(other, hello)
		time.Sleep(time.Second)
		expect(all, add())
		two := add() + add()
		expect(all)
		time.Sleep(streamGather)
		expect(all, two)
		time.Sleep(streamGather)
		expect(all, add())
		expect(other)
		time.Sleep(5 * time.Second)
		expect(all, add())
		expect(other, "id: inst-5\nevent: at\ndata: {\"seq\":5}\n\n")
		time.Sleep(time.Second)
		expect(all, add())
		expect(other)
		time.Sleep(8 * time.Second)
		expect(all, ": ping\n\n")
		expect(other, ": ping\n\nid: inst-6\nevent: at\ndata: {\"seq\":6}\n\n")
		time.Sleep(15 * time.Second)
		expect(all, ": ping\n\n")
		expect(other, ": ping\n\n")
		cancel()
		wg.Wait()
		h.close()
	})
}
