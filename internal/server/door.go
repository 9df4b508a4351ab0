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
	"github.com/helve-dev/helve/tool"
)

// How many calls a door lets in.
const (
	maxAtWork = 256   // at work at one time; those that wait for an answer do not count
	maxQueued = 10000 // read, and not yet at work: then no more are read
)

// A door lets a program make calls of a runtime.
type door struct {
	ctx context.Context
	end context.CancelCauseFunc
	rt  *helve.Runtime

	shared  string // the session of calls that name none
	agent   string // who makes calls that do not say
	timeout time.Duration
	events  bool

	writing sync.Mutex
	out     io.Writer

	slots, queue chan struct{} // hold one for each call at work, and for each in the queue

	running sync.WaitGroup // calls
	telling sync.WaitGroup // events

	mu     sync.Mutex
	calls  map[callKey]*runningCall
	byID   map[string]map[callKey]*runningCall
	ending map[callKey]*runningCall // over, and not yet written
}

func newDoor(ctx context.Context, rt *helve.Runtime, out io.Writer) *door {
	d := &door{
		rt: rt, out: out, slots: make(chan struct{}, maxAtWork), queue: make(chan struct{}, maxQueued),
		calls: map[callKey]*runningCall{}, byID: map[string]map[callKey]*runningCall{},
		ending: map[callKey]*runningCall{},
	}
	d.ctx, d.end = context.WithCancelCause(ctx)
	return d
}

// start makes the call of line n. It returns at once, unless very many are in
// the queue.
func (d *door) start(req *callRequest, n int) {
	select {
	case d.queue <- struct{}{}:
	case <-d.ctx.Done():
		return
	}
	c, echo := req.Call, req.echo
	if c.ID == "" {
		c.ID = d.rt.NewID("call")
		echo, _ = json.Marshal(c.ID) // a string always encodes
	}
	if c.Session == "" {
		c.Session = d.shared
	}
	if c.Agent == "" {
		c.Agent = d.agent
	}
	key := callKey{c.Session, c.ID}
	ctx, cancel := context.WithCancel(d.ctx)
	if d.timeout > 0 {
		ctx, cancel = withTimeout(ctx, cancel, d.timeout)
	}
	r := &runningCall{echo: echo, cancel: cancel, told: make(chan struct{}), ended: make(chan struct{})}
	if !d.add(key, r) {
		cancel()
		<-d.queue
		// Without an id, so that it is not taken for the end of the other call.
		d.write(wireLine{ID: json.RawMessage("null"), Status: "error", Duplicate: c.ID, Error: newWireError(tool.InvalidInput, "duplicate-id",
			fmt.Sprintf("a call with the id %q is under way in this session: give every call an id of its own, or none", c.ID), n)})
		return
	}
	d.running.Go(func() { d.run(ctx, r, c) })
}

func withTimeout(ctx context.Context, outer context.CancelFunc, limit time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	return ctx, func() { cancel(); outer() }
}

// run makes one call to its end and writes that. Where events are told, those
// of the call come first.
func (d *door) run(ctx context.Context, r *runningCall, c tool.Call) {
	defer r.cancel()
	select {
	case d.slots <- struct{}{}:
		r.free = sync.OnceFunc(func() { <-d.slots })
	case <-ctx.Done(): // the runtime says and records that
		r.free = func() {}
	}
	<-d.queue
	res, err := d.rt.Call(ctx, c)
	r.free()
	line := EndLine(r.echo, c.Tool, res, err)
	if d.events {
		<-r.told
	}
	key := callKey{c.Session, c.ID}
	d.remove(key, r)
	if r.after != nil {
		<-r.after
	}
	d.writeBytes(line)
	// The end of the call has been written.
	close(r.ended)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ending[key] == r {
		delete(d.ending, key)
	}
}

func (d *door) add(key callKey, r *runningCall) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.calls[key] != nil {
		return false
	}
	if before := d.ending[key]; before != nil {
		r.after = before.ended
	}
	d.calls[key] = r
	if d.byID[key.id] == nil {
		d.byID[key.id] = map[callKey]*runningCall{}
	}
	d.byID[key.id][key] = r
	return true
}

// remove takes a call that is over out of those under way.
func (d *door) remove(key callKey, r *runningCall) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ending[key] = r
	delete(d.calls, key)
	delete(d.byID[key.id], key)
	if len(d.byID[key.id]) == 0 {
		delete(d.byID, key.id)
	}
}

// toldAll lets every call go on, because events were missed or are over.
func (d *door) toldAll() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, r := range d.calls {
		r.once.Do(func() { close(r.told) })
	}
}

// errNoCall answers a cancel that came too late, or for no call at all.
var errNoCall = errors.New("no such call is under way")

// cancelCall cancels a call, or lets its command go on as a job: the one of the session that is named, or every
// one of that id.
func (d *door) cancelCall(req *cancelRequest) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	found := false
	for key, r := range d.byID[req.id] {
		if req.session == "" || key.session == req.session {
			if !req.background {
				found = true
				r.cancel()
			} else if d.rt.Jobs().Background(key.session, req.id) {
				found = true
			}
		}
	}
	if !found {
		return fmt.Errorf("call %q: %w", req.id, errNoCall)
	}
	return nil
}
