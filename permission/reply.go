package permission

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// Pending returns the requests that wait for an answer, oldest first.
func (e *Engine) Pending() []Request {
	e.mu.Lock()
	defer e.mu.Unlock()
	ws := make([]*waiter, 0, len(e.waiting))
	for _, w := range e.waiting {
		ws = append(ws, w)
	}
	byAge(ws)
	out := make([]Request, len(ws))
	for i, w := range ws {
		out[i] = w.req
	}
	return out
}

func byAge(ws []*waiter) {
	slices.SortFunc(ws, func(a, b *waiter) int { return cmp.Compare(a.serial, b.serial) })
}

// Reply answers a waiting request. An "always" is stored before the request continues, and also
// answers the session's other requests that it now allows. A "reject" rejects all waiting requests
// of the session. Reply returns [ErrNotFound] if the request does not wait, or ends while its
// approval is being stored; nothing of the answer is then kept. If the approval cannot be stored,
// the request keeps waiting.
func (e *Engine) Reply(id string, r Reply) error {
	if err := r.check(); err != nil {
		return err
	}
	w, err := e.claimWaiter(id, r.Verdict == ReplyAlways)
	if err != nil {
		return err
	}
	var kept []string // ids
	if r.Verdict == ReplyAlways {
		approvals, err := w.req.edited(r.Store)
		if err == nil {
			kept, err = e.saveApprovals(w.req, approvals, r.Scope) // without the lock: it waits for the disk
		}
		if err != nil {
			err = errors.Join(err, e.unkeep(kept))
			e.mu.Lock()
			defer e.mu.Unlock()
			w.claimed = false
			return err
		}
	}
	var answer error
	if r.Verdict == ReplyReject {
		answer = &RejectedError{Message: r.Message}
	}
	others, settled := e.end(w, r, answer)
	if !settled {
		return errors.Join(fmt.Errorf("request %q: %w", id, ErrNotFound), e.unkeep(kept))
	}
	if r.Verdict == ReplyAlways {
		e.settleCovered(w.req, others)
	}
	return nil
}

// Decline rejects a request as [Engine.Reply] does, for a program that does not know whether a
// person has said no.
func (e *Engine) Decline(id string) error {
	w, err := e.claimWaiter(id, false)
	if err != nil {
		return err
	}
	if _, settled := e.end(w, Reply{Verdict: ReplyReject}, &RejectedError{Declined: e.unattendedError(w)}); !settled {
		return fmt.Errorf("request %q: %w", id, ErrNotFound)
	}
	return nil
}

// end delivers the answer to a request and, on a rejection, to the session's others. It reports
// whether the request still waited.
func (e *Engine) end(w *waiter, r Reply, answer error) (others []*waiter, settled bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	settled = e.resolve(w, r, answer)
	others = e.others(w.req.Session)
	if settled && r.Verdict == ReplyReject {
		for _, other := range others {
			if !other.claimed {
				e.resolve(other, Reply{Verdict: ReplyReject}, &RejectedError{})
			}
		}
	}
	return others, settled
}

// claimWaiter returns a waiting request. While an answer of "always" is being stored, further
// answers come too late, so that nothing is stored for an answer that does not count.
func (e *Engine) claimWaiter(id string, keeps bool) (*waiter, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	w := e.waiting[id]
	if w == nil || w.claimed {
		return nil, fmt.Errorf("request %q: %w", id, ErrNotFound)
	}
	w.claimed = keeps
	return w, nil
}

// maxEdited limits how many approvals one answer can store, and maxPattern the length of each
// pattern.
const (
	maxEdited  = 64
	maxPattern = 64 << 10
)

