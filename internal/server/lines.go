package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// Serve may end because of these.
var (
	ErrOutputClosed = errors.New("standard output is closed") // nobody reads what is written
	ErrCanceled     = errors.New("the work was stopped")      // the context has ended
)

// LinesOptions say whom a runtime serves, and how.
type LinesOptions struct {
	In      io.Reader
	Out     io.Writer
	Session string        // of calls that name none; a new one when empty
	Agent   string        // who makes calls that do not say
	Timeout time.Duration // of a call; none when 0
	Events  bool          // every event is written too
}

// ServeLines serves a program: it reads requests, a line each, and writes the ends of
// the calls. It returns when the input, the context or the output has ended and
// so have the calls; the runtime is closed then.
func ServeLines(ctx context.Context, rt *helve.Runtime, o LinesOptions) error {
	d := newDoor(ctx, rt, o.Out)
	d.shared, d.agent, d.timeout = o.Session, o.Agent, o.Timeout
	if d.shared == "" {
		d.shared = rt.NewID("ses")
	}
	if o.Events {
		d.events = true
		d.telling.Go(func() {
			l := listener{d: d, parents: map[callKey]string{}}
			for e := range d.rt.Events(context.Background(), 0) {
				d.tell(e)
				l.hear(e)
			}
			d.toldAll()
		})
	}
	return d.serve(o.In)
}

// A line that was read, or the error that came instead.
type readLine struct {
	data []byte
	err  error
	n    int
}

// read hands on the lines of the input until it or the context ends.
func (d *door) read(in io.Reader, to chan<- readLine) {
	r := text.NewLineReader(in, text.MaxLine)
	for {
		data, err := r.Next()
		select {
		case to <- readLine{data, err, r.Number()}:
		case <-d.ctx.Done():
			return
		}
		if err != nil && err != text.ErrLongLine {
			return
		}
	}
}

// serve reads requests until the input, the context or the output ends. Then
// it waits for the calls under way.
func (d *door) serve(in io.Reader) error {
	read := make(chan readLine)
	go d.read(in, read)
	var failed error
	for open := true; open; {
		select {
		case l := <-read:
			switch {
			case l.err == io.EOF:
				open = false
			case l.err != nil && l.err != text.ErrLongLine:
				failed, open = fmt.Errorf("reading standard input: %w", l.err), false
			default:
				d.take(l)
			}
		case <-d.ctx.Done():
			open = false
		}
	}
	if d.ctx.Err() == nil {
		d.rt.Leave() // nobody is left to answer
	}
	d.running.Wait()
	err := d.rt.Close()
	d.telling.Wait()
	switch {
	case context.Cause(d.ctx) == ErrOutputClosed:
		return ErrOutputClosed
	case d.ctx.Err() != nil:
		return ErrCanceled
	case failed != nil:
		return failed
	}
	return err
}

// take acts on one line.
func (d *door) take(l readLine) {
	if l.err != nil {
		d.write(misread(nil, l.n, l.err))
		return
	}
	if text.BlankLine(l.data) {
		return
	}
	req, id, err := decodeLine(l.data)
	switch {
	case err != nil:
		d.write(misread(id, l.n, err))
	case req.call != nil:
		d.start(req.call, l.n)
	case req.reply != nil:
		r := req.reply
		err := d.rt.Requests().Reply(r.ID, permission.Reply{Verdict: r.Reply, Message: r.Message, Scope: r.Scope})
		d.check(err, wireLine{Reply: r.ID}, l.n)
	case req.answer != nil:
		err := error(nil)
		if req.answer.dismiss {
			err = d.rt.Requests().Dismiss(req.answer.id)
		} else {
			err = d.rt.Requests().Answer(req.answer.id, req.answer.answers)
		}
		d.check(err, wireLine{Answer: req.answer.id}, l.n)
	case req.cancel.background:
		d.check(d.cancelCall(req.cancel), wireLine{Background: req.cancel.id}, l.n)
	default:
		d.check(d.cancelCall(req.cancel), wireLine{Cancel: req.cancel.id}, l.n)
	}
}

