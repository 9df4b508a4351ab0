package helve_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/model"
	"github.com/helve-dev/helve/permission"
)

func agentNamed(t *testing.T, agents []agent.Spec, name string) agent.Spec {
	t.Helper()
	for _, a := range agents {
		if a.Name == name {
			return a
		}
	}
	t.Fatalf("there is no agent %s", name)
	return agent.Spec{}
}

func config(t *testing.T, text string) permission.Ruleset {
	t.Helper()
	rs, err := permission.ParseConfig([]byte(text), permission.ConfigOptions{Home: "/home/u"})
	if err != nil {
		t.Fatal(err)
	}
	return rs
}

func TestAgentRules(t *testing.T) {
	const data, outputs = "/data", "/data/tool-output"
	for _, c := range []struct {
		user, own, agent, permission, pattern, want string
	}{
		{agent: "build", permission: "edit", want: "allow"},
		{agent: "build", permission: "bash", want: "allow"},
		{agent: "build", permission: "doom_loop", want: "ask"},
		{agent: "build", permission: "external_directory", want: "ask"},
		{agent: "build", permission: "external_directory", pattern: outputs + "/tool_1", want: "allow"},
		{agent: "build", permission: "question", want: "allow"},
		{agent: "build", permission: "plan_exit", want: "deny"},
		{agent: "plan", permission: "edit", want: "deny"},
		{agent: "plan", permission: "edit", pattern: ".opencode/plans/foo.md", want: "allow"},
		{agent: "plan", permission: "edit", pattern: "../data/plans/1-x.md", want: "allow"},
		{agent: "general", permission: "todowrite", want: "deny"},
		{agent: "explore", permission: "edit", want: "deny"},
		{agent: "explore", permission: "read", pattern: "/w/a.go", want: "allow"},
		{agent: "explore", permission: "read", pattern: "/w/.env", want: "ask"},
		{agent: "explore", permission: "external_directory", pattern: "/else/*", want: "ask"},
		{agent: "compaction", permission: "read", want: "deny"},
		{agent: "build", permission: "read", pattern: "/w/.env", want: "ask"},
		{agent: "plan", permission: "read", pattern: "/w/.env.local", want: "ask"},
		{agent: "build", permission: "read", pattern: "/w/.env.example", want: "allow"},
		{agent: "build", permission: "read", pattern: "/w/.envrc", want: "allow"},
		{user: `{"bash":"deny"}`, agent: "build", permission: "bash", want: "deny"},
		{own: `{"bash":{"rm -rf *":"deny"}}`, agent: "build", permission: "bash", pattern: "rm -rf /", want: "deny"},
		{own: `{"bash":{"rm -rf *":"deny"}}`, agent: "build", permission: "edit", want: "allow"},
		{user: `{"external_directory":"deny"}`, agent: "build", permission: "external_directory", pattern: outputs, want: "allow"},
		{user: `{"external_directory":"deny"}`, agent: "build", permission: "external_directory", pattern: "/else", want: "deny"},
		{own: `{"external_directory":"deny"}`, agent: "build", permission: "external_directory", pattern: outputs + "/*", want: "allow"},
		{user: `{"external_directory":{"*":"deny","/data/tool-output":"deny"}}`, agent: "build", permission: "external_directory", pattern: outputs + "/*", want: "deny"},
	} {
		o := agent.SpecOptions{DataDir: data, Worktree: "/w"}
		if c.user != "" {
			o.User = config(t, c.user)
		}
		if c.own != "" {
			o.Own = []agent.SpecChange{{Name: c.agent, Rules: config(t, c.own)}}
		}
		if c.pattern == "" {
			c.pattern = "*"
		}
		a := agentNamed(t, agent.Specs(o), c.agent)
		if got := a.Policy.Decide(c.permission, c.pattern).Action; string(got) != c.want {
			t.Errorf("%+v: got %s", c, got)
		}
	}
}

func TestAgentsConfigured(t *testing.T) {
	agents := agent.Specs(agent.SpecOptions{Default: "mine", Own: []agent.SpecChange{
		{Name: "explore", Disable: true},
		{Name: "mine", Description: "Mine.", Rules: config(t, `{"bash":"deny"}`)},
		{Name: "general", Mode: "primary"},
	}})
	if agents[0].Name != "mine" || agents[0].Mode != "all" || !agents[0].Policy.Hides("bash") {
		t.Errorf("first: %+v", agents[0])
	}
	for _, a := range agents {
		if a.Name == "explore" {
			t.Error("a disabled agent is there")
		}
	}
	if g := agentNamed(t, agents, "general"); g.Mode != "primary" || g.Description == "" {
		t.Errorf("general: %+v", g)
	}
}

