package helve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/internal/builtin"
	"github.com/helve-dev/helve/internal/loop"
	"github.com/helve-dev/helve/internal/store"
	"github.com/helve-dev/helve/message"
	"github.com/helve-dev/helve/model"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/record"
	"github.com/helve-dev/helve/tool"
)

// childTime is the default time limit of a subagent.
const childTime = 30 * time.Minute

// subagents run agents for calls of other agents, each in a session of its own.
type subagents struct{ r *Runtime }

var _ builtin.Delegates = subagents{}

// Offered returns the agents that an agent may delegate work to.
func (d subagents) Offered(name string) (out []builtin.Delegate) {
	caller := d.r.agent(name)
	if caller == nil || !d.r.hasModel() {
		return nil
	}
	for _, a := range d.r.agents {
		if a.Mode == "primary" || caller.Policy.Decide("task", a.Name).Action == permission.Deny {
			continue
		}
		out = append(out, builtin.Delegate{Name: a.Name, Description: a.Description})
	}
	return out
}

// hasModel reports whether any model can answer prompts.
func (r *Runtime) hasModel() bool {
	if r.opt.Models.Find != nil && r.opt.Models.Default != (model.Ref{}) {
		return true
	}
	r.lent.mu.Lock()
	defer r.lent.mu.Unlock()
	return len(r.lent.lent) > 0
}

// Delegate runs a subagent and returns its answer. Its use is charged to the caller, and it is
// denied whatever the caller is denied.
func (d subagents) Delegate(ctx context.Context, c *tool.Call, errand builtin.Errand) (*builtin.Report, error) {
	a := d.r.agent(errand.Agent)
	if a == nil {
		return nil, fmt.Errorf("%q: %w", errand.Agent, builtin.ErrNoAgent)
	}
	above := d.r.active.session(c.Session)
	if err := d.tooDeep(above); err != nil {
		return nil, err
	}
	s, err := d.r.store.get()
	if err != nil {
		return nil, err
	}
	ref, err := d.model(ctx, s, c, a)
	if err != nil {
		return nil, err
	}
	row, err := d.session(ctx, s, c, a, ref, errand)
	if err != nil {
		return nil, err
	}
	release, err := s.ClaimTurn(ctx, row.ID, d.r.opt.Client)
	if errors.Is(err, store.ErrBusy) {
		return nil, tool.Fail("busy", "the agent of session %s still works: wait for it, or start a new one without task_id", row.ID)
	}
	if err != nil {
		return nil, fmt.Errorf("beginning the work of an agent: %w", err)
	}
	defer release()
	if _, err := d.r.loop.Mend(ctx, row.ID); err != nil {
		return nil, err
	}
	st := above.child(d.r.agentOf(c), row, d.budget(above))
	defer d.r.active.add(st)()
	if l, ok := d.r.lent.sessionModel(c.Session); ok {
		defer d.r.lent.add(row.ID, &l)()
	}
	return d.runChild(ctx, row, st, a, ref, errand)
}

// tooDeep returns an error if the caller is itself nested too deeply.
func (d subagents) tooDeep(above *activeSession) error {
	limit := cmp.Or(d.r.opt.Loop.Depth, 1)
	depth := 0
	if above != nil {
		depth = above.depth
	}
	if depth < limit {
		return nil
	}
	return tool.Fail("too-deep", `Subagent depth limit reached (%d). Increase "subagent_depth" to allow nested subagents.`, max(limit, 0))
}

// budget returns what a child may spend, out of its caller's budget.
func (d subagents) budget(above *activeSession) *loop.Purse {
	limit := loop.Limit(d.r.opt.Loop.Child)
	limit.Time = cmp.Or(limit.Time, childTime)
	var parent *loop.Purse
	if above != nil {
		parent = above.budget
	}
	return loop.NewPurse(parent, limit)
}

// model returns the model of a child: its agent's own, or else its caller's.
func (d subagents) model(ctx context.Context, s *store.Store, c *tool.Call, a *agent.Spec) (model.Ref, error) {
	caller := model.Ref{Provider: c.Provider, Model: c.Model}
	if row, err := s.Session(ctx, c.Session); err == nil && caller == (model.Ref{}) {
		caller = row.Model
	}
	ref, err := d.r.modelFor(c.Session, a, model.Ref{}, caller)
	if err != nil {
		return ref, tool.Fail("no-model", "no agent can be started: %w", err)
	}
	return ref, nil
}

// session returns the session of the child: a new one, or the one to continue if it is a child of
// this session.
func (d subagents) session(ctx context.Context, s *store.Store, c *tool.Call, a *agent.Spec, ref model.Ref, task builtin.Errand) (record.Session, error) {
	if id := task.Session; id != "" {
		row, err := s.Session(ctx, id)
		if err == nil && row.Parent == c.Session {
			row.Rules = slices.Concat(row.Rules, d.childRules(a))
			return row, nil
		}
		if err != nil && !errors.Is(err, record.ErrNotFound) {
			return row, err
		}
	}
	row := d.r.newSession()
	row.Dir, row.Parent, row.Agent, row.Model = c.Dir, c.Session, a.Name, ref
	row.Title = fmt.Sprintf("%s (@%s subagent)", task.Description, a.Name)
	row.Rules = d.childRules(a)
	return d.r.createSession(ctx, s, row)
}

