package helve

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// A host implements tool.Host for one running call.
type host struct {
	r           *Runtime
	agent       *agent.Spec
	policy      permission.Policy // of the calling agent, for the called tool
	fingerprint string            // of an external tool, for requests without one
}

// newHost returns the host for calls of agent a. Without an agent, as when the call names an
// unknown one, there are no rules.
func newHost(r *Runtime, a *agent.Spec) *host {
	h := &host{r: r, agent: a}
	if a != nil {
		h.policy = a.Policy
	}
	return h
}

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
	return h.askScripted(ctx, own)
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

// Progress publishes the progress of a call; it does nothing once the call has ended.
func (h *host) Progress(c *tool.Call, title string, metadata map[string]any) {
	if !h.r.running.contains(c) {
		return
	}
	metadata, _, err := copied(metadata)
	if err != nil {
		h.r.log.Warn("a report does not encode", "call", c.ID, "tool", c.Tool, "error", err)
		return
	}
	h.r.events.publish(event.CallProgress{ID: c.ID, Session: c.Session, Tool: c.Tool, Title: title, Metadata: metadata})
}

// Open opens a file for an external tool with the checks of the built-in tools.
func (h *host) Open(ctx context.Context, c *tool.Call, name string) (*os.File, error) {
	asks := permission.NewBatch(c)
	path, err := h.r.files.Resolve(ctx, asks, c.Dir, name)
	if err != nil {
		return nil, err
	}
	file, _, err := h.r.files.OpenRead(ctx, asks, path)
	return file, err
}
