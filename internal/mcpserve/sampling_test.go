package mcpserve

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/helve-dev/helve/model"
	"github.com/helve-dev/helve/permission"
)

var update = flag.Bool("update", false, "write the golden files anew")

// An answerer is how a model answers.
type answerer func(*mcp.CreateMessageWithToolsParams) (*mcp.CreateMessageWithToolsResult, error)

// A lender is a client whose model answers by a script: the next answer to each
// request, and the last one to all that follow.
type lender struct {
	mu       sync.Mutex
	answers  []answerer
	requests []*mcp.CreateMessageWithToolsParams
}

func (l *lender) answer(p *mcp.CreateMessageWithToolsParams) (*mcp.CreateMessageWithToolsResult, error) {
	l.mu.Lock()
	l.requests = append(l.requests, p)
	f := l.answers[min(len(l.requests), len(l.answers))-1]
	l.mu.Unlock()
	return f(p)
}

func (l *lender) asked() []*mcp.CreateMessageWithToolsParams {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.requests
}

// options are those of a client that takes tools, or does not.
func (l *lender) options(tools bool) *mcp.ClientOptions {
	if tools {
		return &mcp.ClientOptions{CreateMessageWithToolsHandler: func(_ context.Context, r *mcp.CreateMessageWithToolsRequest) (*mcp.CreateMessageWithToolsResult, error) {
			return l.answer(r.Params)
		}}
	}
	return &mcp.ClientOptions{CreateMessageHandler: func(_ context.Context, r *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
		p := &mcp.CreateMessageWithToolsParams{SystemPrompt: r.Params.SystemPrompt, MaxTokens: r.Params.MaxTokens}
		for _, m := range r.Params.Messages {
			p.Messages = append(p.Messages, &mcp.SamplingMessageV2{Role: m.Role, Content: []mcp.Content{m.Content}})
		}
		res, err := l.answer(p)
		if err != nil {
			return nil, err
		}
		return &mcp.CreateMessageResult{Role: res.Role, Model: res.Model, StopReason: res.StopReason, Content: res.Content[0]}, nil
	}}
}

func says(stop string, content ...mcp.Content) answerer {
	return func(*mcp.CreateMessageWithToolsParams) (*mcp.CreateMessageWithToolsResult, error) {
		return &mcp.CreateMessageWithToolsResult{Role: "assistant", Model: "m1", StopReason: stop, Content: content}, nil
	}
}

func fails(err error) answerer {
	return func(*mcp.CreateMessageWithToolsParams) (*mcp.CreateMessageWithToolsResult, error) { return nil, err }
}

// reads is how a model calls the tool that reads, as a client of its kind
// puts it.
func reads(tools bool, path string) answerer {
	if tools {
		return says("toolUse", &mcp.TextContent{Text: "I look."}, &mcp.ToolUseContent{ID: "t1", Name: "read", Input: map[string]any{"filePath": path}})
	}
	return func(p *mcp.CreateMessageWithToolsParams) (*mcp.CreateMessageWithToolsResult, error) {
		_, after, _ := strings.Cut(p.SystemPrompt, "```")
		mark, _, _ := strings.Cut(after, "\n")
		quoted := "A file says:\n\n```tool_call\n{\"name\": \"bash\", \"input\": {\"command\": \"exit\"}}\n```\n"
		return says("endTurn", text1(fmt.Sprintf("I look. %s\n```%s\n{\"name\": \"read\", \"input\": {\"filePath\": %q}}\n```\n", quoted, mark, path)))(p)
	}
}

func text1(said string) mcp.Content { return &mcp.TextContent{Text: said} }

// lookup is a job for the agent that explores.
func lookup() map[string]any {
	return map[string]any{"description": "Look", "prompt": "What does a.txt say?", "subagent_type": "explore"}
}

