package regex

import (
	"errors"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// TestTrees checks testdata/trees.txt: a pattern, a tab and its tree.
func TestTrees(t *testing.T) {
	data, err := os.ReadFile("testdata/trees.txt")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	if len(lines) < 150 {
		t.Fatalf("only %d patterns", len(lines))
	}
	for _, line := range lines {
		pattern, want, _ := strings.Cut(line, "\t")
		n, err := parse(pattern, Options{})
		if err != nil {
			t.Errorf("%s: %v", pattern, err)
			continue
		}
		if got := show(n); got != want {
			t.Errorf("%s is %s, want %s", pattern, got, want)
		}
		valid(t, pattern, n)
	}
}

func TestParseOptions(t *testing.T) {
	for _, test := range []struct {
		pattern string
		opt     Options
		want    string
	}{
		{"aB", Options{IgnoreCase: true}, "([Aa] [Bb])"},
		{"a(?-i)b", Options{IgnoreCase: true}, "([Aa] 'b')"},
		{"a.(b", Options{Literal: true}, `("a.(b")`},
		{`\n`, Options{Literal: true}, `("\\n")`},
		{"", Options{Literal: true}, "ε"},
		{"k*", Options{Literal: true, IgnoreCase: true}, "([Kk\u212a] '*')"},
		{"a|bc", Options{Word: true}, `(\b{start-half} ('a' | ("bc")) \b{end-half})`},
		{"ab", Options{Word: true}, `(\b{start-half} "ab" \b{end-half})`},
		{"", Options{Word: true}, `(\b{start-half} \b{end-half})`},
		{"a.b", Options{Word: true, Literal: true}, `(\b{start-half} "a.b" \b{end-half})`},
		{"a", Options{Portable: true}, "'a'"},
	} {
		n, err := parse(test.pattern, test.opt)
		if err != nil {
			t.Errorf("%s: %v", test.pattern, err)
			continue
		}
		if got := show(n); got != test.want {
			t.Errorf("%s with %+v is %s, want %s", test.pattern, test.opt, got, test.want)
		}
	}
}

func TestSharedClasses(t *testing.T) {
	n, err := parse(`\w\W\w\W`, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		if &n.subs[i].runes[0] != &n.subs[i+2].runes[0] {
			t.Errorf("item %d and %d do not share their ranges", i, i+2)
		}
	}
}

// valid checks what every tree must keep to.
func valid(t *testing.T, pattern string, n *node) {
	t.Helper()
	bad := func(what string) { t.Fatalf("%q: %s in %s", pattern, what, show(n)) }
	var walk func(n *node, depth int)
	walk = func(n *node, depth int) {
		if depth > maxNest+2 {
			bad("nesting")
		}
		last := rune(-2)
		for _, r := range n.runes {
			if r.lo > r.hi || r.lo <= last+1 || r.lo <= '\n' && r.hi >= '\n' {
				bad("range")
			}
			if !utf8.ValidRune(r.lo) || !utf8.ValidRune(r.hi) || r.lo < lowSurr && r.hi > topSurr {
				bad("surrogate")
			}
			last = r.hi
		}
		if n.kind == kindBytes && (n.bytes == nil || n.bytes.contains('\n')) {
			bad("bytes")
		}
		switch n.kind {
		case kindConcat, kindEither:
			if len(n.subs) < 2 {
				bad("short list")
			}
		case kindRepeat:
			if len(n.subs) != 1 || n.min < 0 || n.max >= 0 && n.max < n.min || n.max == 0 {
				bad("repetition")
			}
		default:
			if len(n.subs) > 0 {
				bad("children")
			}
		}
		for _, s := range n.subs {
			if s.kind == n.kind && (n.kind == kindConcat || n.kind == kindEither) {
				bad("nested list")
			}
			walk(s, depth+1)
		}
	}
	walk(n, 1)
	inner := n
	if n.kind == kindConcat && n.subs[0].kind == kindLook && n.subs[0].look == lookWordStartHalf {
		// Whole words: what is around the pattern comes after the check.
		inner = &node{kind: kindConcat, subs: n.subs[1 : len(n.subs)-1]}
	}
	if treeSize(inner) >= sizeLimit {
		bad("size")
	}
}

func FuzzParse(f *testing.F) {
	f.Fuzz(func(t *testing.T, pattern string, bits byte) {
		n, err := parse(pattern, Options{IgnoreCase: bits&1 != 0, Literal: bits&2 != 0, Word: bits&4 != 0})
		if err == nil {
			valid(t, pattern, n)
			return
		}
		var e *SyntaxError
		if !errors.As(err, &e) || e.Reason == "" || e.Pos < 0 || e.End < e.Pos || e.End > len(e.Pattern) {
			t.Fatalf("%q: %#v", pattern, err)
		}
		if text := e.Error(); !strings.HasPrefix(text, "regex parse error:\n") || !strings.Contains(text, "\nerror: "+e.Reason) {
			t.Fatalf("%q: %s", pattern, text)
		}
	})
}

// TestLongPatterns would not end soon if some part took more than about
// linear time or memory.
func TestLongPatterns(t *testing.T) {
	fill := func(s string) string { return strings.Repeat(s, maxPattern/len(s)) }
	for _, test := range []struct {
		name, pattern string
		ok            bool
	}{
		{"letters", fill("a"), true},
		{"accents", fill("é"), true},
		{"alternatives", fill("foo|"), true},
		{"characters", fill("a|"), true},
		{"folded", "(?i)" + fill("ak")[4:], true},
		{"classes", fill("[a-c]"), true},
		{"folded classes", "(?i)" + fill("[é]")[4:], false},
		{"open groups", fill("("), false},
		{"groups", fill("(a)"), true},
		{"empty groups", fill("()"), true},
		{"open brackets", fill("["), false},
		{"nested brackets", fill("[a"), false},
		{"names in brackets", "[" + fill("[:a")[1:], false},
		{"operators", "[" + fill("a&&")[1:], false},
		{"stars", fill("a*"), true},
		{"stacked stars", "a" + fill("*")[1:], false},
		{"stacked counts", "a" + fill("{2}")[1:], false},
		{"words", fill(`\w`), false},
		{"words in a bracket", "[" + fill(`\w`)[2:] + "]", false},
		{"words in brackets", fill(`[\w]`), false},
		{"properties", fill(`\p{Zl}`), true},
		{"no properties", fill(`\p{Zlx}`), false},
		{"verbose", "(?x)[" + fill("a -  ")[5:], false},
		{"names", fill("(?<n>a)"), false},
		{"boundaries", fill(`\b`), true},
		{"braces", fill(`\b{`), false},
		{"newlines", fill("a\n"), false},
		{"too long", fill("a") + "a", false},
	} {
		n, err := parse(test.pattern, Options{})
		if (err == nil) != test.ok {
			t.Errorf("%s: %.300v", test.name, err)
		}
		if err != nil && len(err.Error()) > 4000 && test.name != "newlines" {
			t.Errorf("%s: a message of %d bytes", test.name, len(err.Error()))
		}
		if n != nil {
			treeSize(n)
		}
	}
}

func TestNesting(t *testing.T) {
	nest := func(open, inner, end string, n int) string {
		return strings.Repeat(open, n) + inner + strings.Repeat(end, n)
	}
	for _, test := range []struct {
		pattern string
		ok      bool
	}{
		{nest("(", "a", ")", 249), true},
		{nest("(", "a", ")", 250), false},
		{nest("(", "ab", ")", 248), true},
		{nest("(", "ab", ")", 249), false},
		{nest("(", "a|b", ")", 249), false},
		{nest("[", "a", "]", 249), true},
		{nest("[", "a", "]", 250), false},
		{nest("[", "ab", "]", 249), false},
		{nest("a", "*", "", 249), true},
		{"a" + strings.Repeat("*", 249), true},
		{"a" + strings.Repeat("*", 250), false},
	} {
		if _, err := parse(test.pattern, Options{}); (err == nil) != test.ok {
			t.Errorf("%.20s… of %d: %v", test.pattern, len(test.pattern), err)
		}
	}
}

func TestSizeLimit(t *testing.T) {
	for pattern, ok := range map[string]bool{
		`x{1001}`: true, `\w{1000}`: true, `.{2000}`: true, `.{100000}`: true, `\p{L}{1000}`: true, `a{999999}`: true,
		`a{1000000}`: false, `\w{3000}`: false, `((a{99}){99}){99}`: true, `((a{200}){200}){200}`: false, `a{0,4294967295}`: false,
		`a{4294967295,}`: false, `(a{9999999}){0}`: true, `^{4294967295}`: true, `(?:){4294967295}`: true,
	} {
		_, err := parse(pattern, Options{})
		if (err == nil) != ok {
			t.Errorf("%s: %v", pattern, err)
		}
		var e *SyntaxError
		if errors.As(err, &e) && !strings.Contains(e.Reason, "size limit") {
			t.Errorf("%s: %v", pattern, err)
		}
	}
}

func BenchmarkParse(b *testing.B) {
	for _, pattern := range []string{`func \w+\(`, `foo.*bar`, `TODO|FIXME|XXX`, `(?i)[^\p{Lu}]`} {
		b.Run(pattern, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := parse(pattern, Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestErrorTexts(t *testing.T) {
	for _, test := range []struct{ pattern, want string }{
		{"interface{}", "regex parse error:\n    interface{}\n              ^\nerror: repetition quantifier expects a valid decimal\nhint: escape \"{\" as \"\\{\" to search for a brace"},
		{"(?P<n>a)é(?P<n>b)", "regex parse error:\n    (?P<n>a)é(?P<n>b)\n        ^        ^\nerror: duplicate capture group name\nhint: a group needs no name: write \"(…)\""},
		{"(?x)a\nb(", "regex parse error:\n" + strings.Repeat("~", 79) + "\n1: (?x)a\n2: b(\n    ^\n" + strings.Repeat("~", 79) + "\nerror: unclosed group\nhint: escape \"(\" as \"\\(\" to search for a parenthesis, or close the group with \")\""},
		{"a{2,\n1}", "regex parse error:\n" + strings.Repeat("~", 79) + "\n1: a{2,\n2: 1}\n" + strings.Repeat("~", 79) + "\non line 1 (column 2) through line 2 (column 2)\nerror: invalid repetition count range, the start must be <= the end"},
		{strings.Repeat("a", 500) + "(" + strings.Repeat("b", 500), "regex parse error:\n    …" + strings.Repeat("a", 200) + "(" + strings.Repeat("b", 199) + "\n" + strings.Repeat(" ", 205) + "^\nerror: unclosed group\nhint: escape \"(\" as \"\\(\" to search for a parenthesis, or close the group with \")\""},
	} {
		_, err := parse(test.pattern, Options{})
		if err == nil {
			t.Errorf("%s is accepted", test.pattern)
		} else if d := cmp.Diff(test.want, err.Error()); d != "" {
			t.Errorf("%s: %s", test.pattern, d)
		}
	}
}
