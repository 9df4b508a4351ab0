package mcpserve

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"helve"
	"helve/permission"
	"helve/tool"
)

// answering is a client whose person answers as f does.
func answering(f func(ctx context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error)) *mcp.ClientOptions {
	return &mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{}}},
		ElicitationHandler: func(ctx context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return f(ctx, r.Params)
		},
	}
}

func accept(content map[string]any) *mcp.ElicitResult {
	return &mcp.ElicitResult{Action: "accept", Content: content}
}

func TestPermission(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		answer  *mcp.ElicitResult
		err     error
		want    string // in the text of the first call
		asks    int    // of two equal calls
		allowed bool
	}{
		{"once", accept(map[string]any{"decision": "once"}), nil, "hello", 2, true},
		{"always", accept(map[string]any{"decision": "always"}), nil, "hello", 1, true},
		{"reject", accept(map[string]any{"decision": "reject"}), nil, "The user rejected permission", 2, false},
		{"feedback", accept(map[string]any{"decision": "reject", "feedback": "use printf"}), nil, "with the following feedback: use printf", 2, false},
		{"decline", &mcp.ElicitResult{Action: "decline"}, nil, "The user rejected permission", 2, false},
		{"cancel", &mcp.ElicitResult{Action: "cancel"}, nil, "The user rejected permission", 2, false},
		{"error", nil, os.ErrPermission, "could not put the question", 2, false},
		{"nonsense", accept(map[string]any{"decision": "sure"}), nil, "rejected permission", 2, false},
		{"nothing", accept(nil), nil, "rejected permission", 2, false},
		{"unknown action", &mcp.ElicitResult{Action: "shrug", Content: map[string]any{"decision": "once"}}, nil, "rejected permission", 2, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := build(t, permission.Ruleset{ask("bash", "*")}, nil, nil)
			var messages []string
			cs := h.connect(t, answering(func(_ context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
				messages = append(messages, p.Message)
				return tt.answer, tt.err
			}))
			args := map[string]any{"command": "echo hello\u202e", "description": "says hello"}
			got := call(t, cs, "bash", args)
			contains(t, got, tt.want)
			if allowed := !strings.HasPrefix(got, "ERROR"); allowed != tt.allowed {
				t.Errorf("allowed: %t in %s", allowed, got)
			}
			call(t, cs, "bash", args)
			if len(messages) != tt.asks {
				t.Fatalf("asked %d times, want %d", len(messages), tt.asks)
			}
			contains(t, messages[0], "Permission needed: bash", `echo hello\u{202e}`, `"Always" would also allow`)
		})
	}
}

// An edit is shown as a diff, and the person sees all of it.
func TestPermissionShowsDiff(t *testing.T) {
	t.Parallel()
	h := build(t, permission.Ruleset{ask("edit", "*")}, nil, nil)
	path := h.write(t, "a.txt", "one\ntwo\n")
	var message string
	cs := h.connect(t, answering(func(_ context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
		message = p.Message
		return accept(map[string]any{"decision": "once"}), nil
	}))
	call(t, cs, "read", map[string]any{"filePath": path})
	if got := call(t, cs, "edit", map[string]any{"filePath": path, "oldString": "two", "newString": "zwei"}); strings.HasPrefix(got, "ERROR") {
		t.Fatal(got)
	}
	contains(t, message, "Permission needed: edit", "diff:\n| ", "| -two", "| +zwei")
}

// A client that has no forms gets a runtime that knows that nobody is there.
func TestHeadless(t *testing.T) {
	t.Parallel()
	h := build(t, permission.Ruleset{ask("bash", "*")}, nil, nil)
	for _, c := range []*mcp.ClientCapabilities{{}, {Elicitation: &mcp.ElicitationCapabilities{URL: &mcp.URLElicitationCapabilities{}}}} {
		cs := h.connect(t, &mcp.ClientOptions{Capabilities: c})
		got := call(t, cs, "bash", map[string]any{"command": "echo hello", "description": "says hello"})
		contains(t, got, "ERROR", "nobody to ask", `{"permission": {"bash": {"echo hello": "allow"}}}`)
	}
	if got := h.workspaces(); len(got) != 1 || got[0].Attended {
		t.Errorf("workspaces: %+v", got)
	}
}

