package regex

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// mustCompile compiles a pattern that is known to be right.
func mustCompile(t testing.TB, pattern string, opt Options) *Regexp {
	t.Helper()
	re, err := Compile(pattern, opt)
	if err != nil {
		t.Fatalf("%q: %v", pattern, err)
	}
	return re
}

// unsieved is the same pattern without the sieve in front.
func unsieved(re *Regexp) *Regexp { return &Regexp{prog: re.prog, need: re.need} }

// split cuts a text into its lines.
func split(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// matching returns the numbers of the lines that Next finds, and checks that
// what it returns are lines.
func matching(t testing.TB, m *Matcher, text string) []int {
	t.Helper()
	var all []int
	data := []byte(text)
	lines, counted := 0, 0
	for from := 0; ; {
		start, end, ok := m.Next(data, from)
		if !ok {
			return all
		}
		if start < from || end < start || end > len(data) ||
			start > 0 && data[start-1] != '\n' || end < len(data) && data[end] != '\n' || bytes.IndexByte(data[start:end], '\n') >= 0 {
			t.Fatalf("Next gave %d..%d, which is no line of %q", start, end, text)
		}
		lines += bytes.Count(data[counted:start], []byte("\n"))
		counted = start
		all = append(all, lines)
		from = end + 1
	}
}

// stdlibLines returns the numbers of the lines that match for package regexp.
func stdlibLines(re *regexp.Regexp, text string) []int {
	var all []int
	for i, line := range split(text) {
		if re.MatchString(line) {
			all = append(all, i)
		}
	}
	return all
}

func TestNext(t *testing.T) {
	tests := []struct {
		pattern, text string
		want          []int
	}{
		{"abc", "", nil},
		{"abc", "abc", []int{0}},
		{"abc", "abc\n", []int{0}},
		{"abc", "x\nabcabc\n\nxabc", []int{1, 3}},
		{"", "a\n\nb", []int{0, 1, 2}},
		{"", "", nil},
		{"", "\n", []int{0}},
		{"^$", "a\n\nb\n", []int{1}},
		{"^$", "a\n\n", []int{1}},
		{"$", "a\n\n", []int{0, 1}},
		{"b$", "ab\nba\r\nb", []int{0, 2}},
		{"b$", "b\r\n", nil},
		{"a.c", "a\nc\nabc", []int{2}},
		{`a\s+b`, "a\nb\na b\n", []int{2}},
		{"[^x]{2}", "a\nb\nab", []int{2}},
		{`\Ab`, "ab\nb\n", []int{1}},
		{`b\z`, "ab\nba\nb", []int{0, 2}},
		{"(a*)*b", "aaa\naaab\nb", []int{1, 2}},
		{"(|a)+$", "x\naa", []int{0, 1}},
		{`\bfoo\b`, "foo\nfoobar\na foo b\nfoo_", []int{0, 2}},
		{"a|b|^c", "xc\nc\nxb", []int{1, 2}},
		{`[a&&b]`, "a\nb\n", nil},
		{`é+`, "e\né\néé", []int{1, 2}},
		{`^.$`, "é\nee\n\xff\n日\n😀", []int{0, 3, 4}},
		{`[^a]b`, "\xffb\nxb\nab\néb", []int{1, 3}},
		{`(?-u:[^a])b`, "\xffb\nxb\nab", []int{0, 1}},
		{`(?-u:\xff)`, "\xff\n\xfe", []int{0}},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%s in %q", tt.pattern, tt.text), func(t *testing.T) {
			re := mustCompile(t, tt.pattern, Options{})
			if diff := cmp.Diff(tt.want, matching(t, re.Matcher(nil), tt.text)); diff != "" {
				t.Errorf("with sieve: (-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(tt.want, matching(t, unsieved(re).Matcher(nil), tt.text)); diff != "" {
				t.Errorf("without: (-want +got)\n%s", diff)
			}
		})
	}
}

func TestFind(t *testing.T) {
	tests := []struct {
		pattern, line string
		from          int
		start, end    int
		ok            bool
	}{
		{"b+", "abbbc", 0, 1, 4, true},
		{"b+?", "abbbc", 0, 1, 2, true},
		{"b+", "abbbc", 2, 2, 4, true},
		{"b+", "abbbc", 4, 0, 0, false},
		{"a|ab", "xab", 0, 1, 2, true},
		{"ab|a", "xab", 0, 1, 3, true},
		{"^a", "aa", 0, 0, 1, true},
		{"^a", "aa", 1, 0, 0, false},
		{"$", "ab", 0, 2, 2, true},
		{"", "ab", 1, 1, 1, true},
		{`\bb`, "ab b", 1, 3, 4, true},
		{`\b.`, "éa ö", 1, 3, 4, true},
		{"(a|ab)(c|bcd)", "abcd", 0, 0, 4, true},
		{"日.", "x日本", 0, 1, 7, true},
		{"x*", "yxx", 0, 0, 0, true},
		{"(?:|x)*y", "xxy", 0, 0, 3, true},
	}
	for _, tt := range tests {
		m := mustCompile(t, tt.pattern, Options{}).Matcher(nil)
		start, end, ok := m.Find([]byte(tt.line), tt.from)
		if start != tt.start || end != tt.end || ok != tt.ok {
			t.Errorf("%q in %q from %d: %d..%d %v, want %d..%d %v",
				tt.pattern, tt.line, tt.from, start, end, ok, tt.start, tt.end, tt.ok)
		}
	}
}

func TestTooLarge(t *testing.T) {
	for _, pattern := range []string{"((a{100}){100}){100}", `(\w{1000}b?){1000}`, "((a?){1000}){1000}"} {
		if _, err := Compile(pattern, Options{}); err == nil || !strings.Contains(err.Error(), "size limit") {
			t.Errorf("%q: %v", pattern, err)
		}
	}
	for _, pattern := range []string{"((){1000}){1000}", "(((){1000}){1000}){1000}", ".{20000}", "(x{0,50}){50}", `\w{1000}`} {
		mustCompile(t, pattern, Options{})
	}
}

// TestTooLargeTree gives the compiler trees that no parser has looked at.
func TestTooLargeTree(t *testing.T) {
	repeat := func(n *node, min, max int) *node {
		return &node{kind: kindRepeat, subs: []*node{n}, min: min, max: max}
	}
	a := &node{kind: kindClass, runes: []runeRange{{'a', 'a'}}}
	for name, n := range map[string]*node{
		"exactly":  repeat(repeat(repeat(a, 100, 100), 100, 100), 100, 100),
		"at most":  repeat(repeat(repeat(a, 0, 100), 0, 100), 0, 100),
		"at least": repeat(repeat(repeat(a, 1<<30, -1), 1<<30, -1), 1<<30, -1),
		"either":   {kind: kindEither, subs: []*node{repeat(a, 1<<17, 1<<17), repeat(a, 1<<17, 1<<17)}},
	} {
		if _, ok := compile(n); ok {
			t.Errorf("%s: it was not too large", name)
		}
	}
	if p, ok := compile(repeat(repeat(&node{kind: kindEmpty}, 1<<30, 1<<30), 1<<30, 1<<30)); !ok || len(p.insts) != 1 {
		t.Error("nothing, often, is too large")
	}
}

func TestNeedsAreKept(t *testing.T) {
	if diff := cmp.Diff([][]string{{"servehttp"}}, mustCompile(t, "ServeHTTP", Options{}).Needs()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
