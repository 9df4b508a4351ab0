// Package agent runs a model with the tools of a runtime.
//
//	rt, err := helve.Open(helve.Options{Dir: "."})
//	…
//	a := agent.New(rt, agent.Options{Model: anthropic.New(key, "claude-sonnet-4-5")})
//	for e, err := range a.Run(ctx, "Mend the typo in notes.txt.") {
//		…
//	}
//
// An [Agent] is a conversation. [Agent.Run] works on a prompt and yields what
// happens as it happens: text, calls, requests for permission, and at the end
// the [Turn]. Its [Spec] and the rules of the runtime decide which tools the
// agent has and what it may do.
package agent

import (
	"cmp"
	"context"
	"iter"
	"sync"

	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/model"
)

// A Runtime is what an agent works with: its tools, rules, records and events. A *helve.Runtime
// implements it.
type Runtime interface {
	Turns() Turns
	Events(ctx context.Context, since uint64) iter.Seq[event.Event]
	NewID(prefix string) string
}

// Options configure an [Agent].
type Options struct {
	// Model answers the prompts. Without a Provider in it, the runtime's default model does.
	Model model.Model
	// Spec names the agent whose prompt and rules apply: one of the runtime's agents, the default
	// one when empty.
	Spec string
	// Session is the id of the conversation to continue. When it is empty, a new one begins.
	Session string
}

// An Agent is a conversation with a model that can use the tools of a runtime. It works on one
// prompt at a time.
type Agent struct {
	rt  Runtime
	opt Options

	mu      sync.Mutex
	session string // "" before the first prompt of a new conversation
}

// New returns an agent for rt. It does no work before the first call of [Agent.Run].
func New(rt Runtime, o Options) *Agent {
	if m := &o.Model; m.Provider != nil {
		m.ProviderID, m.ID = cmp.Or(m.ProviderID, "own"), cmp.Or(m.ID, "model")
	}
	return &Agent{rt: rt, opt: o, session: o.Session}
}

// Session returns the id of the conversation, or "" before the first prompt of a new one.
func (a *Agent) Session() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.session
}

// Run sends a prompt to the model and yields what happens until the turn ends: the model's words as
// [Text] and [Reasoning], and the events of package event that belong to the session or to the
// subagents it starts. The turn waits after an event.PermissionAsked or event.QuestionAsked until
// Runtime.Requests has the answer. The last value is a [*Turn]; an error says that the turn could
// not begin or could not be recorded completely, or, after the Turn, that the model could not
// answer. Breaking out of the loop cancels the turn, as cancelling ctx does.
func (a *Agent) Run(ctx context.Context, prompt string) iter.Seq2[event.Payload, error] {
	return a.RunPrompt(ctx, Prompt{Text: prompt})
}

// RunPrompt is [Agent.Run] for a prompt with files, or for another agent or model. It ignores
// p.Session: the conversation stays the same.
func (a *Agent) RunPrompt(ctx context.Context, p Prompt) iter.Seq2[event.Payload, error] {
	return a.stream(ctx, func(ctx context.Context, session string, begun bool) (*Turn, error) {
		p.Session, p.New = session, ""
		if !begun {
			p.Session, p.New = "", session
		}
		if p.Agent == "" {
			p.Agent = a.opt.Spec
		}
		if p.Model == (model.Ref{}) {
			p.Model = model.Ref{Provider: a.opt.Model.ProviderID, Model: a.opt.Model.ID}
		}
		return a.rt.Turns().Prompt(ctx, p)
	})
}

// Resume continues an interrupted turn, as [Turns.Resume] does.
func (a *Agent) Resume(ctx context.Context) iter.Seq2[event.Payload, error] {
	return a.stream(ctx, func(ctx context.Context, session string, _ bool) (*Turn, error) {
		return a.rt.Turns().Resume(ctx, session)
	})
}

// Compact summarizes the conversation, as [Turns.Compact] does.
func (a *Agent) Compact(ctx context.Context) iter.Seq2[event.Payload, error] {
	return a.stream(ctx, func(ctx context.Context, session string, _ bool) (*Turn, error) {
		return a.rt.Turns().Compact(ctx, session)
	})
}
