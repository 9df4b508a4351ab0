package mcpserve

import (
	"context"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// In somebody else's runtime a client without forms waits for whoever shares it,
// one with forms may answer too, and neither the runtime nor what others ask
// in it is touched by the server.
func TestShared(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rules := permission.Ruleset{ask("bash", "*")}
	rt, err := helve.Open(helve.Options{Dir: dir, Worktree: dir, Agents: agent.Specs(agent.SpecOptions{Worktree: dir, User: rules})})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := rt.Close(); err != nil {
			t.Error(err)
		}
	})
	answers := make(chan permission.Verdict, 2)
	watching, stop := context.WithCancel(t.Context())
	defer stop()
	go func() {
		for e := range rt.Events(watching, 0) {
			if asked, ok := e.Properties.(event.PermissionAsked); ok {
				_ = rt.Requests().Reply(asked.ID, permission.Reply{Verdict: <-answers, Message: "not now"})
			}
		}
	}()
	t.Run("clients", func(t *testing.T) { sharedClients(t, rt, answers) })
	if _, err := rt.Call(t.Context(), tool.Call{Tool: "list", Input: []byte(`{}`)}); err != nil {
		t.Errorf("the runtime was closed: %v", err)
	}
}

func sharedClients(t *testing.T, rt *helve.Runtime, answers chan<- permission.Verdict) {
	h := build(t, nil, func(o *Options) { o.Shared = rt }, nil)
	shell := map[string]any{"command": "echo hello", "description": "says hello"}
	plain := h.connect(t, nil)
	answers <- permission.ReplyOnce
	contains(t, call(t, plain, "bash", shell), "hello")
	all, err := rt.Records().Sessions(t.Context(), 1)
	if err != nil || len(all) != 1 || all[0].Title != "tester 1 (MCP)" {
		t.Errorf("%+v %v", all, err)
	}
	answers <- permission.ReplyReject
	contains(t, call(t, plain, "bash", shell), "ERROR", "not now")

	forms := h.connect(t, answering(func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
		return accept(map[string]any{"decision": "once"}), nil
	}))
	contains(t, call(t, forms, "bash", shell), "hello")

	answers <- permission.ReplyOnce // for the request that the form has answered
	answers <- permission.ReplyOnce
	if _, err := rt.Call(t.Context(), tool.Call{Tool: "bash", Input: []byte(`{"command":"echo ours","description":"x"}`)}); err != nil {
		t.Errorf("a call of the runtime's own: %v", err)
	}
}
