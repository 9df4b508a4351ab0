package catalog

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"time"

	"helve/model"
)

// asked is a provider that is asked for one model: by the name that the
// provider knows, with the options that are configured for it.
type asked struct {
	client  model.Provider
	model   Model
	timeout time.Duration // so long may nothing be said; no bound of its own where it is not above 0
}

// Stream passes the request on.
func (a *asked) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	req.Model = a.model.Serves
	options := maps.Clone(a.model.Options)
	if options == nil {
		options = map[string]any{}
	}
	maps.Copy(options, req.Options)
	req.Options = nil
	for key, v := range options {
		if req.Options == nil {
			req.Options = map[string]any{}
		}
		key, v = onWire(key, v)
		req.Options[key] = v
	}
	if a.timeout <= 0 {
		return a.client.Stream(ctx, req)
	}
	return func(yield func(model.Event, error) bool) { a.watched(ctx, req, yield) }
}

// watched ends the stream when nothing was said for too long. The time that
// the caller takes does not count.
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

// onWire is an option as requests hold it. OpenCode's files name some in the
// words of the library that it talks to models by.
func onWire(key string, v any) (string, any) {
	switch key {
	case "reasoningEffort":
		return "reasoning_effort", v
	case "textVerbosity":
		return "verbosity", v
	case "serviceTier":
		return "service_tier", v
	case "parallelToolCalls":
		return "parallel_tool_calls", v
	case "promptCacheKey":
		return "prompt_cache_key", v
	case "topK":
		return "top_k", v
	case "thinking":
		if of, ok := v.(map[string]any); ok {
			out := maps.Clone(of)
			if n, ok := out["budgetTokens"]; ok {
				delete(out, "budgetTokens")
				out["budget_tokens"] = n
			}
			return key, out
		}
	}
	return key, v
}
