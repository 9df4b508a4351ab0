package helve_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/message"
	"github.com/helve-dev/helve/model"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// A brain is a model of a test: it answers by what it is asked.
type brain struct {
	answer func(req model.Request) []model.Event

	mu   sync.Mutex
	reqs []model.Request
}

// Stream says what the test wants.
func (b *brain) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	b.mu.Lock()
	b.reqs = append(b.reqs, req)
	b.mu.Unlock()
	return func(yield func(model.Event, error) bool) {
		for _, e := range b.answer(req) {
			if e.Kind == "hang" {
				<-ctx.Done()
				yield(model.Event{}, context.Cause(ctx))
				return
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

func (b *brain) asked() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.reqs)
}

func says(text string) []model.Event {
	return []model.Event{
		{Kind: model.TextDelta, Text: text},
		{Kind: model.Done, Reason: model.Stopped, Usage: model.Usage{Input: 100, Output: 10}},
	}
}

func callsTool(name string, args any) []model.Event { return callsTools(toolCall{name, args}) }

type toolCall struct {
	name string
	args any
}

func callsTools(calls ...toolCall) []model.Event {
	var out []model.Event
	for i, c := range calls {
		raw, err := json.Marshal(c.args)
		if err != nil {
			panic(err)
		}
		id := "call_" + string(rune('a'+i))
		out = append(out, model.Event{Kind: model.CallStart, Call: &model.Call{ID: id, Name: c.name}},
			model.Event{Kind: model.CallEnd, Call: &model.Call{ID: id, Name: c.name, Input: raw}})
	}
	return append(out, model.Event{Kind: model.Done, Reason: model.Calls, Usage: model.Usage{Input: 100, Output: 10}})
}

// turnsOf is how many answers of the model a request already holds since the
// last text of a person.
func turnsOf(req model.Request) (n int) {
	for _, m := range req.Messages {
		if m.Role == model.Assistant {
			n++
		}
	}
	return n
}

// inTurn answers the nth request of a conversation with the nth answer, and
// all after these with "done".
func inTurn(answers ...[]model.Event) func(model.Request) []model.Event {
	return func(req model.Request) []model.Event {
		if n := turnsOf(req); n < len(answers) {
			return answers[n]
		}
		return says("done")
	}
}

// thinks makes a runtime with a model.
func thinks(t *testing.T, b *brain, change func(*helve.Options)) *helve.Runtime {
	t.Helper()
	dir := t.TempDir()
	opt := helve.Options{
		Dir: dir, Worktree: dir, DataDir: t.TempDir(), Shell: helve.Shell{Helper: os.Args[0]},
		Models: agent.Models{
			Default: model.Ref{Provider: "test", Model: "brain"},
			Find: func(model.Ref) (model.Model, error) {
				return model.Model{Provider: b, Info: model.Info{Price: model.Price{Input: 1, Output: 10}}}, nil
			},
		},
	}
	if change != nil {
		change(&opt)
	}
	r, err := helve.Open(opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func prompted(t *testing.T, r *helve.Runtime, p agent.Prompt) *agent.Turn {
	t.Helper()
	turn, err := r.Turns().Prompt(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return turn
}

func TestPromptAnswers(t *testing.T) {
	b := &brain{answer: inTurn(callsTool("write", map[string]string{"filePath": "a.txt", "content": "hello\n"}), says("I wrote it."))}
	r := thinks(t, b, nil)
	turn := prompted(t, r, agent.Prompt{Text: "write a file\nwith words"})
	if turn.End != agent.EndDone || turn.Text != "I wrote it." || turn.Steps != 2 || turn.Tokens.Input != 200 || turn.Cost == 0 {
		t.Errorf("turn = %+v", turn)
	}
	got, err := os.ReadFile(filepath.Join(dirOf(t, r), "a.txt"))
	if err != nil || string(got) != "hello\n" {
		t.Errorf("file = %q, %v", got, err)
	}
	msgs, err := r.Records().Messages(t.Context(), turn.Session)
	if err != nil || len(msgs) != 3 {
		t.Fatalf("messages = %+v, %v", msgs, err)
	}
	p := calledIn(msgs[1])
	if p.Type != message.Tool || p.State.Status != message.Completed || p.Tool != "write" || p.CallID != "call_a" {
		t.Errorf("part = %+v", p)
	}
	s, err := r.Records().Session(t.Context(), turn.Session)
	if err != nil || s.Title != "write a file" || s.Agent != "build" || s.Model.Model != "brain" || s.Tokens.Input != 200 {
		t.Errorf("session = %+v, %v", s, err)
	}
	// The next prompt sees what was said.
	prompted(t, r, agent.Prompt{Session: turn.Session, Text: "and now?"})
	if last := b.reqs[len(b.reqs)-1]; len(last.Messages) != 5 {
		t.Errorf("the second prompt sees %d messages", len(last.Messages))
	}
}

func TestPromptErrors(t *testing.T) {
	r := thinks(t, &brain{answer: inTurn()}, nil)
	for _, tc := range []struct {
		prompt agent.Prompt
		want   string
	}{
		{agent.Prompt{Text: "  "}, "empty"},
		{agent.Prompt{Text: "x", Agent: "nobody"}, "no agent called"},
		{agent.Prompt{Text: "x", Agent: "title"}, "behind the scenes"},
		{agent.Prompt{Text: "x", Session: "ses_none"}, "not found"},
	} {
		if _, err := r.Turns().Prompt(t.Context(), tc.prompt); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%+v: %v, want %q", tc.prompt, err, tc.want)
		}
	}
	none, err := helve.Open(helve.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer none.Close()
	if _, err := none.Turns().Prompt(t.Context(), agent.Prompt{Text: "x"}); err == nil || !strings.Contains(err.Error(), "set Options.Models") || strings.Contains(err.Error(), "config") {
		t.Errorf("without a model: %v", err)
	}
	some := thinks(t, &brain{}, func(o *helve.Options) { o.Models.Default = model.Ref{} })
	if _, err := some.Turns().Prompt(t.Context(), agent.Prompt{Text: "x"}); err == nil || !strings.Contains(err.Error(), "set Options.Models.Default") {
		t.Errorf("without a default model: %v", err)
	}
}

// Whoever follows the events has all of the answer when Prompt returns.
func TestPromptTellsAllBeforeItReturns(t *testing.T) {
	var answer []model.Event
	for range 2000 {
		answer = append(answer, model.Event{Kind: model.TextDelta, Text: "x"})
	}
	r := thinks(t, &brain{answer: inTurn(append(answer, says("end")...))}, nil)
	var text strings.Builder
	go func() {
		for e := range r.Events(t.Context(), 0) {
			if p, ok := e.Properties.(event.PartDelta); ok {
				text.WriteString(p.Delta)
			}
		}
	}()
	turn, err := r.Turns().Prompt(t.Context(), agent.Prompt{Text: "go"})
	if err != nil || text.String() != turn.Text {
		t.Errorf("%v: of %d bytes %d were heard", err, len(turn.Text), text.Len())
	}
}

// answering replies to every permission request of a runtime.
func answering(t *testing.T, r *helve.Runtime, reply permission.Reply) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for e := range r.Events(ctx, 0) {
			if asked, ok := e.Properties.(event.PermissionAsked); ok {
				_ = r.Requests().Reply(asked.ID, reply) // it may be settled already
			}
		}
	}()
	t.Cleanup(func() { cancel(); <-done })
}

func TestPromptRejectedStops(t *testing.T) {
	ask := []agent.Spec{{Name: "build", Mode: "primary", Policy: permission.Policy{Rules: permission.Ruleset{
		{Permission: "*", Pattern: "*", Action: permission.Ask}}}}}
	for _, tc := range []struct {
		name  string
		reply permission.Reply
		loop  agent.Loop
		end   agent.End
		asked int
	}{
		{"rejected", permission.Reply{Verdict: permission.ReplyReject}, agent.Loop{}, agent.EndRejected, 1},
		{"corrected", permission.Reply{Verdict: permission.ReplyReject, Message: "not so"}, agent.Loop{}, agent.EndDone, 2},
		{"goes on", permission.Reply{Verdict: permission.ReplyReject}, agent.Loop{ContinueAfterReject: true}, agent.EndDone, 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := &brain{answer: inTurn(callsTool("glob", map[string]string{"pattern": "*"}))}
			r := thinks(t, b, func(o *helve.Options) { o.Agents, o.Loop = ask, tc.loop })
			answering(t, r, tc.reply)
			if turn := prompted(t, r, agent.Prompt{Text: "look"}); turn.End != tc.end || b.asked() != tc.asked {
				t.Errorf("end %s after %d requests, want %s after %d", turn.End, b.asked(), tc.end, tc.asked)
			}
		})
	}
}

func TestPromptCanceledResumes(t *testing.T) {
	var hung atomic.Bool
	hung.Store(true)
	b := &brain{}
	b.answer = func(req model.Request) []model.Event {
		if hung.Load() && turnsOf(req) == 1 {
			return []model.Event{{Kind: model.TextDelta, Text: "half"}, {Kind: "hang"}}
		}
		return inTurn(callsTool("glob", map[string]string{"pattern": "*"}))(req)
	}
	r := thinks(t, b, nil)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for e := range r.Events(ctx, 0) {
			if d, ok := e.Properties.(event.PartDelta); ok && d.Delta == "half" {
				cancel()
			}
		}
	}()
	turn, err := r.Turns().Prompt(ctx, agent.Prompt{Text: "go"})
	if err != nil || turn.End != agent.EndCanceled || turn.Text != "half" {
		t.Fatalf("turn = %+v, %v", turn, err)
	}
	msgs, _ := r.Records().Messages(t.Context(), turn.Session)
	if last := msgs[len(msgs)-1].Info; last.Error == nil || last.Error.Name != "MessageAbortedError" {
		t.Errorf("last message = %+v", last)
	}
	hung.Store(false)
	again, err := r.Turns().Resume(t.Context(), turn.Session)
	if err != nil || again.End != agent.EndDone || again.Text != "done" {
		t.Fatalf("resumed = %+v, %v", again, err)
	}
	if third, err := r.Turns().Resume(t.Context(), turn.Session); err != nil || third.End != agent.EndDone || third.Steps != 0 {
		t.Errorf("resumed again = %+v, %v", third, err)
	}
}

