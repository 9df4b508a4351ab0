package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"helve"
	"helve/permission"
	"helve/tool"
)

// serveLines serves a program: requests on standard input, a line each, and
// the ends of calls on standard output. See docs/jsonl.md.
func (a *app) serveLines(ctx context.Context, f *callFlags) error {
	s, err := a.load()
	if err != nil {
		return err
	}
	a.warn(s.cfg)
	if err := s.ready(f.agent); err != nil {
		return err
	}
	opt := a.options(s)
	opt.Unattended = !f.events
	opt.Search.Stateless = s.cfg.Search.Keep != nil && !*s.cfg.Search.Keep // calls follow each other here
	opt.Shell.Ephemeral = false
	opt.Custom.Watch = watchFiles
	opt.Repair = !f.strict && (f.repair || s.cfg.Repair != nil && *s.cfg.Repair)
	opt.Provider, opt.Model = f.provider, f.model
	rt, err := helve.New(opt)
	if err != nil {
		return err
	}
	// A reader that goes away shows as an error of the write, and does not end
	// the process before the calls are.
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)
	defer signal.Stop(broken)
	d := newDoor(ctx, rt, a.Stdout)
	d.shared, d.agent, d.timeout = f.session, f.agent, f.timeout
	if d.shared == "" {
		d.shared = rt.NewID("ses")
	}
	if f.events {
		d.tellEvents()
	}
	return d.serve(a.Stdin)
}

// A line that was read, or the error that came instead.
type readLine struct {
	data []byte
	err  error
	n    int
}

// read hands on the lines of the input until it or the context ends.
func (d *door) read(in io.Reader, lines chan<- readLine) {
	r := newLineReader(in, maxLine)
	for {
		data, err := r.next()
		select {
		case lines <- readLine{data, err, r.n}:
		case <-d.ctx.Done():
			return
		}
		if err != nil && err != errLongLine {
			return
		}
	}
}

// serve reads requests until the input, the context or the output ends. Then
// it waits for the calls under way.
func (d *door) serve(in io.Reader) error {
	lines := make(chan readLine)
	go d.read(in, lines)
	var failed error
	for open := true; open; {
		select {
		case l := <-lines:
			switch {
			case l.err == io.EOF:
				open = false
			case l.err != nil && l.err != errLongLine:
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
	case context.Cause(d.ctx) == errBroken:
		return &silent{exitFailed}
	case d.ctx.Err() != nil:
		return &silent{exitCanceled}
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
	if blank(l.data) {
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
		err := d.rt.Reply(r.ID, permission.Reply{Verdict: r.Reply, Message: r.Message, Scope: r.Scope})
		d.check(err, wireLine{Reply: r.ID}, l.n)
	case req.answer != nil:
		err := error(nil)
		if req.answer.dismiss {
			err = d.rt.Dismiss(req.answer.id)
		} else {
			err = d.rt.Answer(req.answer.id, req.answer.answers)
		}
		d.check(err, wireLine{Answer: req.answer.id}, l.n)
	case req.cancel.background:
		d.check(d.cancelCall(req.cancel), wireLine{Background: req.cancel.id}, l.n)
	default:
		d.check(d.cancelCall(req.cancel), wireLine{Cancel: req.cancel.id}, l.n)
	}
}

func blank(line []byte) bool {
	for _, c := range line {
		if c != ' ' && c != '\t' && c != '\r' {
			return false
		}
	}
	return true
}

// misread is the answer to a line that makes no sense.
func misread(id json.RawMessage, n int, err error) wireLine {
	if id == nil {
		id = json.RawMessage("null")
	}
	return wireLine{ID: id, Status: "error", Error: &wireError{
		Kind: tool.InvalidInput, Code: "invalid-line", Message: err.Error(), Line: n,
	}}
}

// check tells of a reply, an answer or a cancel that could not be given. The
// line has no id: it is the end of no call.
func (d *door) check(err error, w wireLine, n int) {
	if err == nil {
		return
	}
	w.ID, w.Status = json.RawMessage("null"), "error"
	w.Error = &wireError{Kind: tool.Internal, Code: "store", Message: err.Error(), Line: n}
	if errors.Is(err, permission.ErrNotFound) || errors.Is(err, errNoCall) {
		w.Error.Kind, w.Error.Code = tool.InvalidInput, "not-found"
	}
	d.write(w)
}

// errBroken says that nobody reads what is written.
var errBroken = errors.New("standard output is closed")

// write writes a whole line.
func (d *door) write(w wireLine) { d.writeBytes(encodeLine(w)) }

func (d *door) writeBytes(line []byte) {
	d.writing.Lock()
	defer d.writing.Unlock()
	if context.Cause(d.ctx) == errBroken {
		return
	}
	if _, err := d.out.Write(line); err != nil {
		d.end(errBroken)
	}
}

// tellEvents writes every event of the runtime, in order.
func (d *door) tellEvents() {
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

// A listener lets calls go on by what is told about them.
type listener struct {
	d       *door
	parents map[callKey]string // of calls that were made by others
}

func (l *listener) hear(e helve.Event) {
	switch p := e.Properties.(type) {
	case helve.CallStarted:
		if p.Call.Parent != "" {
			l.parents[callKey{p.Call.Session, p.Call.ID}] = p.Call.Parent
		}
	case helve.CallFinished:
		key := callKey{p.Session, p.ID}
		delete(l.parents, key)
		l.d.told(key)
	case helve.PermissionAsked:
		l.waits(p.Session, p.Call)
	case helve.QuestionAsked:
		l.waits(p.Session, p.Call)
	case helve.Missed:
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
	l.d.waits(key)
}

func (d *door) tell(e helve.Event) {
	line, err := encode(struct {
		Event helve.Event `json:"event"`
	}{e})
	if err != nil { // something in its metadata is no JSON
		e.Properties = nil
		line, _ = encode(map[string]any{"event": e, "error": err.Error()})
	}
	d.writeBytes(line)
}

// tellWaiting tells again of everything that waits for an answer, after events
// were missed: a request that nobody heard of would wait for ever.
func (l *listener) tellWaiting(e helve.Event) {
	for _, r := range l.d.rt.Pending() {
		e.Type, e.Properties = "permission.asked", helve.PermissionAsked{Request: r}
		l.d.tell(e)
		l.waits(r.Session, r.Call)
	}
	for _, q := range l.d.rt.Questions() {
		e.Type, e.Properties = "question.asked", helve.QuestionAsked{QuestionRequest: q}
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
