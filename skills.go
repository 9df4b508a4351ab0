package helve

import (
	"github.com/helve-dev/helve/internal/builtin"
	"github.com/helve-dev/helve/internal/skill"
	"github.com/helve-dev/helve/permission"
)

// Skills configure where skills are searched: folders with a file SKILL.md, which teaches a model
// how to do something. The folders .claude/skills and .agents/skills are searched too, from
// [Options.Dir] up to the root of the project, and in Home. Paths are absolute.
type Skills struct {
	Home    string        // the user's home folder; not searched when empty
	Folders []SkillFolder // config folders whose skill/ and skills/ are searched, the lowest priority first
	Paths   []string      // further folders, searched as a whole
	// ClaudeOff leaves out .claude, OthersOff .agents as well.
	ClaudeOff, OthersOff bool
	// Trusted reports whether the user trusts a folder of the project; when nil, none is trusted. A
	// skill in an untrusted folder is marked as guarded and does not replace one of the user's.
	Trusted func(path string) bool
}

// A SkillFolder is a config folder.
type SkillFolder struct {
	Path    string
	Guarded bool // it belongs to the project
}

// A SkillFile is a SKILL.md, or what looks like one.
type SkillFile struct {
	Path        string   `json:"path"`
	From        string   `json:"from"` // the kind of folder it is in: project, home, config or path
	Name        string   `json:"name,omitempty"`
	Description string   `json:"description,omitempty"`
	Guarded     bool     `json:"guarded,omitempty"` // it belongs to an untrusted project
	Code        string   `json:"code,omitempty"`    // why it is not used, as a code; empty for one that is
	Why         string   `json:"why,omitempty"`     // the same in words
	Line        int      `json:"line,omitempty"`    // where in the file
	Notes       []string `json:"notes,omitempty"`   // what may be unexpected about it

	// Action is what the rules of the agent say about a skill that is used. Entry is its line in
	// the list that the agent is shown.
	Action permission.Action `json:"action,omitempty"`
	Entry  string            `json:"entry,omitempty"`
}

// A SkillProblem is the reason why a place could not be searched completely.
type SkillProblem struct {
	Path    string `json:"path"`
	Message string `json:"message"`
}

// Skills searches for skills and returns every file that could be one, as an agent sees it, in the
// order in which later ones replace earlier ones. The agent is the default one for "".
func (r *Runtime) Skills(agent string) ([]SkillFile, []SkillProblem) {
	if r.skills == nil {
		return nil, nil
	}
	set := r.skills.Skills()
	entries := builtin.SkillEntries(r.skills, set, agent)
	var files []SkillFile
	for _, c := range set.Candidates {
		f := SkillFile{
			Path: c.Path, From: c.From, Name: c.Name, Description: c.Description, Guarded: c.Guarded,
			Code: c.Code, Why: c.Why, Line: c.Line, Notes: c.Notes,
		}
		if c.Code == "" {
			f.Action, f.Entry = r.skills.action(agent, c.Name), entries[c.Name]
		}
		files = append(files, f)
	}
	var problems []SkillProblem
	for _, p := range set.Problems {
		problems = append(problems, SkillProblem(p))
	}
	return files, problems
}

// A skillHost finds skills and applies the rules to them.
type skillHost struct {
	*skill.Index
	r *Runtime
}

// Skills returns the current skills.
func (s *skillHost) Skills() *skill.Set { return s.Find() }

// Denied reports whether the rules deny an agent a skill.
func (s *skillHost) Denied(agent, name string) bool { return s.action(agent, name) == permission.Deny }

func (s *skillHost) action(agent, name string) permission.Action {
	a := s.r.agent(agent)
	if a == nil || s.r.opt.PolicyError != "" {
		return permission.Deny
	}
	return a.Policy.Decide("skill", name).Action
}

// openSkills returns the source of skills, or nil if there is none.
func (r *Runtime) openSkills() builtin.Skills {
	o := r.opt.Skills
	if o == nil {
		return nil
	}
	opt := skill.Options{
		Dir: r.dir, Worktree: r.worktree, Home: o.Home, Paths: o.Paths,
		ClaudeOff: o.ClaudeOff, OthersOff: o.OthersOff, Trusted: o.Trusted,
	}
	for _, f := range o.Folders {
		opt.ConfigDirs = append(opt.ConfigDirs, skill.Folder(f))
	}
	r.skills = &skillHost{Index: skill.NewFinder(opt), r: r}
	return r.skills
}
