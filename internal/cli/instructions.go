package cli

import (
	"encoding/json"
	"github.com/helve-dev/helve/internal/config"
	"path/filepath"
	"sync"
)

// instructions are the texts that tell an agent how to work here. The files are
// looked for when they are first asked for: most commands never ask.
func (s *setup) instructions(a *app) func(agent string) []string {
	find := sync.OnceValue(func() config.Instructions { return config.FindInstructions(s.instructed(a)) })
	return func(string) []string { return find().Texts() }
}

// instructed returns where to look for instructions.
func (s *setup) instructed(a *app) config.InstructionOptions {
	set := func(name string) bool { return a.truth("OPENCODE_"+name) || a.truth("HELVE_"+name) }
	out := config.InstructionOptions{
		Dir: s.opt.Dir, Worktree: s.opt.Worktree, Home: s.opt.Home, Note: a.printNote,
		NoClaude: set("DISABLE_CLAUDE_CODE") || set("DISABLE_CLAUDE_CODE_PROMPT"), NoProject: set("DISABLE_PROJECT_CONFIG"),
	}
	if file := s.userFile(); file != "" {
		own := filepath.Dir(file)
		out.Own = append(out.Own, own, filepath.Join(filepath.Dir(own), "opencode"))
	}
	for _, name := range []string{"OPENCODE_CONFIG_DIR", "HELVE_CONFIG_DIR"} {
		dir := s.opt.Env(name)
		if dir == "" {
			continue
		}
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(s.opt.Dir, dir)
		}
		out.Own = append(out.Own, dir)
	}
	for _, e := range s.cfg.Instructions {
		var name string
		if err := json.Unmarshal(e.Value, &name); err == nil && name != "" { // the config tells of others
			out.Named = append(out.Named, config.NamedInstruction{Name: name, Dir: e.Dir})
		}
	}
	return out
}
