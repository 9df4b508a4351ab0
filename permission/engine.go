package permission

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// EngineOptions configure an [Engine]. The zero value makes an engine that keeps approvals in
// memory and numbers its requests.
type EngineOptions struct {
	// Unattended says that nobody can answer: a request that would wait for an answer fails at once
	// with an [UnattendedError].
	Unattended bool
	// File is the config file with the user's rules, for error texts.
	File string
	// Project is the project that approvals of scope Project belong to.
	Project string
	// Approvals keeps approvals longer than the session. When it is nil, none is kept.
	Approvals ApprovalStore
	// OnAsk is called for every request that starts to wait, OnReply for every one that is
	// answered, all in one order. Neither may call the engine.
	OnAsk   func(Request)
	OnReply func(Request, Reply)
	// NewID returns an id for a request.
	NewID func() string
	// Now returns the time; time.Now when nil.
	Now func() time.Time
}

// An Engine decides requests, holds those that wait for an answer, and remembers approvals. It is
// safe for concurrent use.
type Engine struct {
	opt        EngineOptions
	unattended atomic.Bool // nobody can answer, from the start or since [Engine.Leave]

	mu       sync.Mutex
	closed   bool
	serial   uint64
	waiting  map[string]*waiter            // by request id
	sessions map[string]map[string]*waiter // the same, by session
	approved map[string][]Approval         // session approvals, by session
}

type waiter struct {
	serial uint64
	reqs   []Request // all that the call asks for
	req    Request   // the one request that a person is shown
	policy Policy
	asked  []Decision
	answer chan error // has room for one answer, so that a reply never blocks

	claimed bool // an answer of always is being stored; no other answer may overtake it
}

// NewEngine returns an engine configured by opt.
func NewEngine(opt EngineOptions) *Engine {
	e := &Engine{
		opt:      opt,
		waiting:  map[string]*waiter{},
		sessions: map[string]map[string]*waiter{},
		approved: map[string][]Approval{},
	}
	e.unattended.Store(opt.Unattended)
	if e.opt.Now == nil {
		e.opt.Now = time.Now
	}
	return e
}

// Ask is [Engine.AskAll] for one request.
func (e *Engine) Ask(ctx context.Context, req Request, policy Policy) error {
	return e.AskAll(ctx, []Request{req}, policy)
}

// AskAll returns nil when the policy, the approvals or a person allow all requests of a call. It
// decides everything before it asks anybody: a deny ends it, and all that has to be asked becomes
// one question with one reply. Its error is a [DeniedError], a [RejectedError], an
// [UnattendedError], an [ExpiredError], or that of ctx.
func (e *Engine) AskAll(ctx context.Context, reqs []Request, policy Policy) error {
	reqs = Together(reqs)
	asked, err := e.Weigh(reqs, policy)
	if err != nil || len(slices.Concat(asked...)) == 0 {
		return err
	}
	w := &waiter{reqs: reqs, req: e.question(reqs, asked), policy: policy, asked: slices.Concat(asked...), answer: make(chan error, 1)}
	if err := e.wait(w); err != nil {
		return err
	}
	e.settleIfAllowed(w) // an approval may have arrived while this one was decided
	select {
	case err := <-w.answer:
		return err
	case <-ctx.Done():
		if e.withdraw(w) {
			return context.Cause(ctx)
		}
		return <-w.answer // the reply came first and counts
	}
}

// Weigh decides all requests of a call without asking anybody. A deny is returned as a
// [DeniedError]; asked holds, for each request, what would have to be asked.
func (e *Engine) Weigh(reqs []Request, policy Policy) (asked [][]Decision, err error) {
	asked = make([][]Decision, len(reqs))
	for i, req := range reqs {
		decisions, err := e.Decide(req, policy)
		if err != nil {
			return nil, err
		}
		for _, d := range decisions {
			switch d.Action {
			case Deny:
				rules := policy.Rules.About(req.Permission)
				if d.Ceiling {
					rules = append(rules, *d.Rule)
				}
				return nil, &DeniedError{Decision: d, Rules: rules}
			case Ask:
				asked[i] = append(asked[i], d)
			}
		}
	}
	return asked, nil
}

// question returns what a person is shown for requests that have to be asked about: the last of
// them, which says what is to be done, with the others as its parts.
func (e *Engine) question(reqs []Request, asked [][]Decision) Request {
	var open []Request
	var store []Approval
	changed := ""
	for i, req := range reqs {
		if len(asked[i]) == 0 {
			continue
		}
		open = append(open, req)
		store = append(store, e.wouldStore(req, asked[i])...)
		changed = cmp.Or(changed, req.Changed)
	}
	shown := open[len(open)-1]
	shown.Asked, shown.Store, shown.Changed = slices.Concat(asked...), store, changed
	if len(open) == 1 {
		return shown
	}
	shown.Parts = make([]RelatedRequest, len(open)-1)
	for i, req := range open[:len(open)-1] {
		shown.Parts[i] = RelatedRequest{
			Permission: req.Permission, Patterns: append([]string{}, req.Patterns...), Always: append([]string{}, req.Always...), Metadata: map[string]any{},
		}
		maps.Copy(shown.Parts[i].Metadata, req.Metadata)
	}
	return shown
}

