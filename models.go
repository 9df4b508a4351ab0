package helve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/message"
	"github.com/helve-dev/helve/model"
)

// Models say who answers prompts.
type Models struct {
	// Find returns the model of a name, or an error that says what to do.
	Find func(message.ModelRef) (model.Model, error)
	// SignIn is called before a model of a provider is looked for. ask lets
	// plugins with a hook auth for this provider sign in: it gives what their
	// loader has made, {"apiKey", "baseURL", "headers"} as JSON. Nil: no plugin
	// is asked.
	SignIn func(provider string, ask func() (json.RawMessage, error)) error
	// Default is used where nothing else is said. Small gives sessions their
	// titles; without one the first words of the first prompt do.
	Default, Small message.ModelRef
}

// Loop says how agents work on prompts. The zero value is the default.
type Loop struct {
	// NoPrune keeps old outputs in the model's sight; NoCompact lets a
	// conversation that has become too long fail instead of being summed up.
	NoPrune, NoCompact bool
	// ContinueAfterReject lets the model go on after a person said no.
	ContinueAfterReject bool
	// Instructions are further texts that an agent's model is told first,
	// such as those of AGENTS.md; none when nil.
	Instructions func(agent string) []string
	// PlanTools offers the tools that begin and end planning.
	PlanTools bool
	// Depth is how deep agents may start agents: 1, when it is 0, is that only
	// those that people talk to may; below 0, that none may.
	Depth int
	// PrimaryTools are never for agents that others started.
	PrimaryTools []string
	// Child is what one agent that another started may take, 30 minutes where
	// Time is 0, and Session what one prompt may, with all agents below it.
	Child, Session Budget
}

// A Budget bounds work. A field that is 0 bounds nothing.
type Budget struct {
	Time   time.Duration
	Idle   time.Duration // without a sign of life of the model
	Tokens int
	Cost   float64 // in US dollars
	Steps  int     // answers of the model
	Calls  int     // of tools
}

// What to do where there is no model. Programs read this: the command, which
// reads a config, has a Find with words of its own.
var (
	errNoModels  = errors.New("there is no model to answer: set Options.Models")
	errNoDefault = errors.New("there is no model to answer: set Options.Models.Default, Agent.Model or Prompt.Model")
)

// A lentModels is a model that a client brings for its own session.
type lentModels struct {
	mu   sync.Mutex
	lent map[string]*lentModel // by session
}

type lentModel struct {
	ref      message.ModelRef
	provider model.Provider
}

// Lend lets a session's prompts and the agents that its calls start be answered
// by p, under that name, where the runtime has no model of its own.
func (r *Runtime) Lend(session string, p model.Provider, name string) (remove func()) {
	take := r.lent.add(session, &lentModel{ref: message.ModelRef{Provider: "client", Model: name}, provider: p})
	r.events.publish(event.ToolsChanged{})
	return sync.OnceFunc(func() {
		take()
		r.events.publish(event.ToolsChanged{})
	})
}

// add lends m, which nobody else may have lent: what is given back is known by
// its address, because not every provider can be compared.
func (l *lentModels) add(session string, m *lentModel) (take func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lent == nil {
		l.lent = map[string]*lentModel{}
	}
	l.lent[session] = m
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.lent[session] == m {
			delete(l.lent, session)
		}
	}
}

func (l *lentModels) sessionModel(session string) (lentModel, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	got, ok := l.lent[session]
	if !ok {
		return lentModel{}, false
	}
	return *got, true
}

// findModel returns the model that a session works with.
func (r *Runtime) findModel(session string, ref message.ModelRef) (model.Model, error) {
	if l, ok := r.lent.sessionModel(session); ok && l.ref == ref {
		return model.Model{Provider: l.provider}, nil
	}
	if r.opt.Models.Find == nil {
		return model.Model{}, errNoModels
	}
	if r.opt.Models.SignIn != nil && r.custom != nil {
		ask := func() (json.RawMessage, error) { return r.signIn(ref.Provider) }
		if err := r.opt.Models.SignIn(ref.Provider, ask); err != nil {
			return model.Model{}, err
		}
	}
	m, err := r.opt.Models.Find(ref)
	if err != nil {
		return model.Model{}, err
	}
	if m.Provider == nil {
		return model.Model{}, fmt.Errorf("the model %s has no provider", ref)
	}
	return m, nil
}

// signIn lets plugins sign in to a provider. Keys of the config are not shown
// to them: who has one there needs no plugin.
func (r *Runtime) signIn(provider string) (json.RawMessage, error) {
	ctx, cancel := context.WithTimeout(r.ctx, gatherLimit)
	defer cancel()
	r.custom.Need(ctx, "")
	switch {
	case r.custom.Has(hookAuth):
	case ctx.Err() != nil:
		return nil, errors.New("the plugins are still loading")
	default:
		return json.RawMessage("{}"), nil
	}
	input := asJSON(map[string]any{"provider": map[string]string{"id": provider}})
	done, err := r.custom.Hook(r.ctx, r.backgroundCall(hookAuth), hookAuth, input, json.RawMessage("{}"))
	r.passedOver(hookAuth, done)
	return done.Output, err
}
