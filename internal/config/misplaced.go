package config

import (
	"slices"
	"strings"

	"github.com/helve-dev/helve/permission"
)

// misplaced reports whether a member of a file or an agent, which has the shape,
// nil where there is no such setting, is rules that were meant to stand under
// permission: it is called as a tool is, and holds what rules hold. Left out
// with a warning they would deny nothing, while somebody thinks that they do.
func misplaced(m member, s *shape) bool {
	tools := append(knownPermissions(), "write", "multiedit", "patch", "apply_patch", "batch", "job")
	if !strings.Contains(m.key, "*") && !slices.Contains(tools, m.key) {
		return false
	}
	return isAction(m.val) || slices.ContainsFunc(m.val.members, func(r member) bool {
		return isAction(r.val) && (s == nil || s.fields[r.key] == nil)
	})
}

// isAction reports whether a value is what a rule says.
func isAction(n *node) bool {
	return restricts(n) || n.kind == 's' && n.text == string(permission.Allow)
}
