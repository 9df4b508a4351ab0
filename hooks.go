package helve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/tool"
)

// A Hook sees every call before and after its tool runs. Each of its functions may be nil.
type Hook struct {
	// Name identifies the hook in events and messages. Events leave out hooks without a name.
	Name string
	// Timeout limits each function; no limit when 0.
	Timeout time.Duration
	// Required fails a call if the hook times out. Otherwise the call continues as if the hook did
	// not exist.
	Required bool

	// Before runs once the arguments are checked. It may replace c.Input, which is then checked
	// again. An error refuses the call, and the model is told why. A result is used instead of
	// running the tool.
	Before func(ctx context.Context, c *tool.Call) (*tool.Result, error)
	// After runs when the tool has succeeded and its output was truncated. It may change res. An
	// error replaces it.
	After func(ctx context.Context, c *tool.Call, res *tool.Result) error

	sees func(when, tool string) bool // whether it applies to a call; nil means always
}

// runsWhen reports whether the hook applies to a call.
func (h *Hook) runsWhen(when string, c *callState) bool {
	there := when == "before" && h.Before != nil || when == "after" && h.After != nil
	return there && (h.sees == nil || h.sees(when, c.Tool))
}

// errLate is the cause with which the context of a hook ends when it times out.
var errLate = errors.New("the hook is late")

// runBeforeHooks runs the Before functions. Arguments that a hook changed are checked again, so
// that what runs is what was checked. No other change by a hook counts.
func (r *Runtime) runBeforeHooks(ctx context.Context, t tool.Tool, c *callState) (*tool.Result, error) {
	for i := range r.hooks {
		h := &r.hooks[i]
		if !h.runsWhen("before", c) {
			continue
		}
		seen := c.Call
		seen.Input = bytes.Clone(c.Input)
		began := time.Now()
		res, err := r.timed(ctx, h, func(ctx context.Context) (*tool.Result, error) { return h.Before(ctx, &seen) })
		changed := !bytes.Equal(seen.Input, c.Input)
		effect := "passed"
		if res != nil {
			effect = "answered"
		} else if changed {
			effect = "changed"
		}
		r.hookRan(c, h, "before", effect, began, err)
		switch {
		case errors.Is(err, errLate) && !h.Required:
			continue // changes to its copy of the call do not count
		case err != nil:
			return nil, refusal(ctx, err)
		case res != nil:
			res = r.completeResult(res)
			clearRuntimeKeys(res.Metadata)
			if h.Name != "" {
				res.Metadata["answeredBy"] = h.Name
			}
			return res, nil
		case changed:
			c.Input = seen.Input
			if err := r.check(ctx, t, c); err != nil {
				return nil, hookInputError(h, err)
			}
		}
	}
	return nil, nil
}

// hookInputError says that invalid arguments came from a hook and not from the model.
func hookInputError(h *Hook, err error) error {
	if h.Name == "" {
		return err
	}
	e := *asError(err)
	e.Err = fmt.Errorf("the hook %s changed the arguments to ones that the tool does not take: %w", h.Name, err)
	return &e
}

// runAfterHooks runs the After functions. Output that a hook has made too long is truncated again.
func (r *Runtime) runAfterHooks(ctx context.Context, c *callState, res *tool.Result) error {
	for i := range r.hooks {
		h := &r.hooks[i]
		if !h.runsWhen("after", c) {
			continue
		}
		seen, own := c.Call, copyOf(res) // an abandoned hook keeps its own copy
		began := time.Now()
		_, err := r.timed(ctx, h, func(ctx context.Context) (*tool.Result, error) { return nil, h.After(ctx, &seen, &own) })
		if late := errors.Is(err, errLate); late {
			r.hookRan(c, h, "after", "", began, err)
			if h.Required {
				return refusal(ctx, err)
			}
			continue
		}
		changed := err == nil && (own.Output != res.Output || own.Title != res.Title)
		effect := "passed"
		if changed {
			effect = "changed"
		}
		r.hookRan(c, h, "after", effect, began, err)
		if err != nil {
			return refusal(ctx, err)
		}
		r.completeResult(&own)
		for _, key := range truncationKeys() { // hooks cannot change how the output was truncated
			delete(own.Metadata, key)
			if v, ok := res.Metadata[key]; ok {
				own.Metadata[key] = v
			}
		}
		if own.Output != res.Output {
			r.retruncate(c, &own)
		}
		*res = own
	}
	return nil
}

