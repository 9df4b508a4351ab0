package server

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// After events were missed, everything that waits is told again.
func TestWaitingIsToldAgain(t *testing.T) {
	rt, err := helve.Open(helve.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for name, input := range map[string]string{
		"question": `{"questions":[{"question":"Which?","header":"h","options":[]}]}`,
		"read":     `{"filePath":".env"}`,
	} {
		wg.Go(func() {
			_, err := rt.Call(ctx, tool.Call{ID: name, Session: "s", Tool: name, Input: []byte(input)})
			if tool.KindOf(err) != tool.Canceled {
				t.Errorf("%s ended with %v", name, err)
			}
		})
	}
	asked := 0
	for e := range rt.Events(ctx, 0) {
		if strings.HasSuffix(e.Type, ".asked") {
			if asked++; asked == 2 {
				break
			}
		}
	}
	var out bytes.Buffer
	d := newDoor(ctx, rt, &out)
	freed := map[string]int{}
	for _, id := range []string{"question", "read"} {
		d.add(callKey{"s", id}, &runningCall{free: func() { freed[id]++ }, told: make(chan struct{})})
	}
	l := listener{d: d, parents: map[callKey]string{}}
	l.hear(event.Event{Seq: 9, Type: "events.missed", Properties: event.Missed{Count: 3}})
	for _, want := range []string{`"type":"question.asked"`, `"type":"permission.asked"`} {
		if strings.Count(out.String(), want) != 1 {
			t.Errorf("%s is not in:\n%s", want, out.String())
		}
	}
	for id, r := range map[string]*runningCall{"question": d.calls[callKey{"s", "question"}], "read": d.calls[callKey{"s", "read"}]} {
		select {
		case <-r.told:
		default:
			t.Errorf("the end of %s would wait for events that do not come", id)
		}
		if freed[id] != 1 {
			t.Errorf("%s gave its slot back %d times", id, freed[id])
		}
	}
	cancel()
	wg.Wait()
	if err := rt.Close(); err != nil {
		t.Error(err)
	}
}

// A request of a call that another one made frees the slot of that.
func TestInnerCallWaits(t *testing.T) {
	d := newDoor(t.Context(), nil, new(bytes.Buffer))
	freed := 0
	d.add(callKey{"s", "outer"}, &runningCall{free: func() { freed++ }, told: make(chan struct{})})
	l := listener{d: d, parents: map[callKey]string{}}
	l.hear(event.Event{Properties: event.CallStarted{Call: tool.Call{ID: "inner", Session: "s", Parent: "outer"}}})
	ask := event.PermissionAsked{Request: permission.Request{Session: "s", Call: &permission.CallRef{Call: "inner"}}}
	l.hear(event.Event{Properties: ask})
	l.hear(event.Event{Properties: event.CallFinished{ID: "inner", Session: "s"}})
	if freed != 1 || len(l.parents) != 0 {
		t.Errorf("freed %d times, %d calls remembered", freed, len(l.parents))
	}
}

// A writer that hands on what it is given when it is told to.
type slowWriter struct{ writes, goOn chan string }

func (w slowWriter) Write(p []byte) (int, error) {
	w.writes <- string(p)
	<-w.goOn
	return len(p), nil
}

// TestEndComesFirst: a second call of an id that comes while the end of the
// first is being written is answered after it, and not taken for it.
func TestEndComesFirst(t *testing.T) {
	rt, err := helve.Open(helve.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	w := slowWriter{make(chan string), make(chan string)}
	d := newDoor(t.Context(), rt, w)
	d.shared = "s"
	req := &callRequest{echo: []byte(`"1"`), Call: tool.Call{ID: "1", Tool: "todoread", Input: []byte("{}")}}
	d.start(req, 1)
	first := <-w.writes // over, and not yet written
	d.start(req, 2)
	key := callKey{"s", "1"}
	d.mu.Lock()
	second := d.calls[key]
	if second == nil { // it is over already, and waits to be written
		second = d.ending[key]
	}
	d.mu.Unlock()
	if second == nil || second.after == nil {
		t.Fatalf("the second call waits for nothing: %+v", second)
	}
	w.goOn <- ""
	last := <-w.writes
	w.goOn <- ""
	d.running.Wait()
	if !strings.HasPrefix(first, `{"id":"1","status":"completed"`) || !strings.Contains(last, `"duplicate-id"`) {
		t.Errorf("got %s and %s", first, last)
	}
	if len(d.ending)+len(d.calls)+len(d.byID) != 0 {
		t.Errorf("something is remembered: %v %v %v", d.ending, d.calls, d.byID)
	}
	if err := rt.Close(); err != nil {
		t.Error(err)
	}
}
