package config

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helve-dev/helve/permission"
)

// TestCheckLooksIntoWhatIsWithheld finds the mistakes of a file that nobody
// has trusted, and puts nothing of it into force.
func TestCheckLooksIntoWhatIsWithheld(t *testing.T) {
	_, opt := project(t)
	file, doc := filepath.Join(opt.Dir, "helve.json"), filepath.Join(opt.Dir, ".helve/agent/x.md")
	write(t, filepath.Join(opt.Home, ".config/helve/helve.json"), `{"permission": {"bash": "ask"}, "permission_examples": {"bash": {"ls": "ask"}}}`)
	write(t, file, `{
  "mcp": {"m": {"type": "distant"}},
  "tool_output": {"max_lines": "many"},
  "permission": {"bash": "allow", "edit": "{env:SECRET}"},
  "agent": {"a": {"mode": "{env:SECRET}", "steps": 0}},
  "permission_examples": {"bash": {"ls": "deny"}},
  "username": 3
}`)
	write(t, doc, "---\nmode: boss\n---\n")
	opt.Env = func(name string) string { return map[string]string{"SECRET": "hunter2"}[name] }
	got, err := Check(opt)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, p := range got.Problems {
		lines = append(lines, strings.ReplaceAll(string(p.Severity)+" "+p.Error(), opt.Dir, "$DIR"))
	}
	want := []string{
		`error $DIR/.helve/agent/x.md:2:7: "agent.x.mode" is "boss"; want "subagent", "primary" or "all"`,
		`error $DIR/helve.json:2:25: "mcp.m.type" is "distant"; want "local" or "remote"`,
		`error $DIR/helve.json:3:32: "tool_output.max_lines" is a string; want a whole number above 0`,
		`error $DIR/helve.json:5:52: "agent.a.steps" is 0; want a whole number above 0`,
		`error $DIR/helve.json:6:36: the example bash "ls" should be "deny" but is "allow": the rule "bash *": "allow" at $DIR/helve.json:4 decides`,
		`error $DIR/helve.json:7:15: "username" is a number; want a string`,
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Error(diff)
	}
	plain := load(t, opt)
	if len(plain.Problems) != 1 { // only what is in force is looked at
		t.Errorf("Load finds %v", plain.Problems)
	}
	got.Problems, plain.Problems = nil, nil
	if diff := cmp.Diff(plain, got); diff != "" {
		t.Errorf("more is in force after a check:\n%s", diff)
	}
	if got.PolicyError != nil {
		t.Errorf("an example of an untrusted file made the policy void: %v", got.PolicyError)
	}
}

func TestWithheldRules(t *testing.T) {
	_, opt := project(t)
	file := filepath.Join(opt.Dir, "opencode.json")
	for text, want := range map[string][]string{
		`{"permission": {"bash": "deny"}}`:  nil,
		`{"permission": {"bash": "allow"}}`: {file + ": its 1 rule that allows loosens nothing until you trust the file"},
		`{"permission": {"bash": {"*": "ask", "ls": "allow"}}, "agent": {"build": {"permission": "allow"}}}`: {
			file + ": its 2 rules that allow loosen nothing until you trust the file",
		},
		`{"agent": {"mine": {"tools": {"bash": true}}}, "share": "auto"}`: {
			file + `: "share" is not in force: the file is not trusted`,
			file + ": its 1 rule that allows loosens nothing until you trust the file",
		},
	} {
		write(t, file, text)
		var got []string
		for _, w := range load(t, opt).Withheld {
			got = append(got, w.String())
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s:\n%s", text, diff)
		}
	}
}

