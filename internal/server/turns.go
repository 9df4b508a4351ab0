package server

import (
	"context"
	"errors"
	"net/http"
	"sync"

	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/message"
)

// errStopped ends a turn that a client stopped before it worked.
var errStopped = errors.New("a person stopped it")

// turns are the turns that this server has started.
type turns struct {
	mu sync.Mutex
	by map[string]*turn // by session
}

// A turn is the work on a prompt.
type turn struct {
	end   context.CancelCauseFunc
	done  chan struct{} // closed at its end; out and err hold then
	began chan struct{} // closed when it works, or at its end
	start sync.Once

	session string
	out     *agent.Turn
	err     error
}

func newTurns() *turns { return &turns{by: map[string]*turn{}} }

func newTurn(session string) *turn {
	return &turn{session: session, done: make(chan struct{}), began: make(chan struct{})}
}

func (t *turn) markBegun() { t.start.Do(func() { close(t.began) }) }

// sessions are those that are worked on. That their turns began may not have
// been told: whoever waits for it goes on.
func (ts *turns) sessions() (out []string) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	for id, t := range ts.by {
		out = append(out, id)
		t.markBegun()
	}
	return out
}

// on reports whether a turn of ours works on a session.
func (ts *turns) on(session string) bool {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	return ts.by[session] != nil
}

// see is told what happened: a turn works when its session is busy, or has
// heard what it is about.
func (ts *turns) see(e event.Event) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	var t *turn
	switch p := e.Properties.(type) {
	case event.SessionStatus:
		if p.Status.Type == "busy" {
			t = ts.by[p.Session]
		}
	case event.MessageUpdated:
		if p.Info.Role == message.User {
			t = ts.by[p.Info.Session]
		}
	}
	if t != nil {
		t.markBegun()
	}
}

// claimSession notes a turn on a session; one at a time works on it.
func (ts *turns) claimSession(t *turn) error {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if ts.by[t.session] != nil {
		return newProblem(http.StatusConflict, "busy", agent.ErrBusy.Error()+": another turn works on it; wait for its end, or stop it")
	}
	ts.by[t.session] = t
	return nil
}

// release forgets a turn that has ended, or that came to nothing.
func (ts *turns) release(t *turn) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if ts.by[t.session] == t {
		delete(ts.by, t.session)
	}
}

// stop ends the turn on a session; it reports whether there was one.
func (ts *turns) stop(session string) bool {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	t := ts.by[session]
	if t == nil || t.end == nil {
		return false
	}
	t.end(errStopped)
	return true
}

// stopTurn ends the turn on a session, whoever started it: one that works, or
// one of ours that is about to. It reports whether there was one.
func (s *Server) stopTurn(session string) bool {
	return s.rt.Turns().Cancel(session) || s.turns.stop(session)
}

// launch starts a turn on a session. It goes on when whoever asked for it leaves.
func (s *Server) launch(session string, run func(context.Context) (*agent.Turn, error)) (*turn, error) {
	life, leave, err := s.detach()
	if err != nil {
		return nil, err
	}
	t := newTurn(session)
	life, t.end = context.WithCancelCause(life)
	if err := s.turns.claimSession(t); err != nil {
		t.end(nil)
		leave()
		return nil, err
	}
	go func() {
		defer leave()
		defer t.end(nil)
		t.out, t.err = run(life)
		s.turns.release(t)
		close(t.done)
		t.markBegun()
	}()
	return t, nil
}
