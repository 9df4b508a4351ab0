package replace

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/helve-dev/helve/internal/text"
)

// A Missing says that the quoted text is not in the content, and describes the most similar text.
type Missing struct {
	// Start and End are the first and the last line, from 1, of the text in
	// the content that is most like the quoted one. They are 0 if nothing is.
	Start, End int

	// Text is that text as it stands. Where possible it is unique in the
	// content, so that quoting it finds it.
	Text string

	// Similarity of Text and the quoted text, from 0 to 1.
	Similarity float64

	// Line and Column, from 1 and in characters, are where the content first
	// differs from the quoted text. There and Quoted name the two characters,
	// in words that show what cannot be seen. All are zero where there is no
	// near text.
	Line, Column  int
	There, Quoted string

	content string
	old     string
	profile Profile
	cut     int  // how many lines Text should have had, if it has fewer
	part    bool // Text is a part of a line
	uneven  bool // the text is there, with an indentation that the new text cannot be given
}

// Error is the one line the profile answers with.
func (m *Missing) Error() string {
	if m.profile == Seed {
		return "oldString not found in content"
	}
	return "Could not find oldString in the file. It must match exactly, including whitespace, indentation, and line endings."
}

// Help shows the nearest text with its lines, the first difference, and what
// to do. The text is between two tags that do not occur in it.
func (m *Missing) Help() string {
	var b strings.Builder
	if m.Start == 0 {
		b.WriteString("Nothing in the file is like it. Read the file again before the next try.")
		m.hints(&b)
		return b.String()
	}
	what := "text"
	if m.part {
		what = "part of a line"
	}
	fmt.Fprintf(&b, "The nearest %s is at %s (%d%% alike):\n", what, lineRange(m.Start, m.End), int(m.Similarity*100))
	tag := "nearest"
	for strings.Contains(m.Text, "</"+tag+">") {
		tag += "_"
	}
	span := fmt.Sprint(m.Start)
	if m.End > m.Start {
		span = fmt.Sprintf("%d-%d", m.Start, m.End)
	}
	fmt.Fprintf(&b, "<%s lines=\"%s\">\n%s\n</%s>\n", tag, span, m.Text, tag)
	if m.cut > 0 {
		fmt.Fprintf(&b, "This is only its beginning; the whole has about %d lines.\n", m.cut)
	}
	if m.Line > 0 {
		fmt.Fprintf(&b, "First difference at line %d, column %d: the file has %s, oldString has %s.\n", m.Line, m.Column, m.There, m.Quoted)
	}
	if m.uneven {
		b.WriteString("But for its indentation it is what was quoted, and how newString would have to be indented can not be told: the lines do not all differ from oldString in the same way.\n")
	}
	b.WriteString("If this is the text you mean, quote it as it stands between the tags.")
	m.hints(&b)
	return b.String()
}

// hints names the usual mistakes.
func (m *Missing) hints(b *strings.Builder) {
	if numbered(m.old) {
		b.WriteString("\noldString seems to hold the line numbers that a read shows. They are not in the file: leave them out.")
	}
	if elides(m.old) {
		b.WriteString("\noldString seems to leave lines out (\"...\"). Quote every line, or replace the parts one by one.")
	}
}

// Explain is Help, and says so if the file already has the new text: then the
// edit has most likely been made before.
func (m *Missing) Explain(newString string) string {
	help := m.Help()
	if at := m.already(newString); at > 0 {
		help += fmt.Sprintf("\nThe file already has newString, at line %d: this edit may have been made before.", at)
	}
	return help
}

// already returns the line the new text begins on, or 0.
func (m *Missing) already(newString string) int {
	const recognisable = 3
	inner := trim(newString)
	if len(inner) < recognisable || !hasWord(inner) || strings.Contains(m.old, inner) {
		return 0
	}
	f := newSearch(m.content, inner, Options{})
	for at := range f.exactPlaces() {
		if f.trusted(at, edge{}) {
			return f.lineOf(at.Start)
		}
	}
	for s := range f.trimmedLines() {
		return f.lineOf(s.Start)
	}
	return 0
}

// A Many says that the quoted text is at several places.
type Many struct {
	Lines   []int // the lines the first places begin on, from 1
	Count   int   // of all places
	Differ  bool  // all are meant, but they do not hold the same text
	profile Profile
}

// mostLines is how many places are named.
const mostLines = 20

