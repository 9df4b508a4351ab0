package loop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/helve-dev/helve/internal/leaktest"
	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/message"
	"github.com/helve-dev/helve/model"
	"github.com/helve-dev/helve/tool"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// A shelf keeps conversations in memory.
type shelf struct {
	mu       sync.Mutex
	msgs     []message.Message
	told     []News
	recorded map[string]*message.State
}

func (s *shelf) Messages(context.Context, string) ([]message.Message, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]message.Message, len(s.msgs))
	for i, m := range s.msgs {
		out[i] = message.Message{Info: m.Info, Parts: append([]message.Part(nil), m.Parts...)}
	}
	return out, nil
}

func (s *shelf) Save(_ context.Context, info *message.Info, parts ...message.Part) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if info != nil {
		s.msgs = append(s.msgs, message.Message{Info: *info})
	}
	for _, p := range parts {
		for i := range s.msgs {
			if s.msgs[i].Info.ID != p.Message {
				continue
			}
			found := false
			for j := range s.msgs[i].Parts {
				if s.msgs[i].Parts[j].ID == p.ID {
					s.msgs[i].Parts[j], found = p, true
				}
			}
			if !found {
				s.msgs[i].Parts = append(s.msgs[i].Parts, p)
			}
		}
	}
	return nil
}

func (s *shelf) Tell(n News) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told = append(s.told, n)
}

func (s *shelf) Recorded(_ context.Context, _, call string) (*message.State, error) {
	return s.recorded[call], nil
}

// A provider answers by a function.
type provider func(ctx context.Context, req model.Request, yield func(model.Event, error) bool)

func (p provider) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) { p(ctx, req, yield) }
}

// desk is a runner over a shelf, with a model and a tool that echoes.
func desk(s *shelf, p provider, info model.Info) *Runner {
	n := 0
	var mu sync.Mutex
	return New(Deps{
		Call: func(_ context.Context, c tool.Call) (*tool.Result, error) {
			return &tool.Result{Title: c.Tool, Output: string(c.Input), Metadata: map[string]any{}}, nil
		},
		Tools: func(context.Context, string, tool.Audience) []tool.Spec { return nil },
		Lasts: func(name string) bool { return name == "lasting" },
		Profile: func(_ context.Context, _, name string, _ model.Ref) (Profile, error) {
			return Profile{Name: name}, nil
		},
		Model:  func(string, model.Ref) (model.Model, error) { return model.Model{Provider: p, Info: info}, nil },
		Shape:  func(context.Context, message.Info, *model.Request) error { return nil },
		Keeper: s, Watch: func(string, Status) {},
		NewID: func(prefix string) string {
			mu.Lock()
			defer mu.Unlock()
			n++
			return fmt.Sprintf("%s_%06d", prefix, n)
		},
		Now: time.Now, Words: Words{SumUp: "sum up", GoOn: func(string) string { return "go on" }},
	})
}

func ask(t *testing.T, r *Runner, text string) Outcome {
	t.Helper()
	if _, err := r.Say(t.Context(), "ses_1", Said{Agent: "build", Text: text}); err != nil {
		t.Fatal(err)
	}
	return r.Run(t.Context(), Work{Session: "ses_1"})
}

func done(yield func(model.Event, error) bool, text string, u model.Usage) {
	_ = yield(model.Event{Kind: model.TextDelta, Text: text}, nil) && yield(model.Event{Kind: model.Done, Reason: model.Stopped, Usage: u}, nil)
}

