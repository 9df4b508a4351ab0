package helve_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/model"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/internal/lspclient/lsptest"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
	"github.com/helve-dev/helve/tooltest"
)

func TestMain(m *testing.M) {
	lsptest.Main() // it is also the language server of its tests
	tooltest.Main(m)
}

// open returns a runtime in a folder of its own.
func open(t *testing.T, opt helve.Options) *helve.Runtime {
	t.Helper()
	if opt.Dir == "" {
		opt.Dir = t.TempDir()
	}
	rt, err := helve.Open(opt)
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

type echoInput struct {
	Say string `json:"say" jsonschema:"what to say"`
}

func echo(name string, run func(ctx context.Context, c *tool.Call, in echoInput) (*tool.Result, error)) tool.Tool {
	if run == nil {
		run = func(_ context.Context, _ *tool.Call, in echoInput) (*tool.Result, error) {
			return &tool.Result{Title: name, Output: in.Say}, nil
		}
	}
	return tool.New(tool.Spec{Name: name, Description: "Says it again."}, run)
}

func register(t *testing.T, rt *helve.Runtime, tl tool.Tool) (remove func()) {
	t.Helper()
	remove, err := rt.Register(tl)
	if err != nil {
		t.Fatal(err)
	}
	return remove
}

func say(name, text string) tool.Call {
	in, _ := json.Marshal(map[string]string{"say": text})
	return tool.Call{Tool: name, Input: in}
}

func kindOf(t *testing.T, err error) *tool.Error {
	t.Helper()
	e, ok := errors.AsType[*tool.Error](err)
	if !ok {
		t.Fatalf("not a tool error: %v", err)
	}
	return e
}

func TestLaterToolWinsUntilRemoved(t *testing.T) {
	rt := open(t, helve.Options{})
	said := func() string {
		res, err := rt.Call(t.Context(), say("echo", "x"))
		if err != nil {
			return err.Error()
		}
		return res.Output
	}
	removeFirst := register(t, rt, echo("echo", nil))
	removeSecond := register(t, rt, echo("echo", func(context.Context, *tool.Call, echoInput) (*tool.Result, error) {
		return &tool.Result{Output: "second"}, nil
	}))
	if got := said(); got != "second" {
		t.Errorf("two of a name: %s", got)
	}
	names := func() (out []string) {
		for _, s := range rt.Tools(tool.Audience{}) {
			out = append(out, s.Name)
		}
		return out
	}
	if n := names(); n[len(n)-1] != "echo" || slices.Index(n, "echo") != len(n)-1 {
		t.Errorf("tools: %v", n)
	}
	removeSecond()
	removeSecond() // a second time does nothing
	if got := said(); got != "x" {
		t.Errorf("after removal: %s", got)
	}
	removeFirst()
	if _, err := rt.Call(t.Context(), say("echo", "x")); kindOf(t, err).Kind != tool.UnknownTool {
		t.Errorf("after both are gone: %v", err)
	}
}

func TestExternalToolsDoNotTakeBuiltinNames(t *testing.T) {
	rt := open(t, helve.Options{})
	for name, want := range map[string]bool{"read": false, "bash": false, "external_directory": false, "fs_read": true} {
		spec := tool.Spec{Name: name, Description: "not the real one", External: true}
		_, err := rt.Register(tool.New(spec, func(context.Context, *tool.Call, echoInput) (*tool.Result, error) { return nil, nil }))
		if (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestInvalidWay(t *testing.T) {
	rt := open(t, helve.Options{})
	_, err := rt.Call(t.Context(), tool.Call{Tool: "reed", Input: []byte(`{}`)})
	e := kindOf(t, err)
	if e.Kind != tool.UnknownTool || e.Code != "unknown-tool" || e.Tool != "invalid" || e.Answer == nil || !strings.Contains(e.Hint, "read") {
		t.Errorf("unknown name: %+v", e)
	}
	names := "invalid"
	for _, s := range rt.Tools(tool.Audience{}) {
		names += ", " + s.Name
	}
	want := "The arguments provided to the tool are invalid: Model tried to call unavailable tool 'reed'. Available tools: " + names + "."
	if e.Answer != nil && e.Answer.Output != want {
		t.Errorf("answer: %s", e.Answer.Output)
	}
	_, err = rt.Call(t.Context(), tool.Call{Tool: "read", Input: []byte(`{"filePath":`)})
	if e := kindOf(t, err); e.Kind != tool.InvalidInput || e.Code != "invalid-json" || e.Answer == nil ||
		!strings.HasPrefix(e.Error(), `Invalid input for tool read: JSON parsing failed: Text: {"filePath":.`) {
		t.Errorf("bad JSON: %+v", e)
	}
	_, err = rt.Call(t.Context(), tool.Call{Tool: "batch", Input: []byte(`{}`)})
	if e := kindOf(t, err); e.Kind != tool.UnknownTool || !strings.Contains(e.Hint, "switched off") {
		t.Errorf("a tool that is off: %v, %s", err, e.Hint)
	}
	_, err = rt.Call(t.Context(), tool.Call{Tool: "todoread", Agent: "general"})
	if e := kindOf(t, err); e.Kind != tool.UnknownTool || !strings.Contains(e.Hint, "agent general") {
		t.Errorf("a tool that a rule hides: %v, %s", err, e.Hint)
	}
	res, err := rt.Call(t.Context(), tool.Call{Tool: "TodoRead"})
	if err != nil || res.Output != "[]" {
		t.Errorf("another case: %v %v", res, err)
	}
}

func TestHooks(t *testing.T) {
	var seen []string
	hook := func(name string) helve.Hook {
		return helve.Hook{
			Before: func(_ context.Context, c *tool.Call) (*tool.Result, error) {
				seen = append(seen, "before "+name+" "+string(c.Input))
				switch string(c.Input) {
				case `{"say":"refuse"}`:
					return nil, errors.New("not today")
				case `{"say":"answer"}`:
					return &tool.Result{Output: "from the hook"}, nil
				case `{"say":"break"}`:
					c.Input = []byte(`{"say":5}`)
				case `{"say":"panic"}`:
					panic("hook")
				case `{"say":"rewrite"}`:
					c.Input = []byte(`{"say":"rewritten","extra":1}`)
				}
				return nil, nil
			},
			After: func(_ context.Context, _ *tool.Call, res *tool.Result) error {
				res.Output += "+" + name
				return nil
			},
		}
	}
	rt := open(t, helve.Options{Hooks: []helve.Hook{hook("a"), {}, hook("b")}})
	register(t, rt, echo("echo", nil))
	for _, c := range []struct {
		say, want string
		kind      tool.Kind
	}{
		{"hi", "hi+a+b", ""},
		{"rewrite", "rewritten+a+b", ""},
		{"answer", "from the hook+a+b", ""},
		{"refuse", "not today", tool.Denied},
		{"break", "The echo tool was called with invalid arguments", tool.InvalidInput},
		{"panic", "broke", tool.Internal},
	} {
		res, err := rt.Call(t.Context(), say("echo", c.say))
		if c.kind == "" {
			if err != nil || res.Output != c.want {
				t.Errorf("%s: got %+v, %v", c.say, res, err)
			}
			continue
		}
		if e := kindOf(t, err); e.Kind != c.kind || !strings.Contains(e.Error(), c.want) {
			t.Errorf("%s: got %s %v", c.say, e.Kind, e)
		}
	}
	if i := slices.Index(seen, `before a {"say":"rewrite"}`); i < 0 || seen[i+1] != `before b {"say":"rewritten"}` {
		t.Errorf("the second hook saw what was not checked: %q", seen)
	}
}

func TestCancelReturnsWhateverTheToolDoes(t *testing.T) {
	rt := open(t, helve.Options{})
	release := make(chan struct{})
	register(t, rt, echo("deaf", func(context.Context, *tool.Call, echoInput) (*tool.Result, error) {
		<-release
		return &tool.Result{}, nil
	}))
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	_, err := rt.Call(ctx, say("deaf", ""))
	if e := kindOf(t, err); e.Kind != tool.Canceled {
		t.Errorf("got %v", e)
	}
	close(release)
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer stop()
	register(t, rt, echo("polite", func(ctx context.Context, _ *tool.Call, _ echoInput) (*tool.Result, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}))
	_, err = rt.Call(ctx, say("polite", ""))
	if e := kindOf(t, err); e.Kind != tool.Canceled || e.Code != "timeout" {
		t.Errorf("a deadline: got %s %s", e.Kind, e.Code)
	}
}

func TestPanicIsAnErrorOfTheCall(t *testing.T) {
	rt := open(t, helve.Options{})
	register(t, rt, echo("bad", func(context.Context, *tool.Call, echoInput) (*tool.Result, error) { panic("boom") }))
	_, err := rt.Call(t.Context(), say("bad", ""))
	if e := kindOf(t, err); e.Kind != tool.Internal || !strings.Contains(e.Error(), "boom") || strings.Contains(e.Error(), "goroutine") {
		t.Errorf("got %v", e)
	}
	if _, err := rt.Call(t.Context(), tool.Call{Tool: "todoread"}); err != nil {
		t.Errorf("the next call: %v", err)
	}
}

func TestBoundedOutputIsKept(t *testing.T) {
	somebody := agent.Models{
		Default: model.Ref{Provider: "acme", Model: "m"},
		Find: func(model.Ref) (model.Model, error) {
			return model.Model{}, errors.New("it does not come to that")
		},
	}
	for _, c := range []struct {
		agent, hint string
		models      agent.Models
	}{
		{"build", "Use the Task tool", somebody},
		{"build", "Use Grep to search", agent.Models{}}, // nobody could be given work
		{"explore", "Use Grep to search", somebody},
	} {
		agent := c.agent
		rt := open(t, helve.Options{DataDir: t.TempDir(), Models: c.models})
		spec := tool.Spec{Name: "grep", Description: "stands for one that explore may use"}
		register(t, rt, tool.New(spec, func(context.Context, *tool.Call, struct{}) (*tool.Result, error) {
			return &tool.Result{Output: strings.Repeat("line\n", 3000)}, nil
		}))
		res, err := rt.Call(t.Context(), tool.Call{Tool: "grep", Agent: agent})
		if err != nil {
			t.Fatal(err)
		}
		path, _ := res.Metadata["outputPath"].(string)
		kept, err := os.ReadFile(path)
		if err != nil || string(kept) != strings.Repeat("line\n", 3000) {
			t.Errorf("kept text: %d bytes, %v", len(kept), err)
		}
		if !strings.Contains(res.Output, "...1001 lines truncated...") || !strings.Contains(res.Output, c.hint) || res.Metadata["truncated"] != true {
			t.Errorf("%s, %q: %s", agent, c.hint, res.Output[len(res.Output)-400:])
		}
		if _, err := rt.Call(t.Context(), tool.Call{Tool: "read", Agent: agent, Input: fmt.Appendf(nil, `{"filePath":%q}`, path)}); err != nil {
			t.Errorf("reading the kept output asks: %v", err)
		}
	}
}

func TestInvalidPolicyDeniesEverything(t *testing.T) {
	rt := open(t, helve.Options{PolicyError: "opencode.json:3: \"Allow\" is no action"})
	for _, name := range []string{"read", "todoread", "question", "nothing"} {
		_, err := rt.Call(t.Context(), tool.Call{Tool: name, Input: []byte(`{}`)})
		if e := kindOf(t, err); e.Kind != tool.Denied || !strings.Contains(e.Error(), "opencode.json:3") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRulesDecide(t *testing.T) {
	user, err := permission.ParseConfig([]byte(`{"read":{"*secret*":"deny"},"todowrite":"deny"}`), permission.ConfigOptions{})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	rt := open(t, helve.Options{Dir: dir, Unattended: true, Agents: agent.Specs(agent.SpecOptions{User: user, Worktree: dir})})
	for _, c := range []struct {
		tool, input string
		kind        tool.Kind
	}{
		{"read", `{"filePath":"a.txt"}`, ""},
		{"read", `{"filePath":"secret/k"}`, tool.Denied},
		{"read", `{"filePath":"link-to-secret"}`, tool.Denied},
		{"read", `{"filePath":".env"}`, tool.Unattended},
		{"read", `{"filePath":".env.example"}`, ""},
		{"read", `{"filePath":"innocent"}`, tool.Unattended}, // a link to .env
		{"read", `{"filePath":"out"}`, tool.Unattended},      // a link that leads outside
		{"read", `{"filePath":"/etc/hostname"}`, tool.Unattended},
		{"todowrite", `{"todos":[]}`, tool.UnknownTool},
	} {
		for name, to := range map[string]string{"innocent": ".env", "out": "/etc/hostname", "link-to-secret": "secret/k"} {
			_ = os.Symlink(to, filepath.Join(dir, name))
		}
		for _, f := range []string{"a.txt", "secret/k", ".env", ".env.example"} {
			_ = os.MkdirAll(filepath.Dir(filepath.Join(dir, f)), 0o755)
			if err := os.WriteFile(filepath.Join(dir, f), []byte("x"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		_, err := rt.Call(t.Context(), tool.Call{Tool: c.tool, Input: []byte(c.input)})
		if got := tool.KindOf(err); got != c.kind {
			t.Errorf("%s %s: got %q (%v), want %q", c.tool, c.input, got, err, c.kind)
		}
	}
}

func TestEventsHaveOneOrder(t *testing.T) {
	rt := open(t, helve.Options{})
	register(t, rt, echo("echo", func(_ context.Context, c *tool.Call, in echoInput) (*tool.Result, error) {
		c.Progress("half way", map[string]any{"n": 1})
		return &tool.Result{Output: in.Say}, nil
	}))
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			if _, err := rt.Call(t.Context(), say("echo", fmt.Sprint(i))); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	var last uint64
	states := map[string]string{}
	for e := range rt.Events(t.Context(), 0) {
		if e.Seq != last+1 {
			t.Fatalf("event %d follows %d", e.Seq, last)
		}
		last = e.Seq
		switch p := e.Properties.(type) {
		case event.CallStarted:
			states[p.Call.ID] += "s"
		case event.CallRunning:
			states[p.ID] += "r"
		case event.CallProgress:
			states[p.ID] += "p"
		case event.CallFinished:
			states[p.ID] += "f"
		}
		if last == 202 { // tools.changed, session.created, and four a call
			break
		}
	}
	for id, s := range states {
		if s != "srpf" {
			t.Errorf("call %s: %s", id, s)
		}
	}
	if len(states) != 50 {
		t.Errorf("%d calls were told of", len(states))
	}
}

func TestSlowSubscriberIsToldWhatItMissed(t *testing.T) {
	rt := open(t, helve.Options{})
	register(t, rt, echo("echo", func(_ context.Context, c *tool.Call, _ echoInput) (*tool.Result, error) {
		for i := range 10_000 {
			c.Progress(fmt.Sprint(i), nil)
		}
		return &tool.Result{}, nil
	}))
	if _, err := rt.Call(t.Context(), say("echo", "")); err != nil {
		t.Fatal(err)
	}
	var missed, seen uint64
	for e := range rt.Events(t.Context(), 0) {
		if m, ok := e.Properties.(event.Missed); ok {
			missed += m.Count
		} else {
			seen++
		}
		if _, ok := e.Properties.(event.CallFinished); ok {
			if e.Seq != missed+seen {
				t.Errorf("event %d after %d missed and %d seen", e.Seq, missed, seen)
			}
			break
		}
	}
	if missed == 0 {
		t.Error("nothing was missed")
	}
}

func TestQuestions(t *testing.T) {
	rt := open(t, helve.Options{})
	go func() {
		for e := range rt.Events(t.Context(), 0) {
			if q, ok := e.Properties.(event.QuestionAsked); ok {
				if q.Questions[0].Header == "dismiss" {
					_ = rt.Requests().Dismiss(q.ID)
				} else {
					_ = rt.Requests().Answer(q.ID, [][]string{{"A", "B"}})
				}
			}
		}
	}()
	ask := func(header string) (*tool.Result, error) {
		return rt.Call(t.Context(), tool.Call{Tool: "question",
			Input: fmt.Appendf(nil, `{"questions":[{"question":"Which?","header":%q,"options":[]}]}`, header)})
	}
	res, err := ask("pick")
	if err != nil || res.Output != `User has answered your questions: "Which?"="A, B". You can now continue with the user's answers in mind.` {
		t.Errorf("got %+v %v", res, err)
	}
	_, err = ask("dismiss")
	if e := kindOf(t, err); e.Kind != tool.Rejected || e.Error() != "The user dismissed this question" {
		t.Errorf("dismissed: %v", err)
	}
	rt.Leave()
	if _, err = ask("late"); kindOf(t, err).Kind != tool.Unattended {
		t.Errorf("with nobody there: %v", err)
	}
}

func TestDoomLoopIsAskedAbout(t *testing.T) {
	rt := open(t, helve.Options{Unattended: true})
	call := say("echo", "again")
	call.Session, call.Message = "s", "m"
	register(t, rt, echo("echo", nil))
	for i, want := range []tool.Kind{"", "", tool.Unattended} {
		if _, err := rt.Call(t.Context(), call); tool.KindOf(err) != want {
			t.Errorf("call %d: %v", i+1, err)
		}
	}
	call.Message = "next"
	if _, err := rt.Call(t.Context(), call); err != nil {
		t.Errorf("in another message: %v", err)
	}
}

func TestBatchTakesTheSameRoad(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("alpha\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var hooked int
	rt := open(t, helve.Options{Dir: dir, Flags: map[string]bool{"batch": true}, Hooks: []helve.Hook{{
		After: func(context.Context, *tool.Call, *tool.Result) error { hooked++; return nil },
	}}})
	res, err := rt.Call(t.Context(), tool.Call{Tool: "batch", Input: []byte(`{"tool_calls":[
		{"tool":"read","parameters":{"filePath":"a.txt"}},{"tool":"Read","parameters":{}},{"tool":"batch","parameters":{}}]}`)})
	if err != nil {
		t.Fatal(err)
	}
	if res.Title != "Batch execution (1/3 successful)" || hooked != 2 || len(res.Inner) != 3 {
		t.Errorf("got %+v, %d hooked", res, hooked)
	}
}

func TestRepairsAreReported(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	in := []byte(`{"file_path":"a.txt","limit":"3",}`)
	strict := open(t, helve.Options{Dir: dir})
	if _, err := strict.Call(t.Context(), tool.Call{Tool: "read", Input: in}); tool.KindOf(err) != tool.InvalidInput {
		t.Errorf("strict: %v", err)
	}
	rt := open(t, helve.Options{Dir: dir, Repair: true})
	res, err := rt.Call(t.Context(), tool.Call{Tool: "read", Input: in})
	if err != nil {
		t.Fatal(err)
	}
	if rep, _ := res.Metadata["repairs"].([]tool.Repair); len(rep) < 2 {
		t.Errorf("repairs: %v", res.Metadata["repairs"])
	}
}

func TestManySessionsAtOnce(t *testing.T) {
	rt := open(t, helve.Options{DataDir: t.TempDir()})
	var wg sync.WaitGroup
	for i := range 1000 {
		wg.Go(func() {
			session := fmt.Sprint("ses_", i)
			in := fmt.Appendf(nil, `{"todos":[{"content":"of %d","status":"pending","priority":"low","id":"1"}]}`, i)
			if _, err := rt.Call(t.Context(), tool.Call{Tool: "todowrite", Session: session, Input: in}); err != nil {
				t.Error(err)
				return
			}
			res, err := rt.Call(t.Context(), tool.Call{Tool: "todoread", Session: session})
			if err != nil || !strings.Contains(res.Output, fmt.Sprintf(`"of %d"`, i)) {
				t.Errorf("session %d: %+v %v", i, res, err)
			}
		})
	}
	wg.Wait()
}