func (f *search) many(spans []Span) *Many {
	m := &Many{Count: len(spans), profile: f.opt.Profile}
	for _, s := range spans[:min(len(spans), mostLines)] {
		m.Lines = append(m.Lines, f.lineOf(s.Start))
	}
	return m
}

// Error is the one line the profile answers with.
func (m *Many) Error() string {
	switch {
	case m.profile == Seed:
		return "Found multiple matches for oldString. Provide more surrounding lines in oldString to identify the correct match."
	case m.Differ:
		return "oldString does not stand in the file as it was quoted, and what is like it is not the same everywhere, so it can not be replaced everywhere. Quote each of the places as it stands."
	}
	return "Found multiple matches for oldString. Provide more surrounding context to make the match unique."
}

// Help names the lines.
func (m *Many) Help() string {
	var distinct []int
	for _, l := range m.Lines {
		if len(distinct) == 0 || distinct[len(distinct)-1] != l {
			distinct = append(distinct, l)
		}
	}
	if len(distinct) == 1 && m.Count == len(m.Lines) {
		return fmt.Sprintf("It matches %d times in line %d.", m.Count, distinct[0])
	}
	names := make([]string, len(distinct))
	for i, l := range distinct {
		names[i] = fmt.Sprint(l)
	}
	if more := m.Count - len(m.Lines); more > 0 {
		return fmt.Sprintf("It matches at lines %s and %d more places.", strings.Join(names, ", "), more)
	}
	last := len(names) - 1
	return fmt.Sprintf("It matches at lines %s and %s.", strings.Join(names[:last], ", "), names[last])
}

// An Oversized says that what was found is much larger than what was quoted,
// so that replacing it would take away more than was meant.
type Oversized struct{ Start, End int } // the lines of what was found, from 1

// Error is the one line the profile answers with.
func (o *Oversized) Error() string {
	return "Refusing replacement because the matched span is much larger than oldString. Re-read the file and provide the full exact oldString for the intended replacement."
}

// Help names the lines.
func (o *Oversized) Help() string {
	return "What matches is at " + lineRange(o.Start, o.End) + "."
}

func lineRange(start, end int) string {
	if start == end {
		return fmt.Sprintf("line %d", start)
	}
	return fmt.Sprintf("lines %d-%d", start, end)
}

// naming names the character s begins with so that it can be told from others
// that look the same.
func naming(s string) string {
	if s == "" {
		return "the end of the text"
	}
	r, size := utf8.DecodeRuneInString(s)
	switch r {
	case '\n':
		return "a line end"
	case '\t':
		return `a tab (\t)`
	case '\r':
		return `a carriage return (\r)`
	case ' ':
		return "a space"
	case '\u00a0':
		return "a no-break space (U+00A0)"
	case '\ufeff':
		return "a byte order mark (U+FEFF)"
	case '\u200b':
		return "a zero-width space (U+200B)"
	}
	switch {
	case r == utf8.RuneError && size == 1:
		return fmt.Sprintf("the byte 0x%02X", s[0])
	case r < utf8.RuneSelf && unicode.IsPrint(r):
		return fmt.Sprintf("%q", s[:1])
	case isQuote(r):
		return fmt.Sprintf("the typographic quote %s (%U)", s[:size], r)
	case text.HasHidden(s[:size]):
		return fmt.Sprintf("the invisible character %U", r)
	}
	return fmt.Sprintf("%s (%U)", s[:size], r)
}

// numbered reports whether every line begins with a number as a read shows it.
func numbered(s string) bool {
	lines := 0
	for line := range strings.Lines(s) {
		if trim(line) == "" {
			continue
		}
		if lines++; unnumber(line) == line {
			return false
		}
	}
	return lines > 0
}

// unnumber drops the line number a read shows before a line, such as
// "00012| ", "12: " or "12→".
func unnumber(line string) string {
	rest := strings.TrimLeft(line, " ")
	digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
	if digits == 0 || digits > 7 {
		return line
	}
	rest = rest[digits:]
	for _, sep := range []string{"| ", "|", ": ", "→", "\t"} {
		if after, ok := strings.CutPrefix(rest, sep); ok {
			return after
		}
	}
	return line
}

// elides reports whether a line stands for lines left out.
func elides(s string) bool {
	for line := range strings.Lines(s) {
		inner := strings.TrimLeft(trim(line), "/#*-<!>(){}[];%\" ")
		if n := ellipsis(inner); n > 0 && !firstIsWord(inner[n:]) {
			return true
		}
	}
	return false
}
