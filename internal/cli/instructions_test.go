package cli

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/helve-dev/helve/internal/config"
)

// What the environment and the config say of instructions arrives where it is
// meant to, and nobody looks for them before they are asked for.
func TestInstructed(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(home, name) }
	for _, c := range []struct {
		name string
		env  map[string]string
		want config.InstructionOptions
	}{
		{"nothing", nil, config.InstructionOptions{Own: []string{at(".config/helve"), at(".config/opencode")}}},
		{"config folders", map[string]string{"XDG_CONFIG_HOME": at("x"), "OPENCODE_CONFIG_DIR": at("a"), "HELVE_CONFIG_DIR": "b"},
			config.InstructionOptions{Own: []string{at("x/helve"), at("x/opencode"), at("a"), at("b")}}},
		{"not Claude's", map[string]string{"HELVE_DISABLE_CLAUDE_CODE_PROMPT": "1"},
			config.InstructionOptions{NoClaude: true, Own: []string{at(".config/helve"), at(".config/opencode")}}},
		{"nor the project's", map[string]string{"OPENCODE_DISABLE_CLAUDE_CODE": "true", "OPENCODE_DISABLE_PROJECT_CONFIG": "1"},
			config.InstructionOptions{NoClaude: true, NoProject: true, Own: []string{at(".config/helve"), at(".config/opencode")}}},
		{"named", map[string]string{"HELVE_CONFIG_CONTENT": `{"instructions": ["a.md", "", "https://h/x.md"]}`},
			config.InstructionOptions{Named: []config.NamedInstruction{{Name: "a.md", Dir: home}, {Name: "https://h/x.md", Dir: home}}, Own: []string{at(".config/helve"), at(".config/opencode")}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var told strings.Builder
			env := func(name string) string { return map[bool]string{true: home, false: c.env[name]}[name == "HOME"] }
			a := &app{Env: Env{Dir: home, Stderr: &told, Getenv: env}}
			s, err := a.load()
			if err != nil {
				t.Fatal(err)
			}
			c.want.Dir, c.want.Worktree, c.want.Home = s.opt.Dir, s.opt.Worktree, home
			if diff := cmp.Diff(c.want, s.instructed(a), cmpopts.IgnoreFields(config.InstructionOptions{}, "Note")); diff != "" {
				t.Error(diff)
			}
			ask := s.instructions(a)
			if told.Len() > 0 {
				t.Errorf("told before anybody asked: %s", &told)
			}
			ask("build")
			first := told.Len()
			ask("plan")
			if asked := strings.Contains(told.String(), "keep a copy of https://h/x.md"); asked != (c.name == "named") || told.Len() != first {
				t.Errorf("told: %s", &told)
			}
		})
	}
}
