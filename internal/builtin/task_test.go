package builtin_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/internal/builtin"
	"github.com/helve-dev/helve/internal/files"
	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/model"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
	"github.com/helve-dev/helve/tooltest"
)

// toolIn is a tool of that name in rooms.
func toolIn(r builtin.Rooms, name string) tool.Tool {
	r.Files = &files.Workspace{}
	all := builtin.All(r)
	return all[slices.IndexFunc(all, func(t tool.Tool) bool { return t.Spec().Name == name })]
}

// An office is where agents work in tests. What they are asked is what they
// answer.
type office struct {
	agents []builtin.Delegate
	works  func(ctx context.Context, job builtin.Errand, r *builtin.Report) error // nil: they only answer

	mu   sync.Mutex
	jobs []builtin.Errand
}

func newOffice() *office {
	return &office{agents: []builtin.Delegate{
		{Name: "general", Description: "Does anything."}, {Name: "explore", Description: "Looks\n around."}, {Name: "quiet"},
	}}
}

func (o *office) Offered(agent string) []builtin.Delegate {
	if agent == "plan" { // its rules are strict
		return o.agents[1:2]
	}
	return o.agents
}

func (o *office) Delegate(ctx context.Context, _ *tool.Call, job builtin.Errand) (*builtin.Report, error) {
	if !slices.ContainsFunc(o.agents, func(d builtin.Delegate) bool { return d.Name == job.Agent }) && job.Agent != "build" {
		return nil, fmt.Errorf("agent %q: %w", job.Agent, builtin.ErrNoAgent)
	}
	o.mu.Lock()
	o.jobs = append(o.jobs, job)
	r := &builtin.Report{
		Session: job.Session, Model: model.Ref{Provider: "acme", Model: "m1"}, End: "done", Text: job.Prompt,
		Tokens: model.Tokens{Input: 10, Output: 2}, Cost: 0.5,
	}
	if r.Session == "" {
		r.Session = fmt.Sprintf("ses_%d", len(o.jobs))
	}
	o.mu.Unlock()
	switch {
	case o.works != nil:
		if err := o.works(ctx, job, r); err != nil {
			return nil, err
		}
	case job.Prompt == "too much":
		r.Text, r.End, r.Note = "Half of it.", "budget", "it took longer than 30 minutes."
		r.Summary = []builtin.Step{
			{ID: "prt_1", Tool: "read", State: builtin.StepState{Status: "completed", Title: new("a.txt")}},
			{ID: "prt_2", Tool: "bash", State: builtin.StepState{Status: "error"}},
		}
	}
	return r, ctx.Err()
}

// staffed gives every script agents that work can be given to.
func staffed(e *tooltest.Env) error {
	e.Tools = append(e.Tools, toolIn(builtin.Rooms{Delegates: newOffice()}, "task"))
	return nil
}

// officed is a runtime with an office.
func officed(t *testing.T, o *office, rules ...permission.Rule) *helve.Runtime {
	t.Helper()
	dir := t.TempDir()
	rt, err := helve.Open(helve.Options{Dir: dir, Worktree: dir, Agents: agent.Specs(agent.SpecOptions{User: rules})})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := rt.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := rt.Register(toolIn(builtin.Rooms{Delegates: o}, "task")); err != nil {
		t.Fatal(err)
	}
	return rt
}

func taskOf(agent, prompt string) json.RawMessage {
	return json.RawMessage(encoded(map[string]any{"description": "Look", "prompt": prompt, "subagent_type": agent}))
}

func TestTaskOffered(t *testing.T) {
	rt := officed(t, newOffice())
	described := func(agent string) string {
		for _, s := range rt.Tools(tool.Audience{Agent: agent}) {
			if s.Name == "task" {
				return s.Description
			}
		}
		return ""
	}
	list := "\n\nAgents:\n- general: Does anything.\n- explore: Looks around.\n- quiet: This subagent should only be called manually by the user."
	if got := described(""); !strings.HasSuffix(got, list) {
		t.Errorf("got %q", got)
	}
	if got := described("plan"); !strings.HasSuffix(got, "\n\nAgents:\n- explore: Looks around.") {
		t.Errorf("the plan agent is told of %q", got)
	}
	if got := described("explore"); got != "" {
		t.Errorf("an agent whose rules deny it is shown it: %q", got)
	}
	long := &office{agents: []builtin.Delegate{{Name: "a", Description: strings.Repeat("é", 2000)}}}
	if said, ok := toolIn(builtin.Rooms{Delegates: long}, "task").Spec().Offer(tool.Audience{}); !ok || len(said) > 2000 || !strings.HasSuffix(said, "é…") {
		t.Errorf("a long description is %q", said)
	}
	for what, d := range map[string]builtin.Delegates{"nobody": &office{}, "nothing": nil} {
		if why, ok := toolIn(builtin.Rooms{Delegates: d}, "task").Spec().Offer(tool.Audience{}); ok || !strings.Contains(why, "Do the work yourself.") {
			t.Errorf("with %s it is offered, or does not say why: %q", what, why)
		}
	}
}

