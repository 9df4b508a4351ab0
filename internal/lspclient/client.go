package lspclient

import (
	"context"
	"errors"
	"fmt"
	"github.com/helve-dev/helve/internal/process"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/helve-dev/helve/lsp"
)

// How a server that ends by itself is treated.
const (
	firstDelay  = time.Second      // before it is started again; then twice as long, and so on
	steadyAfter = time.Minute      // a life that long was a good one
	maxLives    = 4                // short lives after which it is given up
	watchEvery  = 15 * time.Second // how often its memory is looked at
)

// A client is a server in a root, across restarts.
type client struct {
	set    *Set
	server Server
	root   string
	log    *process.Journal

	mu       sync.Mutex
	state    string
	fault    string
	since    time.Time
	link     *link
	trying   *attempt
	lives    int       // short ones, in a row
	restarts int       // times that it was started again
	started  bool      // it has been
	resting  time.Time // when it may be started again
	used     time.Time
	users    int    // who use it now
	told     string // the fault that callers were given
}

// An attempt is starting a server, under way.
type attempt struct {
	waited atomic.Bool // a caller has waited for it as long as a change may take
	cancel context.CancelCauseFunc
	done   chan struct{}
	link   *link // after done
	err    error // after done
}

// setState changes the state; c.mu is held. Watchers are notified after it is released.
func (c *client) setState(state, fault string) {
	if c.state != state {
		c.since = time.Now()
	}
	c.state, c.fault = state, fault
	if fault != "" {
		c.log.Add("helve", fault)
	}
	c.set.spawn(c.set.notifyChange)
}

// acquire notes that the server is being used, until done is called.
func (c *client) acquire() (done func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.users++
	c.used = time.Now()
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.users--
		c.used = time.Now()
	}
}

// idle returns for how long a running server has been unused; 0 for one in use.
func (c *client) idle() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.users > 0 || c.link == nil {
		return 0
	}
	return time.Since(c.used)
}

// current returns the running link, nil if the server does not run.
func (c *client) current() *link {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.link
}

// ensure returns the server running, and starts it where it does not.
func (c *client) ensure(ctx context.Context) (*link, error) {
	c.mu.Lock()
	c.used = time.Now()
	if l := c.link; l != nil {
		c.mu.Unlock()
		return l, nil
	}
	a := c.trying
	if a == nil {
		var err error
		if a, err = c.startAttempt(); err != nil {
			c.mu.Unlock()
			return nil, err
		}
	}
	c.mu.Unlock()
	select {
	case <-a.done:
		return a.link, a.err
	case <-ctx.Done():
		a.waited.Store(true)
		return nil, &Unavailable{c.server.Name, "It is still starting. Try again in a moment, or look for text instead."}
	}
}

// startAttempt starts an attempt to start the server; c.mu is held.
func (c *client) startAttempt() (*attempt, error) {
	if c.state == lsp.StateBroken {
		return nil, &Unavailable{c.server.Name, c.fault}
	}
	if wait := time.Until(c.resting); wait > 0 {
		return nil, &Unavailable{c.server.Name, fmt.Sprintf("%s It is started again in %s.", c.fault, wait.Round(100*time.Millisecond))}
	}
	how, err := c.server.launch(c.root, c.set.place)
	if err != nil {
		return nil, err
	}
	c.set.spawn(c.set.makeRoom)
	ctx, cancel := context.WithCancelCause(c.set.life)
	a := &attempt{cancel: cancel, done: make(chan struct{})}
	if !c.set.spawn(func() { c.runAttempt(ctx, a, how) }) {
		cancel(nil)
		return nil, errSetClosed
	}
	c.trying = a
	if c.started {
		c.restarts++
	}
	c.started = true
	c.setState(lsp.StateStarting, "")
	return a, nil
}

