package replace

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func missingOf(t *testing.T, content, old string, opt Options) *Missing {
	t.Helper()
	_, err := Find(content, old, opt)
	var m *Missing
	if !errors.As(err, &m) {
		t.Fatalf("%q in %q: %v", old, content, err)
	}
	return m
}

func TestMissing(t *testing.T) {
	tests := []struct {
		name         string
		content, old string
		want         Missing
	}{
		{"stale word", "a\nfoo(bar)\nb\n", "foo(baz)", Missing{Start: 2, End: 2, Text: "foo(bar)", Line: 2, Column: 7, There: `"r"`, Quoted: `"z"`}},
		{"tab or space", "x\nif a {\n\tb(1)\n}\ny\n", "if a {\n    b(2)\n}", Missing{Start: 2, End: 4, Text: "if a {\n\tb(1)\n}", Line: 3, Column: 1, There: `a tab (\t)`, Quoted: "a space"}},
		{"no-break space", "say\u00a0it\n", "say it then", Missing{Start: 1, End: 1, Text: "say\u00a0it", Line: 1, Column: 4, There: "a no-break space (U+00A0)", Quoted: "a space"}},
		{"curly quote", "let word = “hi”\n", `let word = "ho"`, Missing{Start: 1, End: 1, Text: "let word = “hi”", Line: 1, Column: 12, There: "the typographic quote “ (U+201C)", Quoted: `"\""`}},
		{"carriage return", "alpha\rbeta\n", "alphabets", Missing{Start: 1, End: 1, Text: "alpha\rbeta", Line: 1, Column: 6, There: `a carriage return (\r)`, Quoted: `"b"`}},
		{"inside the line", "\t\tcall(one, two)\n", "call(one, too)", Missing{Start: 1, End: 1, Text: "\t\tcall(one, two)", Line: 1, Column: 14, There: `"w"`, Quoted: `"o"`}},
		{"more than there is", "alpha\nbeta", "beta\ngamma", Missing{Start: 2, End: 2, Text: "beta", Line: 2, Column: 5, There: "the end of the text", Quoted: "a line end"}},
		{"made unique", "one\nsame(1)\ntwo\nsame(1)\nthree\n", "same(2)", Missing{Start: 1, End: 3, Text: "one\nsame(1)\ntwo", Line: 1, Column: 1, There: `"o"`, Quoted: `"s"`}},
		{"numbers of a read", "alpha\nbeta = 1\ngamma\n", "00001| alpha\n00002| beta = 1", Missing{Start: 1, End: 2, Text: "alpha\nbeta = 1"}},
		{"nothing near", "alpha\nbeta\n", "ζζζζ", Missing{}},
		{"empty file", "", "x", Missing{}},
	}
	for _, tt := range tests {
		m := missingOf(t, tt.content, tt.old, Options{})
		if d := cmp.Diff(tt.want, *m, cmpopts.IgnoreUnexported(Missing{}), cmpopts.IgnoreFields(Missing{}, "Similarity")); d != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, d)
		}
	}
}

func TestMissingTexts(t *testing.T) {
	content := "package a\n\nfunc f() {\n\tx := 1\n\treturn x\n}\n"
	m := missingOf(t, content, "func f() {\n\tx := 2\n\treturn x\n}", Options{})
	if want := "Could not find oldString in the file. It must match exactly, including whitespace, indentation, and line endings."; m.Error() != want {
		t.Errorf("got %q", m.Error())
	}
	want := `The nearest text is at lines 3-6 (96% alike):
<nearest lines="3-6">
func f() {
	x := 1
	return x
}
</nearest>
First difference at line 4, column 7: the file has "1", oldString has "2".
If this is the text you mean, quote it as it stands between the tags.`
	if d := cmp.Diff(want, m.Help()); d != "" {
		t.Error(d)
	}
	if got := m.Explain("func f() {\n\ty := 1\n}"); got != want {
		t.Errorf("a new text that is not there: %q", got)
	}
	for _, made := range []string{"x := 1", "func f() {\nx := 1\nreturn x\n}\n"} {
		if !strings.Contains(m.Explain(made), "The file already has newString, at line ") {
			t.Errorf("%q is there, but %q", made, m.Explain(made))
		}
	}
	for _, not := range []string{"", "\n", "x", "}", "urn", "return x"} { // the last was quoted anyway
		if strings.Contains(m.Explain(not), "already has newString") {
			t.Errorf("%q is taken for an edit made before", not)
		}
	}
	if m = missingOf(t, "abc", "xyz", Options{Profile: Seed}); m.Error() != "oldString not found in content" {
		t.Errorf("got %q", m.Error())
	}
	if want := "Nothing in the file is like it. Read the file again before the next try."; m.Help() != want {
		t.Errorf("got %q", m.Help())
	}
}

func TestHints(t *testing.T) {
	content := "func f() {\n\ta()\n\tb()\n\tc()\n}\n"
	if h := missingOf(t, content, "00001| func f() {\n00002| \ta()", Options{}).Help(); !strings.Contains(h, "line numbers") {
		t.Errorf("numbers: %s", h)
	}
	if h := missingOf(t, content, "func f() {\n\t// ... existing code ...\n}", Options{}).Help(); !strings.Contains(h, "leave lines out") {
		t.Errorf("elision: %s", h)
	}
	if h := missingOf(t, content, "func f() {\n\t...args\n\tx()", Options{}).Help(); strings.Contains(h, "leave lines out") {
		t.Errorf("a spread is no elision: %s", h)
	}
	// A text with the closing tag in it.
	h := missingOf(t, "<p>\n</nearest>\nsome words\n", "</nearest>\nsome wards", Options{}).Help()
	if !strings.Contains(h, "<nearest_ lines=\"2-3\">\n</nearest>\nsome words\n</nearest_>\n") {
		t.Errorf("tags: %s", h)
	}
}

