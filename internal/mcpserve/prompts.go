package mcpserve

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/helve-dev/helve/mcp"
	"github.com/helve-dev/helve/tool"
)

// A namedPrompt is a prompt with the name that clients use for it.
type namedPrompt struct {
	name string
	mcp.Prompt
}

func long(p mcp.Prompt) string { return p.Server + ":" + p.Name }

// nameAll names prompts: by their own name where no other server has one of
// that name, and otherwise with the server's before it. A name that is taken
// all the same stays with the first in the order of the config.
func nameAll(all []mcp.Prompt) []namedPrompt {
	owner, shared := map[string]string{}, map[string]bool{}
	for _, p := range all {
		if first, ok := owner[p.Name]; ok && first != p.Server {
			shared[p.Name] = true
		} else {
			owner[p.Name] = p.Server
		}
	}
	out := make([]namedPrompt, 0, len(all))
	taken := map[string]bool{}
	for _, p := range all {
		name := p.Name
		if shared[name] || taken[name] {
			name = long(p)
		}
		if !taken[name] {
			taken[name] = true
			out = append(out, namedPrompt{name, p})
		}
	}
	return out
}

// listPrompts returns the prompts of all servers.
func (se *session) listPrompts(ctx context.Context, p *sdk.ListPromptsParams) (sdk.Result, error) {
	h, err := se.currentRuntime(ctx)
	if err != nil {
		return nil, se.runtimeError(ctx, err)
	}
	var all []offered
	for _, p := range nameAll(visit{se, h, 0}.prompts(ctx)) {
		all = append(all, offered{p.Server, p.name, p.Wire})
	}
	cursor := ""
	if p != nil {
		cursor = p.Cursor
	}
	part, next, err := pageOf(se.saw(prompts, all), cursor, func(one *sdk.Prompt, l offered) { one.Name, one.Meta = l.key, nil })
	if err != nil {
		return nil, err
	}
	return &sdk.ListPromptsResult{Prompts: part, NextCursor: next, Cacheable: sdk.Cacheable{CacheScope: "private"}}, nil
}

// prompt finds a prompt by the name that it is listed by, or by the server's
// name and its own, which always works.
func (se *session) prompt(ctx context.Context, h *sharedRuntime, name string) (mcp.Prompt, error) {
	for _, v := range []visit{{se, h, keepLists}, {se, h, freshList}} {
		all := nameAll(v.prompts(ctx))
		for _, p := range all {
			if p.name == name {
				return p.Prompt, nil
			}
		}
		var same []string
		for _, p := range all {
			if long(p.Prompt) == name {
				return p.Prompt, nil
			}
			if p.Name == name {
				same = append(same, p.name)
			}
		}
		if len(same) > 0 {
			return mcp.Prompt{}, &jsonrpc.Error{
				Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("several servers have the prompt %q: say %s", name, strings.Join(same, " or ")),
			}
		}
	}
	return mcp.Prompt{}, unknown("prompt", name)
}

// getPrompt hands on a prompt, under the rules for reading.
func (se *session) getPrompt(ctx context.Context, p *sdk.GetPromptParams, stream context.Context) (sdk.Result, error) {
	out := &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{}}
	err := se.withCall(ctx, stream, func(ctx context.Context, h *sharedRuntime, c tool.Call) error {
		found, err := se.prompt(ctx, h, p.Name)
		if err != nil {
			return err
		}
		made, err := h.rt.MCP().Prompt(ctx, c, mcp.PromptCall{Server: found.Server, Name: found.Name, Arguments: p.Arguments})
		if err != nil {
			return err
		}
		out.Description = made.Description
		for _, raw := range made.Messages {
			m := &sdk.PromptMessage{}
			if err := json.Unmarshal(raw, m); err != nil {
				return fmt.Errorf("reading a message of the prompt: %w", err)
			}
			out.Messages = append(out.Messages, m)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// completeArgument forwards a request to complete an argument.
func (se *session) completeArgument(ctx context.Context, p *sdk.CompleteParams) (sdk.Result, error) {
	if p.Ref == nil || p.Argument.Name == "" {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "a completion needs a reference and the name of an argument"}
	}
	h, err := se.currentRuntime(ctx)
	if err != nil {
		return nil, se.runtimeError(ctx, err)
	}
	c := mcp.Completion{Argument: p.Argument.Name, Value: p.Argument.Value}
	if p.Context != nil {
		c.Known = p.Context.Arguments
	}
	if p.Ref.Type == "ref/prompt" {
		found, err := se.prompt(ctx, h, p.Ref.Name)
		if err != nil {
			return nil, err
		}
		c.Server, c.Prompt = found.Server, found.Name
	} else {
		c.Template = p.Ref.URI
		if c.Server, err = se.templateOwner(ctx, h, p.Ref.URI); err != nil {
			return nil, err
		}
	}
	done, err := h.rt.MCP().Complete(ctx, se.s.opt.Agent, c)
	if err != nil {
		if ctx.Err() != nil {
			return nil, canceledError(ctx)
		}
		return nil, refusal(err)
	}
	return &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{
		Values: append([]string{}, done.Values...), Total: done.Total, HasMore: done.More,
	}}, nil
}

// templateOwner finds the server that has a template.
func (se *session) templateOwner(ctx context.Context, h *sharedRuntime, uri string) (string, error) {
	for _, t := range (visit{se, h, keepLists}).templates(ctx) {
		if t.URITemplate == uri {
			return t.Server, nil
		}
	}
	return se.ownerOf(ctx, h, uri)
}
