package permission

import (
	"runtime"
	"slices"
	"strings"
	"unicode/utf8"
)

// unknown is the character that stands for any text in a spelling.
const unknown = '\x00'

// An Uncertainty is a part of a request whose meaning the rules cannot see.
type Uncertainty struct {
	Why string // in words, for the prompt

	// Flag is the option that causes the uncertainty. A rule that allows and has the option in its
	// pattern covers it. When Flag is empty, no pattern can.
	Flag string

	// Permission is what the part might do: read, edit or external_directory. It is asked about
	// only where a rule denies something of that permission. When Permission is empty, the part
	// might do anything: it is asked about unless the rules allow every command and deny no file.
	Permission string
}

// hits reports whether a restricting rule's pattern matches t whatever its unknown parts are
// (surely), and whether it does for some value of them (maybe).
func (t thing) hits(pattern string) (surely, maybe bool) {
	if t.address {
		return slices.ContainsFunc(readPattern(pattern), func(p string) bool {
			return slices.ContainsFunc(t.spellings, func(s string) bool { return Match(s, p) })
		}), false
	}
	for _, s := range t.spellings {
		if strings.IndexByte(s, unknown) < 0 {
			if Match(s, pattern) {
				return true, true
			}
			continue
		}
		if matchAny(s, pattern) {
			return true, true
		}
		maybe = maybe || matchSome(s, pattern)
	}
	return false, maybe
}

// A reading is what a list of rules says about a thing.
type reading struct {
	rule  *Rule // the rule that decides; nil where none matches
	maybe *Rule // the rule that restricts it for some value of its unknown parts
	names *Rule // the last rule that matches one of its names
}

// read applies the rules to t, from the last to the first. A rule that denies or asks is tried on
// every spelling, one that allows on the names alone. The answer is never looser than that of the
// last rule that matches a name.
func (rs Ruleset) read(t thing) (out reading) {
	for i := len(rs) - 1; i >= 0; i-- {
		r := &rs[i]
		if !Match(t.permission, r.Permission) || r.Action == Allow && !t.namesGuard(r.Pattern) {
			continue
		}
		if t.matchesRule(*r) {
			out.names = r
			out.rule = strictest(out.rule, r)
			break
		}
		if r.Action == Allow {
			continue
		}
		surely, maybe := t.hits(r.Pattern)
		switch {
		case surely && out.rule == nil:
			out.rule = r
		case maybe:
			out.maybe = strictest(out.maybe, r)
		}
	}
	return out
}

// strictest returns the stricter of two rules, a if they are equal. Either may be nil.
func strictest(a, b *Rule) *Rule {
	if a == nil || b != nil && rank(b.Action) > rank(a.Action) {
		return b
	}
	return a
}

// leavesOpen reports whether the rules leave d unresolved. limit says that the rules are a ceiling,
// which has no effect where no rule matches.
func (rs Ruleset) leavesOpen(d Uncertainty, said reading, limit bool) bool {
	if r := said.names; r != nil && r.Action == Allow && d.clearedBy(r.Pattern) {
		return false
	}
	if d.Permission != "" {
		_, denies, _ := rs.restricts(d.Permission)
		return denies
	}
	asks, denies, open := rs.restricts("bash")
	if asks || denies || open && !limit {
		return true
	}
	for _, name := range []string{"edit", "read", "external_directory"} {
		if _, denies, _ := rs.restricts(name); denies {
			return true
		}
	}
	return false
}

// clearedBy reports whether a pattern that allows covers the cause of the uncertainty: it names the
// flag, or is the whole text.
func (d Uncertainty) clearedBy(pattern string) bool {
	if !strings.ContainsAny(pattern, "*?") {
		return true
	}
	for rest := pattern; d.Flag != ""; {
		at := strings.Index(rest, d.Flag)
		if at < 0 {
			return false
		}
		if at == 0 && len(rest) == len(pattern) || at > 0 && strings.IndexByte(" \t'\"=", rest[at-1]) >= 0 {
			return true // the star begins a word: ssh my-other * does not name -o
		}
		rest = rest[at+1:]
	}
	return false
}

// restricts returns what the rules about a permission restrict that no later rule about everything
// overrides, and whether there is no rule about everything.
func (rs Ruleset) restricts(permission string) (asks, denies, open bool) {
	for i := len(rs) - 1; i >= 0; i-- {
		if !Match(permission, rs[i].Permission) {
			continue
		}
		asks = asks || rs[i].Action == Ask
		denies = denies || rs[i].Action == Deny
		if rs[i].Pattern == "*" {
			return asks, denies, false
		}
	}
	return asks, denies, true
}

// matchAny reports whether pattern matches text whatever its unknown parts are: only a star matches
// an unknown part.
func matchAny(text, pattern string) bool {
	fold := runtime.GOOS == "windows"
	text, pattern = normalise(text, fold), normalise(pattern, fold)
	if head, ok := strings.CutSuffix(pattern, " *"); ok && globOf(text, head, unknown) {
		return true
	}
	return globOf(text, pattern, unknown)
}

// matchSome reports whether pattern matches text for some value of its unknown parts. It takes time
// linear in the text for each character of the pattern.
func matchSome(text, pattern string) bool {
	fold := runtime.GOOS == "windows"
	text, pattern = normalise(text, fold), normalise(pattern, fold)
	if head, ok := strings.CutSuffix(pattern, " *"); ok && globSome(text, []rune(head)) {
		return true
	}
	return globSome(text, []rune(pattern))
}

// globSome tracks every position in the pattern that a match of the text so far may have reached.
func globSome(text string, pattern []rune) bool {
	at := make([]bool, len(pattern)+1) // at[i]: pattern[:i] may match the text so far
	next := make([]bool, len(pattern)+1)
	at[0] = true
	skipStars(at, pattern)
	for len(text) > 0 {
		c, n := utf8.DecodeRuneInString(text)
		text = text[n:]
		first := slices.Index(at, true)
		if first < 0 {
			return false
		}
		if c == unknown { // it may be whatever the pattern needs
			for i := first; i < len(at); i++ {
				at[i] = true
			}
			continue
		}
		clear(next)
		for i := first; i < len(pattern); i++ {
			switch {
			case !at[i]:
			case pattern[i] == '*':
				next[i] = true
			case pattern[i] == '?' || pattern[i] == c:
				next[i+1] = true
			}
		}
		skipStars(next, pattern)
		at, next = next, at
	}
	return at[len(pattern)]
}

// skipStars adds the positions after stars, which may match nothing.
func skipStars(at []bool, pattern []rune) {
	for i, c := range pattern {
		if at[i] && c == '*' {
			at[i+1] = true
		}
	}
}
