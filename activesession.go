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

// A activeSession is a session that agents work on: what holds for all of them
// there. What those who started it are denied is denied here, at any depth.
type activeSession struct {
	session  string
	rules    permission.Ruleset   // the session's own
	ceilings []permission.Ruleset // what those above are denied
	readOnly bool
	locked   bool
	depth    int // how many started each other above this one
	budget   *loop.Purse

	mu      sync.Mutex
	limited map[string]*agent.Spec
	acting  *agent.Spec // who takes the step that is under way
}

// activeSessions are those that are worked on now.
type activeSessions struct {
	mu   sync.Mutex
	open map[string]*activeSession
	last *agent.Spec // who acted last, where that one is locked
}

func (s *activeSessions) session(session string) *activeSession {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open[session]
}

// locked is an agent that may change nothing and works now, or was the last to;
// nil for none.
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

// setActing notes who takes the next step of a session.
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

// add opens a station until close is called.
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

// limitAgent is an agent as it may act here.
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

// child is a station for a session that caller starts from this one, which is
// nil where calls are made that no prompt stands behind.
func (st *activeSession) child(caller *agent.Spec, row store.Session, purse *loop.Purse) *activeSession {
	child := &activeSession{session: row.ID, rules: row.Rules, budget: purse, depth: 1}
	if st != nil {
		child.depth = st.depth + 1
	}
	child.restrict(caller)
	return child
}

// restrict takes on what an agent above is denied.
func (st *activeSession) restrict(caller *agent.Spec) {
	st.ceilings = append(st.ceilings, caller.Policy.Rules.Denials())
	st.ceilings = append(st.ceilings, caller.Policy.Ceilings...)
	st.readOnly = st.readOnly || caller.ReadOnly || caller.Locked
	st.locked = st.locked || caller.Locked
}

// activeSession is the station of a session that a person goes on with: all that
// its forebears were denied is denied there, as far as they are known.
func (r *Runtime) activeSession(ctx context.Context, s *store.Store, row store.Session) (*activeSession, error) {
	st := &activeSession{session: row.ID, rules: row.Rules, budget: loop.NewPurse(nil, limitOf(r.opt.Loop.Session))}
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

// unknownParent stands for an agent that is no more: what it was denied is not
// known, and so everything is.
func unknownParent() *agent.Spec {
	return &agent.Spec{Policy: permission.Policy{Rules: denied("an agent that is no more", "*")}}
}

// maxDepth bounds how far up forebears are looked for.
const maxDepth = 100

// chargeBudget takes a call that another call makes out of the session's purse; those of
// the model are paid for by the loop.
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

// agentIn is the agent of that name as it may act in a session.
func (r *Runtime) agentIn(session, name string) *agent.Spec {
	return r.active.session(session).limitAgent(r.agent(name))
}

// agentOf is the agent that makes a call, as it may act there.
func (r *Runtime) agentOf(c *tool.Call) *agent.Spec {
	if h, ok := c.Host.(*host); ok {
		return h.agent
	}
	return r.agentIn(c.Session, c.Agent)
}

// limitOf is a budget as the loop takes it.
func limitOf(b agent.Budget) loop.Limit {
	return loop.Limit{Time: b.Time, Idle: b.Idle, Tokens: b.Tokens, Cost: b.Cost, Steps: b.Steps, Calls: b.Calls}
}

// denied are rules of one origin that deny permissions whole.
func denied(origin string, permissions ...string) permission.Ruleset {
	var rs permission.Ruleset
	for _, p := range permissions {
		rs = append(rs, permission.Rule{Permission: p, Pattern: "*", Action: permission.Deny, From: permission.Source{File: origin}})
	}
	return rs
}
