package server

import (
	"fmt"
	"sync"
	"time"

	"github.com/helve-dev/helve/event"
)

// A watch knows what events have told: which sessions are worked on, and since
// when something waits for a person.
type activity struct {
	wake chan struct{} // something else waits

	mu     sync.Mutex
	status map[string]event.Status     // of sessions that are not idle
	asked  map[string]asked            // by the id of a request or a set of questions
	calls  map[[2]string]chan struct{} // of calls, by session and id, closed once they are recorded
}

type asked struct {
	at       time.Time
	question bool
}

func newWatch() *activity {
	return &activity{wake: make(chan struct{}, 1), status: map[string]event.Status{}, asked: map[string]asked{}, calls: map[[2]string]chan struct{}{}}
}

// expect returns a channel that closes when a call has been recorded, or when
// that is not known.
func (w *activity) expect(session, id string) (kept <-chan struct{}, forget func()) {
	key, c := [2]string{session, id}, make(chan struct{})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls[key] = c
	return c, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.calls[key] == c {
			delete(w.calls, key)
		}
	}
}

// recorded lets whoever expects a call go on. The caller holds the lock.
func (w *activity) recorded(session, id string) {
	if c := w.calls[[2]string{session, id}]; c != nil {
		close(c)
		delete(w.calls, [2]string{session, id})
	}
}

// followEvents reads the events of the runtime for as long as the server lives.
func (s *Server) followEvents() {
	for e := range s.rt.Events(s.life, 0) {
		if _, ok := e.Properties.(event.Missed); ok {
			s.resync()
			continue
		}
		s.watch.see(e)
		s.turns.see(e)
	}
}

func (w *activity) see(e event.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch p := e.Properties.(type) {
	case event.CallRunning:
		w.recorded(p.Session, p.ID)
	case event.SessionStatus:
		if p.Status.Type == "idle" {
			delete(w.status, p.Session)
		} else {
			w.status[p.Session] = p.Status
		}
	case event.PermissionAsked:
		w.addWaiting(p.ID, asked{at: e.Time})
	case event.PermissionReplied:
		delete(w.asked, p.Request)
	case event.QuestionAsked:
		w.addWaiting(p.ID, asked{at: e.Time, question: true})
	case event.QuestionReplied:
		delete(w.asked, p.Request)
	case event.QuestionRejected:
		delete(w.asked, p.Request)
	}
}

// addWaiting notes that something waits. The caller holds the lock.
func (w *activity) addWaiting(id string, a asked) {
	w.asked[id] = a
	select {
	case w.wake <- struct{}{}:
	default: // it will look anyway
	}
}

// resync asks the runtime for what events have not told, because there were too
// many of them. What was not known to wait begins to wait now.
func (s *Server) resync() {
	now, w := time.Now(), s.watch
	waiting := map[string]asked{}
	for _, r := range s.rt.Requests().Pending() {
		waiting[r.ID] = asked{at: now}
	}
	for _, q := range s.rt.Requests().Questions() {
		waiting[q.ID] = asked{at: now, question: true}
	}
	working := s.turns.sessions()
	w.mu.Lock()
	defer w.mu.Unlock()
	for id, a := range waiting {
		if known, ok := w.asked[id]; ok {
			a = known
		}
		waiting[id] = a
	}
	clear(w.asked)
	for id, a := range waiting {
		w.addWaiting(id, a)
	}
	for key := range w.calls {
		w.recorded(key[0], key[1])
	}
	clear(w.status)
	for _, session := range working {
		w.status[session] = event.Status{Type: "busy"}
	}
}

// sessionStatus is how the work on a session goes.
func (w *activity) sessionStatus(session string) event.Status {
	w.mu.Lock()
	defer w.mu.Unlock()
	if st, ok := w.status[session]; ok {
		return st
	}
	return event.Status{Type: "idle"}
}

// since is when something began to wait: just now, where that was not told yet.
func (w *activity) since(id string) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	if a, ok := w.asked[id]; ok {
		return a.at
	}
	return time.Now()
}

// overdue takes out what has waited since before a time, and says when the
// next of the others began; the zero time for none.
func (w *activity) overdue(before time.Time) (over map[string]asked, next time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	over = map[string]asked{}
	for id, a := range w.asked {
		switch {
		case !a.at.After(before):
			over[id] = a
			delete(w.asked, id)
		case next.IsZero() || a.at.Before(next):
			next = a.at
		}
	}
	return over, next
}

// expire says no to what has waited for too long, so that nothing waits for
// ever for somebody who is gone.
func (s *Server) expire() {
	timer := time.NewTimer(s.opt.Patience)
	defer timer.Stop()
	for {
		select {
		case <-s.life.Done():
			return
		case <-s.watch.wake:
		case <-timer.C:
		}
		over, next := s.watch.overdue(time.Now().Add(-s.opt.Patience))
		for id, a := range over {
			s.expireRequest(id, a)
		}
		rest := s.opt.Patience
		if !next.IsZero() {
			rest = max(time.Until(next.Add(s.opt.Patience)), 0)
		}
		timer.Reset(rest)
	}
}

// expireRequest ends what nobody has answered. It may have been answered just now.
func (s *Server) expireRequest(id string, a asked) {
	why := fmt.Sprintf("Nobody answered within %s, so the server said no. Ask again when somebody is there.", s.opt.Patience)
	if a.question {
		_ = s.rt.Requests().ExpireQuestion(id, why)
		return
	}
	_ = s.rt.Requests().Expire(id, why)
}