// childRules deny what no child may do unless its agent was configured for it.
func (d subagents) childRules(a *agent.Spec) permission.Ruleset {
	names := []string{"todowrite", "todoread"}
	own := func(r permission.Rule) bool { return r.Permission == "task" }
	if !slices.ContainsFunc(a.Policy.Rules, own) {
		names = append(names, "task")
	}
	return denied("subagent", append(names, d.r.opt.Loop.PrimaryTools...)...)
}

// runChild runs the child and reports its progress to the caller.
func (d subagents) runChild(ctx context.Context, row record.Session, st *activeSession, a *agent.Spec, ref model.Ref, task builtin.Errand) (*builtin.Report, error) {
	said := loop.Said{Agent: a.Name, Model: ref, Text: task.Prompt}
	if _, err := d.r.loop.Say(ctx, row.ID, said); err != nil {
		return nil, err
	}
	w := &childProgress{report: builtin.Report{Session: row.ID, Model: ref}, tell: task.Progress}
	stop := w.watchCalls(d.r, row.ID)
	own, done := d.r.registerTurn(ctx, row.ID)
	out := d.r.loop.Run(own, d.r.newWork(row, st.budget))
	done()
	stop()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if out.Failed != nil {
		return nil, out.Failed
	}
	msgs, err := messageStore(d).Messages(ctx, row.ID)
	if err != nil {
		return nil, err
	}
	usage, cost := st.budget.Spent()
	report := builtin.Report{
		Session: row.ID, Text: out.Text, Model: ref, Summary: summaryOf(msgs), End: out.End,
		Tokens: model.TokensOf(usage), Cost: cost, Note: incompleteNote(out),
	}
	return &report, nil
}

// incompleteNote returns why a child has done only part of its work, or "" if it has done all.
func incompleteNote(o loop.Outcome) string {
	switch o.End {
	case loop.Done:
		return ""
	case loop.Failed:
		if o.Error != nil {
			return "its model could not be asked: " + strings.TrimSuffix(o.Error.Data.Message, ".")
		}
	case loop.Canceled:
		return "the user stopped it"
	case loop.Rejected:
		return "the user said no to one of its calls"
	case loop.Length:
		return "its answer was cut off, because it became too long"
	case loop.Refused:
		return "its model refused to go on"
	case loop.Repeats:
		return "it repeated itself"
	case loop.Steps:
		return "it took as many steps as it may"
	}
	return cmp.Or(o.Note, "it ended early: "+o.End)
}

// summaryOf returns all calls of a child.
func summaryOf(msgs []message.Message) (out []builtin.Step) {
	for _, m := range msgs {
		for _, p := range m.Parts {
			if p.Type == message.Tool {
				out = append(out, stepOf(p))
			}
		}
	}
	return out
}

func stepOf(p message.Part) builtin.Step {
	s := builtin.Step{ID: p.ID, Tool: p.Tool}
	s.State.Status = string(p.State.Status)
	if p.State.Status == message.Completed {
		s.State.Title = new(p.State.Title)
		s.State.Failed = failedWithin(p.State)
	}
	return s
}

// failedWithin reports whether a call with a result still failed: it was stopped, or its command
// exited with a nonzero code or by a signal.
func failedWithin(s *message.State) bool {
	switch code := s.Metadata["exit"].(type) {
	case int:
		return code != 0
	case float64: // out of the store
		return code != 0
	}
	_, signal := s.Metadata["signal"].(string)
	return signal || s.Kind != ""
}

// A childProgress follows the calls of a child.
type childProgress struct {
	report builtin.Report
	tell   func(builtin.Report)
}

// watchCalls reports every call of a session to the caller until stop is called.
func (w *childProgress) watchCalls(r *Runtime, session string) (stop func()) {
	if w.tell == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(r.ctx)
	done := make(chan struct{})
	since := r.events.newest()
	go func() {
		defer close(done)
		w.tell(w.report)
		for e := range r.Events(ctx, since) {
			if p, ok := e.Properties.(event.PartUpdated); ok && p.Part.Session == session && p.Part.Type == message.Tool {
				w.observe(stepOf(p.Part))
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

func (w *childProgress) observe(s builtin.Step) {
	i := slices.IndexFunc(w.report.Summary, func(have builtin.Step) bool { return have.ID == s.ID })
	if i < 0 {
		w.report.Summary = append(slices.Clip(w.report.Summary), s)
	} else {
		w.report.Summary = slices.Clone(w.report.Summary)
		w.report.Summary[i] = s
	}
	w.tell(w.report)
}