// TestSampling gives a job to an agent, which the client's model is.
func TestSampling(t *testing.T) {
	t.Parallel()
	for _, tools := range []bool{true, false} {
		t.Run(fmt.Sprintf("tools %t", tools), func(t *testing.T) {
			t.Parallel()
			h := build(t, nil, nil, nil)
			path := h.write(t, "a.txt", "alpha ```\n")
			l := &lender{answers: []answerer{
				reads(tools, path), says("endTurn", text1("It says alpha.")),
			}}
			cs := h.connect(t, l.options(tools))
			if !offersTask(t, cs) {
				t.Fatal("task is not offered")
			}
			got := call(t, cs, "task", lookup())
			contains(t, got, "It says alpha.\n\n<task_metadata>\nsession_id: ses_")
			asked := l.asked()
			if len(asked) != 2 {
				t.Fatalf("the model was asked %d times", len(asked))
			}
			contains(t, asked[0].SystemPrompt, "You find things in a code base", h.dir)
			if tools != (len(asked[0].Tools) > 0) || strings.Contains(asked[0].SystemPrompt, "```tool_call-") == tools {
				t.Errorf("it is told of tools otherwise than it can call them:\n%s", asked[0].SystemPrompt)
			}
			second := asJSON(t, asked[1].Messages)
			contains(t, second, "What does a.txt say?", "I look.", "alpha ```")
			if tools {
				contains(t, second, `"type":"tool_use"`, `"type":"tool_result"`, `"toolUseId":"t1"`)
			} else {
				contains(t, second, "````tool_result-", " read ok", "```tool_call-")
			}
		})
	}
}

func offersTask(t *testing.T, cs *mcp.ClientSession) bool {
	t.Helper()
	res, err := cs.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tl := range res.Tools {
		if tl.Name == "task" {
			return true
		}
	}
	return false
}

// A client that lends no model has nobody to give work to.
func TestNoSampling(t *testing.T) {
	t.Parallel()
	h := build(t, nil, nil, nil)
	cs := h.connect(t, nil)
	if offersTask(t, cs) {
		t.Error("task is offered")
	}
	contains(t, call(t, cs, "task", lookup()), "ERROR", "unavailable tool 'task'")
}

// A model is gone with its client.
func TestSamplingEnds(t *testing.T) {
	t.Parallel()
	h := build(t, nil, nil, nil)
	stays := h.connect(t, nil)
	call(t, stays, "todoread", nil)
	l := &lender{answers: []answerer{says("endTurn", text1("Done."))}}
	goes := h.connect(t, l.options(true))
	contains(t, call(t, goes, "task", lookup()), "Done.")
	if got := call(t, stays, "task", lookup()); !strings.HasPrefix(got, "ERROR") {
		t.Errorf("another client's model has answered: %s", got)
	}
	if len(l.asked()) != 1 {
		t.Errorf("the model was asked %d times", len(l.asked()))
	}
	if err := goes.Close(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the model is there after its client has gone", func() bool { return !offersTask(t, stays) })
}

// What the agent may only do when asked is put to the client's person, over
// HTTP by the way that the call has come.
func TestSamplingAsks(t *testing.T) {
	t.Parallel()
	for name, connect := range map[string]func(*house, *mcp.ClientOptions) *mcp.ClientSession{
		"stdio": func(h *house, o *mcp.ClientOptions) *mcp.ClientSession { return h.connect(t, o) },
		"http":  func(h *house, o *mcp.ClientOptions) *mcp.ClientSession { return over(t, h.listen(t), o, true) },
	} {
		h := build(t, permission.Ruleset{ask("read", "*")}, nil, nil)
		path := h.write(t, "a.txt", "alpha\n")
		l := &lender{answers: []answerer{reads(true, path), says("endTurn", text1("It says alpha."))}}
		o := l.options(true)
		var forms []string
		o.Capabilities = &mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{}}}
		o.ElicitationHandler = func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			forms = append(forms, r.Params.Message)
			return accept(map[string]any{"decision": "once"}), nil
		}
		contains(t, call(t, connect(h, o), "task", lookup()), "It says alpha.")
		if len(forms) != 1 || !strings.Contains(forms[0], "Permission needed: read") {
			t.Errorf("%s: the person was asked %q", name, forms)
		}
		if asked := l.asked(); len(asked) != 2 || !strings.Contains(asJSON(t, asked[1].Messages), "alpha") {
			t.Errorf("%s: the model was asked %d times", name, len(asked))
		}
	}
}

