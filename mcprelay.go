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
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// An MCPTemplate is a family of things that a server lets others read.
type MCPTemplate = mcpclient.Template

// An MCPContent is a part of what was read: a text, or bytes.
type MCPContent = builtin.ResourcePart

// An MCPPromptCall says which prompt of which server is wanted.
type MCPPromptCall struct {
	Server    string            `json:"server"`
	Name      string            `json:"name"`
	Arguments map[string]string `json:"arguments,omitempty"`
}

// An MCPPromptText is a prompt that a server has made.
type MCPPromptText = mcpclient.PromptText

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
	return tool.New(spec, func(ctx context.Context, c *tool.Call, in MCPPromptCall) (*tool.Result, error) {
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

// An MCPCompletion asks how the value of an argument could go on.
type MCPCompletion = mcpclient.Completion

// MCPCompleted are the values that an argument could have.
type MCPCompleted = mcpclient.Completed

// MCPServers returns the names of the servers that are not switched off, in
// the order of the options.
func (r *Runtime) MCPServers() []string {
	return r.which(func(s MCPStatus) bool { return s.State != mcpclient.Disabled })
}

func (r *Runtime) which(passes func(MCPStatus) bool) []string {
	if r.pool == nil {
		return nil
	}
	return r.pool.Which(passes)
}

func hasResources(s MCPStatus) bool { return s.Resources }
func hasPrompts(s MCPStatus) bool   { return s.Prompts }

// MCPPrompts returns the prompts of a server. For "" they are those of all
// that are connected, in the order of the options: an error then tells which
// could not say, and takes nothing from the others.
func (r *Runtime) MCPPrompts(ctx context.Context, server string) ([]MCPPrompt, error) {
	return listed(ctx, r, relayQuery[MCPPrompt]{server, hasPrompts, (*mcpclient.Pool).Prompts})
}

// MCPResources returns what a server lets others read, or for "" all that are
// connected, as [Runtime.MCPPrompts] does.
func (r *Runtime) MCPResources(ctx context.Context, server string) ([]MCPResource, error) {
	return listed(ctx, r, relayQuery[MCPResource]{server, hasResources, (*mcpclient.Pool).Resources})
}

// MCPTemplates returns the families of what a server lets others read, or for
// "" all that are connected, as [Runtime.MCPPrompts] does.
func (r *Runtime) MCPTemplates(ctx context.Context, server string) ([]MCPTemplate, error) {
	return listed(ctx, r, relayQuery[MCPTemplate]{server, hasResources, (*mcpclient.Pool).Templates})
}

// An relayQuery asks one server, or with "" those that have something, for a list.
type relayQuery[T any] struct {
	server string
	has    func(MCPStatus) bool
	list   func(p *mcpclient.Pool, ctx context.Context, server string) ([]T, error)
}

// listed asks those that are to be asked, and takes nothing of one that fails.
func listed[T any](ctx context.Context, r *Runtime, q relayQuery[T]) ([]T, error) {
	if q.server != "" {
		if r.pool == nil {
			return nil, fmt.Errorf("%q: %w", q.server, ErrNoServer)
		}
		all, err := q.list(r.pool, ctx, q.server)
		return all, r.noServer(q.server, err)
	}
	return askAll(r.which(q.has), func(server string) ([]T, error) {
		all, err := q.list(r.pool, ctx, server)
		if err != nil {
			return nil, err
		}
		return all, nil
	})
}

// askAll asks all servers at the same time and returns what they say, in their
// order.
func askAll[T any](servers []string, ask func(server string) ([]T, error)) ([]T, error) {
	parts, errs := make([][]T, len(servers)), make([]error, len(servers))
	var wg sync.WaitGroup
	for i, name := range servers {
		wg.Go(func() { parts[i], errs[i] = ask(name) })
	}
	wg.Wait()
	return slices.Concat(parts...), errors.Join(errs...)
}

// MCPRead reads something that a server has, uncut. It is a call of
// read_mcp_resource, made as c says: the rules hold, and it is recorded.
func (r *Runtime) MCPRead(ctx context.Context, c tool.Call, server, uri string) ([]MCPContent, error) {
	c.Tool, c.Input = builtin.ReadResource, asJSON(map[string]string{"server": server, "uri": uri})
	res, err := r.Call(ctx, c)
	if err != nil {
		return nil, err
	}
	if parts, ok := res.Data.([]MCPContent); ok {
		return parts, nil
	}
	return []MCPContent{{URI: uri, Mime: "text/plain", Text: res.Output}}, nil // a hook has answered
}

// MCPGetPrompt lets a server make a prompt. That goes the road of a call as
// well, made as c says; for rules it is a read of mcp:server:prompt:name.
func (r *Runtime) MCPGetPrompt(ctx context.Context, c tool.Call, p MCPPromptCall) (MCPPromptText, error) {
	c.Tool, c.Client, c.Input = promptName, promptClient, asJSON(p)
	res, err := r.Call(ctx, c)
	if err != nil {
		return MCPPromptText{}, err
	}
	made, ok := res.Data.(MCPPromptText)
	if !ok { // a hook has answered
		content := map[string]any{"type": "text", "text": res.Output}
		made.Messages = append(made.Messages, asJSON(map[string]any{"role": "user", "content": content}))
	}
	return made, nil
}

// MCPComplete asks a server for the values of an argument. Nobody is asked for
// permission; where a rule denies the agent to read it, it is refused.
func (r *Runtime) MCPComplete(ctx context.Context, agent string, c MCPCompletion) (MCPCompleted, error) {
	pattern := builtin.ResourcePattern(c.Server, c.Template)
	if c.Prompt != "" {
		pattern = promptPattern(c.Server, c.Prompt)
	}
	if err := r.allowedRelay(agent, c.Server, pattern); err != nil {
		return MCPCompleted{}, err
	}
	out, err := r.pool.Complete(ctx, c)
	return out, r.noServer(c.Server, err)
}

// An MCPWatch names what is to be watched, and for whom.
type MCPWatch struct{ Agent, Server, URI string }

// MCPSubscribe lets an event tell when something that a server has changes,
// until as many calls of [Runtime.MCPUnsubscribe]. Nobody is asked for
// permission; where a rule denies the agent to read it, it is refused.
func (r *Runtime) MCPSubscribe(ctx context.Context, w MCPWatch) error {
	if err := r.allowedRelay(w.Agent, w.Server, builtin.ResourcePattern(w.Server, w.URI)); err != nil {
		return err
	}
	return r.noServer(w.Server, r.pool.Subscribe(ctx, w.Server, w.URI))
}

// MCPUnsubscribe takes one [Runtime.MCPSubscribe] back.
func (r *Runtime) MCPUnsubscribe(w MCPWatch) {
	if r.pool != nil {
		r.pool.Unsubscribe(w.Server, w.URI)
	}
}

// allowedRelay says why an agent may not have to do with something of a server.
func (r *Runtime) allowedRelay(agent, server, pattern string) error {
	if err := r.policyError(""); err != nil {
		return err
	}
	if r.pool == nil {
		return fmt.Errorf("%q: %w", server, ErrNoServer)
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