// edited returns what an "always" stores: the offered approvals, or the person's changed ones.
// Changed approvals hold for the same tool and place as the offered ones.
func (r Request) edited(own []Approval) ([]Approval, error) {
	if own == nil {
		return r.Store, nil
	}
	if len(own) == 0 || len(own) > maxEdited {
		return nil, fmt.Errorf("%w: give 1 to %d rules to keep, or answer once", ErrBadReply, maxEdited)
	}
	out := make([]Approval, 0, len(own))
	for _, a := range own {
		i := slices.IndexFunc(r.Store, func(b Approval) bool { return b.Permission == a.Permission })
		if i < 0 {
			return nil, fmt.Errorf("%w: an answer to this request can not allow %q", ErrBadReply, a.Permission)
		}
		if a.Pattern == "" || len(a.Pattern) > maxPattern {
			return nil, fmt.Errorf("%w: a rule needs a pattern of 1 to %d bytes", ErrBadReply, maxPattern)
		}
		kept := r.Store[i]
		kept.Pattern, kept.Exact = a.Pattern, a.Exact
		out = append(out, kept)
	}
	return out, nil
}

func (r Reply) check() error {
	if r.Store != nil && r.Verdict != ReplyAlways {
		return fmt.Errorf("%w: only an answer of always keeps rules", ErrBadReply)
	}
	switch r.Verdict {
	case ReplyOnce, ReplyAlways, ReplyReject:
	default:
		return fmt.Errorf("%w: %q is not one of once, always, reject", ErrBadReply, r.Verdict)
	}
	switch r.Scope {
	case "", Once, Session, Project, User:
		return nil
	}
	return fmt.Errorf("%w: scope %q is not one of once, session, project, user", ErrBadReply, r.Scope)
}

// resolve delivers the answer to a waiting request and reports whether it still waited. The caller
// holds the lock.
func (e *Engine) resolve(w *waiter, r Reply, answer error) bool {
	if !e.remove(w) {
		return false
	}
	w.answer <- answer
	if e.opt.OnReply != nil {
		e.opt.OnReply(w.req, r)
	}
	return true
}

func (e *Engine) others(session string) []*waiter {
	ws := make([]*waiter, 0, len(e.sessions[session]))
	for _, w := range e.sessions[session] {
		ws = append(ws, w)
	}
	byAge(ws)
	return ws
}