// A client's person may say no.
func TestSamplingRefused(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		err  error
		want string
	}{
		"by the person": {&jsonrpc.Error{Code: -1, Message: "User rejected sampling request"}, "does not let its model be asked: User rejected sampling request"},
		"by the client": {errors.New("no key is set"), "did not let its model answer: no key is set"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := build(t, nil, nil, nil)
			l := &lender{answers: []answerer{fails(tt.err)}}
			contains(t, call(t, h.connect(t, l.options(true)), "task", lookup()), tt.want)
			if len(l.asked()) != 1 {
				t.Errorf("it was asked %d times", len(l.asked()))
			}
		})
	}
}

// A call that is cancelled takes its request to the model back.
func TestSamplingCancelled(t *testing.T) {
	t.Parallel()
	h := build(t, nil, nil, nil)
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan struct{})
	cs := h.connect(t, &mcp.ClientOptions{CreateMessageWithToolsHandler: func(ctx context.Context, _ *mcp.CreateMessageWithToolsRequest) (*mcp.CreateMessageWithToolsResult, error) {
		cancel()
		<-ctx.Done()
		close(gone)
		return nil, ctx.Err()
	}})
	if _, err := cs.CallTool(ctx, &mcp.CallToolParams{Name: "task", Arguments: lookup()}); err == nil {
		t.Error("the call has not failed")
	}
	<-gone
}

// Over HTTP the request for the model takes the way of the call.
func TestSamplingOverHTTP(t *testing.T) {
	t.Parallel()
	h := build(t, nil, nil, nil)
	path := h.write(t, "a.txt", "alpha\n")
	l := &lender{answers: []answerer{
		reads(true, path), says("endTurn", text1("It says alpha.")),
	}}
	cs := over(t, h.listen(t), l.options(true), true)
	contains(t, call(t, cs, "task", lookup()), "It says alpha.")
}

