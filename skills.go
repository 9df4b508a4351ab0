package helve

import (
	"github.com/helve-dev/helve/internal/builtin"
	"github.com/helve-dev/helve/internal/skill"
	"github.com/helve-dev/helve/permission"
)

// Skills say where skills are looked for: folders with a file SKILL.md, which
// teaches a model how to do something. Also the folders .claude/skills and
// .agents/skills are searched, from [Options.Dir] up to the root of the
// project and of Home. Paths are absolute.
type Skills struct {
	Home    string        // the user's folder; nothing of it is searched when empty
	Folders []SkillFolder // whose skill and skills are searched; the lowest first
	Paths   []string      // further folders, searched as a whole
	// ClaudeOff leaves out .claude, and OthersOff .agents too.
	ClaudeOff, OthersOff bool
	// Trusted says whether the user trusts a folder of the project; none is
	// trusted when nil. A skill of a folder that is not is marked as guarded,
	// and does not take the place of one of the user's.
	Trusted func(path string) bool
}

// A SkillFolder is a config folder.
type SkillFolder struct {
	Path    string
	Guarded bool // it comes with the project
}

// A SkillFile is a SKILL.md, or what looks like one, that was found.
type SkillFile struct {
	Path        string   `json:"path"`
	From        string   `json:"from"` // project, home, config or path: what kind of folder it is in
	Name        string   `json:"name,omitempty"`
	Description string   `json:"description,omitempty"`
	Guarded     bool     `json:"guarded,omitempty"` // of a project that is not trusted
	Code        string   `json:"code,omitempty"`    // why it is not taken; empty for one that is
	Why         string   `json:"why,omitempty"`     // the same in words
	Line        int      `json:"line,omitempty"`    // where in the file
	Notes       []string `json:"notes,omitempty"`   // what may surprise about it

	// Action is what the rules of the agent say, of one that is taken, and
	// Entry what stands for it in the list that the agent is shown.
	Action permission.Action `json:"action,omitempty"`
	Entry  string            `json:"entry,omitempty"`
}

// A SkillProblem is why a place could not be searched, or not whole.
type SkillProblem struct {
	Path    string `json:"path"`
	Message string `json:"message"`
}

// Skills looks for skills, and returns every file that could be one, as an
// agent sees it, in the order in which later ones replace earlier ones; the
// agent is the default one for "".
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

// A skillHost is where skills come from, and whom the rules keep from them.
type skillHost struct {
	*skill.Index
	r *Runtime
}

// Skills returns the skills that there are now.
func (s *skillHost) Skills() *skill.Set { return s.Find() }

// Denied reports whether the rules of an agent deny it a skill.
func (s *skillHost) Denied(agent, name string) bool { return s.action(agent, name) == permission.Deny }

func (s *skillHost) action(agent, name string) permission.Action {
	a := s.r.agent(agent)
	if a == nil || s.r.opt.PolicyError != "" {
		return permission.Deny
	}
	return a.Policy.Decide("skill", name).Action
}

// openSkills makes the room of skills, where there is one.
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
