package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/model"
)

// loaded is a setup from the text of a config of the user, and an environment.
func loaded(t *testing.T, config string, env ...string) (*app, *setup, *bytes.Buffer) {
	t.Helper()
	home := t.TempDir()
	vars := map[string]string{"HOME": home, "HELVE_CONFIG_CONTENT": config}
	for _, pair := range env {
		name, value, _ := strings.Cut(pair, "=")
		vars[name] = value
	}
	var told bytes.Buffer
	a := &app{Env: Env{Dir: home, Stderr: &told, Getenv: func(name string) string { return vars[name] }}}
	s, err := a.load()
	if err != nil {
		t.Fatal(err)
	}
	if len(s.cfg.Problems) > 0 {
		t.Fatal(s.cfg.Problems)
	}
	return a, s, &told
}

func TestLoop(t *testing.T) {
	for _, c := range []struct {
		config string
		env    []string
		want   agent.Loop
	}{
		{config: `{}`},
		{
			config: `{"compaction": {"auto": false, "prune": false}, "subagent_depth": 0, "experimental": {"primary_tools": ["x"],
				"continue_loop_on_deny": true, "plan_mode": true}, "task": {"time_s": 1, "idle_s": 2, "tokens": 3, "cost": 4.5, "steps": 6, "calls": 7},
				"session": {"tokens": 8, "cost": 9}}`,
			want: agent.Loop{
				NoPrune: true, NoCompact: true, ContinueAfterReject: true, PlanTools: true, Depth: -1, PrimaryTools: []string{"x"},
				Child:   agent.Budget{Time: time.Second, Idle: 2 * time.Second, Tokens: 3, Cost: 4.5, Steps: 6, Calls: 7},
				Session: agent.Budget{Tokens: 8, Cost: 9},
			},
		},
		{config: `{"compaction": {"auto": true, "prune": true}, "subagent_depth": 3}`, want: agent.Loop{Depth: 3}},
		{
			config: `{}`, env: []string{"OPENCODE_DISABLE_PRUNE=1", "HELVE_DISABLE_AUTOCOMPACT=true", "OPENCODE_EXPERIMENTAL_PLAN_MODE=1"},
			want: agent.Loop{NoPrune: true, NoCompact: true, PlanTools: true},
		},
	} {
		a, s, _ := loaded(t, c.config, c.env...)
		got := s.loopOptions(a)
		got.Instructions = nil // a function has no value to compare
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.config, diff)
		}
	}
}

func TestModels(t *testing.T) {
	ref := func(provider, id string) model.Ref {
		return model.Ref{Provider: provider, Model: id}
	}
	for _, c := range []struct {
		name, config string
		env          []string
		main, small  model.Ref
		told         string
	}{
		{name: "none", config: `{}`},
		{name: "by a key", config: `{}`, env: []string{"ANTHROPIC_API_KEY=k"},
			main: ref("anthropic", "claude-sonnet-4-5"), small: ref("anthropic", "claude-haiku-4-5")},
		{name: "configured", config: `{"model": "ollama/a/b", "small_model": "ollama/c"}`, main: ref("ollama", "a/b"), small: ref("ollama", "c")},
		{name: "a small one without a key", config: `{"model": "ollama/a", "small_model": "openai/c"}`, main: ref("ollama", "a"),
			told: "sessions get no titles by small_model: there is no key for openai"},
	} {
		a, s, told := loaded(t, c.config, c.env...)
		got, err := s.models(a)
		if err != nil || got.Default != c.main || got.Small != c.small || !strings.Contains(told.String(), c.told) {
			t.Errorf("%s: %+v, %v, %q", c.name, got, err, told)
		}
		m, err := got.Find(c.main)
		if (err == nil) != (c.main != model.Ref{}) || err == nil && (m.Provider == nil || m.Fit == nil) {
			t.Errorf("%s: %+v, %v", c.name, m, err)
		}
	}
}
