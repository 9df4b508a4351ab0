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

// A Hook sees every call. Each of its functions may be nil.
type Hook struct {
	// Name is what events and messages call it; hooks without one are not
	// told about in events.
	Name string
	// Timeout is how long each function may take; no limit when 0.
	Timeout time.Duration
	// Required blocks a call that the hook is too late for. Without it the
	// call goes on as if there were no such hook.
	Required bool

	// Before runs when the arguments were found good. It may rewrite c.Input,
	// which is then checked again. An error refuses the call, and the model is
	// told why. A result answers instead of the tool.
	Before func(ctx context.Context, c *tool.Call) (*tool.Result, error)
	// After runs when the tool succeeded and its output was bounded. It may
	// rewrite res. An error replaces it.
	After func(ctx context.Context, c *tool.Call, res *tool.Result) error

	sees func(when, tool string) bool // whether it is of use for a call; nil is always
}

// runsWhen reports whether there is something to run.
func (h *Hook) runsWhen(when string, c *callState) bool {
	there := when == "before" && h.Before != nil || when == "after" && h.After != nil
	return there && (h.sees == nil || h.sees(when, c.Tool))
}

// errLate says that a hook took longer than it may. It is what its context
// ends with.
var errLate = errors.New("the hook is late")

// runBeforeHooks lets every hook see the call. Arguments that a hook rewrote are
// checked again, so that what runs is what was checked; nothing else that a
// hook changes counts.
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
			continue // and what it may have done to its copy of the call does not count
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

// hookInputError says that arguments which do not fit came from a hook and not from the
// model.
func hookInputError(h *Hook, err error) error {
	if h.Name == "" {
		return err
	}
	e := *asError(err)
	e.Err = fmt.Errorf("the hook %s changed the arguments to ones that the tool does not take: %w", h.Name, err)
	return &e
}

// runAfterHooks lets every hook see the result. What a hook makes longer than an
// output may be is cut again.
func (r *Runtime) runAfterHooks(ctx context.Context, c *callState, res *tool.Result) error {
	for i := range r.hooks {
		h := &r.hooks[i]
		if !h.runsWhen("after", c) {
			continue
		}
		seen, own := c.Call, copyOf(res) // a hook that is left behind keeps its own copy
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
		for _, key := range truncationKeys() { // what the runtime says about an output is not for hooks to say
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

// truncationKeys are the metadata by which the runtime tells that an output was cut.
func truncationKeys() []string { return []string{"truncated", "outputPath"} }

// clearRuntimeKeys takes away what only a tool of the runtime's own may say: that its
// output was bounded already.
func clearRuntimeKeys(metadata map[string]any) {
	for _, key := range truncationKeys() {
		delete(metadata, key)
	}
}

// copyOf is a result that shares nothing with res that a hook could change.
func copyOf(res *tool.Result) tool.Result {
	own := *res
	own.Metadata = maps.Clone(res.Metadata)
	own.Attachments, own.Inner = slices.Clone(res.Attachments), slices.Clone(res.Inner)
	return own
}

// retruncate cuts what a hook has made too long. That a result was cut before is
// still said.
func (r *Runtime) retruncate(c *callState, res *tool.Result) {
	r.completeResult(res)
	before, was := res.Metadata["truncated"]
	delete(res.Metadata, "truncated")
	r.truncate(c, res)
	if cut, _ := res.Metadata["truncated"].(bool); !cut && was {
		res.Metadata["truncated"] = before
	}
}

// timed runs a hook, and goes on without one that takes longer than it may.
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

// hookRan tells who watches what a hook did, and how long it took.
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

// Hook lets plugins see something that is not a call, as chat.message or
// chat.params: input is what it is about, and output what they may change.
// It returns the output; a plugin that fails is passed over, and the log says so.
// A program with a model of its own calls it where the reference would.
func (r Plugins) Hook(ctx context.Context, name string, input, output json.RawMessage) (json.RawMessage, error) {
	if r.rt.custom == nil {
		return output, nil
	}
	r.rt.custom.Need(ctx, "")
	done, err := r.rt.custom.Hook(ctx, r.rt.backgroundCall(name), name, input, output)
	r.rt.passedOver(name, done)
	return done.Output, err
}
