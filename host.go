package helve

import (
	"context"
	"os"

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