func TestPromptBusy(t *testing.T) {
	b := &brain{answer: func(model.Request) []model.Event {
		return []model.Event{{Kind: model.TextDelta, Text: "x"}, {Kind: "hang"}}
	}}
	r := thinks(t, b, nil)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	session := make(chan string, 1)
	go func() {
		for e := range r.Events(ctx, 0) {
			if d, ok := e.Properties.(event.PartDelta); ok {
				session <- d.Session
				return
			}
		}
	}()
	done := make(chan *agent.Turn)
	go func() { turn, _ := r.Turns().Prompt(ctx, agent.Prompt{Text: "go"}); done <- turn }()
	if _, err := r.Turns().Prompt(t.Context(), agent.Prompt{Text: "me too", Session: <-session}); !errors.Is(err, agent.ErrBusy) {
		t.Errorf("a second prompt: %v", err)
	}
	cancel()
	if turn := <-done; turn.End != agent.EndCanceled {
		t.Errorf("turn = %+v", turn)
	}
}

func TestPromptRepeats(t *testing.T) {
	glob := func(n int) []model.Event {
		return callsTool("glob", map[string]any{"pattern": strings.Repeat("*", 1+n)})
	}
	for name, period := range map[string]int{"one": 1, "two": 2, "four": 4} {
		t.Run(name, func(t *testing.T) {
			b := &brain{answer: func(req model.Request) []model.Event { return glob(turnsOf(req) % period) }}
			r := thinks(t, b, func(o *helve.Options) { o.Unattended = true })
			turn := prompted(t, r, agent.Prompt{Text: "go"})
			if turn.End != agent.EndRepeats || turn.Steps != 3*period {
				t.Errorf("turn = %+v", turn)
			}
		})
	}
	t.Run("another result is no repetition", func(t *testing.T) {
		n := 0
		b := &brain{}
		b.answer = inTurn(callsTool("count", struct{}{}), callsTool("count", struct{}{}), callsTool("count", struct{}{}), callsTool("count", struct{}{}))
		r := thinks(t, b, func(o *helve.Options) { o.Unattended = true })
		type none struct{}
		_, err := r.Register(tool.New(tool.Spec{Name: "count", Description: "counts"}, func(context.Context, *tool.Call, none) (*tool.Result, error) {
			n++
			return &tool.Result{Output: strings.Repeat("x", n)}, nil
		}))
		if err != nil {
			t.Fatal(err)
		}
		if turn := prompted(t, r, agent.Prompt{Text: "go"}); turn.End != agent.EndDone || n != 4 {
			t.Errorf("turn = %+v after %d calls", turn, n)
		}
	})
}

