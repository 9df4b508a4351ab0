package regex

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestRandomLikeRipgrep puts pieces of syntax together at random: ripgrep
// must refuse the same with the same words.
func TestRandomLikeRipgrep(t *testing.T) {
	if testing.Short() {
		t.Skip("starts ripgrep some hundred times")
	}
	rg := rg15(t)
	pieces := append(strings.Fields(`a b k é ( ) [ ] { } * + ? ^ $ . \ - && -- ~~ [:alpha:] [:^digit:] \w \D \s \b \B \< \b{start} \b{
		\p{L} \pN \P{Greek} \x41 \x{e9} \u00e9 \xff (?i) (?x) (?-u) (?s: (?: (?P<n> (?<m> (?U) {2} {2,3} {,2} # : , = ! < >
		\n \- \] 0 z Z a-z b- ^a \q \1 (?= (? | |`), " ", "{ 1 }")
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(7, seed))
		var b strings.Builder
		for range 1 + r.IntN(9) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		pattern := b.String()
		want, got := rgError(t, rg, pattern), ""
		_, err := parse("(?:"+pattern+")", Options{}) // as ripgrep does
		var e *SyntaxError
		if errors.As(err, &e) {
			e.Hint = ""
			got = e.Error()
			if !strings.HasPrefix(want, "regex parse error") {
				got = e.Reason // ripgrep knows no place for it
			}
		}
		if got != want {
			t.Errorf("%q: we say\n%s\nripgrep says\n%s", pattern, got, want)
		}
	}
}
