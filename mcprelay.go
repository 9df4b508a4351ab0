package helve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/helve-dev/helve/internal/builtin"
	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/mcp"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// A tool makes the prompts of servers, so that prompts requested over an interface are calls like
// any other. It is offered only to the client promptClient, and to no model.
const (
	promptName   = "get_mcp_prompt"
	promptClient = "mcp-prompts"
)

// promptPattern returns the pattern of a prompt in rules about reading.
func promptPattern(server, name string) string {
	return builtin.ResourcePattern(server, "prompt:"+name)
}

// promptTool returns the tool that gets a prompt from a server. Its result is the server's text, so
// it needs the permission for reading from that server.
func promptTool(pool mcp.Pool) tool.Tool {
	spec := tool.Spec{
		Name: promptName, Description: "Lets an MCP server make one of its prompts.", Permission: "read", ReadOnly: true, OpenWorld: true,
		Offer: func(a tool.Audience) (string, bool) { return "", a.Client == promptClient },
	}
	return tool.New(spec, func(ctx context.Context, c *tool.Call, in mcp.PromptCall) (*tool.Result, error) {
		err := c.Ask(ctx, permission.Request{
			Permission: "read", Patterns: []string{promptPattern(in.Server, in.Name)}, Always: []string{promptPattern(in.Server, "*")},
		})
		if err != nil {
			return nil, err
		}
		made, err := pool.GetPrompt(ctx, in)
		if err != nil {
			return nil, tool.Fail("mcp", "Failed to get MCP prompt %s: %w", text.VisibleLine(in.Name), err)
		}
		raw := make([][]byte, len(made.Messages))
		for i, m := range made.Messages {
			raw[i] = m
		}
		return &tool.Result{
			Title: text.VisibleLine(in.Server + ": " + in.Name), Output: string(bytes.Join(raw, []byte("\n"))),
			Metadata: map[string]any{"server": in.Server, "prompt": in.Name, "messages": len(made.Messages)}, Data: made,
		}, nil
	})
}

func hasResources(s mcp.Status) bool { return s.Resources }
func hasPrompts(s mcp.Status) bool   { return s.Prompts }

// Prompts returns the prompts of a server, or with "" those of all connected servers, in the order
// of the options. In that case an error names the servers that failed, and the prompts of the
// others are returned with it.
func (m MCP) Prompts(ctx context.Context, server string) ([]mcp.Prompt, error) {
	return listFromServers(ctx, m.r.pool, server, hasPrompts, m.r.pool.Prompts)
}

// Resources returns the resources of a server, or with "" those of all connected servers, as
// [MCP.Prompts] does.
func (m MCP) Resources(ctx context.Context, server string) ([]mcp.Resource, error) {
	return listFromServers(ctx, m.r.pool, server, hasResources, m.r.pool.Resources)
}

// Templates returns the resource templates of a server, or with "" those of all connected servers,
// as [MCP.Prompts] does.
func (m MCP) Templates(ctx context.Context, server string) ([]mcp.Template, error) {
	return listFromServers(ctx, m.r.pool, server, hasResources, m.r.pool.Templates)
}

// listFromServers asks one server, or with "" all suitable ones at the same time, and returns their
// answers in order. A server that fails contributes nothing.
func listFromServers[T any](ctx context.Context, pool mcp.Pool, server string, has func(mcp.Status) bool, list func(context.Context, string) ([]T, error)) ([]T, error) {
	if server != "" {
		return list(ctx, server)
	}
	servers := pool.Which(has)
	parts, errs := make([][]T, len(servers)), make([]error, len(servers))
	var wg sync.WaitGroup
	for i, name := range servers {
		wg.Go(func() {
			if parts[i], errs[i] = list(ctx, name); errs[i] != nil {
				parts[i] = nil
			}
		})
	}
	wg.Wait()
	return slices.Concat(parts...), errors.Join(errs...)
}