func TestPromptBudget(t *testing.T) {
	n := 0
	b := &brain{answer: func(model.Request) []model.Event {
		n++
		return callsTool("glob", map[string]any{"pattern": strings.Repeat("a", n)})
	}}
	for _, tc := range []struct {
		name   string
		budget agent.Budget
		note   string
	}{
		{"steps", agent.Budget{Steps: 3}, "3 steps"},
		{"tokens", agent.Budget{Tokens: 300}, "300 tokens"},
		{"cost", agent.Budget{Cost: 0.0005}, "$0.0005"},
		{"calls", agent.Budget{Calls: 2}, "2 tool calls"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := thinks(t, b, func(o *helve.Options) { o.Loop.Session = tc.budget })
			turn := prompted(t, r, agent.Prompt{Text: "go"})
			if turn.End != agent.EndBudget || !strings.Contains(turn.Note, tc.note) || turn.Steps != 3 {
				t.Errorf("turn = %+v", turn)
			}
		})
	}
}

func TestPromptStepLimit(t *testing.T) {
	n := 0
	b := &brain{answer: func(model.Request) []model.Event {
		n++
		return callsTool("glob", map[string]any{"pattern": strings.Repeat("a", n)})
	}}
	agents := agent.Specs(agent.SpecOptions{})
	agents[0].Steps = 2
	r := thinks(t, b, func(o *helve.Options) { o.Agents = agents })
	turn := prompted(t, r, agent.Prompt{Text: "go"})
	if turn.End != agent.EndSteps || turn.Steps != 2 {
		t.Errorf("turn = %+v", turn)
	}
	msgs, _ := r.Records().Messages(t.Context(), turn.Session)
	last := calledIn(msgs[len(msgs)-1])
	if last.State.Status != message.Failed || !strings.Contains(last.State.Error, "no more steps") {
		t.Errorf("the last call = %+v", last.State)
	}
}

