package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// A fakeDesk is a desk that notes what it is told.
type fakeDesk struct {
	pending []permission.Request
	refuse  error // of the first reply
	got     []string
}

func (r *fakeDesk) Pending() []permission.Request { return r.pending }
func (r *fakeDesk) Reply(id string, reply permission.Reply) error {
	r.got = append(r.got, fmt.Sprintf("reply %s %s %s %q", id, reply.Verdict, reply.Scope, reply.Message))
	err := r.refuse
	r.refuse = nil
	return err
}
func (r *fakeDesk) Answer(id string, answers [][]string) error {
	r.got = append(r.got, fmt.Sprintf("answer %s %q", id, answers))
	return nil
}
func (r *fakeDesk) Dismiss(id string) error {
	r.got = append(r.got, "dismiss "+id)
	return nil
}

func asked(id string, patterns ...string) permission.Request {
	return permission.Request{
		ID: id, Permission: "read", Patterns: patterns, Call: &permission.CallRef{Call: "c1"},
		Store: []permission.Approval{{Permission: "read", Pattern: "*"}, {Permission: "read", Pattern: patterns[0], Exact: true}},
	}
}

func TestPermissionPrompt(t *testing.T) {
	for _, tc := range []struct{ name, typed, want string }{
		{"once", "o\n", `reply p1 once  ""`},
		{"upper case and blanks", "  O \n", `reply p1 once  ""`},
		{"session", "s\n", `reply p1 always session ""`},
		{"project", "p\n", `reply p1 always project ""`},
		{"everywhere", "e\n", `reply p1 always user ""`},
		{"reject", "r\n", `reply p1 reject  ""`},
		{"feedback", "f\nuse the example file\n", `reply p1 reject  "use the example file"`},
		{"feedback that ends", "f\n", `reply p1 reject  ""`},
		{"junk first", "\nmaybe\nok\no\n", `reply p1 once  ""`},
		{"the input ends", "", `reply p1 reject  ""`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := &fakeDesk{pending: []permission.Request{asked("p1", "/w/.env")}}
			p := newPrompter(strings.NewReader(tc.typed), io.Discard, d)
			p.handle(t.Context(), event.Event{Properties: event.PermissionAsked{Request: d.pending[0]}})
			if diff := cmp.Diff([]string{tc.want}, d.got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPermissionPromptShows(t *testing.T) {
	var out strings.Builder
	d := &fakeDesk{refuse: errors.New("the disk is full")}
	req := asked("p1", "/w/\u202eevil\x1b[2J\n[o]nce")
	req.Metadata = map[string]any{"diff": "-old\n+new\x07\n", "filepath": "a\nb", "n": 3}
	d.pending = []permission.Request{req}
	p := newPrompter(strings.NewReader("p\ns\n"), &out, d)
	p.handle(t.Context(), event.Event{Properties: event.CallStarted{Call: tool.Call{ID: "c1", Tool: "read", Agent: "build"}}})
	p.handle(t.Context(), event.Event{Properties: event.PermissionAsked{Request: req}})
	want := `
Permission needed: read (tool read, agent build)
  /w/\u{202e}evil\x1b[2J\n[o]nce
  diff:
  | -old
  | +new\x07
  filepath:
  | a
  | b
  n: 3
Always would also allow, from now on:
  read *
  read /w/\u{202e}evil\x1b[2J\n[o]nce (exactly this text)
`
	const ask = "Allow? Type a letter, then Enter:\n[o]nce, always: [s]ession [p]roject [e]verywhere, [r]eject, [f]eedback: "
	if diff := cmp.Diff(want+ask+"the disk is full\n"+ask, out.String()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{`reply p1 always project ""`, `reply p1 always session ""`}, d.got); diff != "" {
		t.Error(diff)
	}
}

// Who is asked about a file that a command wants sees the command.
func TestPermissionPromptShowsTheCommand(t *testing.T) {
	for name, want := range map[string]string{
		"read": "  for the command: cat .env\\x1b[2J\n  in the folder: /w/sub\n",
		"bash": "  command: cat .env\\x1b[2J\n  in the folder: /w/sub\n",
	} {
		var out strings.Builder
		req := asked("p1", "/w/.env")
		req.Permission, req.Metadata = name, map[string]any{"command": "cat .env\x1b[2J", "workdir": "/w/sub"}
		p := newPrompter(strings.NewReader("r\n"), &out, &fakeDesk{pending: []permission.Request{req}})
		p.handle(t.Context(), event.Event{Properties: event.PermissionAsked{Request: req}})
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in %q", want, out.String())
		}
	}
}

// Who answers what cannot be understood sees again what it is about.
func TestPromptsAskAgain(t *testing.T) {
	var out strings.Builder
	req := asked("p1", "/w/.env\x1b", "/w/b")
	p := newPrompter(strings.NewReader("what\no\n3\n1\n"), &out, &fakeDesk{pending: []permission.Request{req}})
	p.handle(t.Context(), event.Event{Properties: event.PermissionAsked{Request: req}})
	q := tool.Question{Question: "Which?", Options: []tool.Choice{{Label: "red"}}}
	p.handle(t.Context(), event.Event{Properties: event.QuestionAsked{QuestionRequest: tool.QuestionRequest{ID: "q1", Questions: []tool.Question{q}}}})
	for _, want := range []string{"then Enter. It is about read /w/.env\\x1b ….\n", "There is no option 3. Which?\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
}

func TestSettledRequestIsNotAsked(t *testing.T) {
	d := &fakeDesk{}
	p := newPrompter(strings.NewReader(""), io.Discard, d)
	p.handle(t.Context(), event.Event{Properties: event.PermissionAsked{Request: asked("p1", "x")}})
	if d.got != nil {
		t.Errorf("a request that nobody waits for was answered: %q", d.got)
	}
}

func TestPromptEndsWithTheCall(t *testing.T) {
	in, w := io.Pipe()
	defer w.Close()
	d := &fakeDesk{pending: []permission.Request{asked("p1", "x")}}
	p := newPrompter(in, io.Discard, d)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { p.handle(ctx, event.Event{Properties: event.PermissionAsked{Request: d.pending[0]}}) })
	cancel()
	wg.Wait()
	if d.got != nil {
		t.Errorf("got %q, want no answer", d.got)
	}
}

// TestPromptForgets has a person type at the wrong time: before the prompt, and
// while a prompt that is gone still reads.
func TestPromptForgets(t *testing.T) {
	in, w := io.Pipe()
	defer w.Close()
	d := &fakeDesk{pending: []permission.Request{asked("p1", "x"), asked("p2", "x"), asked("p3", "x")}}
	var out strings.Builder
	p := newPrompter(in, &out, d)
	ahead := ""
	p.forget = func() { ahead = "" }
	ask := func(ctx context.Context, i int) {
		p.handle(ctx, event.Event{Properties: event.PermissionAsked{Request: d.pending[i]}})
	}
	types := func(text string) {
		if _, err := io.WriteString(w, text); err != nil {
			t.Error(err)
		}
	}
	var wg sync.WaitGroup
	wg.Go(func() { types("o\no\n") }) // two lines in one: the second stays in the buffer
	ask(t.Context(), 0)
	wg.Wait()
	if p.in.Waiting() == 0 {
		t.Fatal("the second line was not read ahead, so nothing is tried here")
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	ahead = "in the terminal"
	ask(gone, 1)
	if ahead != "" {
		t.Errorf("left: %q", ahead)
	}
	wg.Go(func() { types("o\n"); types("r\n") }) // the first answers a prompt that is gone
	ask(t.Context(), 2)
	in.Close() // nobody reads any more
	wg.Wait()
	if diff := cmp.Diff([]string{`reply p1 once  ""`, `reply p3 reject  ""`}, d.got); diff != "" {
		t.Errorf("%s\n%s", diff, out.String())
	}
}

func TestShownPattern(t *testing.T) {
	for pattern, want := range map[string]string{
		"git push *": "git push *", "": `""`, " x": `" x"`, "x ": `"x "`, " ": `" "`, "\tx": `\tx`,
		`"x"`: `""x""`, `x"y`: `x"y`, strings.Repeat(" ", 12) + "x": "<12 spaces>x",
	} {
		if got := shownPattern(pattern); got != want {
			t.Errorf("%q is shown as %s, want %s", pattern, got, want)
		}
	}
}

func TestQuestionPrompt(t *testing.T) {
	one := tool.Question{Question: "Which?", Header: "Pick", Options: []tool.Choice{{Label: "red", Description: "hot"}, {Label: "blue"}}}
	many := one
	many.Multiple = true
	for _, tc := range []struct {
		name, typed string
		qs          []tool.Question
		want        string
	}{
		{"a number", "2\n", []tool.Question{one}, `answer q1 [["blue"]]`},
		{"own words", "green, I think\n", []tool.Question{one}, `answer q1 [["green, I think"]]`},
		{"nothing", "\n", []tool.Question{one}, `answer q1 [[]]`},
		{"dismissed", "d\n", []tool.Question{one}, `dismiss q1`},
		{"the input ends", "", []tool.Question{one}, `dismiss q1`},
		{"a number that is none", "3\n1\n", []tool.Question{one}, `answer q1 [["red"]]`},
		{"two where one is wanted", "1 2\n1\n", []tool.Question{one}, `answer q1 [["red"]]`},
		{"two", "2, 1,2\n", []tool.Question{many}, `answer q1 [["blue" "red"]]`},
		{"two questions", "1\n\n", []tool.Question{one, many}, `answer q1 [["red"] []]`},
		{"two questions, one dismissed", "1\nd\n", []tool.Question{one, many}, `dismiss q1`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := &fakeDesk{}
			p := newPrompter(strings.NewReader(tc.typed), io.Discard, d)
			p.handle(t.Context(), event.Event{Properties: event.QuestionAsked{QuestionRequest: tool.QuestionRequest{ID: "q1", Questions: tc.qs}}})
			if diff := cmp.Diff([]string{tc.want}, d.got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What has changed about a tool is shown before anything is answered.
func TestPermissionPromptShowsTheChange(t *testing.T) {
	var out strings.Builder
	req := asked("p1", "*")
	req.Changed = "- Opens a box.\n+ Opens every box.\x1b[2J"
	d := &fakeDesk{pending: []permission.Request{req}}
	newPrompter(strings.NewReader("r\n"), &out, d).handle(t.Context(), event.Event{Properties: event.PermissionAsked{Request: req}})
	if got := out.String(); !strings.Contains(got, "not what it was") || !strings.Contains(got, "+ Opens every box.") || strings.Contains(got, "\x1b") {
		t.Errorf("the prompt is %q", got)
	}
}
