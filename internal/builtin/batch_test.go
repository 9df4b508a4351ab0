package builtin_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/tool"
)

func batchRuntime(t *testing.T) *helve.Runtime {
	t.Helper()
	rt, err := helve.Open(helve.Options{Dir: t.TempDir(), Flags: map[string]bool{"batch": true}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := rt.Close(); err != nil {
			t.Error(err)
		}
	})
	return rt
}

// batchOf is the input of a batch of n calls of a tool.
func batchOf(name string, n int) json.RawMessage {
	call := fmt.Sprintf(`{"tool":%q,"parameters":{}}`, name)
	return json.RawMessage(`{"tool_calls":[` + strings.TrimSuffix(strings.Repeat(call+",", n), ",") + `]}`)
}

// TestBatchCallsAreCalls checks that what a batch does can be followed: each
// inner call has an id of its own and names the batch as its parent.
func TestBatchCallsAreCalls(t *testing.T) {
	rt := batchRuntime(t)
	res, err := rt.Call(t.Context(), tool.Call{ID: "outer", Tool: "batch", Input: batchOf("todoread", 27)})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for e := range rt.Events(t.Context(), 0) {
		if s, ok := e.Properties.(event.CallStarted); ok && s.Call.Parent == "outer" {
			seen[s.Call.ID] = true
		}
		if f, ok := e.Properties.(event.CallFinished); ok && f.ID == "outer" {
			break
		}
	}
	if len(seen) != 25 {
		t.Errorf("%d calls name the batch as their parent, want 25", len(seen))
	}
	ids := map[string]bool{}
	for i, in := range res.Inner {
		ids[in.ID] = true
		if i < 25 && (!seen[in.ID] || in.Status != "completed") {
			t.Errorf("call %d: %+v", i, in)
		}
		if i >= 25 && (in.Status != "error" || in.Error != "Maximum of 25 tools allowed in batch") {
			t.Errorf("call %d: %+v", i, in)
		}
	}
	if len(ids) != 27 {
		t.Errorf("%d different ids, want 27", len(ids))
	}
	if res.Title != "Batch execution (25/27 successful)" {
		t.Errorf("the title is %s", res.Title)
	}
}

// TestBatchSurvivesItsCalls has calls that panic and calls that wait when the
// batch is cancelled.
func TestBatchSurvivesItsCalls(t *testing.T) {
	rt := batchRuntime(t)
	started := make(chan struct{})
	for name, run := range map[string]func(context.Context, *tool.Call, struct{}) (*tool.Result, error){
		"breaks": func(context.Context, *tool.Call, struct{}) (*tool.Result, error) { panic("oh") },
		"waits": func(ctx context.Context, _ *tool.Call, _ struct{}) (*tool.Result, error) {
			close(started)
			<-ctx.Done()
			return nil, ctx.Err()
		},
	} {
		if _, err := rt.Register(tool.New(tool.Spec{Name: name, Description: name}, run)); err != nil {
			t.Fatal(err)
		}
	}
	res, err := rt.Call(t.Context(), tool.Call{Tool: "batch", Input: batchOf("breaks", 2)})
	if err != nil || res.Metadata["failed"] != 2 || !strings.Contains(res.Inner[0].Error, "broke while it ran") {
		t.Errorf("got %+v, %v", res, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-started; cancel() }()
	_, err = rt.Call(ctx, tool.Call{Tool: "batch", Input: batchOf("waits", 1)})
	if tool.KindOf(err) != tool.Canceled {
		t.Errorf("cancelled: %v", err)
	}
}

// TestBatchLeavesOutsideToolsOut: a tool from outside is asked for by its
// shape, which a batch would hide.
func TestBatchLeavesOutsideToolsOut(t *testing.T) {
	rt := batchRuntime(t)
	spec := tool.Spec{Name: "outsider", Description: "d", External: true}
	_, err := rt.Register(tool.New(spec, func(context.Context, *tool.Call, struct{}) (*tool.Result, error) {
		t.Error("it was called")
		return &tool.Result{}, nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	res, err := rt.Call(t.Context(), tool.Call{Tool: "batch", Input: batchOf("outsider", 1)})
	if err != nil || !strings.HasPrefix(res.Inner[0].Error, "Tool 'outsider' not in registry. External tools (MCP, environment) cannot be batched") {
		t.Errorf("got %+v, %v", res, err)
	}
}

// TestNoAnswerIsAnEmptyList: programs that read the metadata find a list.
func TestNoAnswerIsAnEmptyList(t *testing.T) {
	rt := batchRuntime(t)
	stop := (&person{rt: rt}).sit() // answers with nothing at all
	defer stop()
	res, err := rt.Call(t.Context(), tool.Call{Tool: "question",
		Input: json.RawMessage(`{"questions":[{"question":"q","header":"h","options":[]}]}`)})
	if err != nil || encoded(res.Metadata["answers"]) != "[]" {
		t.Errorf("got %+v, %v", res, err)
	}
}