func TestOriginsOfParts(t *testing.T) {
	_, opt := project(t)
	one, two := filepath.Join(opt.Home, ".config/opencode/opencode.json"), filepath.Join(opt.Home, ".config/helve/helve.json")
	write(t, one, "{\"permission\": {\"bash\": {\n\"ls\": \"allow\", \"rm\": \"ask\"}},\n\"instructions\": [\"a\"], \"share\": \"auto\"}")
	write(t, two, "{\"permission\": {\"bash\": {\n\n\"rm\": \"deny\"}}, \"instructions\": [\"b\"]}")
	got := load(t, opt).Origins
	for name, want := range map[string]permission.Source{
		"permission.bash.ls": {File: one, Line: 2},
		"permission.bash.rm": {File: two, Line: 3},
		"instructions.0":     {File: one, Line: 3},
		"instructions.1":     {File: two, Line: 3},
		"share":              {File: one, Line: 3},
	} {
		if got[name] != want {
			t.Errorf("%s: got %v, want %v", name, got[name], want)
		}
	}
}

func TestOuterPermissionKey(t *testing.T) {
	for _, name := range []string{"HELVE_PERMISSION", "OPENCODE_PERMISSION"} {
		want := name + ` holds the rules alone: leave the outer key "permission" out`
		for _, text := range []string{`{"permission": {"bash": "deny"}}`, `{"permission": "deny"}`} {
			_, opt := project(t)
			opt.Env = func(n string) string { return map[string]string{name: text}[n] }
			err := load(t, opt).PolicyError
			if err == nil || !strings.Contains(err.Error(), name+`:1:2: `) || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v", err)
			}
		}
	}
	_, opt := project(t)
	opt.Env = func(n string) string {
		return map[string]string{"HELVE_CONFIG_CONTENT": `{"permission": {"permission": "deny"}}`}[n]
	}
	if c := load(t, opt); c.PolicyError != nil { // a tool may be called so
		t.Error(c.PolicyError)
	}
}

