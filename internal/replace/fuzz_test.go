package replace

import (
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// wordsOf is what a safe match must have in common with what was quoted.
func wordsOf(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool {
		return r != '_' && !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r)
	})
}

// checkFound fails unless what Find says of the texts makes sense.
func checkFound(t *testing.T, content, old string, opt Options) {
	t.Helper()
	m, err := Find(content, old, opt)
	var missing *Missing
	switch {
	case old == "":
		if err != ErrEmpty {
			t.Fatalf("an empty text: %v", err)
		}
		return
	case errors.As(err, &missing):
		checkMissing(t, content, old, missing)
	}
	at := strings.Index(content, old)
	if at >= 0 && !strings.Contains(content[at+1:], old) && (m.Strategy != simple || m.Spans[0].Start != at) {
		t.Fatalf("an exact and unique text is found as %+v, %v", m, err)
	}
	if err != nil {
		if err.Error() == "" || len(m.Spans) > 0 {
			t.Fatalf("%+v and %v", m, err)
		}
		return
	}
	if len(m.Spans) == 0 || len(m.Spans) > 1 && !opt.All || m.Similarity < 0 || m.Similarity > 1 {
		t.Fatalf("%+v", m)
	}
	end := 0
	for _, s := range m.Spans {
		if s.Start < end || s.End < s.Start || s.End > len(content) {
			t.Fatalf("spans out of order: %v", m.Spans)
		}
		end = s.End
		text := content[s.Start:s.End]
		if opt.Profile == Seed {
			continue
		}
		if !opt.All && (!strings.Contains(content, text) || strings.Contains(content[s.Start+1:], text) || strings.Index(content, text) != s.Start) {
			t.Fatalf("%q is not unique", text)
		}
		quoted := old
		if m.Strategy == escapeNormalized {
			o := newOracle()
			text, quoted = o.unescape(text), o.unescape(old)
		}
		if !slices.Equal(wordsOf(text), wordsOf(quoted)) {
			t.Fatalf("%s: %q was not quoted by %q", m.Strategy, text, quoted)
		}
	}
}

func checkMissing(t *testing.T, content, old string, m *Missing) {
	t.Helper()
	if m.Help() == "" || m.Explain(old) == "" {
		t.Fatal("no help")
	}
	if m.Start == 0 {
		if m.Text != "" || m.Line != 0 {
			t.Fatalf("%+v", m)
		}
		return
	}
	if !strings.Contains(content, m.Text) || len(m.Text) > nearBytes || m.End < m.Start || m.End > strings.Count(content, "\n")+1 {
		t.Fatalf("the nearest text: %+v", m)
	}
	if got := strings.Join(strings.Split(content, "\n")[m.Start-1:m.End], "\n"); !m.part && got != m.Text {
		t.Fatalf("lines %d-%d are %q, not %q", m.Start, m.End, got, m.Text)
	}
	if m.Line != 0 && (m.There == m.Quoted && utf8.ValidString(content) && utf8.ValidString(old)) {
		t.Fatalf("%s differs from %s at %d:%d", m.There, m.Quoted, m.Line, m.Column)
	}
}

func seedCorpus(f *testing.F) {
	for _, c := range [][2]string{
		{"a b c", "b"},
		{"  foo\n    bar\nbaz", "foo\nbar\n"},
		{"start\n  one\n  two\nend\n", "start\n  ONE\n  twoo\nend"},
		{"foo( a,   b ) // c\n", "a, b"},
		{"if (a)  {\n\treturn  1\n}\n", "if (a) {\nreturn 1"},
		{"say \"hi\"\\\nyou\n", "say \\\"hi\\\"\nyou"},
		{"xx hello yy", "  hello\n"},
		{"s\n\n\nx\ne\ns\n\n\ny\ne\n", "s\n\n\nx\ne"},
		{"f {\n  a('b')\n\n}\n", "f {\n  a(“b”);\n}"},
		{"\n\n \n", "\n \n"},
		{"é🌍\u2028\xff", " \xff"},
		{"alpha\nbeta\n", "00001| alpha\n00002| betta"},
	} {
		f.Add(c[0], c[1], false)
		f.Add(c[0], c[1], true)
	}
}