func TestTaskUnknownAgent(t *testing.T) {
	rt := officed(t, newOffice())
	for agent, want := range map[string]string{
		"generel":    `The agents are: general, explore, quiet. Did you mean "general"?`,
		"../../etc":  "The agents are: general, explore, quiet.",
		"x\u202e\ny": "The agents are: general, explore, quiet.",
	} {
		_, err := rt.Call(t.Context(), tool.Call{Tool: "task", Input: taskOf(agent, "x")})
		e, ok := errors.AsType[*tool.Error](err)
		if !ok || e.Code != "unknown-agent" || e.Hint != want {
			t.Errorf("%q: got %v with the hint %q", agent, err, e.Hint)
		}
		if said := "Unknown agent type: " + text.VisibleLine(agent) + " is not a valid agent type"; err.Error() != said {
			t.Errorf("got %q", err)
		}
	}
}

// TestTaskProgress follows a job from outside.
func TestTaskProgress(t *testing.T) {
	o := newOffice()
	o.works = func(_ context.Context, job builtin.Errand, r *builtin.Report) error {
		job.Progress(*r)
		r.Summary = []builtin.Step{{ID: "prt_1", Tool: "read", State: builtin.StepState{Status: "running"}}}
		job.Progress(*r)
		r.Summary = []builtin.Step{{ID: "prt_1", Tool: "read", State: builtin.StepState{Status: "completed", Title: new("a.txt")}}}
		job.Progress(*r)
		return nil
	}
	rt := officed(t, o)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var got []string
	var watching sync.WaitGroup
	watching.Go(func() {
		for e := range rt.Events(ctx, 0) {
			switch p := e.Properties.(type) {
			case event.CallProgress:
				got = append(got, p.Title+" "+encoded(p.Metadata))
			case event.CallFinished:
				return
			}
		}
	})
	res, err := rt.Call(t.Context(), tool.Call{Tool: "task", Input: taskOf("general", "x")})
	if err != nil {
		t.Fatal(err)
	}
	watching.Wait()
	const rest = `"model":{"modelID":"m1","providerID":"acme"},"sessionId":"ses_1","summary":`
	want := []string{
		"Look {" + rest + "[]}",
		"Look {" + rest + `[{"id":"prt_1","state":{"status":"running"},"tool":"read"}]}`,
		"Look {" + rest + `[{"id":"prt_1","state":{"status":"completed","title":"a.txt"},"tool":"read"}]}`,
	}
	if encoded(got) != encoded(want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if encoded(res.Metadata["summary"]) != `[{"id":"prt_1","tool":"read","state":{"status":"completed","title":"a.txt"}}]` {
		t.Errorf("the summary is %s", encoded(res.Metadata["summary"]))
	}
}

// TestTaskLong keeps the name of the session where a long answer is cut.
func TestTaskLong(t *testing.T) {
	rt := officed(t, newOffice())
	for _, prompt := range []string{strings.Repeat("words and words\n", 20_000), strings.Repeat("word ", 20_000)} {
		res, err := rt.Call(t.Context(), tool.Call{Tool: "task", Input: taskOf("general", prompt)})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(res.Output, "<task_metadata>\nsession_id: ses_") || res.Metadata["truncated"] != true {
			t.Errorf("got %.200q", res.Output)
		}
	}
}

func TestTaskCancelled(t *testing.T) {
	o := newOffice()
	ctx, cancel := context.WithCancel(t.Context())
	o.works = func(ctx context.Context, _ builtin.Errand, _ *builtin.Report) error {
		cancel()
		<-ctx.Done()
		return errors.New("the session was given up")
	}
	_, err := officed(t, o).Call(ctx, tool.Call{Tool: "task", Input: taskOf("general", "x")})
	if tool.KindOf(err) != tool.Canceled {
		t.Errorf("got %v", err)
	}
}

func TestTaskConforms(t *testing.T) {
	tooltest.Conform(t, tooltest.Subject{
		Tool: toolIn(builtin.Rooms{Delegates: newOffice()}, "task"), Input: string(taskOf("general", "Do it.")),
	})
}