func TestNearestIsBounded(t *testing.T) {
	var file, old strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&file, "line number %d is here\n", i)
		if i >= 100 && i < 1100 {
			fmt.Fprintf(&old, "line number %d is here\n", i)
		}
	}
	m := missingOf(t, file.String(), old.String()+"something else", Options{})
	if m.Start != 101 || len(m.Text) > nearBytes || len(m.Text) < nearBytes/2 || !strings.Contains(m.Help(), "only its beginning; the whole has about 1001 lines") {
		t.Errorf("lines %d-%d, %d bytes: %s", m.Start, m.End, len(m.Text), m.Help()[:100])
	}
	if strings.Count(file.String(), m.Text) != 1 {
		t.Error("the text shown is not unique")
	}
	// One line of a megabyte.
	words := make([]string, 50000)
	for i := range words {
		words[i] = fmt.Sprintf("%x=%x;", uint32(i)*2654435761, uint32(i)*40503)
	}
	line := strings.Join(words, "é ")
	old = strings.Builder{}
	old.WriteString(strings.Join(words[5000:5003], "é ") + "é Q")
	m = missingOf(t, line, old.String(), Options{})
	if !m.part || len(m.Text) > 200 || !strings.Contains(m.Text, words[5001]+"é "+words[5002]) || strings.Count(line, m.Text) != 1 || m.Start != 1 || m.End != 1 {
		t.Errorf("part of a line: %q, %d-%d", m.Text, m.Start, m.End)
	}
	if m.There != fmt.Sprintf("%q", words[5003][:1]) || m.Quoted != `"Q"` {
		t.Errorf("difference: %s, %s", m.There, m.Quoted)
	}
}

func TestMany(t *testing.T) {
	tests := []struct {
		content, old string
		opt          Options
		help         string
	}{
		{"x\ny\nx\n", "x", Options{}, "It matches at lines 1 and 3."},
		{"x\ny\nx\n\nx\n", "x", Options{Profile: Seed}, "It matches at lines 1, 3 and 5."},
		{"a x x\n", "x", Options{}, "It matches 2 times in line 1."},
		{"aaa", "aa", Options{}, "It matches 2 times in line 1."},
		{" a(b)\n  c\n\ta(b)\n", "a(b) ", Options{}, "It matches at lines 1 and 3."},
		{strings.Repeat("x\n", 50), "x", Options{}, "It matches at lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20 and 30 more places."},
	}
	for _, tt := range tests {
		_, err := Find(tt.content, tt.old, tt.opt)
		var m *Many
		if !errors.As(err, &m) {
			t.Errorf("%q: %v", tt.content, err)
			continue
		}
		want := "Found multiple matches for oldString. Provide more surrounding context to make the match unique."
		if tt.opt.Profile == Seed {
			want = "Found multiple matches for oldString. Provide more surrounding lines in oldString to identify the correct match."
		}
		if m.Error() != want || m.Help() != tt.help {
			t.Errorf("%q: %q\n%q\nwant %q", tt.content, m.Error(), m.Help(), tt.help)
		}
	}
}

func TestOversized(t *testing.T) {
	_, err := Find("x\na\nb\nc\nd\ne\n", `a\nb\nc\nd\ne`, Options{})
	var o *Oversized
	if !errors.As(err, &o) {
		t.Fatal(err)
	}
	if want := "Refusing replacement because the matched span is much larger than oldString. Re-read the file and provide the full exact oldString for the intended replacement."; o.Error() != want {
		t.Errorf("got %q", o.Error())
	}
	if o.Help() != "What matches is at lines 2-6." {
		t.Errorf("got %q", o.Help())
	}
}

func TestMatchIsReported(t *testing.T) {
	tests := []struct {
		content, old, by string
		exact            bool
		similarity       float64
	}{
		{"abcd", "bc", simple, true, 1},
		{"\tabc\n", "abc ", lineTrimmed, false, 0.5},
		{"f {\n  a('b')\n}", "f {\n  a(`b`)\n}", blockAnchor, false, 12.0 / 14},
		{"a  b", "a b", whitespaceNormalized, false, 0.75},
		{`a"b`, `a\"b`, escapeNormalized, false, 0.75},
		{"\ta.b\nc y", "  a.b\nc", trimmedBoundary, false, 5.0 / 7},
		{"f {\n((((((((a))))))))\n}", "f {\n[[[[[[[[a]]]]]]]]\n}", "", false, 0},
		{"f {\n((((((((a))))))))\nb\n}", "f {\n[[[[[[[[a]]]]]]]]\nb\n}", contextAware, false, 9.0 / 25},
	}
	for _, tt := range tests {
		m, err := Find(tt.content, tt.old, Options{})
		if m.Strategy != tt.by || m.Exact != tt.exact || m.Similarity < tt.similarity-1e-9 || m.Similarity > tt.similarity+1e-9 {
			t.Errorf("%q in %q: %+v %v", tt.old, tt.content, m, err)
		}
	}
}
