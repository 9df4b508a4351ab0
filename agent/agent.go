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
// the [Turn]. Which tools the agent has and what it may do say its [Spec] and
// the rules of the runtime.
package agent

import (
	"cmp"
	"context"
	"iter"
	"sync"

	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/model"
)

// A Runtime is what agents work in. A *helve.Runtime is one.
type Runtime interface {
	Turns() Turns
	Events(ctx context.Context, since uint64) iter.Seq[event.Event]
	NewID(prefix string) string
}

// Options set up an [Agent].
type Options struct {
	// Model answers; the default model of the runtime's options when it has no
	// Provider.
	Model model.Model
	// Spec names who works: one of the agents of the runtime, the first when
	// empty.
	Spec string
	// Session is a conversation to go on with; a new one when empty.
	Session string
}

// An Agent is a conversation with a model that has the tools of a runtime. It
// works on one prompt at a time.
type Agent struct {
	rt  Runtime
	opt Options

	mu      sync.Mutex
	session string // "" before the first prompt of a new conversation
}

// New returns an agent. Nothing happens before [Agent.Run].
func New(rt Runtime, o Options) *Agent {
	if m := &o.Model; m.Provider != nil {
		m.ProviderID, m.ID = cmp.Or(m.ProviderID, "own"), cmp.Or(m.ID, "model")
	}
	return &Agent{rt: rt, opt: o, session: o.Session}
}

// Session is the id of the conversation; "" before the first prompt of a new
// one.
func (a *Agent) Session() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.session
}

// Run works on a prompt and yields what happens: the model's words as [Text]
// and [Reasoning], and the events of package event that belong to the session
// or to the subagents that it starts. An event.PermissionAsked or
// event.QuestionAsked waits until it is answered by Runtime.Requests. The last
// event is a [*Turn]; a turn that could not begin, or not be kept whole, is an
// error. Leaving the loop, as the end of ctx, cancels the turn.
func (a *Agent) Run(ctx context.Context, prompt string) iter.Seq2[event.Payload, error] {
	return a.RunPrompt(ctx, Prompt{Text: prompt})
}

// RunPrompt is [Agent.Run] of a prompt with files, or of another agent or
// model. The conversation stays the same, whatever p.Session is.
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

// Resume goes on with a turn that broke off, as [Turns.Resume] does.
func (a *Agent) Resume(ctx context.Context) iter.Seq2[event.Payload, error] {
	return a.stream(ctx, func(ctx context.Context, session string, _ bool) (*Turn, error) {
		return a.rt.Turns().Resume(ctx, session)
	})
}

// Compact sums the conversation up, as [Turns.Compact] does.
func (a *Agent) Compact(ctx context.Context) iter.Seq2[event.Payload, error] {
	return a.stream(ctx, func(ctx context.Context, session string, _ bool) (*Turn, error) {
		return a.rt.Turns().Compact(ctx, session)
	})
}
