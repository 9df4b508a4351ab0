package helve_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/internal/modeltest"
	"github.com/helve-dev/helve/message"
	"github.com/helve-dev/helve/permission"
)

// bothProtocols runs a test with a model that is served in each protocol.
func bothProtocols(t *testing.T, test func(t *testing.T, protocol string)) {
	t.Helper()
	for _, protocol := range []string{"anthropic", "openai"} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			test(t, protocol)
		})
	}
}

// A workshop is a runtime with a scripted model, in a folder where everything
// is allowed.
type workshop struct {
	rt     *helve.Runtime
	server *modeltest.Server
	dir    string
}

func newWorkshop(t *testing.T, protocol string, loop agent.Loop) workshop {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("alpha\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	rules, err := permission.ParseConfig([]byte(`"allow"`), permission.ConfigOptions{})
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	w := workshop{server: modeltest.Start(t), dir: dir}
	w.rt = open(t, helve.Options{
		Dir: dir, Worktree: dir, Models: scripted(t, protocol, w.server), Loop: loop, Shell: helve.Shell{Helper: self},
		Agents: agent.Specs(agent.SpecOptions{Worktree: dir, User: rules}),
	})
	return w
}

func (w workshop) read(id string) modeltest.Call {
	return modeltest.Call{ID: id, Name: "read", Args: `{"filePath":"` + filepath.Join(w.dir, "a.txt") + `"}`}
}

// add is a call whose effect can be counted.
func (w workshop) add(id string) modeltest.Call {
	return modeltest.Call{ID: id, Name: "bash", Args: `{"command":"echo ` + id + ` >> log","description":"count"}`}
}

// log is what such calls have done, in order.
func (w workshop) log(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(w.dir, "log"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	words := strings.Fields(string(data))
	slices.Sort(words)
	return strings.Join(words, " ")
}

func (w workshop) prompt(t *testing.T, p agent.Prompt) *agent.Turn {
	t.Helper()
	turn, err := w.rt.Turns().Prompt(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return turn
}

// kept is a session in short: a line for each message.
func (w workshop) kept(t *testing.T, session string) string {
	t.Helper()
	msgs, err := w.rt.Records().Messages(t.Context(), session)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, m := range msgs {
		b.WriteString(m.Info.Role)
		if m.Info.Summary {
			b.WriteString(" summary")
		}
		for _, p := range m.Parts {
			switch p.Type {
			case message.Text:
				fmt.Fprintf(&b, " %q", p.Text)
			case message.Reasoning:
				fmt.Fprintf(&b, " thought %q", p.Text)
			case message.Tool:
				fmt.Fprintf(&b, " %s:%s", p.Tool, p.State.Status)
			case message.Retry:
				fmt.Fprintf(&b, " retry:%s", p.Error.Data.Kind)
			case message.Compaction:
				b.WriteString(" compaction")
			}
		}
		if m.Info.Error != nil {
			fmt.Fprintf(&b, " failed:%s", m.Info.Error.Data.Kind)
		}
		if m.Info.Finish != "" {
			b.WriteString(" " + m.Info.Finish)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// What a fault of a provider makes of a turn, and what is kept of it. The model
// is to say "hello".
func TestProviderFaults(t *testing.T) {
	const user, whole = "user \"go\"\n", "assistant%s \"hello\" stop\n"
	again := func(kinds ...string) string {
		said := ""
		for _, k := range kinds {
			said += " retry:" + k
		}
		return user + fmt.Sprintf(whole, said)
	}
	for _, c := range []struct {
		name     string
		fault    modeltest.Fault
		end      agent.End
		kind     string // of the error
		requests int
		kept     string
	}{
		{"rate limit", modeltest.Fault{Status: 429, RetryAfter: "20ms"}, agent.EndDone, "", 2, again("rate-limit")},
		{"rate limit in seconds", modeltest.Fault{Status: 429, RetryAfter: "1"}, agent.EndDone, "", 2, again("rate-limit")},
		{"overloaded twice", modeltest.Fault{Status: 529, RetryAfter: "20ms", Times: 2}, agent.EndDone, "", 3, again("overloaded", "overloaded")},
		{"overloaded for ever", modeltest.Fault{Status: 529, RetryAfter: "1ms", Times: 99}, agent.EndFailed, "overloaded", 8,
			user + "assistant" + strings.Repeat(" retry:overloaded", 7) + " failed:overloaded\n"},
		{"server error", modeltest.Fault{Status: 500, RetryAfter: "20ms"}, agent.EndDone, "", 2, again("overloaded")},
		{"cut before it begins", modeltest.Fault{DropAfter: -1}, agent.EndDone, "", 2, again("network")},
		{"cut in the midst", modeltest.Fault{DropAfter: 4}, agent.EndDone, "", 2, again("broken")},
		{"error in the midst", modeltest.Fault{MidError: "too busy"}, agent.EndDone, "", 2, again("overloaded")},
		{"garbage", modeltest.Fault{Garbage: true}, agent.EndDone, "", 2, again("broken")},
		{"wrong key", modeltest.Fault{Status: 401}, agent.EndFailed, "auth", 1, user + "assistant failed:auth\n"},
		{"wrong request", modeltest.Fault{Status: 400}, agent.EndFailed, "invalid", 1, user + "assistant failed:invalid\n"},
		{"used up", modeltest.Fault{Status: 429, Body: `{"error":{"message":"You have none left","type":"insufficient_quota","code":"insufficient_quota"}}`},
			agent.EndFailed, "quota", 1, user + "assistant failed:quota\n"},
		{"not the provider", modeltest.Fault{Status: 502, Body: "<html><h1>Bad Gateway</h1></html>", RetryAfter: "20ms"}, agent.EndDone, "", 2, again("overloaded")},
		{"refusal", modeltest.Fault{Refuse: true}, agent.EndRefused, "", 1, user + "assistant \"hello\" content-filter\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			bothProtocols(t, func(t *testing.T, protocol string) {
				w := newWorkshop(t, protocol, agent.Loop{})
				w.server.Script("go", modeltest.Reply{Text: "hello", Chunk: 1, Fault: &c.fault})
				turn := w.prompt(t, agent.Prompt{Text: "go"})
				if turn.End != c.end || (turn.Error != nil) != (c.kind != "") || turn.Error != nil && turn.Error.Data.Kind != c.kind {
					t.Errorf("it ended as %s %s", turn.End, inJSON(turn.Error))
				}
				if n := len(w.server.Requests()); n != c.requests {
					t.Errorf("the model was asked %d times, and not %d", n, c.requests)
				}
				if got := w.kept(t, turn.Session); got != c.kept {
					t.Errorf("kept is\n%swant\n%s", got, c.kept)
				}
				// Whatever came of it, the conversation can be gone on with.
				w.server.Func(func(modeltest.Request) modeltest.Reply { return modeltest.Reply{Text: "fine"} })
				if next := w.prompt(t, agent.Prompt{Text: "and now", Session: turn.Session}); next.End != agent.EndDone || next.Text != "fine" {
					t.Errorf("the next turn ended as %s %q %s", next.End, next.Text, inJSON(next.Error))
				}
			})
		})
	}
}

// Calls of an answer that broke off are not made, and those of the one that
// takes its place are made once.
func TestNoCallOfBrokenAnswers(t *testing.T) {
	for name, fault := range map[string]modeltest.Fault{
		"cut":     {DropAfter: 9},
		"error":   {MidError: "too busy"},
		"garbage": {Garbage: true},
		"length":  {}, // the arguments of the last call are cut off
	} {
		t.Run(name, func(t *testing.T) {
			bothProtocols(t, func(t *testing.T, protocol string) {
				w := newWorkshop(t, protocol, agent.Loop{})
				said := modeltest.Reply{Text: "so", Chunk: 30, Calls: []modeltest.Call{w.add("one"), w.add("two")}, Fault: &fault}
				want := "one two"
				if name == "length" {
					said.Calls[1].Args, said.Stop, said.Fault, want = said.Calls[1].Args[:20], "length", nil, "one"
				}
				w.server.Script("go", said, modeltest.Reply{Text: "end"})
				turn := w.prompt(t, agent.Prompt{Text: "go"})
				if got := w.log(t); got != want {
					t.Errorf("done was %q, and should be %q:\n%s", got, want, w.kept(t, turn.Session))
				}
				if turn.End != agent.EndDone || turn.Text != "end" {
					t.Errorf("it ended as %s %q %s", turn.End, turn.Text, inJSON(turn.Error))
				}
			})
		})
	}
}

// An answer that is whole but for its last word is taken, and not asked for
// again.
func TestCutAfterTheEnd(t *testing.T) {
	bothProtocols(t, func(t *testing.T, protocol string) {
		w := newWorkshop(t, protocol, agent.Loop{})
		events := map[string]int{"anthropic": 7, "openai": 5}[protocol]
		w.server.Script("go", modeltest.Reply{Text: "hello", Fault: &modeltest.Fault{DropAfter: events - 1}})
		if turn := w.prompt(t, agent.Prompt{Text: "go"}); turn.End != agent.EndDone || turn.Text != "hello" {
			t.Errorf("it ended as %s", inJSON(turn))
		}
		if n := len(w.server.Requests()); n != 1 {
			t.Errorf("the model was asked %d times", n)
		}
	})
}

// What goes wrong with the model of an agent that another one started is told
// to that one, which goes on; what passes is not even told.
func TestFaultsOfChildren(t *testing.T) {
	for _, c := range []struct {
		name  string
		fault modeltest.Fault
		want  string // what the parent's model is told
	}{
		{"passes", modeltest.Fault{Status: 529, RetryAfter: "20ms"}, "child done"},
		{"stays", modeltest.Fault{Status: 401, Times: 99}, "key"},
		{"refuses", modeltest.Fault{Refuse: true}, "its model refused"},
	} {
		t.Run(c.name, func(t *testing.T) {
			bothProtocols(t, func(t *testing.T, protocol string) {
				w := newWorkshop(t, protocol, agent.Loop{})
				w.server.Script("CHILD", modeltest.Reply{Calls: []modeltest.Call{w.add("once")}}, modeltest.Reply{Text: "child done", Fault: &c.fault})
				w.server.Script("go", modeltest.Reply{Calls: []modeltest.Call{
					{ID: "t", Name: "task", Args: `{"description":"x","prompt":"CHILD","subagent_type":"general"}`},
				}}, modeltest.Reply{Text: "parent done"})
				turn := w.prompt(t, agent.Prompt{Text: "go"})
				if turn.End != agent.EndDone || turn.Text != "parent done" || w.log(t) != "once" {
					t.Errorf("it ended as %s, done was %q", inJSON(turn), w.log(t))
				}
				asked := w.server.Requests()
				if told := asked[len(asked)-1].Results(); len(told) != 1 || !strings.Contains(told[0].Text, c.want) {
					t.Errorf("told was %+v", told)
				}
			})
		})
	}
}

// Pieces are put together, whatever they are cut into, and calls that come
// together are answered together, in their order.
func TestPiecesAndParallelCalls(t *testing.T) {
	for _, chunk := range []int{0, 1, 3} {
		t.Run(fmt.Sprint(chunk), func(t *testing.T) {
			bothProtocols(t, func(t *testing.T, protocol string) {
				w := newWorkshop(t, protocol, agent.Loop{})
				w.server.Script("go",
					modeltest.Reply{Text: "Grüße, 世界 😀", Reasoning: "hm, 世界", Chunk: chunk, Calls: []modeltest.Call{
						w.read("a"), {ID: "b", Name: "grep", Args: `{"pattern":"世界"}`}, w.add("c"),
					}, Usage: modeltest.Usage{Input: 10, Output: 5, CacheRead: 3}},
					modeltest.Reply{Text: "end", Chunk: chunk, Usage: modeltest.Usage{Input: 20, Output: 1}})
				turn := w.prompt(t, agent.Prompt{Text: "go"})
				want := "user \"go\"\nassistant thought \"hm, 世界\" \"Grüße, 世界 😀\" read:completed grep:completed bash:completed tool-calls\n" +
					"assistant \"end\" stop\n"
				if got := w.kept(t, turn.Session); got != want {
					t.Errorf("kept is\n%swant\n%s", got, want)
				}
				if k := turn.Tokens; k.Input != 30 || k.Output != 6 || k.Cache.Read != 3 || turn.Steps != 2 || turn.Cost == 0 {
					t.Errorf("it took %s, %d steps, $%v", inJSON(k), turn.Steps, turn.Cost)
				}
				asked := w.server.Requests()
				var ids []string
				for _, r := range asked[len(asked)-1].Results() {
					ids = append(ids, r.ID)
				}
				if !slices.Equal(ids, []string{"a", "b", "c"}) {
					t.Errorf("answered were %q", ids)
				}
			})
		})
	}
}

// A model that says nothing, names every call alike, stops with the wrong word
// or writes no JSON does not break the conversation.
func TestOddAnswers(t *testing.T) {
	bothProtocols(t, func(t *testing.T, protocol string) {
		w := newWorkshop(t, protocol, agent.Loop{})
		w.server.Script("go",
			modeltest.Reply{Calls: []modeltest.Call{w.add("same"), w.add("same")}, Stop: "stop"},
			modeltest.Reply{Calls: []modeltest.Call{w.add("same")}},
			modeltest.Reply{Calls: []modeltest.Call{{Name: "read", Args: "what?"}, {Name: "nothing", Args: ""}, {Name: "read", Args: "[1]"}, {Name: "", Args: "{}"}}},
			modeltest.Reply{},
			modeltest.Reply{Text: "back"})
		turn := w.prompt(t, agent.Prompt{Text: "go"})
		if turn.End != agent.EndDone || turn.Error != nil {
			t.Errorf("it ended as %s %s", turn.End, inJSON(turn.Error))
		}
		if got := w.log(t); got != "same same same" {
			t.Errorf("done was %q", got)
		}
		requests := w.server.Requests()
		if told := inJSON(requests[len(requests)-1].Messages); !strings.Contains(told, "unavailable tool ''. Available tools") {
			t.Errorf("the model was not told of the call without a name: %s", told)
		}
		turn = w.prompt(t, agent.Prompt{Text: "again", Session: turn.Session})
		if turn.End != agent.EndDone || turn.Error != nil {
			t.Errorf("the next turn ended as %s %s:\n%s", turn.End, inJSON(turn.Error), w.kept(t, turn.Session))
		}
	})
}

// A conversation that is too long is summed up and gone on with; one that
// stays too long fails.
func TestOverflow(t *testing.T) {
	bothProtocols(t, func(t *testing.T, protocol string) {
		w := newWorkshop(t, protocol, agent.Loop{})
		w.server.Func(func(r modeltest.Request) modeltest.Reply {
			switch {
			case len(r.Tools) == 0:
				return modeltest.Reply{Text: "SUMMARY"}
			case strings.Contains(inJSON(r.Messages), "SUMMARY"):
				return modeltest.Reply{Text: "went on"}
			case r.Turns() == 0:
				return modeltest.Reply{Calls: []modeltest.Call{w.read("a")}}
			}
			return modeltest.Reply{Fault: &modeltest.Fault{Overflow: true}}
		})
		turn := w.prompt(t, agent.Prompt{Text: "go"})
		if turn.End != agent.EndDone || turn.Text != "went on" {
			t.Errorf("it ended as %s %q %s:\n%s", turn.End, turn.Text, inJSON(turn.Error), w.kept(t, turn.Session))
		}
		if got := w.kept(t, turn.Session); !strings.Contains(got, "user compaction\nassistant summary \"SUMMARY\" stop\n") {
			t.Errorf("kept is\n%s", got)
		}
		w.server.Func(func(r modeltest.Request) modeltest.Reply {
			if len(r.Tools) == 0 {
				return modeltest.Reply{Text: "SHORT"}
			}
			return modeltest.Reply{Fault: &modeltest.Fault{Overflow: true}}
		})
		asked := len(w.server.Requests())
		turn = w.prompt(t, agent.Prompt{Text: "more", Session: turn.Session})
		if turn.End != agent.EndFailed || turn.Error == nil || turn.Error.Data.Kind != "overflow" {
			t.Errorf("it ended as %s %s", turn.End, inJSON(turn.Error))
		}
		if n := len(w.server.Requests()) - asked; n > 8 {
			t.Errorf("the model was asked %d times", n)
		}
	})
}

// Who gives up is free at once, whether the model has not begun or stands
// still, and the turn can be resumed.
func TestStalledModel(t *testing.T) {
	for name, said := range map[string]modeltest.Reply{
		"silent":        {Hold: make(chan struct{})},
		"in the middle": {Text: "some words", Chunk: 1, Fault: &modeltest.Fault{StallAfter: 6}},
	} {
		t.Run(name, func(t *testing.T) {
			bothProtocols(t, func(t *testing.T, protocol string) {
				w := newWorkshop(t, protocol, agent.Loop{})
				ctx, cancel := context.WithCancel(t.Context())
				defer w.cancelAtText(cancel)()
				w.server.Func(func(r modeltest.Request) modeltest.Reply {
					if r.Turns() == 0 {
						return modeltest.Reply{Calls: []modeltest.Call{w.add("once")}}
					}
					if said.Hold != nil {
						cancel()
					}
					return said
				})
				turn, err := w.rt.Turns().Prompt(ctx, agent.Prompt{Text: "go"})
				if err != nil || turn.End != agent.EndCanceled {
					t.Fatalf("it ended as %s, %v", inJSON(turn), err)
				}
				w.server.Func(func(modeltest.Request) modeltest.Reply { return modeltest.Reply{Text: "end"} })
				turn, err = w.rt.Turns().Resume(t.Context(), turn.Session)
				if err != nil || turn.End != agent.EndDone || turn.Text != "end" {
					t.Errorf("it went on as %s, %v", inJSON(turn), err)
				}
				if got := w.log(t); got != "once" {
					t.Errorf("done was %q", got)
				}
			})
		})
	}
}

// cancelAtText cancels when the model's text begins to come.
func (w workshop) cancelAtText(cancel func()) (leave func()) {
	ctx, stop := context.WithCancel(context.Background())
	done, events := make(chan struct{}), w.rt.Events(ctx, 0)
	go func() {
		defer close(done)
		for e := range events {
			if _, ok := e.Properties.(event.PartDelta); ok {
				cancel()
			}
		}
	}()
	return func() { stop(); <-done }
}

// A budget ends a turn whose model says nothing.
func TestStalledModelAndBudget(t *testing.T) {
	bothProtocols(t, func(t *testing.T, protocol string) {
		w := newWorkshop(t, protocol, agent.Loop{Session: agent.Budget{Idle: time.Second}})
		w.server.Script("go", modeltest.Reply{Text: "some words", Chunk: 1, Fault: &modeltest.Fault{StallAfter: 6}})
		if turn := w.prompt(t, agent.Prompt{Text: "go"}); turn.End != agent.EndBudget {
			t.Errorf("it ended as %s", inJSON(turn))
		}
	})
}
