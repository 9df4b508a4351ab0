package helve

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/helve-dev/helve/internal/loop"
	"github.com/helve-dev/helve/message"
	"github.com/helve-dev/helve/model"
)

// shape lets plugins change a model request: its parameters by chat.params, its system prompt by
// experimental.chat.system.transform.
func (r *Runtime) shape(ctx context.Context, to message.Info, req *model.Request) error {
	if r.custom == nil {
		return nil
	}
	about := asJSON(map[string]any{
		"sessionID": to.Session, "agent": to.Agent, "model": to.Model, "provider": map[string]string{"id": to.Model.Provider}, "message": to,
	})
	params := chatParams{Temperature: req.Temperature, TopP: req.TopP, Options: req.Options}
	if params.Options == nil {
		params.Options = map[string]any{} // a map, so that scripts can set keys in it
	}
	params, err := runChatHooks(ctx, r, "chat.params", about, params)
	if err != nil {
		return err
	}
	req.Temperature, req.TopP, req.Options = params.Temperature, params.TopP, params.Options
	system, err := runChatHooks(ctx, r, "experimental.chat.system.transform", about, chatSystem{req.System})
	req.System = system.System
	return err
}

// chatParams are the parameters of a request that plugins may change.
type chatParams struct {
	Temperature *float64       `json:"temperature,omitempty"`
	TopP        *float64       `json:"topP,omitempty"`
	Options     map[string]any `json:"options"`
}

// chatSystem is the system prompt as plugins see it.
type chatSystem struct {
	System []string `json:"system"`
}

// chatPrompt is a user message as plugins see it.
type chatPrompt struct {
	Message map[string]any   `json:"message"`
	Parts   []map[string]any `json:"parts"`
}

// chatMessage lets plugins change a user message, by chat.message.
func (r *Runtime) chatMessage(ctx context.Context, session string, s *loop.Said) error {
	if r.custom == nil {
		return nil
	}
	out := chatPrompt{
		map[string]any{"sessionID": session, "role": message.User, "agent": s.Agent, "model": s.Model},
		[]map[string]any{{"type": "text", "text": s.Text}},
	}
	about := asJSON(map[string]any{"sessionID": session, "agent": s.Agent, "model": s.Model})
	out, err := runChatHooks(ctx, r, "chat.message", about, out)
	if err != nil {
		return err
	}
	said := ""
	for _, p := range out.Parts {
		if words, ok := p["text"].(string); ok && p["type"] == "text" {
			if said != "" {
				said += "\n\n"
			}
			said += words
		}
	}
	s.Text = said
	return nil
}

// runChatHooks runs the hooks of a name over a value and returns the changed copy.
func runChatHooks[T any](ctx context.Context, r *Runtime, name string, input json.RawMessage, given T) (T, error) {
	if !r.custom.Has(name) {
		r.custom.Need(ctx, "")
		if !r.custom.Has(name) {
			return given, nil
		}
	}
	made, err := r.Plugins().Hook(ctx, name, input, asJSON(given))
	if err != nil {
		return given, fmt.Errorf("the plugin hook %s: %w", name, err)
	}
	var out T
	if err := json.Unmarshal(made, &out); err != nil {
		return given, fmt.Errorf("the plugin hook %s gave something else than it got: %w", name, err)
	}
	return out, nil
}
