package mcpserve

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/helve-dev/helve/tool"
)

// settleDown is how long a notice waits for others: tools come and go together.
const settleDown = 50 * time.Millisecond

// listTools returns every tool of the session, on one page.
func (se *session) listTools(ctx context.Context, p *mcp.ListToolsParams) (mcp.Result, error) {
	if p != nil && p.Cursor != "" {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "there is no such page: all tools are on the first one"}
	}
	h, err := se.currentRuntime(ctx)
	if err != nil {
		return nil, se.runtimeError(ctx, err)
	}
	h.loadSources(se.s.life)
	tools, digest, err := se.visibleTools(h)
	if err != nil {
		return nil, se.runtimeError(ctx, err)
	}
	se.mu.Lock()
	se.listed = digest
	se.mu.Unlock()
	return &mcp.ListToolsResult{Tools: tools, Cacheable: mcp.Cacheable{CacheScope: "private"}}, nil
}

// loadSources loads the tools of other programs, once. What is not ready in time follows later.
func (h *sharedRuntime) loadSources(life context.Context) {
	h.gathered.Do(func() { h.rt.Ready(life) })
}

// visibleTools returns the tools that the session is shown, and a digest of them.
func (se *session) visibleTools(h *sharedRuntime) ([]*mcp.Tool, string, error) {
	// The flags are those of the runtime, so that what is listed can be called.
	o := se.s.opt
	specs := h.rt.Tools(tool.Audience{Client: clientKind, Provider: o.Provider, Model: o.Model, Agent: o.Agent})
	tools := make([]*mcp.Tool, 0, len(specs))
	for _, spec := range specs {
		if spec.External && se.s.opt.Compact {
			continue
		}
		t, err := wireTool(spec)
		if err != nil {
			se.s.log.Warn("a tool can not be shown", "tool", spec.Name, "error", err)
			continue
		}
		// Results are bounded here: Claude Code is told so, and shows them whole, up to its own maximum.
		if strings.HasPrefix(strings.ToLower(se.program), "claude") {
			t.Meta = mcp.Meta{"anthropic/maxResultSizeChars": 500_000}
		}
		tools = append(tools, t)
	}
	raw, err := json.Marshal(tools)
	if err != nil {
		return nil, "", fmt.Errorf("encoding the tools: %w", err)
	}
	sum := sha256.Sum256(raw)
	return tools, string(sum[:]), nil
}

// wireTool puts a spec into the protocol's form.
func wireTool(spec tool.Spec) (*mcp.Tool, error) {
	schema := json.RawMessage(`{"type":"object"}`)
	if spec.Schema != nil {
		raw, err := json.Marshal(spec.Schema)
		if err != nil {
			return nil, fmt.Errorf("encoding a schema: %w", err)
		}
		schema = raw
	}
	destructive := spec.Destructive && !spec.ReadOnly
	t := &mcp.Tool{
		Name: spec.Name, Description: spec.Description, InputSchema: schema,
		Annotations: &mcp.ToolAnnotations{
			ReadOnlyHint: spec.ReadOnly, DestructiveHint: &destructive,
			IdempotentHint: spec.Idempotent || spec.ReadOnly, OpenWorldHint: &spec.OpenWorld,
		},
	}
	if !spec.External { // others' names begin with that of their server
		t.Title = title(spec.Name)
	}
	return t, nil
}

// title returns a name for people: "apply_patch" is "Apply patch".
func title(name string) string {
	words := strings.ReplaceAll(name, "_", " ")
	if words == "" {
		return ""
	}
	return strings.ToUpper(words[:1]) + words[1:]
}

// toolsChanged notes that tools have come or gone.
func (h *sharedRuntime) toolsChanged() {
	select {
	case h.changed <- struct{}{}:
	default:
	}
}

// watchTools notifies the sessions whose tools have changed, once for several changes.
func (h *sharedRuntime) watchTools() {
	for range h.changed {
		timer := time.NewTimer(settleDown)
		<-timer.C
		select {
		case <-h.changed: // these are seen too
		default:
		}
		for _, se := range h.everybody() {
			se.notifyToolChange(h)
		}
	}
}

// notifyToolChange notifies the client if the tools differ from those it has listed. A client that
// has not listed them is not notified.
func (se *session) notifyToolChange(h *sharedRuntime) {
	se.mu.Lock()
	before := se.listed
	here := len(se.stays) > 0 && se.stays[len(se.stays)-1] == h
	se.mu.Unlock()
	if before == "" || !here {
		return
	}
	_, now, err := se.visibleTools(h)
	if err != nil || now == before {
		return
	}
	se.mu.Lock()
	se.listed = now
	se.mu.Unlock()
	se.notify(h, notice{method: "notifications/tools/list_changed"})
}
