package client_test

import (
	"context"
	"strings"
	"testing"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/client"
	"github.com/helve-dev/helve/internal/modeltest"
	"github.com/helve-dev/helve/model"
	"github.com/helve-dev/helve/model/openai"
)

// thinking is a house whose agents have a model that goes by a script.
func thinking(t *testing.T) (*house, *modeltest.Server) {
	t.Helper()
	script := modeltest.Start(t)
	provider := must[model.Provider](t)(openai.NewProvider(openai.Options{Key: "sk-test", BaseURL: script.URL()}))
	h := build(t, rules(t, "bash", "*", "ask"), func(o *helve.Options) {
		o.Models = agent.Models{
			Default: model.Ref{Provider: "openai", Model: "scripted"},
			Find: func(model.Ref) (model.Model, error) {
				return model.Model{Provider: provider, Info: model.Info{Context: 200_000, Output: 8_000}}, nil
			},
		}
	})
	return h, script
}

// TestDoAgent answers what an agent asks that the call has started.
func TestDoAgent(t *testing.T) {
	h, script := thinking(t)
	script.Script("find out",
		modeltest.Reply{Calls: []modeltest.Call{{ID: "c1", Name: "bash", Args: `{"command":"echo found","description":"look"}`}}},
		modeltest.Reply{Text: "it is found"})
	var asked []client.PermissionRequest
	res, err := h.Do(soon(t), client.CallRequest{Tool: "task", Session: "ses_1", Input: map[string]any{
		"description": "look", "prompt": "find out", "subagent_type": "general",
	}}, client.Handlers{Permission: func(ctx context.Context, r client.PermissionRequest) (client.PermissionReply, error) {
		asked = append(asked, r)
		return once(ctx, r)
	}})
	if err != nil {
		t.Fatal(err)
	}
	holds(t, res.Output, "it is found")
	if len(asked) != 1 || asked[0].SessionID == "ses_1" || asked[0].Permission != "bash" {
		t.Errorf("it was asked %+v", asked)
	}
}

func TestPrompt(t *testing.T) {
	h, script := thinking(t)
	script.Script("say it", modeltest.Reply{Text: "said, in pieces", Chunk: 4})
	l := listen(t, h.Client, client.EventQuery{})
	l.until(t, client.EventReload)
	turn := must[client.TurnAnswer](t)(h.Prompt(soon(t), client.PromptRequest{Text: "say it", Wait: true}))
	if turn.Text != "said, in pieces" || turn.Session == "" || turn.Steps != 1 {
		t.Errorf("the turn is %+v", turn)
	}
	var text strings.Builder
	for _, e := range l.until(t, "session.idle") {
		body := must[any](t)(e.Body())
		if d, ok := body.(client.PartDeltaEvent); ok && e.Session == turn.Session {
			text.WriteString(d.Delta)
		}
	}
	if text.String() != "said, in pieces" {
		t.Errorf("the pieces are %q", text.String())
	}
	page := must[client.Messages](t)(h.ListMessages(soon(t), turn.Session, client.ListMessagesQuery{}))
	if len(page.Messages) != 2 || page.Messages[1].Info.Role != "assistant" || page.More {
		t.Errorf("the messages are %+v", page)
	}
	if err := h.CancelTurn(soon(t), turn.Session); problem(t, err).Status != 404 {
		t.Errorf("ending a turn that is over: %v", err)
	}
}
