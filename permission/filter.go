package permission

import (
	"runtime"
	"strings"
)

// A filter holds what a policy says about one permission, list by list.
type filter [][]preparedRule

// A preparedRule is a rule of a filter, made ready to match.
type preparedRule struct {
	rule   Rule
	text   string // what a name has to end with, where the pattern is a star and a plain text
	within bool   // there is a star after the text too: a name has to hold it
	full   bool   // the pattern is more than that and needs [Match]
	all    bool   // it is the star alone
}

// Filter returns what p says about a permission, made ready for very many
// questions, such as which files of a tree may be searched. The thing of some
// names passes if it is neither denied nor asked about by a rule that says more
// than "everything": whoever has to be asked about everything is asked once,
// about the search. An ask about everything does not lift a narrower ask or deny
// that stands before it. Approvals do not count. passes is nil where all does. Of
// equal keys the answers are equal.
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
				keys.WriteString(part + "\x00") // no pattern holds that
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
	odd := false // a backslash is a slash, which only Match knows
	for _, name := range names {
		odd = odd || strings.IndexByte(name, '\\') >= 0
	}
	for _, list := range s {
		m, narrow := last(list, names, odd)
		if m != nil && m.all && m.rule.Action == Ask {
			m = narrow // a wide ask does not lift what a narrower rule says
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

// last is the last rule that speaks about one of the names, and the last that
// does not speak about everything; nil for none.
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
				return any, nil // nothing before it counts any more
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