// A call that is cancelled takes its question back.
func TestWithdrawn(t *testing.T) {
	t.Parallel()
	h := build(t, permission.Ruleset{ask("bash", "*")}, nil, nil)
	shown, gone := make(chan struct{}), make(chan struct{})
	cs := h.connect(t, answering(func(ctx context.Context, _ *mcp.ElicitParams) (*mcp.ElicitResult, error) {
		close(shown)
		<-ctx.Done()
		close(gone)
		return nil, ctx.Err()
	}))
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() {
		_, err := cs.CallTool(ctx, &mcp.CallToolParams{Name: "bash", Arguments: map[string]any{"command": "echo hello", "description": "says hello"}})
		failed <- err
	}()
	<-shown
	cancel()
	if err := <-failed; err == nil {
		t.Error("the call went well")
	}
	<-gone
	for e := range h.runtime(t).Events(t.Context(), 0) {
		if r, ok := e.Properties.(helve.PermissionReplied); ok {
			if r.Reply != permission.Withdrawn {
				t.Errorf("the request ended with %s", r.Reply)
			}
			break
		}
	}
	if err := cs.Ping(t.Context(), nil); err != nil {
		t.Error(err)
	}
	if n := len(h.runtime(t).Pending()); n != 0 {
		t.Errorf("%d requests wait", n)
	}
}

// An answer of always also answers the other requests that it covers, and
// these are taken back.
func TestAlwaysSettlesOthers(t *testing.T) {
	t.Parallel()
	h := build(t, permission.Ruleset{ask("bash", "*")}, nil, nil)
	first, both := make(chan struct{}, 2), make(chan struct{})
	cs := h.connect(t, answering(func(ctx context.Context, _ *mcp.ElicitParams) (*mcp.ElicitResult, error) {
		select {
		case first <- struct{}{}: // the first and the second
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if len(first) == 2 {
			close(both)
			return accept(map[string]any{"decision": "always"}), nil
		}
		<-ctx.Done() // the other answers
		return nil, ctx.Err()
	}))
	got := make(chan string, 2)
	for range 2 {
		go func() {
			got <- call(t, cs, "bash", map[string]any{"command": "echo hello", "description": "says hello"})
		}()
	}
	<-both
	for range 2 {
		contains(t, <-got, "hello")
	}
}

// The calls that a call makes are asked about like any other.
func TestInnerPermission(t *testing.T) {
	t.Parallel()
	h := build(t, permission.Ruleset{ask("read", "*")}, nil, nil)
	h.write(t, "a.txt", "content of a")
	cs := h.connect(t, answering(func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
		return accept(map[string]any{"decision": "once"}), nil
	}))
	got := call(t, cs, "batch", map[string]any{"tool_calls": []any{map[string]any{"tool": "read", "parameters": map[string]any{"filePath": "a.txt"}}}})
	contains(t, got, "[1] read: completed", "content of a")
}

func TestRequestText(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", maxDetail) + "\nEND"
	got := requestText(permission.Request{
		Permission: "bash", Patterns: []string{"git push --force"}, Changed: "description: \x1b[2J was read",
		Asked:    []permission.Decision{{Pattern: "git push --force", Opaque: "$X could be anything", Guarded: true}, {Pattern: " ends with a blank "}},
		Metadata: map[string]any{"command": "git push --force\n\"Always\" would also allow nothing", "diff": long, "n": 3, "empty": ""},
		Store:    []permission.Approval{{Permission: "bash", Pattern: "git push *"}, {Permission: "bash", Pattern: "x", Exact: true}},
	})
	contains(t, got,
		"Permission needed: bash\n  git push --force\n    it is not known what it does: $X could be anything\n    it changes what runs or is allowed later\n  \" ends with a blank \"\n",
		"THE TOOL HAS CHANGED since it was first used:\n| description: \\x1b[2J was read\n",
		"\ncommand:\n| git push --force\n| \"Always\" would also allow nothing\n",
		"(cut here: 12288 of 12292 bytes are shown)", "\nn: 3\n",
		"\n\"Always\" would also allow, in this session:\n  bash git push *\n  bash x (exactly this text)")
	if strings.Contains(got, "END") || strings.Contains(got, "empty") || strings.ContainsRune(got, '\x1b') {
		t.Error(got)
	}
	many := permission.Request{Permission: "read"}
	for range maxAsked + 7 {
		many.Patterns = append(many.Patterns, "p")
	}
	contains(t, requestText(many), "(and 7 more)")
}

