package config

import (
	"path/filepath"
	"strings"

	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/permission"
)

// The reasons for withholding something.
const (
	whyUntrusted = "the file is not trusted"
	whyOutside   = "the file is not trusted, and this leads out of the project"
	whyReference = "the file is not trusted, so its references to the environment and to files are not followed"
)

// maxWithheld limits what is listed as withheld for one file; everything is withheld.
const maxWithheld = 200

func (l *loader) withheld(in *input, key, why string) {
	if in.held++; in.held > maxWithheld+1 {
		return
	}
	if in.held == maxWithheld+1 {
		key = "…"
	}
	l.cfg.Withheld = append(l.cfg.Withheld, Withheld{File: in.path, Key: key, Why: why})
}

// withhold removes from an untrusted file everything but its rules and harmless settings. It keeps
// only listed settings, so that new ones are removed by default.
//
// It removes references too, even from rules: rules are shown to people and models, and a project
// must not use them to read the user's files and variables.
func (l *loader) withhold(root *node) {
	if root.kind != 'o' {
		return
	}
	if l.believe {
		if !root.in.literal {
			l.withholdReferences(root, "")
		}
		return
	}
	known := fileShape().fields
	root.filterMembers(func(m member) bool {
		switch m.key {
		case "permission", "tools":
		case "agent", "mode":
			l.withholdAgents(m)
		case "skills":
			l.withholdSkills(m)
		case "$schema", "theme", "username", "layout", "keybinds", "tui", "watcher", "compaction":
		default:
			if !known[m.key].counts(m.in) || misplaced(m, known[m.key]) {
				return true // the check reports it and drops it
			}
			l.withheld(m.in, m.key, whyUntrusted)
			if n := len(l.cfg.Withheld); n > 0 && l.cfg.Withheld[n-1].Key == m.key {
				l.cfg.Withheld[n-1].Value, _ = text.Cut(string(encode(m.val)), 2000)
			}
			return false
		}
		if m.val.kind == 's' && hasReference(m.val.text) {
			l.withheld(m.in, m.key, whyReference)
			return false
		}
		l.withholdReferences(m.val, m.key)
		return true
	})
}

// counts reports whether a setting of this shape has an effect in a file.
func (s *shape) counts(in *input) bool { return s != nil && (!s.helve || in.helve) }

// withholdAgents keeps only the rules of each agent.
func (l *loader) withholdAgents(agents member) {
	if agents.val.kind != 'o' {
		return
	}
	for _, a := range agents.val.members {
		if a.val.kind != 'o' {
			continue
		}
		had := len(a.val.members)
		policyOnly(under(a.val, a.key)) // the check reports what else there is of it
		if len(a.val.members) < had || had == 0 {
			l.withheld(a.in, agents.key+"."+a.key, whyUntrusted)
		}
	}
}

func (l *loader) withholdSkills(skills member) {
	if skills.val.kind != 'o' {
		return
	}
	skills.val.filterMembers(func(m member) bool {
		if m.key == "paths" {
			l.withholdPaths(m.val, "skills.paths")
			return true
		}
		l.withheld(m.in, "skills."+m.key, whyUntrusted)
		return false
	})
}

// withholdPaths removes the paths of a list that leave the project, and web addresses.
func (l *loader) withholdPaths(list *node, key string) {
	if list.kind != 'a' {
		return
	}
	inside := list.elems[:0]
	for _, e := range list.elems {
		if e.kind == 's' && !insideProject(e.text) {
			l.withheld(e.in, key+": "+shorten(e.text), whyOutside)
			continue
		}
		inside = append(inside, e)
	}
	list.elems = inside
}

func insideProject(path string) bool {
	path = strings.ReplaceAll(path, `\`, "/")
	return !strings.Contains(path, "://") && !strings.HasPrefix(path, "~") && filepath.IsLocal(path)
}

// withholdReferences removes the members and elements with a reference.
func (l *loader) withholdReferences(n *node, key string) {
	refers := func(v *node) bool { return v.kind == 's' && hasReference(v.text) }
	switch n.kind {
	case 'o':
		n.filterMembers(func(m member) bool {
			if hasReference(m.key) || refers(m.val) {
				l.withheld(m.in, key+"."+m.key, whyReference)
				return false
			}
			l.withholdReferences(m.val, key+"."+m.key)
			return true
		})
	case 'a':
		kept := n.elems[:0]
		for _, e := range n.elems {
			if refers(e) {
				l.withheld(e.in, key, whyReference)
				continue
			}
			l.withholdReferences(e, key)
			kept = append(kept, e)
		}
		n.elems = kept
	}
}

// restrictUntrusted converts the rules of an untrusted file to ceilings and removes them from its
// settings. What they allow is withheld.
func (l *loader) restrictUntrusted(root *node) {
	if l.believe {
		return
	}
	toolRules(root)
	allowed := Withheld{File: root.in.path, Why: whyUntrusted}
	l.eachPolicy(root, func(agent, key string, rules permission.Ruleset) {
		l.restrict(agent, rules)
		// The key is that of the first rule that allows something.
		before := allowed.Rules
		for _, r := range rules {
			if r.Action == permission.Allow {
				allowed.Rules++
			}
		}
		if before == 0 && allowed.Rules > 0 {
			allowed.Key = key
		}
	})
	if allowed.Rules > 0 {
		l.cfg.Withheld = append(l.cfg.Withheld, allowed)
	}
	root.filterMembers(func(m member) bool { return !decides(m.key) })
}