// A child that hangs gives back what it has within a second of its limit.
func TestTaskStalls(t *testing.T) {
	b := &brain{}
	b.answer = func(req model.Request) []model.Event {
		switch first := req.Messages[0].Parts[0].Text; {
		case strings.HasPrefix(first, "child"):
			return []model.Event{{Kind: model.TextDelta, Text: "half of it"}, {Kind: "hang"}}
		case turnsOf(req) == 0:
			return callsTool("task", map[string]string{"description": "d", "prompt": "child", "subagent_type": "general"})
		}
		return says("done")
	}
	for name, budget := range map[string]agent.Budget{"time": {Time: 2 * time.Second}, "idle": {Idle: 2 * time.Second}} {
		t.Run(name, func(t *testing.T) {
			r := thinks(t, b, func(o *helve.Options) { o.Loop.Child = budget })
			turn := prompted(t, r, agent.Prompt{Text: "go"})
			msgs, _ := r.Records().Messages(t.Context(), turn.Session)
			state := calledIn(msgs[1]).State
			if turn.End != agent.EndDone || state.Status != message.Completed || !strings.Contains(state.Output, "half of it") ||
				!strings.Contains(state.Output, "session_id: ses_") {
				t.Errorf("end %s, state %+v", turn.End, state)
			}
		})
	}
}

// calledIn is the first tool call of a message.
func calledIn(m message.Message) message.Part {
	for _, p := range m.Parts {
		if p.Type == message.Tool {
			return p
		}
	}
	return message.Part{State: &message.State{}}
}

// dirOf is the folder that a runtime works in.
func dirOf(t *testing.T, r *helve.Runtime) string {
	t.Helper()
	res, err := r.Call(t.Context(), tool.Call{Tool: "bash", Input: json.RawMessage(`{"command":"pwd","description":"where"}`)})
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(res.Output)
}
