package builtin_test

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/internal/builtin"
	"github.com/helve-dev/helve/internal/files"
	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/skill"
	"github.com/helve-dev/helve/tool"
)

// What tools may cost a model before it has called one.
const (
	builtinTokens  = 4000 // the built-in tools that are offered, with a search engine set up
	deferredTokens = 1500 // 200 tools of other programs, in the compact form
)

// definitions is how tools reach a model: as MCP lists them, and as the
// function tools of a chat API.
func definitions(t *testing.T, specs []tool.Spec) map[string]string {
	t.Helper()
	var list, functions []any
	for _, s := range specs {
		list = append(list, map[string]any{"name": s.Name, "description": s.Description, "inputSchema": s.Schema})
		functions = append(functions, map[string]any{"type": "function", "function": map[string]any{
			"name": s.Name, "description": s.Description, "parameters": s.Schema}})
	}
	out := map[string]string{}
	for form, v := range map[string]any{"mcp": list, "functions": functions} {
		var b strings.Builder
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(v); err != nil {
			t.Fatal(err)
		}
		out[form] = b.String()
	}
	return out
}

// TestFootprint counts what a model pays for the tools that come with helve.
// What few people switch on (batch, tool_search and its like) is counted by
// itself.
func TestFootprint(t *testing.T) {
	rt, err := helve.Open(helve.Options{Dir: t.TempDir(), Web: helve.Web{Search: helve.Finder{Provider: "exa"}}, Skills: &skill.Options{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = rt.Close() })
	var all []tool.Spec
	for _, s := range rt.Tools(tool.Audience{}) {
		if !s.Catches {
			all = append(all, s)
		}
	}
	for form, said := range definitions(t, all) {
		n := text.Tokens(said)
		t.Logf("%d tools as %s: %d tokens", len(all), form, n)
		if n > builtinTokens {
			t.Errorf("the built-in tools as %s cost %d tokens, and %d are the most: shorten descriptions", form, n, builtinTokens)
		}
	}
	for _, b := range builtin.All(builtin.Rooms{Files: &files.Workspace{}}) {
		s := b.Spec()
		t.Logf("%s: %d", s.Name, text.Tokens(definitions(t, []tool.Spec{s})["mcp"]))
	}
}

// TestAgentFootprint counts what a model pays where it can also give work to
// the agents that come with helve, and change between planning and building.
func TestAgentFootprint(t *testing.T) {
	rt, err := helve.Open(helve.Options{
		Dir: t.TempDir(), Web: helve.Web{Search: helve.Finder{Provider: "exa"}}, Skills: &skill.Options{}, Flags: map[string]bool{"plan": true},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = rt.Close() })
	o := &office{}
	for _, a := range rt.Agents() {
		if a.Mode != "primary" {
			o.agents = append(o.agents, builtin.Delegate{Name: a.Name, Description: a.Description})
		}
	}
	for _, tl := range append(planTools(&drawer{}), toolIn(builtin.Rooms{Delegates: o}, "task")) {
		if _, err := rt.Register(tl); err != nil {
			t.Fatal(err)
		}
	}
	for _, model := range []string{"claude-sonnet-4-5", "gpt-5"} {
		for _, agent := range []string{"build", "plan"} {
			specs := slices.DeleteFunc(rt.Tools(tool.Audience{Model: model, Agent: agent}), func(s tool.Spec) bool { return s.Catches })
			n := text.Tokens(definitions(t, specs)["functions"])
			t.Logf("%d tools for %s with %s: %d tokens", len(specs), agent, model, n)
			if n > builtinTokens || !slices.ContainsFunc(specs, func(s tool.Spec) bool { return s.Name == "task" }) {
				t.Errorf("the tools for %s with %s cost %d tokens, and %d are the most: shorten descriptions", agent, model, n, builtinTokens)
			}
		}
	}
}

// foreigners reads tools as other programs describe them.
func foreigners(t *testing.T, n int) []tool.Tool {
	t.Helper()
	data, err := os.ReadFile("testdata/rank/tools.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var out []tool.Tool
	for line := range strings.Lines(string(data)) {
		var d struct {
			Name, Description string
			InputSchema       *jsonschema.Schema
		}
		if err := json.Unmarshal([]byte(line), &d); err != nil {
			t.Fatal(err)
		}
		f, err := tool.Dynamic(tool.Spec{Name: d.Name, Description: d.Description, Schema: d.InputSchema, External: true},
			func(context.Context, *tool.Call) (*tool.Result, error) { return &tool.Result{}, nil })
		if err != nil {
			t.Fatal(err)
		}
		if out = append(out, f); len(out) == n {
			return out
		}
	}
	t.Fatalf("there are %d tools in the catalogue", len(out))
	return nil
}

// TestDeferredFootprint counts what 200 tools of other programs add to what a
// model is shown, listed and deferred.
func TestDeferredFootprint(t *testing.T) {
	shown := func(flags map[string]bool, foreign ...tool.Tool) int {
		rt, err := helve.Open(helve.Options{Dir: t.TempDir(), Flags: flags})
		if err != nil {
			t.Fatal(err)
		}
		defer rt.Close()
		for _, f := range foreign {
			if _, err := rt.Register(f); err != nil {
				t.Fatal(err)
			}
		}
		return text.Tokens(definitions(t, rt.Tools(tool.Audience{}))["functions"])
	}
	foreign := foreigners(t, 200)
	alone := shown(nil)
	listed := shown(nil, foreign...) - alone
	deferred := shown(map[string]bool{"compact": true}, foreign...) - alone
	t.Logf("the built-in tools cost %d tokens, 200 tools of other programs %d more, %d when deferred", alone, listed, deferred)
	if deferred > deferredTokens {
		t.Errorf("200 deferred tools cost %d tokens, and %d are the most", deferred, deferredTokens)
	}
	if listed < 4*deferredTokens || deferred <= 0 {
		t.Errorf("200 listed tools cost %d tokens, %d deferred: the figures can not be right", listed, deferred)
	}
}