func TestRetries(t *testing.T) {
	for _, tc := range []struct {
		name  string
		err   error
		times int
		end   string
		asked int
		wait  time.Duration // at the least
	}{
		{"rate limit with Retry-After", &model.Error{Kind: model.RateLimit, RetryAfter: 7 * time.Second, Message: "slow down"}, 2, Done, 3, 14 * time.Second},
		{"busy", &model.Error{Kind: model.Overloaded, Message: "busy"}, 3, Done, 4, 7 * time.Second},
		{"always busy", &model.Error{Kind: model.Overloaded, Message: "busy"}, 100, Failed, maxTries, time.Minute},
		{"wrong key", &model.Error{Kind: model.Auth, Message: "no"}, 100, Failed, 1, 0},
		{"something else", errors.New("odd"), 100, Failed, 1, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked := 0
				s := &shelf{}
				r := desk(s, func(_ context.Context, _ model.Request, yield func(model.Event, error) bool) {
					asked++
					if asked <= tc.times {
						if yield(model.Event{Kind: model.TextDelta, Text: "lost"}, nil) {
							yield(model.Event{}, tc.err)
						}
						return
					}
					done(yield, "fine", model.Usage{})
				}, model.Info{})
				began := time.Now()
				out := ask(t, r, "x")
				if out.End != tc.end || asked != tc.asked || time.Since(began) < tc.wait {
					t.Errorf("end %s after %d requests and %s", out.End, asked, time.Since(began))
				}
				if out.End == Done && (out.Text != "fine" || strings.Contains(fmt.Sprint(s.msgs), "lost")) {
					t.Errorf("text %q; kept %v", out.Text, s.msgs)
				}
			})
		})
	}
}

// A provider that does not end when it is told to does not hold the turn up.
func TestDeafProvider(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		r := desk(&shelf{}, func(_ context.Context, _ model.Request, yield func(model.Event, error) bool) {
			yield(model.Event{Kind: model.TextDelta, Text: "half"}, nil)
			<-hold
		}, model.Info{})
		if _, err := r.Say(t.Context(), "ses_1", Said{Agent: "build", Text: "x"}); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		out := r.Run(t.Context(), Work{Session: "ses_1", Purse: NewPurse(nil, Limit{Time: 3 * time.Second})})
		if out.End != Spent || out.Text != "half" || time.Since(began) > 4*time.Second {
			t.Errorf("outcome %+v after %s", out, time.Since(began))
		}
		close(hold)
	})
}

func TestPanickingProvider(t *testing.T) {
	r := desk(&shelf{}, func(context.Context, model.Request, func(model.Event, error) bool) { panic("boom") }, model.Info{})
	if out := ask(t, r, "x"); out.End != Failed || !strings.Contains(out.Error.Data.Message, "boom") {
		t.Errorf("outcome %+v", out)
	}
}

// A conversation that has grown too long is summed up, and then gone on with.
func TestCompacts(t *testing.T) {
	var asked []string
	s := &shelf{}
	r := desk(s, func(_ context.Context, req model.Request, yield func(model.Event, error) bool) {
		last := req.Messages[len(req.Messages)-1]
		said := last.Parts[len(last.Parts)-1].Text
		asked = append(asked, fmt.Sprintf("%d:%s", len(req.Messages), said))
		switch {
		case said == "sum up":
			done(yield, "the summary", model.Usage{Input: 500, Output: 50})
		case said == "go on":
			done(yield, "all done", model.Usage{Input: 600, Output: 10})
		default:
			call := &model.Call{ID: "c", Name: "echo", Input: json.RawMessage(`{"a":1}`)}
			_ = yield(model.Event{Kind: model.CallEnd, Call: call}, nil) &&
				yield(model.Event{Kind: model.Done, Reason: model.Calls, Usage: model.Usage{Input: 9900, Output: 10}}, nil)
		}
	}, model.Info{Context: 10_000, Output: 1000})
	out := ask(t, r, "long")
	if out.End != Done || out.Text != "all done" {
		t.Errorf("outcome %+v", out)
	}
	want := "[1:long 1:sum up 3:go on]"
	if got := fmt.Sprint(asked); got != want {
		t.Errorf("asked %s, want %s", got, want)
	}
}

