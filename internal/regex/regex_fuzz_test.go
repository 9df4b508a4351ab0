package regex

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A grower grows a pattern from bytes, of what package regexp and we both
// understand and mean the same by on ASCII text.
type grower struct {
	data  []byte
	words bool // with word boundaries
	wide  bool // with characters beyond ASCII and what only we understand
}

func (g *grower) next(n int) int {
	if len(g.data) == 0 {
		return 0
	}
	b := g.data[0]
	g.data = g.data[1:]
	return int(b) % n
}

func (g *grower) atom(depth int) string {
	atoms := []string{
		"a", "b", "c", "ab", "abc", " ", "_", "1", ".", "[ab]", "[^a]", "[a-c1]", `\d`, `\w`, `\W`, `\D`,
		"(?i:b)", "(?i:ab)", "[[:alpha:]]", "[^ab_]", "^", "$", `\z`, `\A`, "foo", "(?i:foo)", "",
	}
	if g.words {
		atoms = append(atoms, `\b`, `\B`, `\b`)
	}
	if g.wide {
		atoms = append(atoms, "é", `[é-ö]`, "日", "[^é]", `(?i:k)`, `(?i:ſ)`, `(?-u:\xc3)`, `(?-u:[\x80-\xff])`, `(?-u:\xe6\x97)`,
			`\b{start}`, `\b{end}`, `\b{start-half}`, `\b{end-half}`, `(?-u:\b)`, `(?-u:\B)`, `(?-u:\b{end})`, `(?-u:[^a])`, `\p{Greek}`)
	}
	if i := g.next(len(atoms) + 4); i < len(atoms) {
		return atoms[i]
	}
	if depth <= 0 {
		return "a"
	}
	return "(" + g.either(depth-1) + ")"
}

func (g *grower) piece(depth int) string {
	atom := g.atom(depth)
	marks := []string{"", "", "", "", "", "*", "+", "?", "*?", "+?", "??", "{2}", "{1,3}", "{0,2}?", "{2,}"}
	mark := marks[g.next(len(marks))]
	if mark == "" {
		return atom
	}
	return "(?:" + atom + ")" + mark
}

func (g *grower) concat(depth int) string {
	var b strings.Builder
	for range 1 + g.next(4) {
		b.WriteString(g.piece(depth))
	}
	return b.String()
}

func (g *grower) either(depth int) string {
	list := []string{g.concat(depth)}
	for range max(0, g.next(5)-2) {
		list = append(list, g.concat(depth))
	}
	return strings.Join(list, "|")
}

// plainText maps any text into the few ASCII characters patterns are grown from.
func plainText(text []byte) string {
	const alphabet = "abcABCfoO 1_-\n\n"
	out := make([]byte, len(text))
	for i, b := range text {
		out[i] = alphabet[int(b)%len(alphabet)]
	}
	return string(out)
}

// broadText does the same with characters beyond ASCII and with broken ones.
func broadText(text []byte) string {
	alphabet := []string{"a", "b", "f", "oo", "é", "É", "ö", "日", "本", "K", "\u212a", "s", "ſ", " ", "_", "\n", "\n", "\xc3", "\x80", "\xff",
		"\xe6\x97", "😀", "\xf0\x9f\x98", "٣", "λ", "\xed\xa0\x80", "\xe0\x80"}
	var b strings.Builder
	for _, c := range text {
		b.WriteString(alphabet[int(c)%len(alphabet)])
	}
	return b.String()
}

func checkStdlib(t *testing.T, seed, raw []byte) {
	t.Helper()
	g := &grower{data: seed, words: true}
	pattern, text := g.either(3), plainText(raw)
	std, err := regexp.Compile("(?m)" + pattern)
	if err != nil {
		t.Skip("package regexp refuses it")
	}
	re := mustCompile(t, pattern, Options{})
	m := re.Matcher(nil)
	if diff := cmp.Diff(stdlibLines(std, text), matching(t, m, text)); diff != "" {
		t.Fatalf("lines of %q in %q: (-regexp +ours)\n%s", pattern, text, diff)
	}
	for i, line := range split(text) {
		if i > 20 {
			break
		}
		from := 0
		if len(line) > 0 {
			from = i % min(len(line), 500)
		}
		// The lazy part in front makes the group the first match behind it.
		std := regexp.MustCompile(fmt.Sprintf("(?m)\\A(?:.{%d}.*?)(%s)", from, pattern))
		want := std.FindStringSubmatchIndex(line)
		start, end, ok := m.Find([]byte(line), from)
		if ok != (want != nil) || ok && (start != want[2] || end != want[3]) {
			t.Fatalf("%q in %q from %d: %d..%d %v, regexp says %v", pattern, line, from, start, end, ok, want)
		}
	}
}

