package permission

import (
	"slices"
	"strings"
)

// A Shadow is a rule that restricts something, and a later one that is looser
// and is about all of it: since the last match wins, the first has no effect.
type Shadow struct{ Rule, By Rule }

// Shadows returns the rules that deny or ask about nothing because of a later
// one. What is not surely one is left out.
func (rs Ruleset) Shadows() (out []Shadow) {
	for i, r := range rs {
		for _, by := range slices.Backward(rs[i+1:]) {
			if rank(by.Action) < rank(r.Action) && contains(by.Permission, r.Permission) && contains(by.Pattern, r.Pattern) {
				out = append(out, Shadow{r, by})
				break
			}
		}
	}
	return out
}

// Bare returns the rules that deny or ask about a command without arguments
// only, and were probably meant for all of it: a plain word, as "rm", where no
// rule is as strict about "rm *".
func (rs Ruleset) Bare() (out Ruleset) {
	for _, r := range rs {
		if r.Permission != "bash" || r.Action == Allow || r.Pattern == "" || strings.ContainsAny(r.Pattern, "*? \t\n") {
			continue
		}
		held := slices.ContainsFunc(rs, func(o Rule) bool {
			return rank(o.Action) >= rank(r.Action) && Match("bash", o.Permission) && contains(o.Pattern, r.Pattern+" *")
		})
		if !held {
			out = append(out, r)
		}
	}
	return out
}
