package builtin_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/internal/builtin"
	"github.com/helve-dev/helve/internal/files"
	finder "github.com/helve-dev/helve/internal/skill"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/skill"
	"github.com/helve-dev/helve/tool"
	"github.com/helve-dev/helve/tooltest"
)

// A schoolroom is where skills are in tests. The rules are those of a runtime.
type schoolroom struct {
	*finder.Index
	rt *helve.Runtime // nil: nothing is denied
}

func (s *schoolroom) Skills() *finder.Set { return s.Find() }

func (s *schoolroom) Denied(agent, name string) bool {
	if s.rt == nil {
		return false
	}
	for _, a := range s.rt.Agents() {
		if agent == "" || a.Name == agent {
			return a.Policy.Decide("skill", name).Action == permission.Deny
		}
	}
	return true
}

// skillTool is the tool in a room.
func skillTool(room builtin.Skills) tool.Tool {
	all := builtin.All(builtin.Rooms{Files: &files.Workspace{}, Skills: room})
	return all[slices.IndexFunc(all, func(t tool.Tool) bool { return t.Spec().Name == "skill" })]
}

// teach gives the runtime of a recording the skills of its project, which is
// trusted or not.
func (r recording) teach(t *testing.T, p place, rt *helve.Runtime, trusted bool) {
	t.Helper()
	if !slices.Contains(r.needs(), "skill") {
		return
	}
	room := &schoolroom{rt: rt, Index: finder.NewFinder(finder.Options{
		Dir: p.ws, Worktree: p.worktree, Options: skill.Options{
			Folders: []skill.Folder{{Path: filepath.Join(p.top, ".opencode"), Guarded: true}},
			Trusted: func(string) bool { return trusted },
		},
	})}
	if _, err := rt.Register(skillTool(room)); err != nil {
		t.Fatal(err)
	}
}

// school gives every script the skills of its files, of which .opencode is
// trusted and .claude is not.
func school(e *tooltest.Env) error {
	config := filepath.Join(e.Dir, ".opencode")
	e.Tools = append(e.Tools, skillTool(&schoolroom{Index: finder.NewFinder(finder.Options{
		Dir: e.Dir, Worktree: e.Dir, Options: skill.Options{
			Folders: []skill.Folder{{Path: config, Guarded: true}},
			Trusted: func(path string) bool { return path == config },
		},
	})}))
	return nil
}