// Read reads a resource of a server without truncating it. It is a call of read_mcp_resource with
// the other fields of c: rules apply, and it is recorded.
func (m MCP) Read(ctx context.Context, c tool.Call, server, uri string) ([]mcp.Content, error) {
	c.Tool, c.Input = builtin.ReadResource, asJSON(map[string]string{"server": server, "uri": uri})
	res, err := m.r.Call(ctx, c)
	if err != nil {
		return nil, err
	}
	if parts, ok := res.Data.([]mcp.Content); ok {
		return parts, nil
	}
	return []mcp.Content{{URI: uri, MIME: "text/plain", Text: res.Output}}, nil // a hook has answered
}

// Prompt gets a prompt from a server. It is a call too, with the other fields of c; rules see it as
// a read of mcp:server:prompt:name.
func (m MCP) Prompt(ctx context.Context, c tool.Call, p mcp.PromptCall) (mcp.PromptText, error) {
	c.Tool, c.Client, c.Input = promptName, promptClient, asJSON(p)
	res, err := m.r.Call(ctx, c)
	if err != nil {
		return mcp.PromptText{}, err
	}
	made, ok := res.Data.(mcp.PromptText)
	if !ok { // a hook has answered
		content := map[string]any{"type": "text", "text": res.Output}
		made.Messages = append(made.Messages, asJSON(map[string]any{"role": "user", "content": content}))
	}
	return made, nil
}

// Complete asks a server for values of an argument. It does not ask for permission, but fails if a
// rule denies the agent to read the prompt or resource.
func (m MCP) Complete(ctx context.Context, agent string, c mcp.Completion) (mcp.Completed, error) {
	pattern := builtin.ResourcePattern(c.Server, c.Template)
	if c.Prompt != "" {
		pattern = promptPattern(c.Server, c.Prompt)
	}
	if err := m.r.mayRead(agent, pattern); err != nil {
		return mcp.Completed{}, err
	}
	return m.r.pool.Complete(ctx, c)
}

// Subscribe makes changes of a resource appear as events, until [MCP.Unsubscribe] has been called
// as often. It does not ask for permission, but fails if a rule denies the agent to read the
// resource.
func (m MCP) Subscribe(ctx context.Context, s mcp.Subscription) error {
	if err := m.r.mayRead(s.Agent, builtin.ResourcePattern(s.Server, s.URI)); err != nil {
		return err
	}
	return m.r.pool.Subscribe(ctx, s.Server, s.URI)
}

// Unsubscribe reverses one call of [MCP.Subscribe].
func (m MCP) Unsubscribe(s mcp.Subscription) { m.r.pool.Unsubscribe(s.Server, s.URI) }

// mayRead returns an error if an agent may not read something of a server.
func (r *Runtime) mayRead(agent, pattern string) error {
	if err := r.policyError(""); err != nil {
		return err
	}
	a := r.agent(agent)
	if a == nil {
		return fmt.Errorf("there is no agent called %q", agent)
	}
	if d := a.Policy.Decide("read", pattern); d.Action == permission.Deny {
		return asError(&permission.DeniedError{Decision: d, Rules: a.Policy.Rules.About("read")})
	}
	return nil
}

// A resourceHost gives the resource tools access to the MCP servers.
type resourceHost struct{ mcp.Pool }

// HasResources reports whether a connected server offers resources.
func (l resourceHost) HasResources() bool { return len(l.Which(hasResources)) > 0 }

// Resources lists the resources and templates of a server, or with "" of all connected servers that
// answer.
func (l resourceHost) Resources(ctx context.Context, server string) ([]mcp.Resource, error) {
	out, failed := listFromServers(ctx, l.Pool, server, hasResources, l.resourcesAndTemplates)
	if len(out) > 0 && server == "" {
		return out, nil
	}
	return out, failed
}

func (l resourceHost) resourcesAndTemplates(ctx context.Context, server string) ([]mcp.Resource, error) {
	out, err := l.Pool.Resources(ctx, server)
	if err != nil {
		return nil, err
	}
	families, err := l.Templates(ctx, server)
	for _, t := range families {
		out = append(out, mcp.Resource{Server: server, URI: t.URITemplate, Name: t.Name, Description: t.Description, MIME: t.MIME})
	}
	return out, err
}
