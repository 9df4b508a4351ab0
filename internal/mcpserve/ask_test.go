package mcpserve

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
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
	// What a client says that asks nobody, and one whose person has said no.
	const declined = "Permission was declined, by the user or by a program that did not ask the user: the bash permission for echo hello\u202e."
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
		{"decline", &mcp.ElicitResult{Action: "decline"}, nil, declined, 2, false},
		{"cancel", &mcp.ElicitResult{Action: "cancel"}, nil, declined, 2, false},
		{"decline with words", &mcp.ElicitResult{Action: "decline", Content: map[string]any{"feedback": "use printf"}}, nil, "The user rejected permission to use this specific tool call with the following feedback: use printf", 2, false},
		{"error", nil, os.ErrPermission, "Permission was neither given nor refused: the client could not put the question", 2, false},
		{"nonsense", accept(map[string]any{"decision": "sure"}), nil, "neither given nor refused", 2, false},
		{"nothing", accept(nil), nil, "neither given nor refused", 2, false},
		{"unknown action", &mcp.ElicitResult{Action: "shrug", Content: map[string]any{"decision": "once"}}, nil, declined, 2, false},
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
			if tt.want == declined {
				contains(t, got, `To allow it, add this rule to the configuration: {"permission": {"bash": {"echo hello\u202e": "allow"}}}`)
			}
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
	contains(t, message, "Permission needed: edit (asked by the tool edit)\n", "\nThe file: "+path+"\n", "\nThe change:\n| ", "| -two", "| +zwei")
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
		if r, ok := e.Properties.(event.PermissionReplied); ok {
			if r.Reply != permission.Withdrawn {
				t.Errorf("the request ended with %s", r.Reply)
			}
			break
		}
	}
	if err := cs.Ping(t.Context(), nil); err != nil {
		t.Error(err)
	}
	if n := len(h.runtime(t).Requests().Pending()); n != 0 {
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

func TestSheet(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", maxDetail) + "\nEND"
	asks := newSheet(permission.Request{
		Permission: "bash", Patterns: []string{"git push --force"}, Changed: "description: \x1b[2J was read",
		Asked: []permission.Decision{
			{Pattern: " ends with a blank "}, {Pattern: "guarded", Guarded: true}, {Pattern: "git push --force", Opaque: "$X could be anything", Guarded: true},
			{Pattern: "$Y", Opaque: "$Y could be anything", Feared: true},
		},
		Metadata: map[string]any{
			"command": "git push --force\n\"Always\" would also allow nothing", "diff": long, "n": 3, "empty": "", "workdir": "/w/\u202e",
			"files": []any{map[string]any{"relativePath": "a\nb", "type": "delete", "additions": 0, "deletions": 7, "before": "contents"}},
		},
		Store: []permission.Approval{{Permission: "bash", Pattern: "git push *"}, {Permission: "bash", Pattern: "x", Exact: true}},
	}, "ba\x1bsh")
	const begin = `Permission needed: bash (asked by the tool ba\x1bsh)
Not all is shown: The change is cut.
  $Y
    it is not known what it does: $Y could be anything
    a rule denies what it may do
  git push --force
    it is not known what it does: $X could be anything
    it changes what runs or is allowed later
  guarded
    it changes what runs or is allowed later
  " ends with a blank "

THE TOOL HAS CHANGED since it was first used:
| description: \x1b[2J was read

The command:
| git push --force
| "Always" would also allow nothing

It runs in the folder: /w/\u{202e}

The files: delete a\\nb: 0 lines come, 7 go

n: 3

The change:
| xxx`
	if !strings.HasPrefix(asks.text, begin) {
		t.Errorf("it begins with %s", asks.text[:min(len(asks.text), len(begin)+100)])
	}
	contains(t, asks.text, "(cut here: 12288 of 12292 bytes are shown)",
		"\n\"Always\" would also allow, in this session:\n  bash git push *\n  bash x (exactly this text)")
	for _, not := range []string{"END", "empty", "\x1b", "contents"} {
		if strings.Contains(asks.text, not) {
			t.Errorf("%q is in %s", not, asks.text)
		}
	}
	if len(asks.verdicts()) != 3 {
		t.Errorf("offered: %v", asks.verdicts())
	}
	asks = newSheet(permission.Request{Permission: "read", Patterns: []string{"/w/.env"}, Metadata: map[string]any{"command": "cat .env"}}, "bash")
	contains(t, asks.text, "Permission needed: read (asked by the tool bash)\n  /w/.env\n", "\nFor the command: cat .env\n")
}

// What does not fit into a form cannot be accepted there, and the beginning
// says so. What needs a person most is shown all the same.
func TestSheetOffersNothingThatIsNotShown(t *testing.T) {
	t.Parallel()
	many := func(n int, pattern string) permission.Request {
		req := permission.Request{Permission: "bash"}
		for range n {
			req.Asked = append(req.Asked, permission.Decision{Pattern: pattern})
		}
		req.Asked = append(req.Asked, permission.Decision{Pattern: "curl x | sh", Opaque: "it comes from elsewhere"})
		return req
	}
	tests := []struct {
		name, missing string
		req           permission.Request
	}{
		{"all", "", many(maxAsked-1, "echo hello")},
		{"many", "of 207 things, 7 are not shown and 0 are cut", many(maxAsked+6, "echo hello")},
		{"long", "of 2 things, 0 are not shown and 1 are cut", many(1, strings.Repeat("x", maxThing+1))},
		{"much", "of 101 things, 0 are not shown and 100 are cut", many(100, strings.Repeat("x", maxThings/100+1))},
		{"swelling", "of 2 things, 0 are not shown and 1 are cut", many(1, strings.Repeat("\u202e", maxThing/4))},
	}
	for _, tt := range tests {
		asks := newSheet(tt.req, "")
		if len(asks.text) > 2*maxThings {
			t.Errorf("%s: %d bytes", tt.name, len(asks.text))
		}
		if tt.missing == "" {
			contains(t, asks.text, "Permission needed: bash\n  curl x | sh\n")
			if len(asks.verdicts()) != 3 {
				t.Errorf("%s: offered %v", tt.name, asks.verdicts())
			}
			continue
		}
		contains(t, asks.text, "Permission needed: bash\nTHIS IS TOO LONG TO BE JUDGED IN A FORM, so it can only be rejected here: "+tt.missing+".\n  curl x | sh\n")
		if diff := cmp.Diff([]permission.Verdict{permission.ReplyReject}, asks.verdicts()); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
	req := permission.Request{Permission: "bash", Patterns: []string{"x"}}
	for range maxKept + 1 {
		req.Store = append(req.Store, permission.Approval{Permission: "bash", Pattern: "x"})
	}
	asks := newSheet(req, "")
	contains(t, asks.text, `"Always" is not offered: it would also allow 51 things`)
	if diff := cmp.Diff([]permission.Verdict{permission.ReplyOnce, permission.ReplyReject}, asks.verdicts()); diff != "" {
		t.Error(diff)
	}
}

// A client that accepts what was not offered has accepted nothing.
func TestTooLongForAForm(t *testing.T) {
	t.Parallel()
	h := build(t, permission.Ruleset{ask("bash", "*")}, nil, nil)
	w := h.raw(t)
	w.greet(`{"elicitation":{}}`)
	command := "touch done"
	for i := range maxAsked {
		command += fmt.Sprintf("; echo %d", i)
	}
	for _, decision := range []string{"once", "always", "reject"} {
		w.send(`{"jsonrpc":"2.0","id":"` + decision + `","method":"tools/call","params":{"name":"bash","arguments":{"description":"d","command":"` + command + `"}}}`)
		form := w.read()
		contains(t, form, "elicitation/create", "TOO LONG TO BE JUDGED", `"reject"`)
		if strings.Contains(form, `"once"`) || strings.Contains(form, `"always"`) {
			t.Errorf("offered: %s", form)
		}
		var asked struct {
			ID json.RawMessage `json:"id"`
		}
		if err := json.Unmarshal([]byte(form), &asked); err != nil {
			t.Fatal(err)
		}
		w.send(`{"jsonrpc":"2.0","id":` + string(asked.ID) + `,"result":{"action":"accept","content":{"decision":"` + decision + `"}}}`)
		got := w.read()
		contains(t, got, `"isError":true`)
		if decision == "reject" {
			contains(t, got, "do it in smaller steps")
		}
		if exists(filepath.Join(h.dir, "done")) {
			t.Fatal("the command ran")
		}
	}
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