// truncationKeys returns the metadata keys that say that an output was truncated.
func truncationKeys() []string { return []string{"truncated", "outputPath"} }

// clearRuntimeKeys removes metadata that only built-in tools may set: that the output was already
// truncated.
func clearRuntimeKeys(metadata map[string]any) {
	for _, key := range truncationKeys() {
		delete(metadata, key)
	}
}

// copyOf returns a copy of res that shares nothing a hook could change.
func copyOf(res *tool.Result) tool.Result {
	own := *res
	own.Metadata = maps.Clone(res.Metadata)
	own.Attachments, own.Inner = slices.Clone(res.Attachments), slices.Clone(res.Inner)
	return own
}

// retruncate truncates what a hook has made too long, and keeps the note of an earlier truncation.
func (r *Runtime) retruncate(c *callState, res *tool.Result) {
	r.completeResult(res)
	before, was := res.Metadata["truncated"]
	delete(res.Metadata, "truncated")
	r.truncate(c, res)
	if cut, _ := res.Metadata["truncated"].(bool); !cut && was {
		res.Metadata["truncated"] = before
	}
}

// timed runs a hook and continues without it if it exceeds its timeout.
func (r *Runtime) timed(ctx context.Context, h *Hook, f func(ctx context.Context) (*tool.Result, error)) (*tool.Result, error) {
	if h.Timeout <= 0 {
		return r.waitOrAbandon(ctx, func() (*tool.Result, error) { return f(ctx) })
	}
	bounded, cancel := context.WithTimeoutCause(ctx, h.Timeout, errLate)
	defer cancel()
	res, err := r.waitOrAbandon(bounded, func() (*tool.Result, error) { return f(bounded) })
	if err != nil && ctx.Err() == nil && bounded.Err() != nil {
		return nil, &tool.Error{Kind: tool.Denied, Code: "hook-timeout",
			Err:  fmt.Errorf("%w: %s took longer than %s, and the call may not go on without it", errLate, h.displayName(), h.Timeout),
			Hint: "Find out why the hook is slow, give it more time, or do not mark it as required.",
		}
	}
	return res, err
}

func (h *Hook) displayName() string {
	if h.Name == "" {
		return "it"
	}
	return h.Name
}

// hookRan publishes what a hook did and how long it took.
func (r *Runtime) hookRan(c *callState, h *Hook, when, effect string, began time.Time, err error) {
	if h.Name == "" {
		return
	}
	e := event.HookRan{
		Call: c.ID, Session: c.Session, Tool: c.Tool, Hook: h.Name, When: when, Effect: effect,
		Millis: float64(time.Since(began).Microseconds()) / 1000,
	}
	switch {
	case errors.Is(err, errLate):
		e.Effect, e.Error = "late", err.Error()
		r.log.Warn("a hook is late", "hook", h.Name, "call", c.ID, "tool", c.Tool)
	case err != nil:
		e.Effect, e.Error = "refused", safeError(err, 4096).Error()
	}
	r.events.publish(e)
}

// Hook runs a hook of the plugins that does not concern a call, such as chat.message or
// chat.params, and returns the changed output. input is what it is about. A plugin that fails is
// skipped and logged. A program that runs a model of its own calls Hook where OpenCode would.
func (r Plugins) Hook(ctx context.Context, name string, input, output json.RawMessage) (json.RawMessage, error) {
	if r.rt.custom == nil {
		return output, nil
	}
	r.rt.custom.Need(ctx, "")
	done, err := r.rt.custom.Hook(ctx, r.rt.backgroundCall(name), name, input, output)
	r.rt.passedOver(name, done)
	return done.Output, err
}
