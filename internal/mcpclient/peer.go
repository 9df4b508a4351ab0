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

// A connectError is why a server is not connected.
type connectError struct {
	state  mcp.State
	text   string
	detail string
	final  bool // trying again in the background is no use
}

func (f *connectError) Error() string { return f.text }

// faultOf converts any error to that of a status.
func faultOf(err error) *connectError {
	if f, ok := errors.AsType[*connectError](err); ok {
		return f
	}
	return &connectError{state: mcp.Failed, text: err.Error()}
}

// A peer is one server of the pool, over all its connections.
type peer struct {
	pool *Pool
	s    mcp.Server
	log  *process.Journal
	news *subscriptions

	updating sync.Mutex // one change of the tool list at a time; taken before mu

	mu       sync.Mutex
	off      bool // disabled or disconnected
	state    mcp.State
	fault    string
	detail   string
	since    time.Time
	restarts int
	link     *connection
	last     *connection // the connection before, until it is gone
	trying   *attempt
	tried    time.Time // when the last attempt ended
	shaky    int       // attempts and short lives without a connection that held
	held     bool      // it has been connected
	retry    *time.Timer
	refused  error // why the attempt under way is in vain
	tools    toolList
}

// An attempt is connecting, under way.
type attempt struct {
	cancel context.CancelFunc
	done   chan struct{}
	link   *connection // after done
	err    error       // after done
}

func newPeer(p *Pool, s mcp.Server) *peer {
	e := &peer{pool: p, s: s, log: process.NewJournal(p.host.Logs, s.Name), off: s.Disabled, state: mcp.Idle}
	e.news = newNews(e)
	if s.Disabled {
		e.state = mcp.Disabled
	}
	return e
}

// setState changes the state; e.mu is held.
func (e *peer) setState(s mcp.State, f *connectError) {
	text, detail := "", ""
	if f != nil {
		text, detail = redact(e.s, f.text), redact(e.s, f.detail)
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

// current returns the connection of now, nil without one.
func (e *peer) current() *connection {
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
		e.setState(mcp.Idle, nil)
	}
}

// connectIfUnknown connects unless a result is known already.
func (e *peer) connectIfUnknown(ctx context.Context) {
	e.mu.Lock()
	known := e.off || e.trying == nil && e.link == nil && e.state != mcp.Idle && time.Since(e.tried) < settledFor
	e.mu.Unlock()
	if !known {
		_, _ = e.ensure(ctx) // the state tells
	}
}

// ensure returns a live connection, and connects if there is none.
func (e *peer) ensure(ctx context.Context) (*connection, error) {
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
	a, err := e.startAttempt()
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

// startAttempt returns the attempt in progress, or starts one; e.mu is held.
func (e *peer) startAttempt() (*attempt, error) {
	if e.trying != nil {
		return e.trying, nil
	}
	ctx, cancel := context.WithCancel(e.pool.life)
	a := &attempt{cancel: cancel, done: make(chan struct{})}
	if !e.pool.spawn(func() { e.runAttempt(ctx, a) }) {
		cancel()
		return nil, errClosed
	}
	if e.retry != nil {
		e.retry.Stop()
	}
	e.trying, e.refused = a, nil
	e.setState(mcp.Connecting, nil)
	return a, nil
}

// runAttempt is one attempt, from beginning to end.
func (e *peer) runAttempt(ctx context.Context, a *attempt) {
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
		if err = e.loadTools(ctx, l); err != nil {
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
		e.setState(mcp.Connected, nil)
		l.monitor()
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

// fails records a failed attempt; e.mu is held.
func (e *peer) fails(err error) {
	if e.off {
		return
	}
	f := faultOf(err)
	e.setState(f.state, f)
	e.log.Add("helve", "connecting failed: "+redact(e.s, f.text))
	e.shaky++
	if f.final || f.state != mcp.Failed || isLocal(e.s) && !e.held {
		return
	}
	e.later()
}

// later schedules another attempt; e.mu is held.
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
			_, _ = e.startAttempt()
		}
	})
}

// handleLost handles the end of a connection.
func (e *peer) handleLost(l *connection) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.dropped(l)
}

// dropped removes a dead connection, and starts another; e.mu is held. The tools stay registered,
// so that a call can wait for the next connection.
func (e *peer) dropped(l *connection) {
	if e.link != l {
		return
	}
	e.link, e.last = nil, l
	if time.Since(l.born) > steadyAfter {
		e.shaky = 0
	}
	e.shaky++
	f := faultOf(l.why)
	e.setState(mcp.Failed, f)
	e.log.Add("helve", "the connection was lost: "+redact(e.s, f.text))
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
	e.setState(mcp.Disabled, nil)
	e.mu.Unlock()
	if a != nil {
		a.cancel()
		<-a.done
	}
	for _, old := range [...]*connection{l, last} {
		if old != nil {
			old.close(errOff)
			<-old.gone
		}
	}
	e.clear()
}

// refuseTools disconnects a server whose tools cannot be offered.
func (e *peer) refuseTools(err error) {
	f := &connectError{state: mcp.Failed, text: err.Error(), final: true}
	e.mu.Lock()
	l := e.link
	e.refused = f
	if l != nil {
		e.link, e.last = nil, l
		e.setState(mcp.Failed, f)
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

// revive records that a silent server answers again.
func (e *peer) revive(l *connection) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.link == l && e.state == mcp.Failed {
		e.setState(mcp.Connected, nil)
	}
}

// probe pings a remote server.
func (e *peer) probe(ctx context.Context, l *connection) {
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
		e.setState(mcp.Failed, &connectError{text: "The server does not answer.", detail: err.Error()})
	}
}

// timedOut is the text for a server that took too long.
func timedOut(d time.Duration) *connectError {
	return &connectError{state: mcp.Failed, text: fmt.Sprintf("Operation timed out after %dms", d.Milliseconds())}
}
