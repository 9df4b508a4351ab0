package mcpserve

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/internal/text"
)

// runtimePool are the runtimes that are open, one for each workspace.
type runtimePool struct {
	open   func(ctx context.Context, w Workspace) (*helve.Runtime, error)
	shared bool // there is one runtime, which belongs to the caller
	log    *slog.Logger
	idle   time.Duration
	life   context.Context

	mu     sync.Mutex
	closed bool
	most   int // halls at one time; maxHalls when 0
	all    map[string]*sharedRuntime
	exits  uint64         // how often the last session has left
	ending sync.WaitGroup // halls that close by themselves
}

// A sharedRuntime is a runtime and the sessions in it, which get its events.
type sharedRuntime struct {
	key   string
	rt    *helve.Runtime
	life  context.Context // for a runtime of the caller; others end with theirs
	leave context.CancelFunc
	err   error         // why there is none
	ready chan struct{} // closed when one of the two is there

	refs  int         // sessions; under the lock of the halls
	left  uint64      // when the last session left, as a number of exits
	timer *time.Timer // closes an unused runtime

	gathered sync.Once
	relay    relay // what other servers have beside tools

	mu       sync.Mutex
	closed   bool
	sessions map[string]*session // by the id of the session
	loans    map[string]func()   // take the models of their clients back, likewise
	asked    map[string]*asked   // put to a person, by the id of the request
	parents  map[callKey]string  // of calls that were made by others
	tools    map[callKey]string  // of calls under way
	errands  map[string]callKey  // the calls that sessions of other agents work for, by session
	talks    sync.WaitGroup      // what puts questions to people, and tells of changes
	events   sync.WaitGroup
	changed  chan struct{} // holds one when tools have come or gone
}

// A callKey names a call: ids are unique within a session.
type callKey struct{ session, id string }

// acquire adds a session to the runtime of a workspace. The runtime is opened once, also for
// sessions that arrive together.
func (hs *runtimePool) acquire(ctx context.Context, w Workspace) (*sharedRuntime, error) {
	key, err := w.key()
	if err != nil {
		return nil, err
	}
	hs.mu.Lock()
	if hs.closed {
		hs.mu.Unlock()
		return nil, errClosed()
	}
	h := hs.all[key]
	if h == nil {
		old, ok := hs.evictOne()
		if !ok {
			hs.mu.Unlock()
			return nil, errCrowded
		}
		h = &sharedRuntime{
			key: key, ready: make(chan struct{}), sessions: map[string]*session{}, loans: map[string]func(){}, asked: map[string]*asked{},
			parents: map[callKey]string{}, tools: map[callKey]string{}, errands: map[string]callKey{}, changed: make(chan struct{}, 1),
			life: context.Background(),
		}
		if hs.shared {
			h.life, h.leave = context.WithCancel(h.life)
		}
		hs.all[key] = h
		hs.ending.Go(func() {
			hs.shut(old) // first, so that there are never many
			hs.openRuntime(h, w)
		})
	}
	h.refs++
	if h.timer != nil {
		h.timer.Stop()
		h.timer = nil
	}
	hs.mu.Unlock()
	select {
	case <-h.ready:
	case <-ctx.Done():
		hs.release(h)
		return nil, context.Cause(ctx)
	}
	if h.err != nil {
		hs.release(h)
		return nil, h.err
	}
	return h, nil
}

// key is the same for workspaces that can share a runtime.
func (w Workspace) key() (string, error) {
	w.Also = slices.Sorted(slices.Values(w.Also))
	raw, err := json.Marshal(w)
	if err != nil {
		return "", fmt.Errorf("naming a workspace: %w", err)
	}
	return string(raw), nil
}

// maxHalls is how many runtimes are open at one time, used or not.
const maxHalls = 32

// errCrowded says that no other workspace can be opened.
var errCrowded = errors.New("too many workspaces are open and in use: end other sessions, or work in one of their folders")

// evictOne ensures that one more runtime can be opened, under the lock. If one must be closed for
// that, it removes and returns the least recently used one.
func (hs *runtimePool) evictOne() (old *sharedRuntime, ok bool) {
	if len(hs.all) < cmp.Or(hs.most, maxHalls) {
		return nil, true
	}
	for _, h := range hs.all {
		if h.refs == 0 && (old == nil || h.left < old.left) {
			old = h
		}
	}
	if old == nil {
		return nil, false
	}
	delete(hs.all, old.key)
	if old.timer != nil {
		old.timer.Stop()
	}
	return old, true
}

// shut closes a runtime that was removed.
func (hs *runtimePool) shut(h *sharedRuntime) {
	if h == nil {
		return
	}
	<-h.ready
	if h.err != nil {
		return
	}
	if err := h.close(); err != nil {
		hs.log.Warn("a runtime did not close well", "error", err)
	}
}