// checkWays compares all the ways there are to find the matching lines.
func checkWays(t *testing.T, seed, raw []byte) {
	t.Helper()
	g := &grower{data: seed, words: true, wide: true}
	pattern, text := g.either(3), broadText(raw)
	re, err := Compile(pattern, Options{})
	if err != nil {
		t.Skip("the parser refuses it")
	}
	want := exact(unsieved(re), text)
	check := func(way string, got []int) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%q in %q, %s: (-exact +got)\n%s", pattern, text, way, diff)
		}
	}
	bare := unsieved(re)
	check("pike with sieve", exact(re, text))
	check("sieve", matching(t, re.Matcher(nil), text))
	check("portable sieve", matching(t, mustCompile(t, pattern, Options{Portable: true}).Matcher(nil), text))
	check("automaton", matching(t, bare.Matcher(nil), text))
	check("parts", inParts(bare, text))
	m := bare.Matcher(nil)
	m.automaton().slow = len(text) + 1
	check("no states", matching(t, m, text))
	// The same lines often enough to be read in several streams.
	times := 1 + 5*lockBlock/(len(text)+1)
	lines := len(split(text + "\n"))
	var many []int
	last := want
	want = exact(re, text+"\n")
	for i := range times {
		for _, l := range want {
			many = append(many, i*lines+l)
		}
	}
	for _, l := range last {
		many = append(many, times*lines+l)
	}
	want = many
	text = strings.Repeat(text+"\n", times) + text
	check("streams", matching(t, bare.Matcher(nil), text))
	check("long sieve", matching(t, re.Matcher(nil), text))
}

// exact asks the pike about each line.
func exact(re *Regexp, text string) []int {
	var all []int
	m := re.Matcher(nil)
	for i, line := range split(text) {
		if _, _, ok := m.Find([]byte(line), 0); ok {
			all = append(all, i)
		}
	}
	return all
}

// inParts feeds each line in parts, one byte more each time.
func inParts(re *Regexp, text string) []int {
	var all []int
	m := re.Matcher(nil)
	for i, line := range split(text) {
		m.Begin()
		sure := false
		for rest, n := []byte(line), 0; len(rest) > 0; n++ {
			k := min(n, len(rest))
			sure = m.Feed(rest[:k])
			rest = rest[k:]
		}
		if end := m.End(); end {
			all = append(all, i)
		} else if sure {
			all = append(all, -1) // sure, and then not
		}
	}
	return all
}

// seeds gives a fuzz target something to begin with.
func seeds(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		a, b := make([]byte, r.IntN(30)), make([]byte, r.IntN(80))
		for _, s := range [][]byte{a, b} {
			for i := range s {
				s[i] = byte(r.Uint32())
			}
		}
		f.Add(a, b)
	}
}

func FuzzAgainstStdlib(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, seed, raw []byte) { checkStdlib(t, bound(seed), bound(raw)) })
}

func FuzzWays(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, seed, raw []byte) { checkWays(t, bound(seed), bound(raw)) })
}

func bound(b []byte) []byte { return b[:min(len(b), 300)] }

// FuzzPrefilter gives the text as it is, so that it may hold anything.
func FuzzPrefilter(f *testing.F) {
	for _, p := range []string{"foo", "(?i)foo", "TODO|FIXME", "[A-Z]{3,}_\\d+", "func \\w+\\(", "naïve|é", "(?i)k", "\\berr\\b.*nil", "x?foo$", "^foo"} {
		f.Add(p, []byte("a foo\nFOO TODO\nABC_1\nfunc x(\nna\xc3\xafve\n\u212a\nerr = nil\n"))
	}
	f.Fuzz(func(t *testing.T, pattern string, text []byte) {
		if len(pattern) > 100 || len(text) > 5000 {
			return
		}
		re, err := Compile(pattern, Options{})
		if err != nil {
			return
		}
		want := matching(t, unsieved(re).Matcher(nil), string(text))
		if diff := cmp.Diff(want, matching(t, re.Matcher(nil), string(text))); diff != "" {
			t.Fatalf("%q in %q: (-without +with the sieve)\n%s", pattern, text, diff)
		}
		portable := mustCompile(t, pattern, Options{Portable: true})
		if diff := cmp.Diff(want, matching(t, portable.Matcher(nil), string(text))); diff != "" {
			t.Fatalf("%q in %q: (-without +with the portable sieve)\n%s", pattern, text, diff)
		}
	})
}

// TestRandom runs some thousand random cases of the fuzz targets.
func TestRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	random := func(n int) []byte {
		b := make([]byte, r.IntN(n))
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return b
	}
	for i := range 1500 {
		seed, raw := random(24), random(120)
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			checkStdlib(t, bytes.Clone(seed), raw)
		})
		t.Run(fmt.Sprint(i, "w"), func(t *testing.T) {
			checkWays(t, seed, raw)
		})
	}
}
