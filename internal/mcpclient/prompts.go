package mcpclient

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxCompletions is how many values the protocol lets a completion have.
const maxCompletions = 100

// A PromptText is a prompt that a server has made. Its words are the server's.
type PromptText struct {
	Description string
	Messages    []json.RawMessage // each as the protocol has it: a role and a content
}

// A Completion asks how the value of an argument could go on: one of a Prompt,
// or else of the Template.
type Completion struct {
	Server   string
	Prompt   string
	Template string // its URI
	Argument string
	Value    string            // what is there of it
	Known    map[string]string // the arguments that are settled
}

// Completed are the values that an argument could have.
type Completed struct {
	Values []string
	Total  int  // 0 where it is not known
	More   bool // there are others
}

// Which returns the names of the servers whose status passes, in the order of
// the configuration. It asks no server.
func (p *Pool) Which(passes func(Status) bool) []string {
	var out []string
	for _, e := range p.list() {
		if passes(e.status()) {
			out = append(out, e.s.Name)
		}
	}
	return out
}

// GetPrompt lets a server make one of its prompts.
func (p *Pool) GetPrompt(ctx context.Context, server, name string, args map[string]string) (out PromptText, err error) {
	err = p.with(ctx, server, func(ctx context.Context, l *link) error {
		res, err := l.session.GetPrompt(ctx, &mcp.GetPromptParams{Name: name, Arguments: args})
		if err != nil {
			return err
		}
		out = PromptText{Description: res.Description}
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
func (p *Pool) Complete(ctx context.Context, c Completion) (out Completed, err error) {
	params := &mcp.CompleteParams{Argument: mcp.CompleteParamsArgument{Name: c.Argument, Value: c.Value}}
	if params.Ref = (&mcp.CompleteReference{Type: "ref/prompt", Name: c.Prompt}); c.Prompt == "" {
		params.Ref = &mcp.CompleteReference{Type: "ref/resource", URI: c.Template}
	}
	if len(c.Known) > 0 {
		params.Context = &mcp.CompleteContext{Arguments: c.Known}
	}
	err = p.with(ctx, c.Server, func(ctx context.Context, l *link) error {
		out = Completed{}
		if !l.has.completions {
			return nil
		}
		res, err := l.session.Complete(ctx, params)
		if err != nil {
			return err
		}
		d := res.Completion
		out = Completed{Values: d.Values, Total: max(d.Total, 0), More: d.HasMore}
		if len(out.Values) > maxCompletions {
			out.Values, out.More = out.Values[:maxCompletions], true
		}
		return nil
	})
	return out, err
}
