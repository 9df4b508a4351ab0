package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/helve-dev/helve/internal/process"
	"github.com/helve-dev/helve/mcp"
)

// How a server that failed is tried again.
const (
	firstDelay  = 100 * time.Millisecond
	lastDelay   = 30 * time.Second
	steadyAfter = 10 * time.Second // a connection that held this long was a good one
	maxTries    = 10               // in the background, without one that held
	settledFor  = 5 * time.Second  // a failure this young is an answer
)

// errOff says that a server is disabled.
var errOff = errors.New("the server is disabled")

// A fault is why a server is not connected.
type fault struct {
	state  mcp.State
	text   string
	detail string
	final  bool // trying again in the background is no use
}

func (f *fault) Error() string { return f.text }

// faultOf puts any error into the words of a status.
func faultOf(err error) *fault {
	if f, ok := errors.AsType[*fault](err); ok {
		return f
	}
	return &fault{state: mcp.Failed, text: err.Error()}
}

// A peer is one server of the pool, over all its connections.
type peer struct {
	pool *Pool
	s    mcp.Server
	log  *process.Journal
	news *news

	shelving sync.Mutex // one change of the shelf at a time; taken before mu

	mu       sync.Mutex
	off      bool // disabled or disconnected
	state    mcp.State
	fault    string
	detail   string
	since    time.Time
	restarts int
	link     *link
	last     *link // the connection before, until it is gone
	trying   *attempt
	tried    time.Time // when the last attempt ended
	shaky    int       // attempts and short lives without a connection that held
	held     bool      // it has been connected
	retry    *time.Timer
	refused  error // why the attempt under way is in vain
	shelf    shelf
}

// An attempt is connecting, under way.
type attempt struct {
	cancel context.CancelFunc
	done   chan struct{}
	link   *link // after done
	err    error // after done
}

func newPeer(p *Pool, s mcp.Server) *peer {
	e := &peer{pool: p, s: s, log: process.NewJournal(p.opts.Logs, s.Name), off: s.Disabled, state: mcp.Idle}
	e.news = newNews(e)
	if s.Disabled {
		e.state = mcp.Disabled
	}
	return e
}

// set changes the state; e.mu is held.
func (e *peer) set(s mcp.State, f *fault) {
	text, detail := "", ""
	if f != nil {
		text, detail = clean(e.s, f.text), clean(e.s, f.detail)
	}
	if e.state != s {
		e.since = time.Now()
	}
	if e.state != s || e.fault != text {
		e.pool.log.Debug("MCP server", "server", e.s.Name, "state", s, "error", text)
	}
	e.state, e.fault, e.detail = s, text, detail
	e.pool.tell.changed(e.s.Name)
}

// linked returns the connection of now, nil without one.
func (e *peer) linked() *link {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.link == nil || e.link.isDead() {
		return nil
	}
	return e.link
}

func (e *peer) enable() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.off {
		e.off, e.shaky = false, 0
		e.set(mcp.Idle, nil)
	}
}

// settle connects unless the answer is known already.
func (e *peer) settle(ctx context.Context) {
	e.mu.Lock()
	known := e.off || e.trying == nil && e.link == nil && e.state != mcp.Idle && time.Since(e.tried) < settledFor
	e.mu.Unlock()
	if !known {
		_, _ = e.ensure(ctx) // the state tells
	}
}

