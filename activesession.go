package helve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/internal/loop"
	"github.com/helve-dev/helve/internal/store"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/record"
	"github.com/helve-dev/helve/tool"
)

// An activeSession is a session that agents work on, with what holds for all agents there. Whatever
// is denied to the agents that started it is denied here too, at any depth.
type activeSession struct {
	session  string
	rules    permission.Ruleset   // the session's own
	ceilings []permission.Ruleset // what is denied to its ancestors
	readOnly bool
	locked   bool
	depth    int // how many sessions are above this one
	budget   *loop.Purse

	mu      sync.Mutex
	limited map[string]*agent.Spec
	acting  *agent.Spec // the agent of the current step
}

// activeSessions are the sessions that are being worked on.
type activeSessions struct {
	mu   sync.Mutex
	open map[string]*activeSession
	last *agent.Spec // the last agent to act, if that one is locked
}

func (s *activeSessions) session(session string) *activeSession {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open[session]
}

// locked returns a locked agent that works now, or that was the last to work; nil if there is none.
func (s *activeSessions) locked() *agent.Spec {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, st := range s.open {
		if a := st.current(); a != nil && a.Locked {
			return a
		}
	}
	return s.last
}

func (st *activeSession) current() *agent.Spec {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.acting
}

// setActing records which agent takes the next step of a session.
func (s *activeSessions) setActing(session string, a *agent.Spec) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = nil
	if a.Locked {
		s.last = a
	}
	if st := s.open[session]; st != nil {
		st.mu.Lock()
		defer st.mu.Unlock()
		st.acting = a
	}
}

// add registers an active session until close is called.
func (s *activeSessions) add(st *activeSession) (close func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		s.open = map[string]*activeSession{}
	}
	s.open[st.session] = st
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.open[st.session] == st {
			delete(s.open, st.session)
		}
	}
}

// limitAgent returns an agent with the limits of this session.
func (st *activeSession) limitAgent(a *agent.Spec) *agent.Spec {
	if st == nil || a == nil {
		return a
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	if l := st.limited[a.Name]; l != nil {
		return l
	}
	l := *a
	l.Policy.Rules = slices.Concat(a.Policy.Rules, st.rules)
	l.Policy.Ceilings = slices.Concat(a.Policy.Ceilings, st.ceilings)
	l.ReadOnly, l.Locked = a.ReadOnly || st.readOnly, a.Locked || st.locked
	if st.limited == nil {
		st.limited = map[string]*agent.Spec{}
	}
	st.limited[a.Name] = &l
	return &l
}

// child returns an active session for row, which caller starts from this one. st is nil for calls
// made outside a prompt.
func (st *activeSession) child(caller *agent.Spec, row record.Session, purse *loop.Purse) *activeSession {
	child := &activeSession{session: row.ID, rules: row.Rules, budget: purse, depth: 1}
	if st != nil {
		child.depth = st.depth + 1
	}
	child.restrict(caller)
	return child
}

// restrict adds what is denied to an agent above as a ceiling.
func (st *activeSession) restrict(caller *agent.Spec) {
	st.ceilings = append(st.ceilings, caller.Policy.Rules.Denials())
	st.ceilings = append(st.ceilings, caller.Policy.Ceilings...)
	st.readOnly = st.readOnly || caller.ReadOnly || caller.Locked
	st.locked = st.locked || caller.Locked
}

// activeSession returns the active session for row, which a person continues. All that is known to
// be denied to the session's ancestors is denied there.
func (r *Runtime) activeSession(ctx context.Context, s *store.Store, row record.Session) (*activeSession, error) {
	st := &activeSession{session: row.ID, rules: row.Rules, budget: loop.NewPurse(nil, loop.Limit(r.opt.Loop.Session))}
	for up := row; up.Parent != "" && st.depth < maxDepth; st.depth++ {
		parent, err := s.Session(ctx, up.Parent)
		if errors.Is(err, record.ErrNotFound) {
			st.restrict(unknownParent())
			break
		}
		if err != nil {
			return nil, err
		}
		above := r.agent(parent.Agent)
		if above == nil || parent.Agent == "" {
			above = unknownParent()
		}
		limited := *above
		limited.Policy.Rules = slices.Concat(above.Policy.Rules, parent.Rules)
		st.restrict(&limited)
		up = parent
	}
	return st, nil
}

// unknownParent stands for an agent that no longer exists: what it was denied is not known, so
// everything is denied.
func unknownParent() *agent.Spec {
	return &agent.Spec{Policy: permission.Policy{Rules: denied("an agent that is no more", "*")}}
}

// maxDepth limits how many ancestors of a session are looked up.
const maxDepth = 100

// chargeBudget charges a call made by another call to the session's budget. The loop charges the
// calls of the model.
func (r *Runtime) chargeBudget(c *callState) error {
	st := r.active.session(c.Session)
	if c.Parent == "" || st == nil {
		return nil
	}
	if err := st.budget.TakeCall(); err != nil {
		return &tool.Error{Kind: tool.Failed, Code: "budget", Tool: c.Tool, Err: fmt.Errorf("%w, so this call was not made", err)}
	}
	return nil
}

// agentIn returns the agent with a name, with the limits of a session.
func (r *Runtime) agentIn(session, name string) *agent.Spec {
	return r.active.session(session).limitAgent(r.agent(name))
}

// agentOf returns the agent that makes a call, with the limits of the call's session.
func (r *Runtime) agentOf(c *tool.Call) *agent.Spec {
	if h, ok := c.Host.(*host); ok {
		return h.agent
	}
	return r.agentIn(c.Session, c.Agent)
}

// denied returns rules of one origin that deny whole permissions.
func denied(origin string, permissions ...string) permission.Ruleset {
	var rs permission.Ruleset
	for _, p := range permissions {
		rs = append(rs, permission.Rule{Permission: p, Pattern: "*", Action: permission.Deny, From: permission.Source{File: origin}})
	}
	return rs
}
