package permission

import (
	"slices"
	"strings"
)

// A Shadow is a restricting rule without effect, because a later, looser rule matches everything
// that it does.
type Shadow struct{ Rule, By Rule }

// Shadows returns the restricting rules that later rules make ineffective. It leaves out doubtful
// cases.
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

// Bare returns the rules that restrict only a command without arguments but were probably meant for
// all its uses: a plain word such as "rm", where no rule is as strict about "rm *".
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
