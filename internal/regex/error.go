package regex

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Options say how a pattern is to be read and run.
type Options struct {
	IgnoreCase bool // letters match in either case, as (?i) in front of the pattern
	Literal    bool // the pattern is plain text, not a regular expression
	Word       bool // a match counts only where no word character stands right before or after it
	Portable   bool // use no vector instructions
}

// A SyntaxError says what is wrong with a pattern and where. It prints in
// ripgrep's form, which callers and models know, with a hint of our own below.
type SyntaxError struct {
	Pattern  string
	Pos, End int    // byte offsets of the part that is wrong; equal for a place
	Reason   string // in ripgrep's words where ripgrep refuses it too
	Hint     string // what to write instead; empty if there is no advice

	first patternRange // where the thing was said first, for duplicates
}

// A patternRange is a part of the pattern, in byte offsets.
type patternRange struct{ pos, end int }

// showAtMost is how many characters of a line of a pattern an error repeats.
const showAtMost = 400

// Error returns the pattern with carets under the wrong part, the reason and
// the hint.
func (e *SyntaxError) Error() string {
	var b strings.Builder
	b.WriteString("regex parse error:\n")
	rule := ""
	if strings.Contains(e.Pattern, "\n") {
		rule = strings.Repeat("~", 79) + "\n"
	}
	b.WriteString(rule)
	marks := []patternRange{{e.Pos, e.End}}
	if e.first.end > 0 {
		marks = []patternRange{e.first, {e.Pos, e.End}}
	}
	across := e.writeMarked(&b, marks)
	b.WriteString(rule)
	b.WriteString(across)
	b.WriteString("error: " + e.Reason)
	if e.Hint != "" {
		b.WriteString("\nhint: " + e.Hint)
	}
	return b.String()
}

// writeMarked writes the lines of the pattern, each with its carets, and returns
// notes about the marks that go over more than one line.
func (e *SyntaxError) writeMarked(b *strings.Builder, marks []patternRange) string {
	lines := strings.Split(e.Pattern, "\n")
	digits := len(fmt.Sprint(len(lines)))
	shown := lines
	if len(lines) > 1 && lines[len(lines)-1] == "" {
		shown = lines[:len(lines)-1] // as ripgrep: a final \n ends a line
	}
	at := 0
	for i, line := range lines {
		lead := "    "
		if len(lines) > 1 {
			lead = fmt.Sprintf("%*d: ", digits, i+1)
		}
		text, carets := caretLine(line, marks, at)
		if i < len(shown) {
			b.WriteString(lead + text + "\n")
		}
		if carets != "" {
			b.WriteString(strings.Repeat(" ", len(lead)) + carets + "\n")
		}
		at += len(line) + 1
	}
	var notes strings.Builder
	for _, m := range marks {
		if l1, c1 := e.lineColumn(m.pos); strings.Contains(e.Pattern[m.pos:m.end], "\n") {
			l2, c2 := e.lineColumn(m.end)
			fmt.Fprintf(&notes, "on line %d (column %d) through line %d (column %d)\n", l1, c1, l2, c2-1)
		}
	}
	return notes.String()
}

// lineColumn returns the line and the column of an offset, both from 1.
func (e *SyntaxError) lineColumn(at int) (line, column int) {
	before := e.Pattern[:at]
	start := strings.LastIndexByte(before, '\n') + 1
	return 1 + strings.Count(before, "\n"), 1 + utf8.RuneCountInString(before[start:])
}

// caretLine returns a line as it is shown, a long one cut around its first
// mark, and the carets below it. The line stands at offset at.
func caretLine(line string, marks []patternRange, at int) (text, carets string) {
	var on []patternRange
	for _, m := range marks {
		if m.pos >= at && m.end <= at+len(line) {
			on = append(on, patternRange{m.pos - at, m.end - at})
		}
	}
	runes := func(s string) int { return utf8.RuneCountInString(s) }
	lead := ""
	if runes(line) > showAtMost {
		from := 0
		if len(on) > 0 {
			from = max(0, on[0].pos-showAtMost/2)
		}
		line, lead, from = window(line, from)
		for i := range on {
			on[i].pos = min(max(0, on[i].pos-from), len(line))
			on[i].end = min(max(0, on[i].end-from), len(line))
		}
	}
	for _, m := range on {
		gap := runes(lead) + runes(line[:m.pos]) - len(carets)
		carets += strings.Repeat(" ", max(0, gap)) + strings.Repeat("^", max(1, runes(line[m.pos:m.end])))
	}
	return lead + line, carets
}

// window cuts a line from about an offset on and says where it cut it.
func window(line string, from int) (part, lead string, start int) {
	for from > 0 && !utf8.RuneStart(line[from]) {
		from--
	}
	to := min(len(line), from+showAtMost)
	for to < len(line) && !utf8.RuneStart(line[to]) {
		to++
	}
	if from > 0 {
		lead = "…"
	}
	return line[from:to], lead, from
}
