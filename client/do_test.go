package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/helve-dev/helve/client"
	"github.com/helve-dev/helve/tool"
)

func tooledCall(name, session, input string) tool.Call {
	return tool.Call{Tool: name, Session: session, Input: json.RawMessage(input)}
}

func once(context.Context, client.PermissionRequest) (client.PermissionReply, error) {
	return client.PermissionReply{Reply: "once"}, nil
}

func TestDo(t *testing.T) {
	h := build(t, rules(t, "bash", "*", "ask"))
	var asked []client.PermissionRequest
	var seen []string
	res, err := h.Do(soon(t), client.CallRequest{
		Tool: "bash", Input: map[string]any{"command": "echo one; echo two", "description": "Say two words"},
	}, client.Handlers{
		Permission: func(_ context.Context, r client.PermissionRequest) (client.PermissionReply, error) {
			asked = append(asked, r)
			return client.PermissionReply{Reply: "once"}, nil
		},
		Progress: func(p client.CallProgressEvent) { seen = append(seen, p.Output()) },
	})
	if err != nil {
		t.Fatal(err)
	}
	holds(t, res.Output, "one\ntwo")
	if len(asked) != 1 || asked[0].Permission != "bash" || len(asked[0].Patterns) == 0 {
		t.Errorf("it was asked %+v", asked)
	}
	if len(seen) == 0 {
		t.Error("no progress was seen")
	}
}

