package helve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/model"
)

// Advice for when there is no model, in the words of the API. The command's Find, which reads a
// config, has advice of its own.
var (
	errNoModels  = errors.New("there is no model to answer: set Options.Models")
	errNoDefault = errors.New("there is no model to answer: set Options.Models.Default, Agent.Model or Prompt.Model")
)

// lentModels are models that clients bring for their own sessions.
type lentModels struct {
	mu   sync.Mutex
	lent map[string]*lentModel // by session
}

type lentModel struct{ model.Model }

// ref returns the name of the model.
func (l lentModel) ref() model.Ref {
	return model.Ref{Provider: l.ProviderID, Model: l.ID}
}

// Lend lets m answer the prompts of a session.
func (r turns) Lend(session string, m model.Model) (remove func()) {
	take := r.lent.add(session, &lentModel{m})
	r.events.publish(event.ToolsChanged{})
	return sync.OnceFunc(func() {
		take()
		r.events.publish(event.ToolsChanged{})
	})
}

// add lends m, which must not be lent by somebody else. take identifies it by its address, because
// not every provider can be compared.
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

// findModel returns the model for a session.
func (r *Runtime) findModel(session string, ref model.Ref) (model.Model, error) {
	if l, ok := r.lent.sessionModel(session); ok && l.ref() == ref {
		return l.Model, nil
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

// signIn lets plugins sign in to a provider. Keys in the config are not shown to them: a provider
// with a key there needs no plugin.
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