// Rules that stand where none belong, or under a name that is not theirs, keep
// what they restrict, whether the file is trusted or not, and loosen nothing.
func TestRulesBesidePermission(t *testing.T) {
	for _, c := range []struct{ text, says, restricts string }{
		{`{"bash": {"rm *": "deny"}}`, `:1:2: "bash" holds rules, and no setting does; only what they restrict is in force; did you mean "permission": {"bash": …}?`, "bash rm * deny"},
		{`{"bash": "ask"}`, `did you mean "permission": {"bash": …}?`, "bash * ask"},
		{`{"read": {"*.env": "deny"}}`, `did you mean "permission": {"read": …}?`, "read *.env deny"},
		{`{"edit": {"matching": "safe", "*": "ask", "*.go": "allow"}}`, `did you mean "permission": {"edit": …}?`, "edit * ask, edit *.go allow"},
		{`{"edit": {"matching": "safe", "*.go": "allow"}}`, `did you mean "permission": {"edit": …}?`, ""},
		{`{"mcp_*": "deny"}`, `did you mean "permission": {"mcp_*": …}?`, "mcp_* * deny"},
		{`{"agent": {"plan": {"bash": {"rm *": "deny"}}}}`, `"agent.plan.bash" holds rules`, "plan: bash rm * deny"},
		{`{"agent": {"x": {"task": {"*": "deny", "y": "allow"}}}}`, `"agent.x.task" holds rules`, "x: task * deny, task y allow"},
		{`{"permision": {"bash": "deny", "edit": "allow"}}`, `"permision" is not a setting; only what it restricts is in force; did you mean "permission"?`, "bash * deny, edit * allow"},
		{`{"permissions": {"bash": "alow"}}`, `"permission.bash": "alow" is not an action; did you mean "allow"?`, "bash * deny"},
		{`{"permissions": "deny"}`, `"permissions" is not a setting`, "* * deny"},
		{`{"agent": {"x": {"permissions": {"edit": "ask"}}}}`, `"agent.x.permissions" is not a setting`, "x: edit * ask"},
		{`{"agents": {"x": {"permission": {"edit": "ask"}, "model": 1}, "y": 1}}`, `"agents" is not a setting; of its rules only what restricts is in force; did you mean "agent"?`, "x: edit * ask"},
		{`{"tool": {"bash": false, "read": true, "x": {}}}`, `"tool" is not a setting; only what it restricts is in force; did you mean "tools"?`, "bash * deny, read * allow"},
		{`{"permissions": [{"action": "shell", "resource": "git *", "effect": "ask"}, {"action": "edit", "effect": "deny"}, 1, {"effect": "deny"}]}`,
			`"permissions" is a list of rules, as later versions of OpenCode have them; only what it restricts is in force`, "bash git * ask, edit * deny"},
		{`{"permissions": [{"permission": "bash", "pattern": "*", "action": "deny"}, {"tool": "edit", "action": "ask"}, {"permission": "read", "action": "allow"}]}`,
			`"permissions" is a list of rules`, "bash * deny, edit * ask, read * allow"},
		{`{"agents": {"x": {"permissions": [{"action": "subagent", "resource": "*", "effect": "deny"}]}}}`, `"agents" is not a setting`, "x: task * deny"},
		{`{"agent": {"x": {"permissions": [{"action": "skill", "resource": "*", "effect": "deny"}]}}}`, `"agent.x.permissions" is a list of rules`, "x: skill * deny"},
		{`{"agent": {"x": {"permissions": ["Read", "Bash(git:*)"]}}}`, `"agent.x.permissions" is not a setting; did you mean "permission"?`, ""},
		{`{"agent": {"x": {"tools": "Read, Grep, Bash(git:*), mcp__a__b"}}}`, `"agent.x.tools" is a list; want an object such as {"write": false}`,
			"x: * * deny, external_directory * allow, doom_loop * allow, read * allow, grep * allow, a_b * allow"},
		{`{"agent": {"x": {"tools": ["Write", "LS"]}}}`, `"agent.x.tools" is a list`, "x: * * deny, external_directory * allow, doom_loop * allow, edit * allow, list * allow"},
		{`{"bash": {"timeout_ms": 10}, "edit": {"matching": "safe"}}`, "", ""},
		{`{"username": "deny", "agent": {"plan": {"effort": "ask"}}}`, "", ""},
	} {
		for _, name := range []string{"helve.json", "opencode.json"} {
			_, opt := project(t)
			for _, file := range []string{filepath.Join(opt.Dir, name), filepath.Join(opt.Home, ".config", strings.TrimSuffix(name, ".json"), name)} {
				write(t, file, c.text)
				cfg := load(t, opt)
				if got := restrictions(cfg); cfg.PolicyError != nil || got != c.restricts || len(cfg.Rules) > 0 {
					t.Errorf("%s in %s: restricts %q, want %q; rules %v, %v", c.text, file, got, c.restricts, cfg.Rules, cfg.PolicyError)
				}
				if !slices.ContainsFunc(cfg.Problems, func(p Problem) bool { return c.says != "" && strings.Contains(p.Error(), c.says) && p.File == file }) && c.says != "" {
					t.Errorf("%s in %s: told %v, want %q", c.text, file, cfg.Problems, c.says)
				}
				write(t, file, "{}")
			}
		}
	}
}

// restrictions are the ceilings of a config in one line.
func restrictions(c *Config) string {
	var all []string
	add := func(of string, lists []permission.Ruleset) {
		for _, rules := range lists {
			for _, r := range rules {
				all = append(all, fmt.Sprintf("%s%s %s %s", of, r.Permission, r.Pattern, r.Action))
				of = ""
			}
		}
	}
	add("", c.Ceilings)
	for _, a := range c.Agents {
		add(a.Name+": ", a.Ceilings)
	}
	return strings.Join(all, ", ")
}

// A text that ends too early says so, also where nobody has trusted it; what else
// is wrong with such a text is not told, for it may be anybody's.
func TestUnclosedText(t *testing.T) {
	_, opt := project(t)
	file := filepath.Join(opt.Dir, "helve.json")
	for text, want := range map[string]string{
		"{\"permission\": {\"bash\": \"deny\"}\n": ":2:1: not JSON: the text ends before all is closed that was opened",
		`{"a": [1, `:         "not JSON: the text ends before all is closed that was opened",
		`{"a": "b`:           "not JSON: the text ends before all is closed that was opened",
		`{"a": x}`:           ":1:7: not JSON (every",
		"\xff\xfe{\x00}\x00": "the file is UTF-16 text; save it as UTF-8",
	} {
		write(t, file, text)
		if err := load(t, opt).PolicyError; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}
