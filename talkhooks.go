package helve

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	"helve/internal/agent"
	"helve/message"
	"helve/model"
)

// shape lets plugins change what a model is asked: how, by chat.params, and
// what it is told first, by experimental.chat.system.transform.
func (r *Runtime) shape(ctx context.Context, to message.Info, req *model.Request) error {
	if r.custom == nil {
		return nil
	}
	about := asJSON(map[string]any{
		"sessionID": to.Session, "agent": to.Agent, "model": to.Model, "provider": map[string]string{"id": to.Model.Provider}, "message": to,
	})
	params := chatParams{Temperature: req.Temperature, TopP: req.TopP, Options: maps.Clone(req.Options)}
	if params.Options == nil {
		params.Options = map[string]any{} // scripts set keys in it
	}
	if err := r.hooked(ctx, "chat.params", about, &params); err != nil {
		return err
	}
	req.Temperature, req.TopP, req.Options = params.Temperature, params.TopP, params.Options
	system := struct {
		System []string `json:"system"`
	}{req.System}
	if err := r.hooked(ctx, "experimental.chat.system.transform", about, &system); err != nil {
		return err
	}
	req.System = system.System
	return nil
}

// chatParams are what plugins may change of a request.
type chatParams struct {
	Temperature *float64       `json:"temperature,omitempty"`
	TopP        *float64       `json:"topP,omitempty"`
	Options     map[string]any `json:"options"`
}

// heard lets plugins change what a person said, by chat.message.
func (r *Runtime) heard(ctx context.Context, session string, s *agent.Said) error {
	if r.custom == nil {
		return nil
	}
	out := struct {
		Message map[string]any   `json:"message"`
		Parts   []map[string]any `json:"parts"`
	}{
		map[string]any{"sessionID": session, "role": message.User, "agent": s.Agent, "model": s.Model},
		[]map[string]any{{"type": "text", "text": s.Text}},
	}
	about := asJSON(map[string]any{"sessionID": session, "agent": s.Agent, "model": s.Model})
	if err := r.hooked(ctx, "chat.message", about, &out); err != nil {
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

// hooked runs the hooks of a name over out.
func (r *Runtime) hooked(ctx context.Context, name string, input json.RawMessage, out any) error {
	if !r.custom.Has(name) {
		r.custom.Need(ctx, "")
		if !r.custom.Has(name) {
			return nil
		}
	}
	done, err := r.Hook(ctx, name, input, asJSON(out))
	if err != nil {
		return fmt.Errorf("the plugin hook %s: %w", name, err)
	}
	if err := json.Unmarshal(done, out); err != nil {
		return fmt.Errorf("the plugin hook %s gave something else than it got: %w", name, err)
	}
	return nil
}