func TestOverflowCompacts(t *testing.T) {
	n := 0
	s := &shelf{}
	r := desk(s, func(_ context.Context, req model.Request, yield func(model.Event, error) bool) {
		n++
		last := req.Messages[len(req.Messages)-1]
		switch said := last.Parts[len(last.Parts)-1].Text; {
		case said == "sum up" && len(last.Parts[0].Text) > 50_000, said == "long":
			yield(model.Event{}, &model.Error{Kind: model.Overflow, Message: "too long"})
		case said == "sum up":
			done(yield, "the summary", model.Usage{})
		default:
			done(yield, "fine", model.Usage{})
		}
	}, model.Info{})
	big := strings.Repeat("words ", 100_000)
	if _, err := r.Say(t.Context(), "ses_1", Said{Agent: "build", Text: big}); err != nil {
		t.Fatal(err)
	}
	if out := ask(t, r, "long"); out.End != Done || out.Text != "fine" {
		t.Errorf("outcome %+v after %d requests", out, n)
	}
	always := desk(&shelf{}, func(_ context.Context, _ model.Request, yield func(model.Event, error) bool) {
		yield(model.Event{}, &model.Error{Kind: model.Overflow, Message: "too long"})
	}, model.Info{})
	if out := ask(t, always, "long"); out.End != Failed || out.Error.Name != "ContextOverflowError" {
		t.Errorf("outcome %+v", out)
	}
}

// Old outputs are taken out of the model's sight, newest kept, and those that last.
func TestPrunes(t *testing.T) {
	s := &shelf{}
	part := func(msg, id, name string, size int) message.Part {
		return message.Part{ID: id, Message: msg, Session: "ses_1", Type: message.Tool, Tool: name, CallID: id, State: &message.State{
			Status: message.Completed, Input: json.RawMessage("{}"), Output: strings.Repeat("x", size*4), Time: &message.Span{Start: 1, End: 2}}}
	}
	s.msgs = []message.Message{
		{Info: message.Info{ID: "m1", Role: message.User}, Parts: []message.Part{{ID: "p0", Message: "m1", Type: message.Text, Text: "a"}}},
		{Info: message.Info{ID: "m2", Role: message.Assistant, Parent: "m1", Finish: "tool-calls"}, Parts: []message.Part{
			part("m2", "p1", "read", 30_000), part("m2", "p2", "lasting", 30_000), part("m2", "p3", "read", 30_000)}},
		{Info: message.Info{ID: "m3", Role: message.User}, Parts: []message.Part{{ID: "p4", Message: "m3", Type: message.Text, Text: "b"}}},
		{Info: message.Info{ID: "m4", Role: message.Assistant, Parent: "m3", Finish: "tool-calls"}, Parts: []message.Part{part("m4", "p5", "read", 30_000)}},
	}
	r := desk(s, func(_ context.Context, _ model.Request, yield func(model.Event, error) bool) {
		done(yield, "ok", model.Usage{})
	}, model.Info{})
	if out := ask(t, r, "c"); out.End != Done {
		t.Fatalf("outcome %+v", out)
	}
	got := ""
	for _, m := range s.msgs {
		for _, p := range m.Parts {
			if p.Type == message.Tool && p.State.Time.Compacted > 0 {
				got += p.ID + " "
			}
		}
	}
	// The last two turns stay; before them p3 fits into what is kept, with p2 not counted, and p1
	// does not.
	if got != "p1 " {
		t.Errorf("pruned %q", got)
	}
	_, result := callOf(s.msgs[1].Parts[0], true)
	if result.Output != cleared || result.Failed {
		t.Errorf("the model sees %+v", result)
	}
}

func TestMends(t *testing.T) {
	running := func(id string) message.Part {
		return message.Part{ID: "p" + id, Message: "m2", Session: "ses_1", Type: message.Tool, Tool: "bash", CallID: id,
			State: &message.State{Status: message.Running, Input: json.RawMessage(`{"command":"x"}`), Time: &message.Span{Start: 5}}}
	}
	s := &shelf{recorded: map[string]*message.State{"known": {Status: message.Completed, Output: "its output", Time: &message.Span{Start: 5, End: 6}}}}
	s.msgs = []message.Message{
		{Info: message.Info{ID: "m1", Role: message.User}, Parts: []message.Part{{ID: "p0", Message: "m1", Type: message.Text, Text: "a"}}},
		{Info: message.Info{ID: "m2", Role: message.Assistant, Parent: "m1", Finish: "tool-calls"}, Parts: []message.Part{running("known"), running("lost")}},
	}
	r := desk(s, nil, model.Info{})
	found, err := r.Mend(t.Context(), "ses_1")
	if err != nil || !found.Unanswered || len(found.Interrupted) != 1 {
		t.Fatalf("found %+v, %v", found, err)
	}
	known, lost := s.msgs[1].Parts[0].State, s.msgs[1].Parts[1].State
	if known.Output != "its output" || string(known.Input) != `{"command":"x"}` || lost.Status != message.Failed || lost.Error != interrupted || lost.Time.Start != 5 {
		t.Errorf("known %+v, lost %+v", known, lost)
	}
	if again, err := r.Mend(t.Context(), "ses_1"); err != nil || len(again.Interrupted) != 0 {
		t.Errorf("again %+v, %v", again, err)
	}
}