// moveTo moves a session to a workspace. Where none can be opened any more it
// stays where it is.
func (se *session) moveTo(ctx context.Context, w Workspace) (*sharedRuntime, error) {
	h, err := se.s.halls.acquire(ctx, w)
	here := se.here()
	if !errors.Is(err, errCrowded) || here == nil {
		return h, err
	}
	se.warn(ctx, "The session stays in its old workspace, and not in %s: %v", text.VisibleLine(w.Dir), err)
	return here, se.s.halls.retain(here)
}

// openRuntime opens a shared runtime. One that cannot be opened is not kept, so that the next
// client tries again.
func (hs *runtimePool) openRuntime(h *sharedRuntime, w Workspace) {
	rt, err := hs.open(hs.life, w)
	if err != nil {
		h.err = fmt.Errorf("opening the workspace %s: %w", w.Dir, err)
		hs.mu.Lock()
		if hs.all[h.key] == h {
			delete(hs.all, h.key)
		}
		hs.mu.Unlock()
		close(h.ready)
		return
	}
	h.rt = rt
	h.events.Go(h.forwardEvents)
	h.events.Go(h.watchTools)
	close(h.ready)
}

// retain keeps the runtime of a session from closing.
func (hs *runtimePool) retain(h *sharedRuntime) error {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	if hs.closed || hs.all[h.key] != h {
		return errClosed()
	}
	h.refs++
	if h.timer != nil {
		h.timer.Stop()
		h.timer = nil
	}
	return nil
}

// release removes one session from a runtime. After the last one has left, the runtime is closed
// after a while.
func (hs *runtimePool) release(h *sharedRuntime) {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	h.refs--
	if h.refs > 0 || hs.closed || hs.all[h.key] != h {
		return
	}
	hs.exits++
	h.left = hs.exits
	h.timer = time.AfterFunc(hs.idle, func() { hs.retire(h) })
}

// retire closes a runtime that is still unused.
func (hs *runtimePool) retire(h *sharedRuntime) {
	hs.mu.Lock()
	if hs.closed || h.refs > 0 || hs.all[h.key] != h {
		hs.mu.Unlock()
		return
	}
	delete(hs.all, h.key)
	hs.ending.Add(1)
	hs.mu.Unlock()
	defer hs.ending.Done()
	hs.shut(h)
}

// closeIdle closes all unused runtimes at once.
func (hs *runtimePool) closeIdle() {
	hs.mu.Lock()
	var unused []*sharedRuntime
	for _, h := range hs.all {
		if h.refs == 0 {
			unused = append(unused, h)
		}
	}
	hs.mu.Unlock()
	for _, h := range unused {
		hs.retire(h)
	}
}

func (hs *runtimePool) close() error {
	hs.mu.Lock()
	hs.closed = true
	var open []*sharedRuntime
	for _, h := range hs.all {
		if h.timer != nil {
			h.timer.Stop()
		}
		open = append(open, h)
	}
	hs.all = map[string]*sharedRuntime{}
	hs.mu.Unlock()
	var errs []error
	for _, h := range open {
		<-h.ready
		if h.err == nil {
			errs = append(errs, h.close())
		}
	}
	hs.ending.Wait()
	return errors.Join(errs...)
}

func (h *sharedRuntime) close() error {
	var err error
	if h.leave != nil {
		h.leave()
	} else {
		err = h.rt.Close() // which ends its events
	}
	finishesWithin(closeWait, func() { // a client that reads nothing blocks notifications
		h.events.Wait()
		h.mu.Lock()
		h.closed = true
		h.mu.Unlock()
		h.talks.Wait()
	})
	return err
}

// talk runs f, which close waits for. It returns false if the runtime is closed.
func (h *sharedRuntime) talk(f func()) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.closed {
		h.talks.Go(f)
	}
	return !h.closed
}

// removeSession ends a session in this runtime: its pending requests, its jobs, and its own
// approvals.
func (h *sharedRuntime) removeSession(id string) {
	h.mu.Lock()
	se, back := h.sessions[id], h.loans[id]
	delete(h.sessions, id)
	delete(h.loans, id)
	h.mu.Unlock()
	if se == nil {
		return
	}
	if back != nil {
		back()
	}
	if err := h.rt.EndSession(id); err != nil {
		se.s.log.Warn("a session did not end well", "session", id, "error", err)
	}
}

func (h *sharedRuntime) session(id string) *session {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.sessions[id]
}

// everybody returns the sessions of the runtime.
func (h *sharedRuntime) everybody() []*session {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := make([]*session, 0, len(h.sessions))
	for _, se := range h.sessions {
		all = append(all, se)
	}
	return all
}
