package helve

import (
	"context"

	"helve/permission"
	"helve/tool"
)

// A host is the runtime as one running call sees it.
type host struct {
	r     *Runtime
	agent *Agent
}

// Ask asks under the rules of the agent that makes the call.
func (h *host) Ask(ctx context.Context, c *tool.Call, req permission.Request) error {
	req.ID, req.Session = "", c.Session
	req.Call = &permission.CallRef{Message: c.Message, Call: c.ID}
	if req.Metadata == nil {
		req.Metadata = map[string]any{}
	}
	return h.r.engine.Ask(ctx, req, h.agent.Policy)
}

// Progress tells who watches; it says nothing once the call has ended.
func (h *host) Progress(c *tool.Call, title string, metadata map[string]any) {
	if h.r.flying.has(c) {
		h.r.feed.publish(CallProgress{ID: c.ID, Session: c.Session, Tool: c.Tool, Title: title, Metadata: metadata})
	}
}
