package permission

import (
	"runtime"
	"strings"
)

// A filter holds what a policy says about one permission, list by list.
type filter [][]preparedRule

// A preparedRule is a rule of a filter, prepared for fast matching.
type preparedRule struct {
	rule   Rule
	text   string // the suffix that a name must have, where the pattern is a star and a literal text
	within bool   // a star follows the text too: a name must contain it
	full   bool   // the pattern is anything else and needs [Match]
	all    bool   // the pattern is a single star
}

// Filter returns what p says about a permission as a function for very many questions, such as
// which files of a tree may be searched. A thing with the given names passes unless a rule more
// specific than "everything" denies it or asks about it: a caller that has to ask about everything
// asks once, about the search. An ask about everything does not override a narrower ask or deny
// before it. Approvals do not count. passes is nil if everything passes. Filters with equal keys
// give equal answers.
func (p Policy) Filter(permission string) (passes func(names ...string) bool, key string) {
	var s filter
	narrow := false
	var keys strings.Builder
	for _, rules := range append([]Ruleset{p.Rules}, p.Ceilings...) {
		about := rules.About(permission)
		var list []preparedRule
		for _, r := range about {
			m := prepareRule(r)
			narrow = narrow || r.Action == Deny || r.Action == Ask && !m.all
			list = append(list, m)
			for _, part := range []string{r.Pattern, string(r.Action)} {
				keys.WriteString(part + "\x00") // no pattern contains NUL
			}
		}
		s = append(s, list)
		keys.WriteString("\x00")
	}
	if !narrow {
		return nil, ""
	}
	return s.passes, keys.String()
}

func (s filter) passes(names ...string) bool {
	odd := false // a backslash counts as a slash, which only Match handles
	for _, name := range names {
		odd = odd || strings.IndexByte(name, '\\') >= 0
	}
	for _, list := range s {
		m, narrow := last(list, names, odd)
		if m != nil && m.all && m.rule.Action == Ask {
			m = narrow // a wide ask does not override a narrower rule
		}
		if m != nil && m.rule.Action != Allow {
			return false
		}
	}
	return true
}

func prepareRule(r Rule) preparedRule {
	text, star := strings.CutPrefix(r.Pattern, "*")
	text, within := strings.CutSuffix(text, "*")
	return preparedRule{
		rule: r, text: text, within: within, all: r.Pattern == "*",
		full: !star || strings.ContainsAny(text, `*?\`) || strings.HasSuffix(r.Pattern, " *") || runtime.GOOS == "windows",
	}
}

// last returns the last rule that matches one of the names, and the last such rule that does not
// match everything; nil for none.
func last(list []preparedRule, names []string, odd bool) (any, narrow *preparedRule) {
	for i := len(list) - 1; i >= 0; i-- {
		m := &list[i]
		for _, name := range names {
			if !m.all && !(m.full || odd) && !m.takes(name) || !m.all && (m.full || odd) && !Match(name, m.rule.Pattern) {
				continue
			}
			if any == nil {
				any = m
			}
			if !m.all {
				return any, m
			}
			if m.rule.Action != Ask {
				return any, nil // nothing before it counts
			}
		}
	}
	return any, nil
}

func (m *preparedRule) takes(name string) bool {
	if m.within {
		return strings.Contains(name, m.text)
	}
	return strings.HasSuffix(name, m.text)
}
