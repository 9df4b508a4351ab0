package helve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/helve-dev/helve/internal/builtin"
	"github.com/helve-dev/helve/internal/mcpclient"
	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/mcp"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// The tool that makes prompts is there for doors, so that what they hand on
// goes the road of a call. Only who calls itself promptClient is offered it: no
// model is.
const (
	promptName   = "get_mcp_prompt"
	promptClient = "mcp-prompts"
)

// promptPattern is what rules about reading call a prompt.
func promptPattern(server, name string) string {
	return builtin.ResourcePattern(server, "prompt:"+name)
}

// promptTool lets a server make a prompt. What comes of it is the server's
// words, so it needs the permission that reading from it needs.
func promptTool(pool *mcpclient.Pool) tool.Tool {
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
		made, err := pool.GetPrompt(ctx, in.Server, in.Name, in.Arguments)
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

// Prompts returns the prompts of a server. For "" they are those of all that
// are connected, in the order of the options: an error then tells which could
// not say, and takes nothing from the others.
func (m MCP) Prompts(ctx context.Context, server string) ([]mcp.Prompt, error) {
	return listFromServers(ctx, m.r.pool, server, hasPrompts, m.r.pool.Prompts)
}

// Resources returns what a server lets others read, or for "" all that are
// connected, as [MCP.Prompts] does.
func (m MCP) Resources(ctx context.Context, server string) ([]mcp.Resource, error) {
	return listFromServers(ctx, m.r.pool, server, hasResources, m.r.pool.Resources)
}

// Templates returns the families of what a server lets others read, or for ""
// all that are connected, as [MCP.Prompts] does.
func (m MCP) Templates(ctx context.Context, server string) ([]mcp.Template, error) {
	return listFromServers(ctx, m.r.pool, server, hasResources, m.r.pool.Templates)
}

// listFromServers asks one server, or for "" all that have something at the same time,
// and returns what they say in their order. It takes nothing of one that fails.
func listFromServers[T any](ctx context.Context, pool *mcpclient.Pool, server string, has func(mcp.Status) bool, list func(context.Context, string) ([]T, error)) ([]T, error) {
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

// Read reads something that a server has, uncut. It is a call of
// read_mcp_resource, made as c says: the rules hold, and it is recorded.
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

// Prompt lets a server make a prompt. That goes the road of a call as well,
// made as c says; for rules it is a read of mcp:server:prompt:name.
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

// Complete asks a server for the values of an argument. Nobody is asked for
// permission; where a rule denies the agent to read it, it is refused.
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

// Subscribe lets an event tell when something that a server has changes, until
// as many calls of [MCP.Unsubscribe]. Nobody is asked for permission; where a
// rule denies the agent to read it, it is refused.
func (m MCP) Subscribe(ctx context.Context, s mcp.Subscription) error {
	if err := m.r.mayRead(s.Agent, builtin.ResourcePattern(s.Server, s.URI)); err != nil {
		return err
	}
	return m.r.pool.Subscribe(ctx, s.Server, s.URI)
}

// Unsubscribe takes one [MCP.Subscribe] back.
func (m MCP) Unsubscribe(s mcp.Subscription) { m.r.pool.Unsubscribe(s.Server, s.URI) }

// mayRead says why an agent may not have to do with something of a server.
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

// A resourceHost is what MCP servers have to read, as the tools for it see it.
type resourceHost struct{ *mcpclient.Pool }

// Resources lists what a server has, families of resources among them, or for
// "" all that are connected, of those that answer.
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