func TestPurses(t *testing.T) {
	root := NewPurse(nil, Limit{Tokens: 100, Calls: 3})
	a, b := NewPurse(root, Limit{Tokens: 80}), NewPurse(root, Limit{})
	a.Spend(model.Usage{Input: 60}, 1)
	if a.Over() != nil || b.Over() != nil {
		t.Error("nothing is over yet")
	}
	b.Spend(model.Usage{Input: 40}, 2)
	if a.Over() == nil || b.Over() == nil {
		t.Error("the root is empty, and so are all below it")
	}
	for i := range 4 {
		if err := []*Purse{a, b}[i%2].TakeCall(); (err != nil) != (i == 3) {
			t.Errorf("call %d: %v", i, err)
		}
	}
	if _, cost := root.Spent(); cost != 3 {
		t.Errorf("cost %v", cost)
	}
}

func TestForModel(t *testing.T) {
	ref := model.Ref{Provider: "p", Model: "m"}
	msgs := []message.Message{
		{Info: message.Info{Role: message.User}, Parts: []message.Part{
			{Type: message.Text, Text: "look"}, {Type: message.File, Mime: "image/png", URL: "data:image/png;base64,aGk="}, {Type: message.File, URL: "https://x"}}},
		{Info: message.Info{Role: message.Assistant, Model: ref}, Parts: []message.Part{
			{Type: message.Reasoning, Text: "hm", Seal: "s"}, {Type: message.Text, Text: "I do"},
			{Type: message.Tool, CallID: "1", Tool: "read", State: &message.State{Status: message.Failed, Error: "gone", Input: json.RawMessage("{}")}},
			{Type: message.Tool, CallID: "2", Tool: "read", State: &message.State{Status: message.Pending, Input: json.RawMessage("{}")}},
		}},
		{Info: message.Info{Role: message.Assistant, Model: model.Ref{Model: "other"}, Error: &message.Failure{}}, Parts: []message.Part{
			{Type: message.Reasoning, Text: "not for you", Seal: "x"}}},
	}
	got := forModel(msgs, ref)
	if len(got) != 3 || len(got[0].Parts) != 2 || got[0].Parts[1].File == nil || got[1].Parts[0].Reasoning.Seal != "s" {
		t.Fatalf("%+v", got)
	}
	if r := got[2].Parts; r[0].Result.Output != "Error: gone" || r[1].Result.Output != interrupted || !r[1].Result.Failed {
		t.Errorf("results %+v %+v", r[0].Result, r[1].Result)
	}
	if other := forModel(msgs, model.Ref{Model: "new"}); other[1].Parts[0].Reasoning != nil {
		t.Error("thoughts of another model are passed on")
	}
}

