package command

import (
	"strings"
	"testing"
)

func TestGlobMatch(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"*", "a", true}, {"*", ".a", false}, {".*", ".a", true}, {"?a", ".a", false}, {"*.go", "a.go", true}, {"*.go", "a.gone", false},
		{"a*b*c", "aXbYbZc", true}, {"a*b*c", "aXc", false}, {"[ab]x", "bx", true}, {"[!ab]x", "bx", false}, {"[^ab]x", "cx", true},
		{"[a-c]", "b", true}, {"[a-c]", "d", false}, {"[]a]", "]", true}, {"[a", "[a", true}, {"[[:alpha:]]x", "ax", true},
		{`\*`, "*", true}, {`\*`, "a", false}, {`[\]]`, "]", true}, {"?", "é", true}, {"é*", "été", true}, {"", "", true}, {"", "a", false},
		{`\.env`, ".env", true}, {"a**", "a", true},
	} {
		if got := globMatch(c.pattern, c.name); got != c.want {
			t.Errorf("%q and %q: got %v", c.pattern, c.name, got)
		}
	}
}

func TestBraces(t *testing.T) {
	for raw, want := range map[string]string{
		"a{b,c}d": "abd acd", "{a,b}{c,d}": "ac ad bc bd", "f{1..3}": "f1 f2 f3", "{a,}x": "ax x",
		"a{b": "", "{a}": "", "{a,{b,c}}": "", "{01..03}": "", "{1..99999}": "", "a$x{b,c}": "", "'{a,b}'": "", "a}b{c,d}": "", "": "",
	} {
		words, ok := braces(raw)
		var all []string
		for _, w := range words {
			all = append(all, w.Value)
		}
		if got := strings.Join(all, " "); got != want || ok != (want != "") {
			t.Errorf("%q: got %q %v, want %q", raw, got, ok, want)
		}
	}
}