// runAttempt is one attempt, from beginning to end.
func (c *client) runAttempt(ctx context.Context, a *attempt, how launch) {
	defer close(a.done)
	defer a.cancel(nil)
	l, err := openLink(ctx, c, how)
	if err == nil {
		if err = c.begun(ctx, l); err != nil {
			l.stop()
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.trying = nil
	if err == nil {
		a.link = l
		return
	}
	c.recordFailure(err)
	a.err = &Unavailable{c.server.Name, c.fault}
}

// begun notes that the server runs, unless it was stopped meanwhile.
func (c *client) begun(ctx context.Context, l *link) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if !c.set.spawn(func() { c.monitor(l) }) {
		return errSetClosed
	}
	c.link, c.told = l, ""
	c.setState(lsp.StateReady, "")
	return nil
}

// recordFailure records that the server failed to start or ended soon; c.mu is held.
func (c *client) recordFailure(err error) {
	if c.set.life.Err() != nil || errors.Is(err, errStopped) {
		c.setState(lsp.StateStopped, "")
		return
	}
	c.lives++
	why := sentence(err.Error())
	if _, final := errors.AsType[*tooLarge](err); final || c.lives >= maxLives {
		c.setState(lsp.StateBroken, why+" It is not started again before somebody restarts it.")
		return
	}
	c.resting = time.Now().Add(firstDelay << (c.lives - 1))
	c.setState(lsp.StateFailed, why)
}

// sentence makes a text end as one.
func sentence(s string) string {
	s = strings.TrimSpace(s)
	if s == "" || strings.HasSuffix(s, ".") {
		return s
	}
	return s + "."
}

// errStopped is why the connection to a server ends that was asked to stop.
var errStopped = errors.New("the server was stopped")

// A tooLarge is the error for a server that was stopped because it used too much memory.
type tooLarge struct{ held, limit int64 }

func (e *tooLarge) Error() string {
	return fmt.Sprintf("It held %d MiB, and %d are the most: language_servers.memory_bytes in the config changes that.", e.held>>20, e.limit>>20)
}

// monitor supervises a running server until it ends.
func (c *client) monitor(l *link) {
	timer := time.NewTicker(min(watchEvery, max(c.set.opt.Idle/4, 10*time.Millisecond)))
	defer timer.Stop()
	born := time.Now()
	for {
		select {
		case <-l.conn.done():
			c.handleExit(l, l.epitaph(), born)
			return
		case <-timer.C:
			c.set.publishStatus()
			if c.idle() > c.set.opt.Idle {
				c.handleExit(l, errStopped, born)
				return
			}
			if limit := c.set.opt.Memory; limit > 0 {
				if held := l.memory(); held > limit {
					c.handleExit(l, &tooLarge{held, limit}, born)
					return
				}
			}
		}
	}
}

// handleExit handles the end of a server.
func (c *client) handleExit(l *link, why error, born time.Time) {
	c.mu.Lock()
	if c.link == l {
		c.link = nil
		if time.Since(born) > steadyAfter {
			c.lives = 0
		}
		c.recordFailure(why)
	}
	c.mu.Unlock()
	l.stop()
}

// reset stops the server and forgets its failures.
func (c *client) reset() {
	c.mu.Lock()
	l, a := c.link, c.trying
	c.link, c.lives, c.resting, c.told = nil, 0, time.Time{}, ""
	if a != nil {
		a.cancel(errStopped)
	}
	c.setState(lsp.StateStopped, "")
	c.mu.Unlock()
	if l != nil && !c.set.spawn(l.stop) { // nothing waits for its end
		l.stop()
	}
	if a != nil {
		<-a.done
		c.mu.Lock()
		c.lives, c.resting = 0, time.Time{}
		c.mu.Unlock()
	}
}

// close stops the server for good.
func (c *client) close() {
	c.mu.Lock()
	l, a := c.link, c.trying
	c.link = nil
	c.mu.Unlock()
	if a != nil {
		<-a.done
	}
	if l != nil {
		l.stop()
	}
}

// status is how the server is, and whether it was ever started.
func (c *client) status() (s lsp.Status, started bool) {
	c.mu.Lock()
	started = c.started
	s = lsp.Status{ID: c.server.Name, Root: c.root, State: c.state, Error: c.fault, Since: c.since, Restarts: c.restarts}
	l := c.link
	c.mu.Unlock()
	if l != nil {
		s.Memory, s.Program = l.memory(), l.program
		if !c.server.Wall { // behind it processes have other numbers
			s.PID = l.process.PID()
		}
		l.mu.Lock()
		s.Files = len(l.docs)
		l.mu.Unlock()
	}
	return s, started
}

// slow reports whether a caller has given up waiting for the start in progress.
func (c *client) slow() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.trying != nil && c.trying.waited.Load()
}

// complaint returns why the server cannot be queried, the first time that it is needed after the
// failure, and then "".
func (c *client) complaint(err error) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.told == c.fault {
		return ""
	}
	c.told = c.fault
	return err.Error()
}
