package config

import (
	"slices"
	"strings"
	"unicode"

	"github.com/helve-dev/helve/permission"
)

// misplaced reports whether an unknown member of a file or an agent is rules that belong under
// permission: its name is that of a tool, and it contains what rules contain. If it were only
// ignored with a warning, it would deny nothing although somebody relies on it. shape is nil where
// there is no such setting.
func misplaced(m member, s *shape) bool {
	tools := append(knownPermissions(), "write", "multiedit", "patch", "apply_patch", "batch", "job")
	if !strings.Contains(m.key, "*") && !slices.Contains(tools, normalizeToolName(m.key)) {
		return false
	}
	return isAction(m.val) || slices.ContainsFunc(m.val.members, func(r member) bool {
		return isAction(r.val) && (s == nil || s.fields[r.key] == nil)
	})
}

// normalizeToolName returns a name in lower case, without invisible characters around it, and with
// dashes as in names of tools.
func normalizeToolName(name string) string {
	name = strings.TrimFunc(name, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) })
	return strings.ReplaceAll(strings.ToLower(name), "-", "_")
}

// policies returns the rules in an unknown value, each under the name of the setting they belong
// to: below another key, or with a dot in the key.
func policies(m member) (found []*node) {
	section := map[string]string{"permission": "permission", "permissions": "permission", "tools": "tools"}
	if m.val.shared {
		return nil
	}
	head, rest, dotted := strings.Cut(m.key, ".")
	if to := section[head]; dotted && to != "" {
		return []*node{under(m.val, to, rest)}
	}
	for _, inner := range m.val.members {
		to := section[inner.key]
		switch {
		case to != "" && (inner.val.kind == 'o' || isAction(inner.val)):
			found = append(found, under(inner.val, to))
		case misplaced(inner, nil):
			found = append(found, under(rulesIn(inner, nil), "permission", normalizeToolName(inner.key)))
		default:
			found = append(found, policies(inner)...)
		}
	}
	return slices.DeleteFunc(found, func(n *node) bool {
		return n.find1(func(v *node) bool { return restricts(v) || v.kind == 'b' && v.text == "false" }) == nil
	})
}

// isAction reports whether a value is an action of a rule.
func isAction(n *node) bool {
	return restricts(n) || n.kind == 's' && n.text == string(permission.Allow)
}