func TestDoFails(t *testing.T) {
	h := build(t, rules(t, "bash", "*", "ask", "edit", "*.txt", "deny"))
	why := errors.New("the person is gone")
	bash := client.CallRequest{Tool: "bash", Input: map[string]any{"command": "echo no", "description": "Say a word"}}
	for name, c := range map[string]struct {
		call  client.CallRequest
		reply func(context.Context, client.PermissionRequest) (client.PermissionReply, error)
		check func(error) bool
	}{
		"rejected": {bash, func(context.Context, client.PermissionRequest) (client.PermissionReply, error) {
			return client.PermissionReply{Reply: "reject", Message: "rather not"}, nil
		}, func(err error) bool {
			p := problem(t, err)
			return p.Kind == "rejected" && p.Status == 403 && strings.Contains(p.Detail, "rather not") && p.Call != "" && p.Session != ""
		}},
		"bad reply": {bash, func(context.Context, client.PermissionRequest) (client.PermissionReply, error) {
			return client.PermissionReply{Reply: "perhaps"}, nil
		}, func(err error) bool { return problem(t, err).Code == "bad-request" }},
		"handler fails": {bash, func(context.Context, client.PermissionRequest) (client.PermissionReply, error) {
			return client.PermissionReply{}, why
		}, func(err error) bool { return errors.Is(err, why) }},
		"denied": {client.CallRequest{Tool: "write", Input: map[string]any{"filePath": "x.txt", "content": ""}}, once,
			func(err error) bool { return problem(t, err).Kind == "denied" }},
		"no tool": {client.CallRequest{Tool: "nothing"}, once, func(err error) bool { return problem(t, err).Kind == "unknown_tool" }},
		"no name": {client.CallRequest{}, once, func(err error) bool { return problem(t, err).Code == "bad-request" }},
	} {
		if _, err := h.Do(soon(t), c.call, client.Handlers{Permission: c.reply}); err == nil || !c.check(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if left := must[client.Requests](t)(h.ListRequests(soon(t))); len(left.Permissions) > 0 {
		t.Errorf("there waits still %+v", left.Permissions)
	}
}

// TestDoIsEnded ends the context while a command runs: the command ends too.
func TestDoIsEnded(t *testing.T) {
	h := build(t, rules(t, "bash", "*", "allow"))
	ctx, cancel := context.WithCancel(soon(t))
	_, err := h.Do(ctx, client.CallRequest{
		Tool: "bash", Session: "ses_1", ID: "call_1", Input: map[string]any{"command": "echo begun; sleep 60", "description": "Wait"},
	}, client.Handlers{Progress: func(p client.CallProgressEvent) {
		if strings.Contains(p.Output(), "begun") {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}
	if record := h.ended(t, "ses_1", "call_1"); record.Error == nil || record.Error.Kind != "canceled" {
		t.Errorf("the record is %+v", record)
	}
}

// ended is the record of a call, when it has ended.
func (h *house) ended(t *testing.T, session, call string) client.CallRecord {
	t.Helper()
	l := listen(t, h.Client, client.EventQuery{})
	l.until(t, client.EventReload)
	record := must[client.CallRecord](t)(h.GetCall(soon(t), session, call))
	if record.State == "running" {
		l.until(t, "call.finished")
		record = must[client.CallRecord](t)(h.GetCall(soon(t), session, call))
	}
	return record
}

// TestDoOverLostConnections cuts the connection while a call waits, and replaces
// the server's memory of events by nothing.
func TestDoOverLostConnections(t *testing.T) {
	h := build(t, rules(t, "bash", "*", "ask"))
	res, err := h.Do(soon(t), client.CallRequest{
		Tool: "bash", Input: map[string]any{"command": "echo still here", "description": "Say it"},
	}, client.Handlers{Permission: func(context.Context, client.PermissionRequest) (client.PermissionReply, error) {
		h.cuts.cut()
		return client.PermissionReply{Reply: "once"}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	holds(t, res.Output, "still here")
}

// TestDoQuestion has a person answer, and leave without an answer.
func TestDoQuestion(t *testing.T) {
	h := build(t, rules(t, "question", "*", "allow"))
	ask := client.CallRequest{Tool: "question", Input: map[string]any{"questions": []any{map[string]any{
		"question": "Which one?", "header": "One", "options": []any{map[string]any{"label": "Left", "description": "the left one"}},
	}}}}
	res, err := h.Do(soon(t), ask, client.Handlers{Question: func(_ context.Context, r client.QuestionRequest) ([][]string, error) {
		return [][]string{{r.Questions[0].Options[0].Label}}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	holds(t, res.Output, "Left")
	_, err = h.Do(soon(t), ask, client.Handlers{Question: func(context.Context, client.QuestionRequest) ([][]string, error) { return nil, nil }})
	if p := problem(t, err); p.Kind != "rejected" {
		t.Errorf("dismissed: %+v", p)
	}
}

// TestDoInner answers what the calls within a call ask, and nothing else.
func TestDoInner(t *testing.T) {
	h := build(t, rules(t, "bash", "*", "ask"))
	ctx, cancel := context.WithCancel(soon(t))
	defer cancel()
	started := must[client.Called](t)(h.Call(ctx, client.CallRequest{ // of somebody else
		Tool: "bash", Session: "ses_1", Wait: new(bool), Input: map[string]any{"command": "echo theirs", "description": "Say it"},
	}))
	var asked []client.PermissionRequest
	res, err := h.Do(ctx, client.CallRequest{Tool: "batch", Session: "ses_2", Input: map[string]any{"tool_calls": []any{
		map[string]any{"tool": "bash", "parameters": map[string]any{"command": "echo ours", "description": "Say it"}},
	}}}, client.Handlers{Permission: func(ctx context.Context, r client.PermissionRequest) (client.PermissionReply, error) {
		asked = append(asked, r)
		return once(ctx, r)
	}})
	if err != nil {
		t.Fatal(err)
	}
	if len(asked) != 1 || asked[0].SessionID != "ses_2" || len(res.Inner) != 1 {
		t.Errorf("it was asked %+v, and the result is %+v", asked, res)
	}
	waits := must[client.Requests](t)(h.ListRequests(ctx))
	if len(waits.Permissions) != 1 || waits.Permissions[0].Tool.CallID != started.ID || waits.Permissions[0].Expires == 0 {
		t.Errorf("there waits %+v", waits)
	}
	if err := h.CancelCall(ctx, started.Session, started.ID); err != nil {
		t.Error(err)
	}
}