// Decide returns the decision for each pattern of a request, with approvals taken into account,
// without asking anybody. Denied patterns come first, so that no question hides them.
func (e *Engine) Decide(req Request, policy Policy) ([]Decision, error) {
	decisions := make([]Decision, len(req.Patterns))
	consult := req.Fingerprint != "" || req.Changed != ""
	for i, p := range req.Patterns {
		decisions[i] = policy.Judge(req, p)
		if open := policy.unguarded(req, p); e.unattended.Load() && decisions[i].Action == Ask && open != nil {
			decisions[i] = *open
		}
		consult = consult || decisions[i].Action == Ask
	}
	if consult {
		approvals, err := e.Approvals(req.Session)
		if err != nil {
			return nil, fmt.Errorf("reading approvals: %w", err)
		}
		for i := range decisions {
			decisions[i].consult(req, approvals)
		}
	}
	slices.SortStableFunc(decisions, func(a, b Decision) int {
		return cmp.Compare(btoi(b.Action == Deny), btoi(a.Action == Deny))
	})
	return decisions, nil
}

// unguarded returns an allow for an address on this machine if the user's rules allow everything,
// since a command would reach the address without asking. Where a person can answer, that person is
// asked all the same. It returns nil for anything else.
func (p Policy) unguarded(req Request, address string) *Decision {
	if !req.Addresses || req.Place != "machine" && !strings.HasPrefix(req.Place, "machine ") {
		return nil
	}
	req.Guards = nil
	d := p.Judge(req, address)
	command := p.Decide("bash", "curl "+address)
	if d.Action != Allow || d.Rule == nil || d.Rule.From.native() || command.Action != Allow {
		return nil
	}
	return &d
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// consult lets approvals turn an ask into an allow, and a change of the tool since its approval
// turn an allow into an ask.
func (d *Decision) consult(req Request, approvals []Approval) {
	known, same := req.Changed != "", false
	for _, a := range approvals {
		if a.Permission != req.Permission {
			continue
		}
		if a.Fingerprint != "" && req.Fingerprint != "" {
			known = true
			if a.Fingerprint != req.Fingerprint {
				continue
			}
			same = true
		}
		if d.Action == Ask && covers(a, req, d.Pattern) && d.yields(a) {
			d.Action, d.Approval = Allow, &a
		}
	}
	if known && !same && d.Action == Allow {
		d.Action, d.Changed = Ask, true
	}
}

func covers(a Approval, req Request, pattern string) bool {
	if a.Place != req.Place {
		return false
	}
	if req.Addresses && !a.Exact {
		return a.Permission == req.Permission && matchAddress(pattern, a.Pattern)
	}
	return a.Covers(req.Permission, pattern) ||
		slices.ContainsFunc(req.Forms[pattern], func(form string) bool { return a.Covers(req.Permission, form) })
}

// wouldStore returns what "always" keeps: the suggested patterns, and the exact text of each
// pattern that no suggestion would cover the next time.
func (e *Engine) wouldStore(req Request, asked []Decision) []Approval {
	var out []Approval
	add := func(pattern string, exact bool) {
		a := Approval{Permission: req.Permission, Pattern: pattern, Exact: exact, Scope: Session, Fingerprint: req.Fingerprint, Place: req.Place}
		if !slices.Contains(out, a) {
			out = append(out, a)
		}
	}
	for _, d := range asked {
		settled := false
		for _, pattern := range req.Always {
			a := Approval{Permission: req.Permission, Pattern: pattern, Place: req.Place}
			if covers(a, req, d.Pattern) && (d.Changed || d.yields(a)) {
				add(pattern, false)
				settled = true
			}
		}
		if !settled {
			add(d.Pattern, true)
		}
	}
	return out
}

// unattendedError returns the error of a request that nobody can answer.
func (e *Engine) unattendedError(w *waiter) *UnattendedError {
	return &UnattendedError{Permission: w.req.Permission, Asked: w.asked, File: e.opt.File}
}

func (e *Engine) wait(w *waiter) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.closed:
		return ErrClosed
	case e.unattended.Load():
		return e.unattendedError(w)
	}
	e.serial++
	w.serial = e.serial
	if w.req.ID == "" {
		w.req.ID = e.newID()
	}
	e.waiting[w.req.ID] = w
	if e.sessions[w.req.Session] == nil {
		e.sessions[w.req.Session] = map[string]*waiter{}
	}
	e.sessions[w.req.Session][w.req.ID] = w
	if e.opt.OnAsk != nil {
		e.opt.OnAsk(w.req)
	}
	return nil
}

func (e *Engine) newID() string {
	if e.opt.NewID != nil {
		return e.opt.NewID()
	}
	return fmt.Sprintf("per_%d", e.serial)
}

// withdraw removes a request whose call gave up. It reports whether nobody had answered it before.
func (e *Engine) withdraw(w *waiter) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.resolve(w, Reply{Verdict: Withdrawn}, nil)
}

// remove takes a request out of the waiting ones and reports whether it was still among them.
// Whoever gets true delivers the answer. The caller holds the lock.
func (e *Engine) remove(w *waiter) bool {
	if e.waiting[w.req.ID] != w {
		return false
	}
	delete(e.waiting, w.req.ID)
	of := e.sessions[w.req.Session]
	delete(of, w.req.ID)
	if len(of) == 0 {
		delete(e.sessions, w.req.Session)
	}
	return true
}