// TestPlanIsLocked holds plan against every way of giving it more.
func TestPlanIsLocked(t *testing.T) {
	all := `{"*":"allow","edit":{"*":"allow","/w/*":"allow","**":"allow","a.go":"allow"}}`
	agents := agent.Specs(agent.SpecOptions{DataDir: "/data", Worktree: "/w", User: config(t, all), Own: []agent.SpecChange{
		{Name: "plan", Mode: "all", Rules: config(t, all), Ceilings: []permission.Ruleset{config(t, all)}},
		{Name: "child", Rules: config(t, all)},
	}})
	plan, child := agentNamed(t, agents, "plan"), agentNamed(t, agents, "child")
	if !plan.Locked || !plan.ReadOnly || child.Locked || child.ReadOnly {
		t.Errorf("plan locked=%t read-only=%t, child locked=%t read-only=%t", plan.Locked, plan.ReadOnly, child.Locked, child.ReadOnly)
	}
	for _, c := range []struct {
		pattern string
		want    permission.Action
	}{
		{"a.go", permission.Deny},
		{"/w/a.go", permission.Deny},
		{".opencode/plans/a.go", permission.Deny},
		{".opencode/plans/p.md", permission.Allow},
		{"../data/plans/p.md", permission.Allow},
	} {
		for who, p := range map[string]permission.Policy{"plan": plan.Policy, "its child": child.Policy.Under(plan.Policy)} {
			if got := p.Decide("edit", c.pattern); got.Action != c.want {
				t.Errorf("%s, edit %s: %s by %v, want %s", who, c.pattern, got.Action, got.Rule, c.want)
			}
		}
	}
	if plan.Policy.Hides("edit") {
		t.Error("plan can not write its plan: edit is hidden")
	}
	if got := plan.Policy.Decide("task", "general").Action; got != permission.Allow {
		t.Errorf("plan's task to general: %s", got)
	}
	if own := agentNamed(t, agent.Specs(agent.SpecOptions{Own: []agent.SpecChange{{Name: "mine", Locked: true}}}), "mine"); !own.Locked || !own.ReadOnly {
		t.Errorf("an agent that is configured to be locked: %+v", own)
	}
}

func TestAgentSettings(t *testing.T) {
	warm, cold := 0.9, 0.1
	at := model.Ref{Provider: "p", Model: "m/n"}
	agents := agent.Specs(agent.SpecOptions{Own: []agent.SpecChange{
		{Name: "title", TopP: &cold},
		{Name: "build", Prompt: "Build.", Model: at, Steps: 3, Color: "#000000", Temperature: &warm,
			Options: map[string]any{"a": 1, "deep": map[string]any{"x": 1, "y": 1}}},
		{Name: "build", Options: map[string]any{"b": 2, "deep": map[string]any{"y": 2}}},
	}})
	build := agentNamed(t, agents, "build")
	want := agent.Spec{
		Name: "build", Description: build.Description, Mode: "primary", Native: true, Prompt: "Build.", Model: at, Steps: 3,
		Color: "#000000", Temperature: &warm, Options: map[string]any{"a": 1, "b": 2, "deep": map[string]any{"x": 1, "y": 2}},
		Policy: build.Policy,
	}
	if diff := cmp.Diff(want, build); diff != "" {
		t.Error(diff)
	}
	if title := agentNamed(t, agents, "title"); title.Temperature == nil || *title.Temperature != 0.5 || title.TopP != &cold {
		t.Errorf("title: %+v", title)
	}
}

func TestDefaultAgent(t *testing.T) {
	off := func(names ...string) (own []agent.SpecChange) {
		for _, n := range names {
			own = append(own, agent.SpecChange{Name: n, Disable: true})
		}
		return own
	}
	for _, c := range []struct {
		opt         agent.SpecOptions
		first, want string
	}{
		{agent.SpecOptions{}, "build", ""},
		{agent.SpecOptions{Default: "plan"}, "plan", ""},
		{agent.SpecOptions{Default: "explore"}, "", `default agent "explore" is a subagent`},
		{agent.SpecOptions{Default: "compaction"}, "", `default agent "compaction" is hidden`},
		{agent.SpecOptions{Default: "does_not_exist"}, "", `default agent "does_not_exist" not found`},
		{agent.SpecOptions{Own: off("build")}, "plan", ""},
		{agent.SpecOptions{Own: off("build", "plan")}, "", "no primary visible agent found"},
	} {
		got := ""
		if err := c.opt.Validate(); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%+v: got %q, want %q", c.opt, got, c.want)
		}
		if c.first != "" && agent.Specs(c.opt)[0].Name != c.first {
			t.Errorf("%+v: first is %s", c.opt, agent.Specs(c.opt)[0].Name)
		}
	}
}

func TestRepeatedIDIsRefused(t *testing.T) {
	rt := open(t, helve.Options{})
	call := say("todoread", "")
	call.ID, call.Session = "same", "s"
	if _, err := rt.Call(t.Context(), call); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"todoread", "read", "nothing"} { // also where it fails before it starts
		call.Tool = name
		if _, err := rt.Call(t.Context(), call); kindOf(t, err).Code != "duplicate-id" {
			t.Errorf("%s: %v", name, err)
		}
	}
	call.Tool, call.Session = "todoread", "other"
	if _, err := rt.Call(t.Context(), call); err != nil {
		t.Errorf("another session: %v", err)
	}
}
