package regex

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// goPattern draws a pattern that means the same to Go's regexp on ASCII.
func goPattern(depth int) *rapid.Generator[string] {
	leaf := rapid.SampledFrom([]string{"a", "b", "c", "K", "_", " ", ".", "[ab]", "[^a]", "[a-cA-C]", `\w`, `\W`, `\d`, `\S`, `[\s\d]`, `[^\w]`,
		"[[:alpha:]]", "[[:^lower:]]", "[]a]", "[a-]", "^", "$", `\b`, `\B`, `\A`, `\z`, "", `\.`, `\x61`, `\x{62}`, `\pL`, `\P{Lu}`, "(?i:k)", "(?i:[^s])", "(?i)b"})
	if depth == 0 {
		return leaf
	}
	sub := rapid.Deferred(func() *rapid.Generator[string] { return goPattern(depth - 1) })
	return rapid.Custom(func(t *rapid.T) string {
		switch rapid.IntRange(0, 5).Draw(t, "form") {
		case 0:
			return leaf.Draw(t, "leaf")
		case 1:
			return strings.Join(rapid.SliceOfN(sub, 0, 4).Draw(t, "row"), "")
		case 2:
			return strings.Join(rapid.SliceOfN(sub, 1, 3).Draw(t, "either"), "|")
		case 3:
			open := rapid.SampledFrom([]string{"(", "(?:", "(?i:", "(?U:", "(?-m:", "(?s:"}).Draw(t, "open")
			return open + sub.Draw(t, "inner") + ")"
		}
		count := rapid.SampledFrom([]string{"*", "+", "?", "*?", "+?", "??", "{2}", "{0,2}", "{1,}?", "{0}", "{1}"}).Draw(t, "count")
		return "(?:" + sub.Draw(t, "repeated") + ")" + count
	})
}

// TestLikeGo prints trees in Go's syntax: they must match as the pattern does.
func TestLikeGo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pattern := goPattern(3).Draw(t, "pattern")
		want, err := regexp.Compile("(?m)" + pattern)
		if err != nil {
			t.Skip(err)
		}
		n, err := parse(pattern, Options{})
		if err != nil {
			t.Fatalf("%s: %v", pattern, err)
		}
		got, err := regexp.Compile(asGo(n))
		if err != nil {
			t.Skip(err) // too big for Go once written out
		}
		for range 10 {
			text := rapid.StringOfN(rapid.RuneFrom([]rune("abcABCkKsS_. 019\t")), 0, 12, -1).Draw(t, "text")
			a, b := want.FindStringIndex(text), got.FindStringIndex(text)
			if (a == nil) != (b == nil) || a != nil && (a[0] != b[0] || a[1] != b[1]) {
				t.Fatalf("%s on %q: Go %v, the tree %s (%s) %v", pattern, text, a, show(n), asGo(n), b)
			}
		}
	})
}