// settleCovered answers the session's other requests that the newly stored approvals allow.
func (e *Engine) settleCovered(kept Request, others []*waiter) {
	approvals, err := e.Approvals(kept.Session)
	if err != nil {
		return // they keep waiting, which is safe
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, w := range others {
		same := slices.ContainsFunc(w.asked, func(d Decision) bool {
			return slices.ContainsFunc(kept.Asked, func(k Decision) bool { return k.Permission == d.Permission })
		})
		if same && w.allowed(approvals) {
			e.resolve(w, Reply{Verdict: ReplyAlways}, nil)
		}
	}
}

// settleIfAllowed answers a request that approvals allow by now.
func (e *Engine) settleIfAllowed(w *waiter) {
	approvals, err := e.Approvals(w.req.Session)
	if err != nil || !w.allowed(approvals) {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.resolve(w, Reply{Verdict: ReplyAlways}, nil)
}

func (w *waiter) allowed(approvals []Approval) bool {
	for _, req := range w.reqs {
		for _, p := range req.Patterns {
			d := w.policy.Judge(req, p)
			d.consult(req, approvals)
			if d.Action != Allow {
				return false
			}
		}
	}
	return true
}

// saveApprovals stores exactly the approvals that the prompt showed, or that the person made of
// them: in the approval store or, without one, in memory for the session. It returns the ids of
// what it stored, even if it fails.
func (e *Engine) saveApprovals(req Request, approvals []Approval, scope Scope) (kept []string, err error) {
	switch scope {
	case "":
		scope = Session
	case Once:
		return nil, nil
	}
	for _, a := range approvals {
		a.ID, a.Scope, a.Created = e.approvalID(), scope, e.opt.Now().UTC()
		switch scope {
		case Session:
			a.Session = req.Session
		case Project:
			a.Project = e.opt.Project
		}
		switch {
		case e.opt.Approvals != nil:
			if err := e.opt.Approvals.KeepApproval(a); err != nil {
				return kept, fmt.Errorf("keeping an approval: %w", err)
			}
		case scope == Session:
			e.mu.Lock()
			e.approved[req.Session] = append(e.approved[req.Session], a)
			e.mu.Unlock()
		default:
			return kept, fmt.Errorf("an approval for the %s can not be kept here: there is no store", scope)
		}
		kept = append(kept, a.ID)
	}
	return kept, nil
}

// unkeep removes stored approvals of an answer that no longer counts.
func (e *Engine) unkeep(ids []string) (err error) {
	for _, id := range ids {
		if _, failed := e.Revoke(id); failed != nil {
			err = errors.Join(err, fmt.Errorf("forgetting an approval: %w", failed))
		}
	}
	return err
}

func (e *Engine) approvalID() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.serial++
	return e.newID()
}

// Approvals returns the approvals that hold for a session: its own, its
// project's and the user's, oldest first.
func (e *Engine) Approvals(session string) ([]Approval, error) {
	var out []Approval
	if e.opt.Approvals != nil {
		kept, err := e.opt.Approvals.Approvals()
		if err != nil {
			return nil, err
		}
		for _, a := range kept {
			if a.appliesTo(session, e.opt.Project) {
				out = append(out, a)
			}
		}
		return out, nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return append(out, e.approved[session]...), nil
}

func (a Approval) appliesTo(session, project string) bool {
	switch a.Scope {
	case Session:
		return a.Session == session
	case Project:
		return a.Project == project
	}
	return a.Scope == User
}

// Revoke removes an approval and reports whether it existed.
func (e *Engine) Revoke(id string) (bool, error) {
	if e.opt.Approvals != nil {
		return e.opt.Approvals.ForgetApproval(id)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for session, as := range e.approved {
		if i := slices.IndexFunc(as, func(a Approval) bool { return a.ID == id }); i >= 0 {
			e.approved[session] = slices.Delete(as, i, i+1)
			return true, nil
		}
	}
	return false, nil
}

// EndSession rejects the waiting requests of a session and forgets its session approvals.
func (e *Engine) EndSession(session string) error {
	e.mu.Lock()
	delete(e.approved, session)
	for _, w := range e.others(session) {
		e.resolve(w, Reply{Verdict: ReplyReject}, &RejectedError{})
	}
	e.mu.Unlock()
	if e.opt.Approvals == nil {
		return nil
	}
	kept, err := e.Approvals(session)
	if err != nil {
		return fmt.Errorf("reading approvals: %w", err)
	}
	for _, a := range kept {
		if a.Scope != Session {
			continue
		}
		if _, err := e.opt.Approvals.ForgetApproval(a.ID); err != nil {
			return fmt.Errorf("forgetting an approval: %w", err)
		}
	}
	return nil
}

// Expire ends a single request that nobody has answered, with an [ExpiredError] that gives the
// reason.
func (e *Engine) Expire(id, why string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	w := e.waiting[id]
	if w == nil || w.claimed {
		return fmt.Errorf("request %q: %w", id, ErrNotFound)
	}
	e.resolve(w, Reply{Verdict: ReplyReject, Message: why}, &ExpiredError{Why: why, Wanted: e.unattendedError(w)})
	return nil
}

// Leave says that nobody can answer any more: waiting requests, and later ones that would wait,
// fail with an [UnattendedError].
func (e *Engine) Leave() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.unattended.Store(true)
	for _, w := range e.waiting {
		e.resolve(w, Reply{Verdict: ReplyReject}, e.unattendedError(w))
	}
}

// Close fails all waiting requests. No request waits afterwards.
func (e *Engine) Close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	for _, w := range e.waiting {
		e.resolve(w, Reply{Verdict: ReplyReject}, ErrClosed)
	}
}
