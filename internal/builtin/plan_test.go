package builtin_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/internal/builtin"
	"github.com/helve-dev/helve/tool"
	"github.com/helve-dev/helve/tooltest"
)

// A drawer keeps plans in tests, and answers for the person: yes, unless the
// name of the session is another answer.
type drawer struct {
	err error // of every plan

	mu    sync.Mutex
	asked []tool.Question
	saved []string
	moves []string
}

func (d *drawer) PlanFile(context.Context, string) (shown, path string, err error) {
	return ".opencode/plans/1-quiet-river.md", "/w/.opencode/plans/1-quiet-river.md", d.err
}

func (d *drawer) SavePlan(_ context.Context, _, text string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.saved = append(d.saved, text)
	if text == "unwritable" {
		return errors.New("saving the plan: the disk is full")
	}
	return nil
}

func (d *drawer) Switch(_ context.Context, c *tool.Call, agent, text string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c.Session == "alone" {
		return tool.Fail("no-conversation", "There is no conversation to go on with.")
	}
	d.moves = append(d.moves, agent+": "+text)
	return nil
}

func (d *drawer) Question(_ context.Context, c *tool.Call, qs []tool.Question) ([][]string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked = append(d.asked, qs...)
	switch c.Session {
	case "silent":
		return nil, nil
	case "No", " no ", "first mend the tests":
		return [][]string{{c.Session}}, nil
	case "dismissed":
		return nil, &tool.Error{Kind: tool.Rejected, Code: "rejected", Err: errors.New("The user dismissed this question")}
	}
	return [][]string{{"Yes"}}, nil
}

func planTools(d *drawer) []tool.Tool {
	r := builtin.Rooms{Plans: d, People: d}
	return []tool.Tool{toolIn(r, "plan_enter"), toolIn(r, "plan_exit")}
}

// planned gives every script plans.
func planned(e *tooltest.Env) error {
	e.Tools = append(e.Tools, planTools(&drawer{})...)
	return nil
}

func planRuntime(t *testing.T, d *drawer) *helve.Runtime {
	t.Helper()
	dir := t.TempDir()
	rt, err := helve.Open(helve.Options{Dir: dir, Worktree: dir, Flags: map[string]bool{"plan": true}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := rt.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, tl := range planTools(d) {
		if _, err := rt.Register(tl); err != nil {
			t.Fatal(err)
		}
	}
	return rt
}

// TestPlanQuestions holds the questions and what follows them against the
// reference's.
func TestPlanQuestions(t *testing.T) {
	d := &drawer{}
	rt := planRuntime(t, d)
	for _, c := range []tool.Call{
		{Tool: "plan_enter", Agent: "build", Session: "yes"},
		{Tool: "plan_exit", Agent: "plan", Session: "yes", Input: []byte(`{"plan":"# Plan\n"}`)},
	} {
		if _, err := rt.Call(t.Context(), c); err != nil {
			t.Errorf("%s: %v", c.Tool, err)
		}
	}
	want := `[{"question":"Would you like to switch to the plan agent and create a plan saved to .opencode/plans/1-quiet-river.md?","header":"Plan Mode",` +
		`"options":[{"label":"Yes","description":"Switch to plan agent for research and planning"},` +
		`{"label":"No","description":"Stay with build agent to continue making changes"}]},` +
		`{"question":"Plan at .opencode/plans/1-quiet-river.md is complete. Would you like to switch to the build agent and start implementing?","header":"Build Agent",` +
		`"options":[{"label":"Yes","description":"Switch to build agent and start implementing the plan"},` +
		`{"label":"No","description":"Stay with plan agent to continue refining the plan"}]}]`
	if got := encoded(d.asked); got != want {
		t.Errorf("asked was %s", got)
	}
	if got := encoded(d.moves); got != `["plan: User has requested to enter plan mode. Switch to plan mode and begin planning.",`+
		`"build: The plan at .opencode/plans/1-quiet-river.md has been approved, you can now edit files. Execute the plan"]` {
		t.Errorf("the moves are %s", got)
	}
	if got := encoded(d.saved); got != `["# Plan\n"]` {
		t.Errorf("saved was %s", got)
	}
}

func TestPlanOffered(t *testing.T) {
	rt := planRuntime(t, &drawer{})
	for agent, want := range map[string]string{"build": "plan_enter", "plan": "plan_exit", "general": ""} {
		var got []string
		for _, s := range rt.Tools(tool.Audience{Agent: agent}) {
			if strings.HasPrefix(s.Name, "plan_") {
				got = append(got, s.Name)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s is shown %v", agent, got)
		}
	}
	for i, tl := range planTools(&drawer{}) {
		if why, ok := tl.Spec().Offer(tool.Audience{}); ok || !strings.Contains(why, `the flag "plan"`) {
			t.Errorf("%d: without the flag it is offered, or does not say why: %q", i, why)
		}
	}
	for _, name := range []string{"plan_enter", "plan_exit"} {
		tl := toolIn(builtin.Rooms{}, name)
		if why, ok := tl.Spec().Offer(tool.Audience{Flags: map[string]bool{"plan": true}}); ok || why == "" {
			t.Errorf("%s: without plans it is offered, or does not say why: %q", name, why)
		}
		if _, err := tl.Run(t.Context(), &tool.Call{Input: []byte("{}")}); err == nil || !strings.Contains(err.Error(), "no conversation") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestPlanWithoutPlace(t *testing.T) {
	broken := fmt.Errorf("the store is closed")
	rt := planRuntime(t, &drawer{err: broken})
	_, err := rt.Call(t.Context(), tool.Call{Tool: "plan_enter", Session: "yes"})
	if !errors.Is(err, broken) || err.Error() != "finding the place of the plan: the store is closed" {
		t.Errorf("got %v", err)
	}
}

func TestPlanToolsConform(t *testing.T) {
	for i, input := range []string{"{}", `{"plan":"# Plan"}`} {
		tooltest.Conform(t, tooltest.Subject{
			Tool: planTools(&drawer{})[i], Input: input, Options: helve.Options{Flags: map[string]bool{"plan": true}},
		})
	}
}
