package cli

import (
	"context"
	"errors"
	"io"
	"iter"
	"strings"
	"time"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/internal/text"
)

// A viewer is shown what happens in a turn, by one goroutine.
type viewer interface {
	Event(event.Event)
	Tick() // a while has passed
	Close()
}

// errBroken says that the reader of standard output is gone.
var errBroken = errors.New("standard output is closed")

// An outlet is standard output. A write that fails ends the turn, as a reader
// that went away does.
type outlet struct {
	to     io.Writer
	broken context.CancelCauseFunc
}

// Write never fails: output that cannot be written is dropped.
func (o outlet) Write(p []byte) (int, error) {
	if _, err := o.to.Write(p); err != nil {
		o.broken(errBroken)
	}
	return len(p), nil
}

// Bounds on the events that wait for a view. An answer fits, with all events beside its text.
const (
	mostWaiting = 256 << 20 // bytes of all
	mostMerged  = 64 << 10  // bytes of words that become one event
)

// eagerly takes events as they come and hands them on as they are wanted, so
// that a slow reader of the output, or a person who thinks about an answer,
// misses none. Words of the same part that wait behind each other become one
// event, with the number of the last. Where too much waits nothing more is
// taken, and the runtime says what was missed.
func eagerly(events iter.Seq[event.Event]) <-chan event.Event {
	in, out := make(chan event.Event), make(chan event.Event)
	go func() {
		defer close(in)
		for e := range events {
			in <- e
		}
	}()
	go func() {
		defer close(out)
		var line queue
		for open := true; open || len(line.waiting) > 0; {
			var from <-chan event.Event
			if open && line.size < mostWaiting {
				from = in
			}
			var to chan<- event.Event
			var next event.Event
			if len(line.waiting) > 0 {
				to, next = out, line.waiting[0].event()
			}
			select {
			case e, ok := <-from:
				if open = ok; ok {
					line.add(e)
				}
			case to <- next:
				line.removeFirst()
			}
		}
	}()
	return out
}

// A queue is the events that wait.
type queue struct {
	waiting []*waiter
	size    int // of all of them, about
}

// A waiter is an event that waits.
type waiter struct {
	event.Event
	words strings.Builder // of a delta
	size  int
}

// event is what has come of the event while it waited.
func (w *waiter) event() event.Event {
	if p, ok := w.Properties.(event.PartDelta); ok {
		p.Delta = w.words.String()
		w.Properties = p
	}
	return w.Event
}

func (q *queue) add(e event.Event) {
	p, words := e.Properties.(event.PartDelta)
	if n := len(q.waiting); words && n > 0 {
		last := q.waiting[n-1]
		before, same := last.Properties.(event.PartDelta)
		if same && before.Part == p.Part && before.Field == p.Field && last.words.Len()+len(p.Delta) <= mostMerged {
			last.Seq, last.Time = e.Seq, e.Time
			last.words.WriteString(p.Delta)
			last.size += len(p.Delta)
			q.size += len(p.Delta)
			return
		}
	}
	w := &waiter{Event: e, size: sizeOf(e)}
	if words {
		w.words.WriteString(p.Delta)
	}
	q.waiting = append(q.waiting, w)
	q.size += w.size
}

// removeFirst takes the first one away.
func (q *queue) removeFirst() {
	q.size -= q.waiting[0].size
	q.waiting[0] = nil
	q.waiting = q.waiting[1:]
}

// sizeOf is about how many bytes an event takes.
func sizeOf(e event.Event) int {
	n := 1 << 10
	switch p := e.Properties.(type) {
	case event.PartDelta:
		n += len(p.Delta)
	case event.PartUpdated:
		n += len(p.Part.Text) + len(p.Part.URL)
		if s := p.Part.State; s != nil {
			n += len(s.Input) + len(s.Output) + len(s.Error)
		}
	case event.CallProgress:
		said, _ := p.Metadata["output"].(string)
		n += len(said)
	}
	return n
}

// An audience follows a turn: it shows what happens, asks the person for permission, and records
// what was refused because there was no one to ask.
type audience struct {
	view    viewer
	ask     *prompter // nil: no one to ask
	refused refusals
}

// followEvents goes through the events of a runtime until it is closed. Nothing is
// asked once asking has ended.
func (d *audience) followEvents(asking context.Context, rt *helve.Runtime) {
	events := eagerly(rt.Events(context.Background(), 0))
	tick := time.NewTicker(showAfter)
	defer tick.Stop()
	defer d.view.Close()
	for {
		select {
		case e, ok := <-events:
			if !ok {
				return
			}
			d.view.Event(e)
			d.refused.handleEvent(e)
			if d.ask != nil {
				d.put(asking, rt, e)
			}
		case <-tick.C:
			d.view.Tick()
		}
	}
}

// put handles the request in an event; after missed events, every pending request.
func (d *audience) put(asking context.Context, rt *helve.Runtime, e event.Event) {
	events := []event.Event{e}
	if _, missed := e.Properties.(event.Missed); missed {
		for _, r := range rt.Requests().Pending() {
			events = append(events, event.Event{Properties: event.PermissionAsked{Request: r}})
		}
		for _, q := range rt.Requests().Questions() {
			events = append(events, event.Event{Properties: event.QuestionAsked{QuestionRequest: q}})
		}
	}
	for _, e := range events {
		if asking.Err() == nil {
			d.ask.handle(asking, e)
		}
	}
}

// A jsonView writes every event of the turn, a line each.
type jsonView struct {
	out  io.Writer
	safe bool // out is a terminal
}

// Event writes an event.
func (v jsonView) Event(e event.Event) {
	kind, _, _ := strings.Cut(e.Type, ".")
	switch kind {
	case "message", "session", "call", "permission", "question", "todo", "events":
		v.write(e)
	}
}

func (v jsonView) write(line any) {
	b, err := text.EncodeLine(line)
	if err != nil { // something in its metadata is no JSON
		e, _ := line.(event.Event)
		e.Properties = nil
		b, _ = text.EncodeLine(map[string]any{"seq": e.Seq, "time": e.Time, "type": e.Type, "error": err.Error()})
	}
	if v.safe {
		b = []byte(text.VisibleJSON(string(b)))
	}
	_, _ = v.out.Write(b) // the outlet sees to that
}

// Tick does nothing: programs can wait.
func (jsonView) Tick() {}

// Close does nothing: all is written.
func (jsonView) Close() {}

// A quietView shows nothing.
type quietView struct{}

// Event does nothing.
func (quietView) Event(event.Event) {}

// Tick does nothing.
func (quietView) Tick() {}

// Close does nothing.
func (quietView) Close() {}
