package permission

import (
	"runtime"
	"strings"
)

// A sieve holds what a policy says about one permission, list by list.
type sieve [][]mesh

// A mesh is a rule of a sieve.
type mesh struct {
	rule Rule
	tail string // what a name has to end with, where the pattern is a star and a plain text
	full bool   // the pattern is more than that and needs [Match]
	all  bool   // it is the star alone
}

// Sieve returns what p says about a permission, made ready for very many
// questions, such as which files of a tree may be searched. The thing of some
// names passes if it is neither denied nor asked about by a rule that says more
// than "everything": whoever has to be asked about everything is asked once,
// about the search. Approvals do not count. passes is nil where all does. Of
// equal keys the answers are equal.
func (p Policy) Sieve(permission string) (passes func(names ...string) bool, key string) {
	var s sieve
	narrow := false
	var keys strings.Builder
	for _, rules := range append([]Ruleset{p.Rules}, p.Ceilings...) {
		about := rules.About(permission)
		var list []mesh
		for _, r := range about {
			m := meshOf(r)
			narrow = narrow || r.Action == Deny || r.Action == Ask && !m.all
			list = append(list, m)
		}
		s = append(s, list)
		keys.WriteString(encoded(about) + "\n")
	}
	if !narrow {
		return nil, ""
	}
	return s.passes, keys.String()
}

func (s sieve) passes(names ...string) bool {
	for _, list := range s {
		if r := last(list, names); r != nil && (r.Action == Deny || r.Action == Ask && r.Pattern != "*") {
			return false
		}
	}
	return true
}

func meshOf(r Rule) mesh {
	tail, star := strings.CutPrefix(r.Pattern, "*")
	return mesh{
		rule: r, tail: tail, all: r.Pattern == "*",
		full: !star || strings.ContainsAny(tail, `*?\`) || runtime.GOOS == "windows",
	}
}

// last is the last rule that speaks about one of the names, nil for none.
func last(list []mesh, names []string) *Rule {
	for i := len(list) - 1; i >= 0; i-- {
		for _, name := range names {
			if list[i].takes(name) {
				return &list[i].rule
			}
		}
	}
	return nil
}

func (m *mesh) takes(name string) bool {
	if m.full || strings.IndexByte(name, '\\') >= 0 {
		return m.all || Match(name, m.rule.Pattern)
	}
	return strings.HasSuffix(name, m.tail)
}
