package catalog

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"time"

	"github.com/helve-dev/helve/model"
)

// An asked is a provider with one of its models: by the name that the provider knows, with the
// configured options.
type asked struct {
	client  model.Provider
	model   Model
	timeout time.Duration // so long may nothing be said; no bound of its own where it is not above 0
	manner  manner
	left    func(names []string) // gets the options that are not sent
}

// Stream passes the request on.
func (a *asked) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	req.Model = a.model.Serves
	options, left := a.manner.wire(a.model.Options, false)
	own, more := a.manner.wire(req.Options, true)
	if options == nil {
		options = own
	} else {
		maps.Copy(options, own)
	}
	req.Options = options
	if left = append(left, more...); len(left) > 0 {
		a.left(left)
	}
	if a.timeout <= 0 {
		return a.client.Stream(ctx, req)
	}
	return func(yield func(model.Event, error) bool) { a.watched(ctx, req, yield) }
}

// watched ends the stream when the provider sends nothing for too long. The caller's own time does
// not count.
func (a *asked) watched(ctx context.Context, req model.Request, yield func(model.Event, error) bool) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(a.timeout, func() {
		cancel(&model.Error{Kind: model.Network, Message: fmt.Sprintf("the model said nothing for %s, the timeout of its provider in the config", a.timeout)})
	})
	defer timer.Stop()
	for e, err := range a.client.Stream(ctx, req) {
		timer.Stop()
		if !yield(e, err) {
			return
		}
		timer.Reset(a.timeout)
	}
}