// ensure returns a live connection, and makes one where there is none.
func (e *peer) ensure(ctx context.Context) (*link, error) {
	e.mu.Lock()
	if l := e.link; l != nil && l.isDead() {
		e.dropped(l)
	}
	if e.off {
		e.mu.Unlock()
		return nil, errOff
	}
	if l := e.link; l != nil {
		e.mu.Unlock()
		return l, nil
	}
	a, err := e.begin()
	e.mu.Unlock()
	if err != nil {
		return nil, err
	}
	select {
	case <-a.done:
		return a.link, a.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// begin returns the attempt under way, or starts one; e.mu is held.
func (e *peer) begin() (*attempt, error) {
	if e.trying != nil {
		return e.trying, nil
	}
	ctx, cancel := context.WithCancel(e.pool.life)
	a := &attempt{cancel: cancel, done: make(chan struct{})}
	if !e.pool.spawn(func() { e.try(ctx, a) }) {
		cancel()
		return nil, errClosed
	}
	if e.retry != nil {
		e.retry.Stop()
	}
	e.trying, e.refused = a, nil
	e.set(mcp.Connecting, nil)
	return a, nil
}

// try is one attempt, from beginning to end.
func (e *peer) try(ctx context.Context, a *attempt) {
	defer close(a.done)
	defer a.cancel()
	e.mu.Lock()
	last := e.last
	e.last = nil
	e.mu.Unlock()
	if last != nil {
		<-last.gone // its processes may hold what the next one needs
	}
	l, err := e.open(ctx)
	if err == nil {
		if err = e.stock(ctx, l); err != nil {
			l.close(err)
		}
	}
	e.mu.Lock()
	e.trying, e.tried = nil, time.Now()
	if err == nil {
		err = e.refused
	}
	switch {
	case err != nil:
		a.err = err
		e.fails(err)
	case e.off:
		a.err = errOff
	default:
		a.link, e.link = l, l
		if e.held {
			e.restarts++
		}
		e.held = true
		e.set(mcp.Connected, nil)
		l.watch()
		e.news.renew(l)
	}
	gone := e.link == nil
	e.mu.Unlock()
	if gone {
		e.clear()
		if l != nil {
			l.close(a.err)
		}
	}
}

// fails notes that an attempt has failed; e.mu is held.
func (e *peer) fails(err error) {
	if e.off {
		return
	}
	f := faultOf(err)
	e.set(f.state, f)
	e.log.Add("helve", "connecting failed: "+clean(e.s, f.text))
	e.shaky++
	if f.final || f.state != mcp.Failed || isLocal(e.s) && !e.held {
		return
	}
	e.later()
}

// later tries again after a while; e.mu is held.
func (e *peer) later() {
	if e.shaky > maxTries || e.pool.life.Err() != nil {
		return
	}
	delay := firstDelay << min(max(e.shaky-1, 0), 20)
	delay = min(delay, lastDelay)
	if e.retry != nil {
		e.retry.Stop()
	}
	e.retry = time.AfterFunc(delay, func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if !e.off && e.link == nil {
			_, _ = e.begin()
		}
	})
}

// lost is told that a connection has ended.
func (e *peer) lost(l *link) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.dropped(l)
}

// dropped forgets a dead connection, and has another made; e.mu is held. The
// tools stay, so that a call can wait for the next connection.
func (e *peer) dropped(l *link) {
	if e.link != l {
		return
	}
	e.link, e.last = nil, l
	if time.Since(l.born) > steadyAfter {
		e.shaky = 0
	}
	e.shaky++
	f := faultOf(l.why)
	e.set(mcp.Failed, f)
	e.log.Add("helve", "the connection was lost: "+clean(e.s, f.text))
	if !f.final {
		e.later()
	}
}

// disconnect ends the server, and keeps it ended.
func (e *peer) disconnect() {
	e.mu.Lock()
	e.off = true
	if e.retry != nil {
		e.retry.Stop()
	}
	a, l, last := e.trying, e.link, e.last
	e.link, e.last = nil, nil
	e.set(mcp.Disabled, nil)
	e.mu.Unlock()
	if a != nil {
		a.cancel()
		<-a.done
	}
	for _, old := range [...]*link{l, last} {
		if old != nil {
			old.close(errOff)
			<-old.gone
		}
	}
	e.clear()
}

// refuse ends a server whose tools can not be offered.
func (e *peer) refuse(err error) {
	f := &fault{state: mcp.Failed, text: err.Error(), final: true}
	e.mu.Lock()
	l := e.link
	e.refused = f
	if l != nil {
		e.link, e.last = nil, l
		e.set(mcp.Failed, f)
		e.tried = time.Now()
		e.log.Add("helve", f.text)
	}
	e.mu.Unlock()
	e.clear()
	if l != nil {
		l.condemn(f)
		e.pool.spawn(func() { l.close(f) })
	}
}

// revive notes that a server which did not answer does again.
func (e *peer) revive(l *link) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.link == l && e.state == mcp.Failed {
		e.set(mcp.Connected, nil)
	}
}

// probe asks a remote server for a sign of life.
func (e *peer) probe(ctx context.Context, l *link) {
	err := l.ping(ctx)
	if l.isDead() || e.pool.life.Err() != nil {
		return
	}
	if err == nil {
		e.revive(l)
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.link == l && e.state == mcp.Connected {
		e.set(mcp.Failed, &fault{text: "The server does not answer.", detail: err.Error()})
	}
}

// timedOut is the text for a server that took too long.
func timedOut(d time.Duration) *fault {
	return &fault{state: mcp.Failed, text: fmt.Sprintf("Operation timed out after %dms", d.Milliseconds())}
}
