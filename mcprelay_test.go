package helve_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/mcp"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// newLibraryDesk is a desk that also has a note to read and a prompt.
func newLibraryDesk(t *testing.T) *desk {
	t.Helper()
	fine := func(context.Context, *sdk.SubscribeRequest) error { return nil }
	d := &desk{Server: sdk.NewServer(&sdk.Implementation{Name: "desk", Version: "1"}, &sdk.ServerOptions{
		SubscribeHandler: fine, UnsubscribeHandler: func(context.Context, *sdk.UnsubscribeRequest) error { return nil },
	})}
	web := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return d.Server }, nil))
	t.Cleanup(web.Close)
	d.url = web.URL
	d.AddResource(&sdk.Resource{URI: "note://1", Name: "a note"}, func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: "note://1", Text: strings.Repeat("long ", 100_000)}}}, nil
	})
	d.AddPrompt(&sdk.Prompt{Name: "ask"}, func(context.Context, *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		return &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{{Role: "user", Content: &sdk.TextContent{Text: "well?"}}}}, nil
	})
	return d
}

// A door gets what servers have whole, although the record of the call is cut.
func TestHandOn(t *testing.T) {
	d := newLibraryDesk(t)
	rt := d.at(t, nil)
	rt.Gather(t.Context())
	if all, err := rt.MCP().Prompts(t.Context(), ""); err != nil || len(all) != 1 || all[0].Name != "ask" || !strings.Contains(string(all[0].Wire), `"ask"`) {
		t.Errorf("prompts are %v, %v", all, err)
	}
	if all, err := rt.MCP().Templates(t.Context(), "nobody"); err == nil || !strings.Contains(err.Error(), "nobody") {
		t.Errorf("a server that is not there has %v, %v", all, err)
	}
	parts, err := rt.MCP().Read(t.Context(), tool.Call{Session: "s", ID: "1"}, "my.desk", "note://1")
	if err != nil || len(parts) != 1 || len(parts[0].Text) != 500_000 {
		t.Errorf("got %d parts, %v", len(parts), err)
	}
	made, err := rt.MCP().Prompt(t.Context(), tool.Call{Session: "s", ID: "2"}, mcp.PromptCall{Server: "my.desk", Name: "ask"})
	if err != nil || len(made.Messages) != 1 || !strings.Contains(string(made.Messages[0]), "well?") {
		t.Errorf("got %s, %v", made.Messages, err)
	}
	if done, err := rt.MCP().Complete(t.Context(), "", mcp.Completion{Server: "my.desk", Prompt: "ask", Argument: "x"}); err != nil || len(done.Values) != 0 {
		t.Errorf("a server that completes nothing: %v, %v", done, err)
	}
	w := mcp.Subscription{Server: "my.desk", URI: "note://1"}
	if err := rt.MCP().Subscribe(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	defer rt.MCP().Unsubscribe(w)
	if err := d.ResourceUpdated(t.Context(), &sdk.ResourceUpdatedNotificationParams{URI: "note://1"}); err != nil {
		t.Fatal(err)
	}
	for e := range rt.Events(t.Context(), 0) {
		if u, ok := e.Properties.(event.MCPUpdated); ok {
			if (u != event.MCPUpdated{ResourceUpdate: mcp.ResourceUpdate{Server: "my.desk", URI: "note://1", Part: "note://1"}}) {
				t.Errorf("told %+v", u)
			}
			break
		}
	}
}

// Rules and hooks hold for what is handed on as for every call.
func TestHandOnUnderRules(t *testing.T) {
	d := newLibraryDesk(t)
	denied := d.at(t, func(o *helve.Options) {
		o.Agents = agent.Specs(agent.SpecOptions{User: permission.Ruleset{{Permission: "read", Pattern: "mcp:my.desk:*", Action: permission.Deny}}})
	})
	_, read := denied.MCP().Read(t.Context(), tool.Call{}, "my.desk", "note://1")
	_, prompt := denied.MCP().Prompt(t.Context(), tool.Call{}, mcp.PromptCall{Server: "my.desk", Name: "ask"})
	_, complete := denied.MCP().Complete(t.Context(), "", mcp.Completion{Server: "my.desk", Prompt: "ask", Argument: "x"})
	watch := denied.MCP().Subscribe(t.Context(), mcp.Subscription{Server: "my.desk", URI: "note://1"})
	for what, err := range map[string]error{"reading": read, "a prompt": prompt, "completing": complete, "watching": watch} {
		if tool.KindOf(err) != tool.Denied || !strings.Contains(err.(*tool.Error).Hint, "mcp:my.desk:*") {
			t.Errorf("%s: %v", what, err)
		}
	}
	hooked := d.at(t, func(o *helve.Options) {
		o.Hooks = []helve.Hook{{Before: func(context.Context, *tool.Call) (*tool.Result, error) {
			return &tool.Result{Output: "instead"}, nil
		}}}
	})
	if parts, err := hooked.MCP().Read(t.Context(), tool.Call{}, "my.desk", "note://1"); err != nil || len(parts) != 1 || parts[0].Text != "instead" {
		t.Errorf("got %v, %v", parts, err)
	}
	made, err := hooked.MCP().Prompt(t.Context(), tool.Call{}, mcp.PromptCall{Server: "my.desk", Name: "ask"})
	if err != nil || len(made.Messages) != 1 || !strings.Contains(string(made.Messages[0]), "instead") {
		t.Errorf("got %s, %v", made.Messages, err)
	}
}