func FuzzFind(f *testing.F) {
	seedCorpus(f)
	f.Fuzz(func(t *testing.T, content, old string, all bool) {
		checkFound(t, content, old, Options{All: all})
		checkFound(t, content, old, Options{All: all, Profile: Seed})
	})
}

// fuzzStrategy compares what a strategy yields with what the oracle does. Only
// the order of different texts counts: the oracle names texts, not places.
func fuzzStrategy(f *testing.F, fast func(*search) iter.Seq[Span], slow func(*oracle, string, string) []string) {
	seedCorpus(f)
	o := newOracle()
	f.Fuzz(func(t *testing.T, content, old string, _ bool) {
		if old == "" || len(content) > 2000 || !utf8.ValidString(content) || !utf8.ValidString(old) {
			return
		}
		distinct := func(texts []string) (out []string) {
			for _, s := range texts {
				if !slices.Contains(out, s) {
					out = append(out, s)
				}
			}
			return out
		}
		var got []string
		for s := range fast(newSearch(content, old, Options{Profile: Seed})) {
			got = append(got, content[s.Start:s.End])
		}
		got, want := distinct(got), distinct(slow(o, content, old))
		if !slices.Equal(got, want) {
			t.Fatalf("content %q\nold %q\n got %q\nwant %q", content, old, got, want)
		}
	})
}

func FuzzLineTrimmed(f *testing.F) { fuzzStrategy(f, (*search).trimmedLines, (*oracle).lineTrimmed) }
func FuzzBlockAnchor(f *testing.F) { fuzzStrategy(f, (*search).anchored, (*oracle).blockAnchor) }
func FuzzWhitespaceNormalized(f *testing.F) {
	fuzzStrategy(f, (*search).normalized, (*oracle).whitespace)
}
func FuzzEscapeNormalized(f *testing.F) { fuzzStrategy(f, (*search).unescaped, (*oracle).escape) }
func FuzzTrimmedBoundary(f *testing.F)  { fuzzStrategy(f, (*search).bounded, (*oracle).boundary) }
func FuzzContextAware(f *testing.F)     { fuzzStrategy(f, (*search).contextual, (*oracle).context) }

// FuzzIndentationFlexible holds the package to what it says of the strategy
// it leaves out: others before it name all it would.
func FuzzIndentationFlexible(f *testing.F) {
	seedCorpus(f)
	o := newOracle()
	f.Fuzz(func(t *testing.T, content, old string, _ bool) {
		if old == "" || len(content) > 2000 || !utf8.ValidString(content) || !utf8.ValidString(old) {
			return
		}
		before := append(o.lineTrimmed(content, old), o.whitespace(content, old)...)
		for _, s := range o.indentation(content, old) {
			if !slices.Contains(before, s) {
				t.Fatalf("content %q, old %q: only indentation_flexible names %q", content, old, s)
			}
		}
	})
}

// lineText draws a text of few different lines.
func lineText(least int) *rapid.Generator[string] {
	line := rapid.SampledFrom([]string{"", "", "a", "  a", "a(b)", "a('b')", "\ta(\"b\")", "}", "  }", "x  y", "x y", "x = 1", "\u00a0x", "...", "// ... rest"})
	return rapid.Map(rapid.SliceOfN(line, least, 12), func(l []string) string { return strings.Join(l, "\n") })
}

func TestLaws(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		content, old := lineText(0).Draw(rt, "content"), lineText(1).Draw(rt, "old")
		for _, p := range []Profile{Safe, Seed} {
			for _, all := range []bool{false, true} {
				checkFound(t, content, old, Options{All: all, Profile: p})
			}
		}
	})
}

// An exact part that is unique is always found as it stands.
func TestExactIsSimple(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		content := lineText(2).Draw(rt, "content") + "!"
		from := rapid.IntRange(0, len(content)-1).Draw(rt, "from")
		to := rapid.IntRange(from+1, len(content)).Draw(rt, "to")
		old := content[from:to]
		if strings.Count(content, old) != 1 || strings.Index(content, old) != strings.LastIndex(content, old) {
			return
		}
		for _, p := range []Profile{Safe, Seed} {
			m, err := Find(content, old, Options{Profile: p})
			if err != nil || m.Strategy != simple || !m.Exact || m.Spans[0] != (Span{from, to}) {
				rt.Fatalf("%+v %v", m, err)
			}
		}
	})
}