func TestQuestions(t *testing.T) {
	t.Parallel()
	qs := []map[string]any{
		{"question": "Which one?", "header": "Colour", "options": []map[string]any{{"label": "Red", "description": "like blood"}, {"label": "Blue", "description": ""}}},
		{"question": "Which ones?", "header": "Pets", "multiple": true, "options": []map[string]any{{"label": "Cat", "description": "meows"}, {"label": "Dog", "description": "barks"}}},
	}
	t.Run("answered", func(t *testing.T) {
		t.Parallel()
		h := build(t, nil, nil, nil)
		var asked *mcp.ElicitParams
		cs := h.connect(t, answering(func(_ context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			asked = p
			return accept(map[string]any{"q1": "Blue", "q2": []any{"Cat", "Dog"}, "q2_own": "a mouse"}), nil
		}))
		got := call(t, cs, "question", map[string]any{"questions": qs})
		contains(t, got, "Blue", "Cat", "Dog", "a mouse")
		contains(t, asked.Message, "1. Which one?\n   - Red: like blood\n   - Blue\n", "2. Which ones?")
		contains(t, asJSON(t, asked.RequestedSchema), `"anyOf":[{"const":"Cat","title":"Cat: meows"}`, `"title":"Pets: own answer"`)
	})
	t.Run("dismissed", func(t *testing.T) {
		t.Parallel()
		h := build(t, nil, nil, nil)
		cs := h.connect(t, answering(func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "decline"}, nil
		}))
		contains(t, call(t, cs, "question", map[string]any{"questions": qs}), "ERROR: The user dismissed this question")
	})
	t.Run("nobody", func(t *testing.T) {
		t.Parallel()
		h := build(t, nil, nil, nil)
		res, err := h.connect(t, nil).ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, tl := range res.Tools {
			if tl.Name == "question" {
				t.Error("there is nobody to answer, and question is listed")
			}
		}
	})
}

func TestQuestionForm(t *testing.T) {
	t.Parallel()
	qs := []tool.Question{
		{Question: "One?", Header: "H", Options: []tool.Choice{{Label: "a\u200b", Description: "x"}, {Label: "b"}, {Label: "b"}, {Label: ""}}},
		{Question: "Many?", Multiple: true, Options: []tool.Choice{{Label: "c"}, {Label: "d"}}},
		{Question: "Free?", Header: "F"},
		{Question: "Own?", Header: "O", Options: []tool.Choice{{Label: "e"}}},
	}
	content := map[string]any{"q1": `a\u{200b}`, "q2_2": true, "q2_1": false, "q3_own": " words ", "q4": "e", "q4_own": "mine", "q9": "?"}
	want := [][]string{{"a\u200b"}, {"d"}, {"words"}, {"mine"}}
	old := newQuestionForm("2025-06-18", qs)
	if diff := cmp.Diff(want, old.answers(content)); diff != "" {
		t.Error(diff)
	}
	contains(t, string(form(old.fields)), `"enumNames":["a\\u{200b}: x","b"]`, `"q2_1":{"default":false`, `"title":"Question 2: c"`, `"q3_own":{"description":"Free?"`)
	now := newQuestionForm("2025-11-25", qs)
	content["q2"] = []any{"d", "e", 7}
	if diff := cmp.Diff(want, now.answers(content)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([][]string{{}, {}, {}, {}}, now.answers(nil)); diff != "" {
		t.Error(diff)
	}
}

// A no stops the command, and the next call is asked about anew.
func TestNoThenYes(t *testing.T) {
	t.Parallel()
	h := build(t, permission.Ruleset{ask("bash", "*")}, nil, nil)
	reject := true
	cs := h.connect(t, answering(func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
		if reject {
			reject = false
			return &mcp.ElicitResult{Action: "decline"}, nil
		}
		return accept(map[string]any{"decision": "always"}), nil
	}))
	args := map[string]any{"command": "echo hello > out.txt", "description": "writes"}
	contains(t, call(t, cs, "bash", args), "ERROR")
	if _, err := os.Stat(filepath.Join(h.dir, "out.txt")); err == nil {
		t.Error("a rejected command ran")
	}
	call(t, cs, "bash", args)
	if _, err := os.Stat(filepath.Join(h.dir, "out.txt")); err != nil {
		t.Error("an allowed command did not run")
	}
}