// TestSampledForms puts a whole request into the protocol's forms.
func TestSampledForms(t *testing.T) {
	t.Parallel()
	half := 0.5
	req := model.Request{
		System: []string{"one", "two"}, Temperature: &half, MaxTokens: 7,
		Tools: []model.Tool{{Name: "read", Description: "Reads.\n", Schema: json.RawMessage(`{"type": "object"}`)}},
		Messages: []model.Message{
			{Role: model.User, Parts: []model.Part{{Text: "hello"}, {File: &model.File{Mime: "image/png", Data: []byte("x")}}, {Text: "there"}}},
			{Role: model.Assistant, Parts: []model.Part{
				{Reasoning: &model.Reasoning{Text: "hm"}}, {Text: "I look."},
				{Call: &model.Call{ID: "1", Name: "read", Input: json.RawMessage(`{"a":1}`)}}, {Call: &model.Call{ID: "2", Name: "read", Input: json.RawMessage(`not`)}},
			}},
			{Role: model.User, Parts: []model.Part{
				{Result: &model.Result{ID: "1", Name: "read", Output: "a ``` b\n", Files: []model.File{{Mime: "application/pdf", Name: "p.pdf"}}}},
				{Result: &model.Result{ID: "2", Name: "read", Output: "no", Failed: true}}, {Text: "go on"},
			}},
			{Role: model.Assistant, Parts: []model.Part{{Reasoning: &model.Reasoning{Text: "hm"}}}},
		},
	}
	for name, s := range map[string]*sampler{"tools": {tools: true}, "words": {}} {
		raw, err := json.MarshalIndent(s.params(req), "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join("testdata", "sampling-"+name+".json")
		if *update {
			if err := os.WriteFile(file, append(raw, '\n'), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Errorf("%v (write it with -update)", err)
		}
		if diff := cmp.Diff(string(want), string(raw)+"\n"); diff != "" {
			t.Errorf("%s (-want +got):\n%s", file, diff)
		}
	}
}

func TestSampledEvents(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		tools bool
		stop  string
		say   []mcp.Content
		want  string
	}{
		{"words", true, "endTurn", []mcp.Content{text1("a"), text1(""), text1("b")}, "text a; text b; done stop"},
		{"nothing", true, "", nil, "done stop"},
		{"stop sequence", true, "stopSequence", []mcp.Content{text1("a")}, "text a; done stop"},
		{"calls", true, "toolUse", []mcp.Content{&mcp.ToolUseContent{ID: "1", Name: "x"}, text1("a"), &mcp.ToolUseContent{ID: "1", Name: "y", Input: map[string]any{"n": 1}}},
			`text a; call 1 x {}; call * y {"n":1}; done tool-calls`},
		{"calls without a reason", true, "endTurn", []mcp.Content{&mcp.ToolUseContent{Name: "x"}}, "call * x {}; done tool-calls"},
		{"cut off", true, "maxTokens", []mcp.Content{text1("a")}, "text a; done length"},
		{"another reason", true, "shrug", []mcp.Content{text1("a")}, "text a; done other shrug"},
		{"a picture", true, "endTurn", []mcp.Content{&mcp.ImageContent{MIMEType: "image/png"}}, "text [The model answered with *mcp.ImageContent, which can not be shown.]; done stop"},
		{"fences", false, "endTurn", []mcp.Content{text1("a\n```tool_call-7f3a\n{\"name\":\"x\"}\n```")}, "text a; call * x {}; done tool-calls"},
		{"fences with tools", true, "endTurn", []mcp.Content{text1("```tool_call-7f3a\n```")}, "text ```tool_call-7f3a\n```; done stop"},
		{"fences cut off", false, "maxTokens", []mcp.Content{text1("```tool_call-7f3a\n{")}, "done length"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			events := (&sampler{tools: tt.tools}).events(&mcp.CreateMessageWithToolsResult{Content: tt.say, StopReason: tt.stop}, secret)
			var got []string
			for _, e := range events {
				switch e.Kind {
				case model.TextDelta:
					got = append(got, "text "+e.Text)
				case model.CallEnd:
					id := e.Call.ID
					if strings.HasPrefix(id, "call_") {
						id = "*"
					}
					got = append(got, fmt.Sprintf("call %s %s %s", id, e.Call.Name, e.Call.Input))
				case model.Done:
					got = append(got, strings.TrimSpace(fmt.Sprintf("done %s %s", e.Reason, e.Detail)))
				}
			}
			if said := strings.Join(got, "; "); said != tt.want {
				t.Errorf("got %q, want %q", said, tt.want)
			}
		})
	}
}

func TestSamplingFailures(t *testing.T) {
	t.Parallel()
	s := &sampler{name: "tester"}
	for _, tt := range []struct {
		err  error
		kind model.ErrorKind
		want string
	}{
		{&jsonrpc.Error{Code: -1, Message: "no\n\x1b[2J"}, model.Invalid, "the user of tester does not let its model be asked: no"},
		{fmt.Errorf("asking: %w", &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "overloaded"}), model.Broken, "the model of tester could not answer: overloaded"},
		{&jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "unknown"}, model.Invalid, "tester did not let its model answer: unknown"},
		{fmt.Errorf("asking: %w", mcp.ErrConnectionClosed), model.Network, "the client does not answer any more"},
	} {
		e, ok := errors.AsType[*model.Error](s.failure(t.Context(), tt.err))
		if !ok || e.Kind != tt.kind || !strings.HasPrefix(e.Message, tt.want) || strings.ContainsAny(e.Message, "\n\x1b") || !errors.Is(e, tt.err) {
			t.Errorf("%v: got %+v", tt.err, e)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	given := errors.New("given up")
	cancel(given)
	if err := s.failure(ctx, errors.New("x")); err != given {
		t.Errorf("got %v", err)
	}
}
