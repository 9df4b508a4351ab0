package config

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/helve-dev/helve/permission"
)

// A check tells of rules that can not mean what is written, and loading does
// not: they are in force.
func TestWeakRules(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`{"permission": {"bash": {"rm *": "deny", "*": "allow"}}}`,
			`warning helve.json:1: "bash": {"rm *": "deny"} has no effect: the last match wins, and the later "bash": "allow" (line 1) is about all of it; put that one first`},
		{`{"permission": {"bash": {"rm": "deny"}}}`, `warning helve.json:1: "bash": {"rm": "deny"} denies only the bare command; did you mean "rm *"?`},
		{`{"permission": {"bash": {"rm": "ask"}}}`, `warning helve.json:1: "bash": {"rm": "ask"} asks about the bare command only; did you mean "rm *"?`},
		{`{"agent": {"build": {"permission": {"bash": {"rm": "deny"}}}}}`, `warning helve.json:1: "bash": {"rm": "deny"} denies only the bare command; did you mean "rm *"?`},
		{`{"permission": {"bash": {"*": "allow", "rm *": "deny"}}}`, ``},
		{`{"permission": {"bash": {"rm:*": "deny"}}}`, `warning helve.json:1: "bash": {"rm:*": "deny"} is about rm with a colon; if it is meant as in Claude Code, write "rm *"`},
		{`{"permission": {"bash": {"npm run test:*": "ask"}}}`, `note helve.json:1: "bash": {"npm run test:*": "ask"} is about npm run test with a colon; if it is meant as in Claude Code, write "npm run test *"`},
		{`{"permission": {"bash": {"npm run test:*": "allow"}, "edit": {"a:*": "deny"}}}`, ``},
		{`{"permission": {"bash": {"rm\u00a0*": "deny"}}}`, `warning helve.json:1: "bash": the pattern "rm\u00a0*" holds a character that cannot be seen, and stands for nothing without it`},
		{`{"permission": {"read": "allow"}}`,
			`note helve.json:1: "read": "allow" also allows to read "*.env" and "*.env.*", which is asked about by default; to keep that, write "*.env": "ask", "*.env.*": "ask" after it`},
		{`{"permission": {"read": {"*": "allow", "*.env": "ask"}}}`,
			`note helve.json:1: "read": "allow" also allows to read "*.env.*", which is asked about by default; to keep that, write "*.env.*": "ask" after it`},
		{`{"permission": {"read": {"*": "allow", "*.env": "ask", "*.env.*": "deny"}}}`, ``},
		{`{"permission": {"*": "allow", "read": "ask"}}`, ``},
		{`{"permission": {"read": {"*.env.local": "allow"}}}`, ``},
	} {
		_, opt := project(t)
		opt.Defaults = permission.Ruleset{
			{Permission: "*", Pattern: "*", Action: permission.Allow}, {Permission: "external_directory", Pattern: "*", Action: permission.Ask},
			{Permission: "read", Pattern: "*.env", Action: permission.Ask}, {Permission: "read", Pattern: "*.env.*", Action: permission.Ask},
		}
		dir := filepath.Join(opt.Home, ".config/helve")
		write(t, filepath.Join(dir, "helve.json"), c.text)
		checked, err := Check(opt)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range checked.Problems {
			got = append(got, string(p.Severity)+" "+strings.TrimPrefix(p.Error(), dir+"/"))
		}
		if strings.Join(got, "; ") != c.want {
			t.Errorf("%s: got %q", c.text, got)
		}
		if all := load(t, opt).Problems; len(all) > 0 {
			t.Errorf("%s: loading says %v", c.text, all)
		}
	}
}

// What one file loosens of another is meant, and a file that is not trusted is
// looked at too.
func TestWeakRulesOfFiles(t *testing.T) {
	_, opt := project(t)
	write(t, filepath.Join(opt.Home, ".config/opencode/opencode.json"), `{"permission": {"bash": {"rm *": "deny"}}}`)
	write(t, filepath.Join(opt.Home, ".config/helve/helve.json"), `{"permission": {"bash": {"*": "allow"}}}`)
	write(t, filepath.Join(opt.Dir, "opencode.json"), `{"permission": {"bash": {"rm": "deny"}}}`)
	c, err := Check(opt)
	if err != nil || len(c.Problems) != 1 || c.Problems[0].File != filepath.Join(opt.Dir, "opencode.json") || c.Problems[0].Severity != Warning {
		t.Errorf("got %v, %v", c.Problems, err)
	}
}
