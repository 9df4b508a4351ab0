package helve_test

import (
	"context"
	"encoding/json"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/model"
	"github.com/helve-dev/helve/tool"
)

const talkative = `
-- .opencode/plugin/talk.ts --
import { appendFileSync } from "node:fs"
export const Talk = async ({ directory }) => ({
  "chat.message": async (input, output) => { output.parts[0].text += " (politely, as " + input.agent + ")" },
  "chat.params": async (input, output) => { output.temperature = 0.25; output.options.effort = input.model.modelID },
  "experimental.chat.system.transform": async (input, output) => { output.system.push("Speak plainly.") },
  event: async ({ event }) => {
    if (event.type === "session.idle") appendFileSync(directory + "/idle.txt", event.properties.sessionID + "\n")
  },
})
`

// Plugins hear of a conversation, and change what is said in it.
func TestPluginsInConversations(t *testing.T) {
	b := &brain{answer: inTurn(says("hello"))}
	rt, dir := owned(t, talkative, helve.Options{Models: agent.Models{
		Default: model.Ref{Provider: "test", Model: "brain"},
		Find:    func(model.Ref) (model.Model, error) { return model.Model{Provider: b}, nil },
	}})
	turn := prompted(t, rt, agent.Prompt{Text: "greet"})
	if turn.End != agent.EndDone || len(b.reqs) != 1 {
		t.Fatalf("turn = %+v", turn)
	}
	req := b.reqs[0]
	if said := req.Messages[0].Parts[0].Text; said != "greet (politely, as build)" {
		t.Errorf("said %q", said)
	}
	if req.Temperature == nil || *req.Temperature != 0.25 || req.Options["effort"] != "brain" || !slices.Contains(req.System, "Speak plainly.") {
		t.Errorf("temperature %v, options %v, system %q", req.Temperature, req.Options, req.System)
	}
	until(t, func() bool {
		got, err := os.ReadFile(filepath.Join(dir, "idle.txt"))
		return err == nil && strings.TrimSpace(string(got)) == turn.Session
	})
}

// The small model gives a session its title, and nothing waits for one that
// does not answer.
func TestTitles(t *testing.T) {
	b := &brain{answer: func(req model.Request) []model.Event {
		if req.Model == "small" {
			return says("\"A fine title\"\nand more")
		}
		return says("done")
	}}
	r := thinks(t, b, func(o *helve.Options) { o.Models.Small = model.Ref{Provider: "test", Model: "small"} })
	turn := prompted(t, r, agent.Prompt{Text: "do something long and winding"})
	if s, err := r.Records().Session(t.Context(), turn.Session); err != nil || s.Title != "A fine title" {
		t.Errorf("session = %+v, %v", s, err)
	}
	named := prompted(t, r, agent.Prompt{Text: "x", Title: "mine"})
	if s, err := r.Records().Session(t.Context(), named.Session); err != nil || s.Title != "mine" {
		t.Errorf("session = %+v, %v", s, err)
	}
	var kinds []string
	for _, req := range b.reqs {
		kinds = append(kinds, req.Model)
	}
	if raw, _ := json.Marshal(kinds); strings.Count(string(raw), "small") != 1 {
		t.Errorf("asked %s", raw)
	}
}

// stubborn takes its time to end when it is told to.
type stubborn struct {
	brain
	ended atomic.Bool
}

func (s *stubborn) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	if req.Model != "small" {
		return s.brain.Stream(ctx, req)
	}
	return func(yield func(model.Event, error) bool) {
		<-ctx.Done()
		time.Sleep(100 * time.Millisecond)
		s.ended.Store(true)
		yield(model.Event{}, context.Cause(ctx))
	}
}

// A title that a turn did not wait for any more is waited for before the records
// are closed.
func TestCloseWaitsForTitles(t *testing.T) {
	b := &stubborn{brain: brain{answer: inTurn()}}
	r := thinks(t, &b.brain, func(o *helve.Options) {
		o.Models.Small = model.Ref{Provider: "test", Model: "small"}
		o.Models.Find = func(model.Ref) (model.Model, error) { return model.Model{Provider: b}, nil }
	})
	prompted(t, r, agent.Prompt{Text: "do something long and winding"})
	if err := r.Close(); err != nil || !b.ended.Load() {
		t.Errorf("closed before the title was given up: %v", err)
	}
}

// A call that somebody makes in a session that an agent works on is told from
// its beginning to its end.
func TestDirectCallsAmidATurn(t *testing.T) {
	const project = `
-- .opencode/plugin/watch.ts --
export default async ({ client }) => ({
  event: async ({ event }) => {
    const part = event.properties.part
    if (part?.callID === "direct") await client.tui.showToast({ body: { message: part.state.status, variant: "info" } })
  },
})
`
	b := &brain{answer: inTurn(callsTool("pause", map[string]string{"say": "x"}))}
	rt, _ := owned(t, project, helve.Options{Unattended: true, Models: agent.Models{
		Default: model.Ref{Provider: "test", Model: "brain"},
		Find:    func(model.Ref) (model.Model, error) { return model.Model{Provider: b}, nil },
	}})
	register(t, rt, echo("pause", func(ctx context.Context, c *tool.Call, _ echoInput) (*tool.Result, error) {
		return rt.Call(ctx, tool.Call{ID: "direct", Session: c.Session, Tool: "list", Input: json.RawMessage(`{}`)})
	}))
	if turn := prompted(t, rt, agent.Prompt{Text: "go"}); turn.End != agent.EndDone {
		t.Fatalf("turn = %+v", turn)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var told []string
	for e := range rt.Events(ctx, 0) {
		if n, ok := e.Properties.(event.Notice); ok && n.Name == "tui.toast.show" {
			var toast struct{ Message string }
			if err := json.Unmarshal(n.Body, &toast); err != nil {
				t.Fatal(err)
			}
			if told = append(told, toast.Message); len(told) == 3 {
				break
			}
		}
	}
	slices.Sort(told) // a plugin hears in order, and what it says meanwhile comes as it may
	if got := strings.Join(told, " "); got != "completed pending running" {
		t.Errorf("plugins were told %q", got)
	}
}

// until waits for something to become true.
func until(t *testing.T, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it did not happen within 20 s")
		}
	}
}

// What a plugin makes of one request is not the next one's beginning.
func TestParamsAreOfOneRequest(t *testing.T) {
	b := &brain{answer: inTurn()}
	agents := agent.Specs(agent.SpecOptions{})
	agents[0].Temperature, agents[0].Options = new(1.0), map[string]any{"base": "kept"}
	rt, _ := owned(t, `
-- .opencode/plugin/half.ts --
export const Half = async () => ({
  "chat.params": async (input, output) => { output.temperature /= 2; delete output.options.base; output.options["n" + Math.random()] = 1 },
})
`, helve.Options{Agents: agents, Models: agent.Models{
		Default: model.Ref{Provider: "test", Model: "brain"},
		Find:    func(model.Ref) (model.Model, error) { return model.Model{Provider: b}, nil },
	}})
	for range 3 {
		prompted(t, rt, agent.Prompt{Text: "x"})
	}
	for i, req := range b.reqs {
		if *req.Temperature != 0.5 || len(req.Options) != 1 || req.Options["base"] != nil {
			t.Errorf("request %d: temperature %v, options %v", i, *req.Temperature, req.Options)
		}
	}
	if *agents[0].Temperature != 1 || len(agents[0].Options) != 1 {
		t.Errorf("the agent is now %v %v", *agents[0].Temperature, agents[0].Options)
	}
}
