package helve

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/helve-dev/helve/internal/plugins"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// Ask asks for permission under the rules of the calling agent.
func (h *host) Ask(ctx context.Context, c *tool.Call, reqs ...permission.Request) error {
	own := make([]permission.Request, len(reqs))
	for i, req := range reqs {
		metadata, _, err := copied(req.Metadata)
		if err != nil {
			return fmt.Errorf("the metadata of a request does not encode: %w", err)
		}
		own[i] = h.callRequest(c, req)
		own[i].Metadata = metadata
	}
	return h.ask(ctx, own)
}

// ask decides by the rules, and asks a person about what they leave open, unless a plugin answers
// first: it may deny, and allow what no script of a user asks for. Tools that the options trust in
// full are not asked about.
func (h *host) ask(ctx context.Context, reqs []permission.Request) error {
	script, scripted := plugins.Script(ctx)
	full := scripted && slices.Contains(h.r.opt.Plugins.Full, script)
	answers := h.r.custom != nil && h.r.custom.Has(hookPermission)
	if !full && !answers {
		return h.r.engine.AskAll(ctx, reqs, h.policy)
	}
	reqs = permission.Together(reqs)
	asked, err := h.r.engine.Weigh(reqs, h.policy)
	if err != nil {
		return err
	}
	if full && !slices.ContainsFunc(slices.Concat(asked...), func(d permission.Decision) bool { return d.Guarded || d.Ceiling }) {
		return nil
	}
	var open []permission.Request
	for i, req := range reqs {
		if len(asked[i]) > 0 && answers {
			switch h.r.pluginAnswer(ctx, req) {
			case "allow":
				if !scripted {
					continue
				}
			case "deny":
				return &tool.Error{Kind: tool.Denied, Code: "refused", Err: errors.New("A plugin denied the permission " + req.Permission + " for this call.")}
			}
		}
		open = append(open, req)
	}
	return h.r.engine.AskAll(ctx, open, h.policy)
}

// pluginAnswer asks plugins to decide a request that would wait for a person: "allow", "deny" or
// "ask".
func (r *Runtime) pluginAnswer(ctx context.Context, req permission.Request) string {
	c := r.backgroundCall(hookPermission)
	c.Session = req.Session
	message, call := "", ""
	if req.Call != nil {
		message, call = req.Call.Message, req.Call.Call
	}
	input := asJSON(map[string]any{
		"id": req.ID, "type": req.Permission, "permission": req.Permission, "pattern": req.Patterns, "patterns": req.Patterns,
		"always": req.Always, "sessionID": req.Session, "messageID": message, "callID": call,
		"title": req.Permission, "metadata": req.Metadata, "time": map[string]int64{"created": r.now().UnixMilli()},
	})
	done, err := r.custom.Hook(ctx, c, hookPermission, input, asJSON(map[string]string{"status": "ask"}))
	if err == nil {
		for _, run := range done.Runs {
			err = errors.Join(err, run.Error)
		}
	}
	if err != nil {
		r.log.Warn("a plugin could not answer a request", "error", err)
		return "ask"
	}
	var out struct{ Status string }
	if json.Unmarshal(done.Output, &out) != nil {
		return "ask"
	}
	return out.Status
}

// callRequest fills in the call's fields of a request.
func (h *host) callRequest(c *tool.Call, req permission.Request) permission.Request {
	req.ID, req.Session, req.Fingerprint = "", c.Session, cmp.Or(req.Fingerprint, h.fingerprint)
	req.Call = &permission.CallRef{Message: c.Message, Call: c.ID}
	return req
}

// Denied returns the error if a rule denies one of the requests, and else nil.
func (h *host) Denied(c *tool.Call, reqs ...permission.Request) error {
	own := make([]permission.Request, len(reqs))
	for i, req := range reqs {
		own[i] = h.callRequest(c, req)
	}
	_, err := h.r.engine.Weigh(own, h.policy)
	return err
}

// Allowed decides without asking. It returns false if it cannot decide.
func (h *host) Allowed(c *tool.Call, req permission.Request) bool {
	req.Session, req.Fingerprint = c.Session, cmp.Or(req.Fingerprint, h.fingerprint)
	decisions, err := h.r.engine.Decide(req, h.policy)
	return err == nil && !slices.ContainsFunc(decisions, func(d permission.Decision) bool {
		return d.Action != permission.Allow
	})
}

// Filter returns what the rules of the agent say about a permission.
func (h *host) Filter(_ *tool.Call, permission string) (passes func(names ...string) bool, key string) {
	return h.policy.Filter(permission)
}

// A backgroundHost decides by the rules alone.
type backgroundHost struct{ host }

// Ask refuses requests that would have to be asked about.
func (h *backgroundHost) Ask(_ context.Context, c *tool.Call, reqs ...permission.Request) error {
	own := make([]permission.Request, len(reqs))
	for i, req := range reqs {
		own[i] = req
		own[i].Session = c.Session
	}
	asked, err := h.r.engine.Weigh(own, h.policy)
	if all := slices.Concat(asked...); err == nil && len(all) > 0 {
		return &permission.UnattendedError{Permission: all[0].Permission, Asked: all, File: h.r.opt.RulesFile}
	}
	return err
}
