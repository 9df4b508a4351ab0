package wire

import (
	"context"
	"iter"

	"github.com/helve-dev/helve/model"
)

// Failing returns a provider that answers every request with err.
func Failing(err error) model.Provider { return failing{err} }

type failing struct{ err error }

// Stream always fails.
func (f failing) Stream(context.Context, model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		yield(model.Event{}, &model.Error{Kind: model.Auth, Message: f.err.Error(), Err: f.err})
	}
}
