package replace

import (
	"cmp"
	"slices"
	"strings"

	"github.com/helve-dev/helve/internal/text"
)

// Edits returns the edits that replace the spans by the new text.
//
// If the safe profile has found whole lines with another indentation than the quoted ones, the new
// text is indented like the file: its lines get, or lose, the difference that all found lines have
// from the quoted ones. The line feed after the last line is the file's. The error is a [*Missing]
// if the lines do not all differ in the same way, or the new text cannot be changed in that way.
func (m Match) Edits(newText string) ([]text.Edit, error) {
	edits := make([]text.Edit, len(m.Spans))
	for i, s := range m.Spans {
		edits[i] = text.Edit{Start: s.Start, End: s.End, New: newText}
		if m.Exact || m.finder.opt.Profile == Seed {
			continue
		}
		var ok bool
		if edits[i], ok = m.finder.fitIndent(m.Strategy, edits[i]); !ok {
			missing := m.finder.findNearest()
			missing.uneven = true
			return nil, missing
		}
	}
	return edits, nil
}

// fitIndent fits a new text into the lines that it is for. A part of a line is
// replaced as it was found.
func (f *search) fitIndent(strategy string, e text.Edit) (text.Edit, bool) {
	core := f.core(Span{e.Start, e.End})
	before, after := f.content[:core.Start], f.content[core.End:]
	if !startsLine(before) || !endsLine(after) {
		return e, true
	}
	e.Start = min(e.Start, strings.LastIndexByte(before, '\n')+1)
	end := strings.IndexByte(after, '\n')
	if end < 0 {
		end = len(after)
	}
	e.End = max(e.End, core.End+end)
	old := f.old
	if strategy == escapeNormalized {
		old = unescape(old)
	}
	there, quoted, fresh := strings.Split(f.content[e.Start:e.End], "\n"), strings.Split(old, "\n"), strings.Split(e.New, "\n")
	// Blank lines around the quoted text that are not in the file are around
	// the new text for the same reason.
	tail := blanksAtEnd(quoted) - blanksAtEnd(there)
	if e.New == "" {
		if tail > 0 && e.End < len(f.content) {
			e.End++
		}
		return e, true
	}
	for n := blanksAtStart(quoted) - blanksAtStart(there); n > 0 && len(fresh) > 1 && trim(fresh[0]) == ""; n-- {
		fresh = fresh[1:]
	}
	for n := max(1, tail); n > 0 && len(fresh) > 1 && trim(fresh[len(fresh)-1]) == ""; n-- {
		fresh = fresh[:len(fresh)-1]
	}
	ok := reindent(fresh, quoted, there)
	e.New = strings.Join(fresh, "\n")
	return e, ok
}

func blanksAtStart(lines []string) (n int) {
	for n < len(lines) && trim(lines[n]) == "" {
		n++
	}
	return n
}

func blanksAtEnd(lines []string) (n int) {
	for n < len(lines) && trim(lines[len(lines)-1-n]) == "" {
		n++
	}
	return n
}

// reindent changes the indentation of the fresh lines as that of the quoted ones
// has to be changed to be that of the lines that are there. It reports whether
// that can be told.
func reindent(fresh, quoted, there []string) bool {
	from, to := indents(quoted), indents(there)
	if len(from) != len(to) || len(from) == 0 {
		return false
	}
	// Where one line was quoted, it may be that line alone which is not indented
	// as the file is.
	alone := len(from) == 1 && !allHave(fresh, from[0])
	if more, ok := strings.CutSuffix(to[0], from[0]); ok && differBy(more, from, to) {
		asThere := allHave(fresh, shared(to)) && !slices.Equal(indents(fresh[:1]), from[:1])
		if more == "" || asThere {
			return true
		}
		return !alone && eachIndent(fresh, func(indent string) (string, bool) { return more + indent, true })
	}
	if less, ok := strings.CutSuffix(from[0], to[0]); ok && differBy(less, to, from) {
		return !alone && eachIndent(fresh, func(indent string) (string, bool) { return strings.CutPrefix(indent, less) })
	}
	known := map[string]string{} // tabs for blanks, say: each indentation that was quoted is another one there
	for i := range from {
		if other, ok := known[from[i]]; ok && other != to[i] {
			return false
		}
		known[from[i]] = to[i]
	}
	if !ordered(known) {
		// Only the first line may be out of order: the new one stands in its place.
		if !slices.Equal(indents(fresh[:1]), from[:1]) {
			return false
		}
		fresh[0] = to[0] + trimLeft(fresh[0])
		fresh = fresh[1:]
		delete(known, from[0])
		if !ordered(known) {
			return false
		}
	}
	return eachIndent(fresh, func(indent string) (string, bool) {
		other, ok := known[indent]
		return other, ok
	})
}

// ordered reports whether what is deeper than another indentation is deeper too
// where it is put in its place.
func ordered(known map[string]string) bool {
	for a, x := range known {
		for b, y := range known {
			if cmp.Compare(columns(a), columns(b)) != cmp.Compare(columns(x), columns(y)) {
				return false
			}
		}
	}
	return true
}

// columns is how wide an indentation is where a tab goes on to a multiple of 8.
func columns(indent string) (n int) {
	for _, r := range indent {
		n++
		if r == '\t' {
			n = (n + 7) / 8 * 8
		}
	}
	return n
}

// differBy reports whether all long indents are the short ones after a prefix.
func differBy(prefix string, short, long []string) bool {
	for i := range short {
		if prefix+short[i] != long[i] {
			return false
		}
	}
	return true
}

// eachIndent changes the indentation of the lines that are not blank.
func eachIndent(lines []string, change func(string) (string, bool)) bool {
	for i, line := range lines {
		rest := trimLeft(line)
		if rest == "" {
			continue
		}
		indent, ok := change(line[:len(line)-len(rest)])
		if !ok {
			return false
		}
		lines[i] = indent + rest
	}
	return true
}

// indents returns the blanks at the beginning of each line that has more.
func indents(lines []string) (out []string) {
	for _, line := range lines {
		if rest := trimLeft(line); rest != "" {
			out = append(out, line[:len(line)-len(rest)])
		}
	}
	return out
}

// shared is what all indents begin with.
func shared(indents []string) string {
	out := indents[0]
	for _, in := range indents[1:] {
		for !strings.HasPrefix(in, out) {
			out = out[:len(out)-1]
		}
	}
	return out
}

// allHave reports whether all lines that are not blank begin with an indent.
func allHave(lines []string, indent string) bool {
	for _, line := range lines {
		if trim(line) != "" && !strings.HasPrefix(line, indent) {
			return false
		}
	}
	return true
}