// What is no summary does not take the place of the conversation.
func TestNoSummary(t *testing.T) {
	for name, answer := range map[string]func(yield func(model.Event, error) bool){
		"empty": func(yield func(model.Event, error) bool) {
			yield(model.Event{Kind: model.Done, Reason: model.Stopped}, nil)
		},
		"refused": func(yield func(model.Event, error) bool) {
			_ = yield(model.Event{Kind: model.TextDelta, Text: "I can't"}, nil) && yield(model.Event{Kind: model.Done, Reason: model.Refused}, nil)
		},
		"calls": func(yield func(model.Event, error) bool) {
			_ = yield(model.Event{Kind: model.CallEnd, Call: &model.Call{ID: "1", Name: "read"}}, nil) &&
				yield(model.Event{Kind: model.Done, Reason: model.Calls}, nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := &shelf{}
			summing := 0
			r := desk(s, func(_ context.Context, req model.Request, yield func(model.Event, error) bool) {
				last := req.Messages[len(req.Messages)-1]
				if last.Parts[len(last.Parts)-1].Text == "sum up" {
					summing++
					answer(yield)
					return
				}
				done(yield, "fine", model.Usage{Input: 99_000})
			}, model.Info{Context: 100_000, Output: 1000})
			ask(t, r, "remember 42")
			out := ask(t, r, "what was it?")
			if out.End != Failed || summing != 2 || !strings.Contains(out.Error.Data.Message, "summed up") {
				t.Errorf("outcome %+v after %d tries", out, summing)
			}
			for _, m := range s.msgs {
				for _, p := range m.Parts {
					if p.Type == message.Tool && p.State.Status != message.Failed {
						t.Errorf("a call of a summary is %s", p.State.Status)
					}
				}
			}
			if got := forModel(s.msgs, model.Ref{}); got[0].Parts[0].Text != "remember 42" {
				t.Errorf("the conversation is gone: %+v", got)
			}
		})
	}
}

// An answer without end is not taken.
func TestEndlessAnswer(t *testing.T) {
	asked := 0
	r := desk(&shelf{}, func(_ context.Context, _ model.Request, yield func(model.Event, error) bool) {
		asked++
		for i := 0; yield(model.Event{Kind: model.CallEnd, Call: &model.Call{ID: fmt.Sprint(i % 7), Name: "x"}}, nil); i++ {
		}
	}, model.Info{})
	if out := ask(t, r, "x"); out.End != Failed || asked != 1 || !strings.Contains(out.Error.Data.Message, "ask for less") {
		t.Errorf("outcome %+v after %d requests", out, asked)
	}
}

// A turn that goes on with another model shows it the schemas as that one takes
// them.
func TestSchemasByModel(t *testing.T) {
	schema := &jsonschema.Schema{Type: "object"}
	var got []string
	var r *Runner
	p := provider(func(_ context.Context, req model.Request, yield func(model.Event, error) bool) {
		got = append(got, req.Model+" "+string(req.Tools[0].Schema))
		if req.Model == "a" && len(got) == 1 {
			r.Next("ses_1", Said{Agent: "plan", Model: model.Ref{Provider: "q", Model: "b"}, Text: "plan"})
		}
		done(yield, "ok", model.Usage{Input: 1})
	})
	r = desk(&shelf{}, p, model.Info{})
	r.deps.Tools = func(context.Context, string, tool.Audience) []tool.Spec {
		return []tool.Spec{{Name: "echo", Schema: schema}}
	}
	fits := 0
	r.deps.Model = func(_ string, ref model.Ref) (model.Model, error) {
		return model.Model{Provider: p, Fit: func(json.RawMessage) (json.RawMessage, error) {
			fits++
			return json.RawMessage(fmt.Sprintf(`{"for":%q}`, ref.Provider)), nil
		}}, nil
	}
	if _, err := r.Say(t.Context(), "ses_1", Said{Agent: "build", Model: model.Ref{Provider: "p", Model: "a"}, Text: "go"}); err != nil {
		t.Fatal(err)
	}
	if out := r.Run(t.Context(), Work{Session: "ses_1"}); out.End != Done {
		t.Fatalf("outcome %+v", out)
	}
	if want := `[a {"for":"p"} b {"for":"q"}]`; fmt.Sprint(got) != want || fits != 2 {
		t.Errorf("asked %v with %d fits, want %s", got, fits, want)
	}
}

// What a model took that does not say so is estimated, as everywhere else.
func TestEstimates(t *testing.T) {
	s := &shelf{}
	said, answer := strings.Repeat("{\"a\":[1,2,3]}", 50), "x = y; z = 1"
	r := desk(s, func(_ context.Context, _ model.Request, yield func(model.Event, error) bool) {
		done(yield, answer, model.Usage{})
	}, model.Info{})
	if out := ask(t, r, said); out.End != Done {
		t.Fatalf("outcome %+v", out)
	}
	got := s.msgs[1].Info.Tokens.Usage()
	if want := (model.Usage{Input: text.Tokens(said), Output: text.Tokens(answer)}); got != want {
		t.Errorf("took %+v, want %+v", got, want)
	}
}
