package mcpclient

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/helve-dev/helve/mcp"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxCompletions is how many values the protocol lets a completion have.
const maxCompletions = 100

// Which returns the names of the servers whose status passes, in the order of
// the configuration. It asks no server.
func (p *Pool) Which(passes func(mcp.Status) bool) []string {
	var out []string
	for _, e := range p.list() {
		if passes(e.status()) {
			out = append(out, e.s.Name)
		}
	}
	return out
}

// GetPrompt lets a server make one of its prompts.
func (p *Pool) GetPrompt(ctx context.Context, c mcp.PromptCall) (out mcp.PromptText, err error) {
	err = p.withConnection(ctx, c.Server, func(ctx context.Context, l *connection) error {
		res, err := l.session.GetPrompt(ctx, &sdk.GetPromptParams{Name: c.Name, Arguments: c.Arguments})
		if err != nil {
			return err
		}
		out = mcp.PromptText{Description: res.Description}
		for _, m := range res.Messages {
			if m == nil || m.Content == nil {
				continue
			}
			raw, err := json.Marshal(m)
			if err != nil {
				return fmt.Errorf("message: %w", err)
			}
			out.Messages = append(out.Messages, raw)
		}
		return nil
	})
	return out, err
}

// Complete asks a server for the values of an argument. One that completes
// nothing has none.
func (p *Pool) Complete(ctx context.Context, c mcp.Completion) (out mcp.Completed, err error) {
	params := &sdk.CompleteParams{Argument: sdk.CompleteParamsArgument{Name: c.Argument, Value: c.Value}}
	if params.Ref = (&sdk.CompleteReference{Type: "ref/prompt", Name: c.Prompt}); c.Prompt == "" {
		params.Ref = &sdk.CompleteReference{Type: "ref/resource", URI: c.Template}
	}
	if len(c.Known) > 0 {
		params.Context = &sdk.CompleteContext{Arguments: c.Known}
	}
	err = p.withConnection(ctx, c.Server, func(ctx context.Context, l *connection) error {
		out = mcp.Completed{}
		if !l.has.completions {
			return nil
		}
		res, err := l.session.Complete(ctx, params)
		if err != nil {
			return err
		}
		d := res.Completion
		out = mcp.Completed{Values: d.Values, Total: max(d.Total, 0), More: d.HasMore}
		if len(out.Values) > maxCompletions {
			out.Values, out.More = out.Values[:maxCompletions], true
		}
		return nil
	})
	return out, err
}
