package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/helve-dev/helve/permission"
)

// TestRoots loads config folders as people have them, each as the user's own and
// as one that a project brings, trusted and not. An archive holds many: the
// first part of a name is the root, and its file want says which tools are not
// simply allowed, of everybody and of each agent, and what is told.
//
// Most of them OpenCode 1.18 accepts, and then helve is not switched off. Those
// that it refuses have a name that ends in !.
//
// For what does not show in a text stand ␍ (carriage return), ␉ (tab), ␂ (byte
// order mark) and ␦ (a byte that is not UTF-8).
func TestRoots(t *testing.T) {
	files, err := filepath.Glob("testdata/roots/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no roots", err)
	}
	for _, file := range files {
		ar, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		roots := map[string][]*txtar.File{}
		var names []string
		for i := range ar.Files {
			name, _, _ := strings.Cut(ar.Files[i].Name, "/")
			if roots[name] == nil {
				names = append(names, name)
			}
			roots[name] = append(roots[name], &ar.Files[i])
		}
		for _, name := range names {
			t.Run(name, func(t *testing.T) { testRoot(t, name, roots[name]) })
		}
		if *update {
			if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func testRoot(t *testing.T, name string, files []*txtar.File) {
	hidden := strings.NewReplacer("␍", "\r", "␉", "\t", "␂", "\ufeff", "␦", "\xff")
	var want *txtar.File
	lay := func(dir string) {
		for _, f := range files {
			if rel := strings.TrimPrefix(f.Name, name+"/"); rel == "want" {
				want = f
			} else {
				write(t, filepath.Join(dir, rel), hidden.Replace(strings.TrimSuffix(string(f.Data), "␄\n")))
			}
		}
	}
	_, own := project(t)
	dir := filepath.Join(own.Home, ".config/opencode")
	lay(dir)
	c := load(t, own)
	got := outcome(c, dir)
	if *update {
		want.Data = []byte(got)
	} else if diff := cmp.Diff(string(want.Data), got); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
	if !strings.HasSuffix(name, "!") {
		if c.PolicyError != nil {
			t.Errorf("everything is denied: %v", c.PolicyError)
		}
	}

	// As a project's it says the same once it is trusted, and until then it
	// loosens nothing.
	_, opt := project(t)
	dir = filepath.Join(opt.Dir, ".opencode")
	lay(dir)
	before := load(t, opt)
	if _, err := trustNow(opt); err != nil {
		t.Fatal(err)
	}
	after := load(t, opt)
	if after.PolicyError != nil {
		return // less is told of a text that nobody could read to trust it
	}
	if diff := cmp.Diff(got, outcome(after, dir)); diff != "" {
		t.Errorf("the user's own -, a trusted project's +:\n%s", diff)
	}
	for _, p := range knownPermissions() {
		if strings.Contains(string(files[0].Data), "{file:") {
			break // references are not followed, so that nobody knows what these rules are
		}
		for _, text := range []string{"x", ".env", "rm x", "git x"} {
			if was, is := decide(after, "", p, text), decide(before, "", p, text); stricter(was, is) {
				t.Errorf("%s %s is %s without trust, and %s with it", p, text, is, was)
			}
		}
	}
	if len(before.Rules) > 0 || slices.ContainsFunc(before.Agents, func(a Agent) bool { return len(a.Permission) > 0 || !a.Untrusted }) {
		t.Errorf("without trust: rules %v, agents %+v", before.Rules, before.Agents)
	}
}

// stricter reports whether an action restricts more than another.
func stricter(a, than permission.Action) bool {
	order := []permission.Action{permission.Allow, permission.Ask, permission.Deny}
	return slices.Index(order, a) > slices.Index(order, than)
}

// decide is what the rules of a config make of something, for an agent or for
// everybody.
func decide(c *Config, agent, name, text string) permission.Action {
	p := permission.Policy{
		Rules:    append(permission.Ruleset{{Permission: "*", Pattern: "*", Action: permission.Allow}}, c.Rules...),
		Ceilings: slices.Clone(c.Ceilings),
	}
	for _, a := range c.Agents {
		if a.Name == agent {
			p.Rules, p.Ceilings = append(p.Rules, a.Permission...), append(p.Ceilings, a.Ceilings...)
		}
	}
	return p.Decide(name, text).Action
}

// outcome says in a few lines what a config comes to.
func outcome(c *Config, dir string) string {
	var b strings.Builder
	line := func(who, agent string, skip func(name string) bool) {
		fmt.Fprintf(&b, "%s:", who)
		for _, name := range append(knownPermissions(), "tool_of_a_server") {
			texts := []string{"x"}
			switch name {
			case "bash":
				texts = []string{"x", "git x", "rm x"}
			case "read", "edit":
				texts = []string{"x", "x.env"}
			}
			said := ""
			for _, text := range texts {
				said += " " + string(decide(c, agent, name, text))
			}
			if strings.Trim(strings.ReplaceAll(said, "allow", ""), " ") != "" && !skip(name+said) {
				fmt.Fprintf(&b, " %s=%s;", name, said[1:])
			}
		}
		b.WriteString("\n")
	}
	everybody := map[string]bool{}
	line("all", "", func(said string) bool { everybody[said] = true; return false })
	for _, a := range c.Agents {
		who := "agent " + a.Name
		switch {
		case a.Disable:
			who += " (disabled)"
		case a.Broken:
			who += " (not offered)"
		case a.Untrusted:
			who += " (limits only)"
		}
		if decide(c, a.Name, "read", "x") == permission.Deny && decide(c, a.Name, "tool_of_a_server", "x") == permission.Deny &&
			decide(c, a.Name, "bash", "git x") == permission.Deny && decide(c, a.Name, "skill", "x") == permission.Deny {
			fmt.Fprintf(&b, "%s: nothing\n", who)
			continue
		}
		line(who, a.Name, func(said string) bool { return everybody[said] })
	}
	for _, p := range c.Problems {
		fmt.Fprintf(&b, "%s %s\n", p.Severity, strings.ReplaceAll(p.Error(), dir+"/", ""))
	}
	if c.PolicyError != nil {
		b.WriteString("everything is denied\n")
	}
	return b.String()
}
