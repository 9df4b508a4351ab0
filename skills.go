package helve

import (
	"slices"

	"github.com/helve-dev/helve/internal/builtin"
	finder "github.com/helve-dev/helve/internal/skill"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/skill"
)

// Skills searches for skills and returns every file that could be one, as an agent sees it, in the
// order in which later ones replace earlier ones. The agent is the default one for "".
func (r *Runtime) Skills(agent string) ([]skill.File, []skill.Problem) {
	if r.skills == nil {
		return nil, nil
	}
	set := r.skills.Skills()
	entries := builtin.SkillEntries(r.skills, set, agent)
	files := slices.Clone(set.Files)
	for i := range files {
		if f := &files[i]; f.Code == "" {
			f.Action, f.Entry = r.skills.action(agent, f.Name), entries[f.Name]
		}
	}
	return files, set.Problems
}

// A skillHost finds skills and applies the rules to them.
type skillHost struct {
	*finder.Index
	r *Runtime
}

// Skills returns the current skills.
func (s *skillHost) Skills() *finder.Set { return s.Find() }

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
	if r.opt.Skills == nil {
		return nil
	}
	r.skills = &skillHost{Index: finder.NewFinder(finder.Options{Options: *r.opt.Skills, Dir: r.dir, Worktree: r.worktree}), r: r}
	return r.skills
}
