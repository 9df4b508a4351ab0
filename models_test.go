package helve_test

import (
	"context"
	"iter"
	"testing"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/model"
)

// A replier is a provider that can not be compared.
type replier map[string]string

func (r replier) Stream(context.Context, model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		for _, e := range says(r["says"]) {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// Whatever a provider is, it can be lent and given back, and giving back an
// earlier one does not take the later one away.
func TestLentProvidersAreNotCompared(t *testing.T) {
	r := open(t, helve.Options{Unattended: true})
	first := r.Turns().Lend("ses_1", model.Model{Provider: replier{"says": "first"}, ProviderID: "client", ID: "m"})
	second := r.Turns().Lend("ses_1", model.Model{Provider: replier{"says": "second"}, ProviderID: "client", ID: "m"})
	first()
	turn := prompted(t, r, agent.Prompt{New: "ses_1", Text: "hello"})
	if turn.Text != "second" {
		t.Errorf("turn = %+v", turn)
	}
	second()
	if _, err := r.Turns().Prompt(t.Context(), agent.Prompt{Session: "ses_1", Text: "hello"}); err == nil {
		t.Error("it answers though it was given back")
	}
}
