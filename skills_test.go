package helve_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/skill"
	"github.com/helve-dev/helve/tool"
)

// writeSkill puts a skill into a folder of skills.
func writeSkill(t *testing.T, dir, name, about string) string {
	t.Helper()
	path := filepath.Join(dir, name, "SKILL.md")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	text := "---\nname: " + name + "\ndescription: " + about + "\n---\nHow to " + name + ".\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func offered(rt *helve.Runtime, agent string) string {
	for _, s := range rt.Tools(tool.Audience{Agent: agent}) {
		if s.Name == "skill" {
			return s.Description
		}
	}
	return ""
}

func TestSkills(t *testing.T) {
	root := t.TempDir()
	home, dir := filepath.Join(root, "home"), filepath.Join(root, "project")
	config := filepath.Join(dir, ".opencode")
	mine := writeSkill(t, filepath.Join(home, ".claude/skills"), "deploy", "mine")
	writeSkill(t, filepath.Join(config, "skill"), "deploy", "theirs")
	writeSkill(t, filepath.Join(config, "skills"), "secret", "hidden from build")
	writeSkill(t, filepath.Join(root, "more"), "extra", "by its path")
	trusted := false
	agents := agent.Specs(agent.SpecOptions{Worktree: dir, User: permission.Ruleset{
		{Permission: "skill", Pattern: "sec*", Action: permission.Deny}, {Permission: "skill", Pattern: "extra", Action: permission.Ask},
	}})
	open := func() *helve.Runtime {
		rt, err := helve.Open(helve.Options{Dir: dir, Worktree: dir, Agents: agents, Skills: &skill.Options{
			Home: home, Folders: []skill.Folder{{Path: config, Guarded: true}},
			Paths: []string{filepath.Join(root, "more"), filepath.Join(root, "gone")}, Trusted: func(string) bool { return trusted },
		}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = rt.Close() })
		return rt
	}
	rt := open()
	files, problems := rt.Skills("")
	var got []string
	for _, f := range files {
		rel, _ := filepath.Rel(root, f.Path)
		got = append(got, strings.Join([]string{filepath.ToSlash(rel), f.From, f.Code, string(f.Action), f.Entry}, "|"))
	}
	want := []string{
		"home/.claude/skills/deploy/SKILL.md|home||allow|- deploy: mine\n",
		"project/.opencode/skill/deploy/SKILL.md|config|withheld||",
		"project/.opencode/skills/secret/SKILL.md|config||deny|",
		"more/extra/SKILL.md|path||ask|- extra: by its path\n",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(problems) != 1 || problems[0].Path != filepath.Join(root, "gone") {
		t.Errorf("the problems are %+v", problems)
	}
	if d := offered(rt, ""); !strings.Contains(d, "- deploy: mine\n- extra: by its path\n</") || strings.Contains(d, "secret") {
		t.Errorf("the tool is shown as %s", d)
	}
	if d := offered(rt, "explore"); !strings.Contains(d, "<available_skills>\n- extra: by its path\n</") {
		t.Errorf("to an agent that may load nothing else it is shown as %s", d)
	}
	load := func(name string) (*tool.Result, error) {
		return rt.Call(context.Background(), tool.Call{Tool: "skill", Input: json.RawMessage(`{"name":"` + name + `"}`)})
	}
	if res, err := load("deploy"); err != nil || res.Metadata["dir"] != filepath.Dir(mine) || !strings.Contains(res.Output, "How to deploy.") {
		t.Errorf("got %+v, %v", res, err)
	}
	if _, err := load("secret"); err == nil {
		t.Error("a skill that is denied was loaded")
	}

	trusted = true
	if d := offered(open(), ""); !strings.Contains(d, "- deploy: theirs\n") {
		t.Errorf("a trusted project does not replace a skill: %s", d)
	}
}

// A runtime that was told of no place has no tool for skills.
func TestNoSkills(t *testing.T) {
	rt, err := helve.Open(helve.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	if d := offered(rt, ""); d != "" {
		t.Errorf("the tool is shown: %s", d)
	}
	if files, problems := rt.Skills(""); files != nil || problems != nil {
		t.Errorf("got %v, %v", files, problems)
	}
}