// misread is the answer to a line that makes no sense.
func misread(id json.RawMessage, n int, err error) wireLine {
	if id == nil {
		id = json.RawMessage("null")
	}
	return wireLine{ID: id, Status: "error", Error: newWireError(tool.InvalidInput, "invalid-line", err.Error(), n)}
}

// check tells of a reply, an answer or a cancel that could not be given. The
// line has no id: it is the end of no call.
func (d *door) check(err error, w wireLine, n int) {
	if err == nil {
		return
	}
	w.ID, w.Status = json.RawMessage("null"), "error"
	w.Error = newWireError(tool.Internal, "store", err.Error(), n)
	if errors.Is(err, permission.ErrNotFound) || errors.Is(err, errNoCall) {
		w.Error.Kind, w.Error.Code = tool.InvalidInput, "not-found"
	}
	d.write(w)
}

// write writes a whole line.
func (d *door) write(w wireLine) { d.writeBytes(encodeLine(w)) }

func (d *door) writeBytes(line []byte) {
	d.writing.Lock()
	defer d.writing.Unlock()
	if context.Cause(d.ctx) == ErrOutputClosed {
		return
	}
	if _, err := d.out.Write(line); err != nil {
		d.end(ErrOutputClosed)
	}
}

// A listener lets calls go on by what is told about them.
type listener struct {
	d       *door
	parents map[callKey]string // of calls that were made by others
}

func (l *listener) hear(e event.Event) {
	switch p := e.Properties.(type) {
	case event.CallStarted:
		if p.Call.Parent != "" {
			l.parents[callKey{p.Call.Session, p.Call.ID}] = p.Call.Parent
		}
	case event.CallFinished:
		key := callKey{p.Session, p.ID}
		delete(l.parents, key)
		l.d.mu.Lock()
		r := l.d.calls[key]
		l.d.mu.Unlock()
		if r != nil {
			r.once.Do(func() { close(r.told) })
		}
	case event.PermissionAsked:
		l.waits(p.Session, p.Call)
	case event.QuestionAsked:
		l.waits(p.Session, p.Call)
	case event.Missed:
		clear(l.parents)
		l.tellWaiting(e)
		l.d.toldAll()
	}
}

// waits frees the slot of the call that a request belongs to, or of the one
// that made that.
func (l *listener) waits(session string, c *permission.CallRef) {
	if c == nil {
		return
	}
	key := callKey{session, c.Call}
	if parent, ok := l.parents[key]; ok {
		key.id = parent
	}
	l.d.mu.Lock()
	r := l.d.calls[key]
	l.d.mu.Unlock()
	if r != nil {
		r.free()
	}
}

func (d *door) tell(e event.Event) {
	line, err := text.EncodeLine(struct {
		Event event.Event `json:"event"`
	}{e})
	if err != nil { // something in its metadata is no JSON
		e.Properties = nil
		line, _ = text.EncodeLine(map[string]any{"event": e, "error": err.Error()})
	}
	d.writeBytes(line)
}

// tellWaiting tells again of everything that waits for an answer, after events
// were missed: a request that nobody heard of would wait for ever.
func (l *listener) tellWaiting(e event.Event) {
	for _, r := range l.d.rt.Requests().Pending() {
		e.Type, e.Properties = "permission.asked", event.PermissionAsked{Request: r}
		l.d.tell(e)
		l.waits(r.Session, r.Call)
	}
	for _, q := range l.d.rt.Requests().Questions() {
		e.Type, e.Properties = "question.asked", event.QuestionAsked{QuestionRequest: q}
		l.d.tell(e)
		l.waits(q.Session, q.Call)
	}
}

// A callKey names a call: ids are unique within a session.
type callKey struct{ session, id string }

// A running call.
type runningCall struct {
	echo   json.RawMessage // its id as the program wrote it
	cancel context.CancelFunc
	free   func()          // gives its slot back; set before the runtime has the call
	told   chan struct{}   // closed when all its events are written
	ended  chan struct{}   // closed when its end is written
	after  <-chan struct{} // of a call of the same id that has ended, and whose end comes first
	once   sync.Once
}
