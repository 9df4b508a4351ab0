package search

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
)

func TestGlob(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		glob    string
		dialect dialect
		yes, no string // names, separated by blanks
	}{
		{"a", gitDialect, "a", "b a/b b/a aa"},
		{"a*", gitDialect, "a ab a.go", "ba a/b"},
		{"a?c", gitDialect, "abc a.c", "ac abbc a/c aéc"},
		{"**", gitDialect, "a a/b .x", ""},
		{"**/a", gitDialect, "a b/a b/c/a", "ab ba/b a/b ba"},
		{"a/**", gitDialect, "a/b a/b/c", "a b/a/c ab/c"},
		{"a/**/b", gitDialect, "a/b a/x/b a/x/y/b", "ab a/xb a/b/c"},
		{"a/**/**/b", gitDialect, "a/b a/x/b a/x/y/b", "ab"},
		{"a**b", gitDialect, "ab axb", "a/b"},
		{"**a", gitDialect, "a ba", "b/a"},
		{"***", gitDialect, "a ab", "a/b"},
		{"[ab]", gitDialect, "a b", "c ab"},
		{"[a-cx]z", gitDialect, "az bz cz xz", "dz z"},
		{"[!a]", gitDialect, "b c", "a /"},
		{"[^a-y]", gitDialect, "z 0", "a y"},
		{"[]a]", gitDialect, "] a", "[ b"},
		{"[a-]", gitDialect, "a -", "b"},
		{"[-a]", gitDialect, "a -", "b"},
		{"[a-c-e]", gitDialect, "a d e", "f -"},
		{"x[.-0]y", gitDialect, "x.y x0y", "x/y"},
		{`[\]]`, gitDialect, "]", `\ \]`},
		{`[\]]`, globDialect, `\]`, "]"},
		{"[[:digit:]x]", gitDialect, "0 9 x", "a :"},
		{"[[:digit:]x]", globDialect, ":x]", "0"},
		{"[a", gitDialect, "[a", "a"},
		{`\*`, gitDialect, "*", "a"},
		{`\a`, gitDialect, "a", `\a`},
		{"{a,b}", gitDialect, "{a,b}", "a b"},
		{"{a,b}", globDialect, "a b", "{a,b} ab"},
		{"*.{go,{c,h}pp}", globDialect, "x.go x.cpp x.hpp", "x.c x.pp"},
		{"a{,b}", globDialect, "ab", "a"},
		{"a{}", globDialect, "a", "a{}"},
		{"a,b", globDialect, "a,b", "a b"},
		{"{src/**,**/x}", globDialect, "src/a src/a/b x a/x", "src a/b"},
		{"[é]x", gitDialect, "\xc3x \xa9x", "éx ex"},
	} {
		g, err := compileGlob(test.glob, test.dialect)
		if err != nil {
			t.Errorf("%q: %v", test.glob, err)
			continue
		}
		var m machine
		for want, names := range map[bool]string{true: test.yes, false: test.no} {
			for name := range strings.FieldsSeq(names) {
				if got := g.match(&m, []byte(name), baseOf(name)); got != want {
					t.Errorf("%q on %q: %v", test.glob, name, got)
				}
			}
		}
	}
}

func baseOf(path string) int { return strings.LastIndexByte(path, '/') + 1 }

func TestBadGlob(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]error{
		`a\`:                           errGlobEscape,
		"[a":                           errGlobBracket,
		"[":                            errGlobBracket,
		"[z-a]":                        errGlobRange,
		"{a":                           errGlobBrace,
		"a}":                           errGlobBrace,
		strings.Repeat("{", 40):        errGlobNesting,
		strings.Repeat("a", maxGlob+1): errGlobLong,
	} {
		if _, err := compileGlob(text, globDialect); !errors.Is(err, want) {
			t.Errorf("%.20q: %v, not %v", text, err, want)
		}
	}
}

// TestManyStars would not end if matching tried every way to share a name
// out among the stars.
func TestManyStars(t *testing.T) {
	t.Parallel()
	var m machine
	for _, part := range []string{"*a", "**/a/", "{a,*a,a*}"} {
		g, err := compileGlob(strings.Repeat(part, 100)+"b", globDialect)
		if err != nil {
			t.Fatal(err)
		}
		if g.match(&m, bytes.Repeat([]byte("a"), 5000), 0) || g.match(&m, bytes.Repeat([]byte("a/"), 5000), 0) {
			t.Errorf("%q matches", part)
		}
	}
}

// asRegexp says what tokens mean in other words: an expression over runes that
// stand for bytes.
func asRegexp(tokens []token) string {
	var out strings.Builder
	for _, t := range tokens {
		switch t.kind {
		case tokByte:
			out.WriteString(regexp.QuoteMeta(string(rune(t.char))))
		case tokAny:
			out.WriteString(`[^/]`)
		case tokStar:
			out.WriteString(`[^/]*`)
		case tokClass:
			out.WriteString(`(?:[^\x{0}-\x{10ffff}]`)
			for b := range 256 {
				if t.set.contains(byte(b)) {
					fmt.Fprintf(&out, `|\x{%x}`, b)
				}
			}
			out.WriteString(`)`)
		case tokDeepPrefix:
			out.WriteString(`(?:/?|.*/)`)
		case tokDeepMiddle:
			out.WriteString(`(?:/|/.*/)`)
		case tokDeepSuffix:
			out.WriteString(`/.*`)
		case tokEither:
			var parts []string
			for _, b := range t.branches {
				if part := asRegexp(b); part != "" {
					parts = append(parts, part)
				}
			}
			if len(parts) > 0 {
				out.WriteString("(?:" + strings.Join(parts, "|") + ")")
			}
		}
	}
	return out.String()
}

// asRunes turns each byte into the rune of that number.
func asRunes(b []byte) string {
	runes := make([]rune, len(b))
	for i, c := range b {
		runes[i] = rune(c)
	}
	return string(runes)
}

// FuzzGlob compares the matcher with the standard library's, on the same
// parsed glob.
func FuzzGlob(f *testing.F) {
	for _, glob := range []string{"*.go", "**/a", "a/**/b", "a/**", "[!a-c]*?", `\*{a,b*c}`, "{**/a,b/**}x", "[[:alpha:]]"} {
		f.Add(glob, "a/b/c.go", false)
		f.Add(glob, "a/x/b", true)
	}
	f.Fuzz(func(t *testing.T, text, path string, git bool) {
		if len(text) > 100 || len(path) > 200 || strings.HasPrefix(path, "/") {
			return
		}
		d := globDialect
		if git {
			d = gitDialect
		}
		g, err := compileGlob(text, d)
		if err != nil {
			return
		}
		tokens, err := parseGlob(text, d)
		if err != nil {
			t.Fatal(err)
		}
		expr := asRegexp(tokens)
		if len(tokens) == 1 && tokens[0].kind == tokDeepPrefix {
			expr = ".*"
		}
		re, err := regexp.Compile(`(?s)^(?:` + expr + `)$`)
		if err != nil {
			t.Fatal(err)
		}
		var m machine
		for range 2 { // the second time with what the first left in the machine
			if got, want := g.match(&m, []byte(path), baseOf(path)), re.MatchString(asRunes([]byte(path))); got != want {
				t.Fatalf("%q on %q: %v, not %v (%s)", text, path, got, want, expr)
			}
		}
	})
}
