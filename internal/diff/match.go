package diff

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/helve-dev/helve/internal/text"
)

// MatchKind is the kind of thing that was not found.
type MatchKind string

// What can be missing in a file.
const (
	MissingContext MatchKind = "context" // the line after @@
	MissingLines   MatchKind = "lines"   // the lines to keep and to remove
)

// A MatchError says that a file does not have the lines that a chunk changes.
type MatchError struct {
	Kind    MatchKind
	Name    string  // of the file
	Wanted  string  // the lines, joined
	Line    int     // where the chunk begins in the patch, from 1
	Near    Excerpt // the place in the file that is most like it
	Applied bool    // Near is what the chunk would have made of the file
	Earlier bool    // Near is the very place, but not after the chunk before and the context
}

// An Excerpt is a range of lines of a file, counted from 1, both ends included. The zero value is
// none.
type Excerpt struct {
	Start, End int
	Text       string // as in the file, without the last newline
}

// Code returns the name of the error for programs.
func (e *MatchError) Code() string { return "context-not-found" }

// Error quotes what was not found, in OpenCode's words.
func (e *MatchError) Error() string {
	if e.Kind == MissingContext {
		return fmt.Sprintf("Failed to find context '%s' in %s", e.Wanted, e.Name)
	}
	return fmt.Sprintf("Failed to find expected lines in %s:\n%s", e.Name, e.Wanted)
}

// Help returns what the file has instead, for another attempt.
func (e *MatchError) Help() string {
	var b strings.Builder
	fmt.Fprintf(&b, "The chunk at line %d of the patch does not match the file. ", e.Line)
	lines := fmt.Sprintf("lines %d-%d", e.Near.Start, e.Near.End)
	if e.Near.Start == e.Near.End {
		lines = fmt.Sprintf("line %d", e.Near.Start)
	}
	switch {
	case e.Near.Start == 0:
		b.WriteString("Nothing in the file is like it; read the file again.")
		return b.String()
	case e.Applied:
		fmt.Fprintf(&b, "It seems to be already applied: the new text is at %s:", lines)
	case e.Earlier:
		fmt.Fprintf(&b, "It matches at %s, which is not after the chunk before it and its @@ line. Put the chunks in the order of the file, and quote below @@ only lines that follow that line:", lines)
	default:
		fmt.Fprintf(&b, "The nearest text is at %s:", lines)
	}
	for i, line := range strings.Split(e.Near.Text, "\n") {
		short, more := text.Cut(line, nearWidth)
		fmt.Fprintf(&b, "\n%05d| %s", e.Near.Start+i, short)
		if more {
			b.WriteString("...")
		}
	}
	return b.String()
}

const (
	nearLines  = 40  // shown of a near place
	nearWidth  = 500 // bytes shown of each of them
	nearPlaces = 200 // lines of a chunk, and places of a line, that are tried
	nearBytes  = 300 // of a line that are compared
	telling    = 4   // weight of a line that is more than brackets
)

// explain makes the error for a chunk that has no place.
func (m *matcher) explain(kind MatchKind, name string, c *Chunk) *MatchError {
	old := olds(c.Lines)
	if kind == MissingContext {
		old = []string{c.Context}
	}
	e := &MatchError{Kind: kind, Name: name, Wanted: strings.Join(old, "\n"), Line: c.Line}
	all := append([]string{}, old...)
	for _, l := range c.Lines {
		all = append(all, l.Text)
	}
	f := newFile(m.file.content, all)
	if kind == MissingLines { // so there are lines
		if start, n, ok := f.applied(c); ok {
			e.Applied = true
			e.Near = f.excerptAt(start, n)
			return e
		}
	}
	if hit, ok := f.seek(old, 0, false); ok {
		e.Earlier = hit < m.at
		e.Near = f.excerptAt(hit, len(old))
	} else if hit, ok := f.nearest(old, m.at); ok {
		e.Near = f.excerptAt(hit, len(old))
	}
	return e
}

// excerptAt returns the place of n lines from start on, both cut to the file.
func (f *file) excerptAt(start, n int) Excerpt {
	end := min(start+n, f.len())
	start = max(start, 0)
	end = min(end, start+nearLines)
	return Excerpt{Start: start + 1, End: end, Text: strings.TrimSuffix(f.content[f.at[start]:f.at[end]], "\n")}
}

// applied finds the lines a chunk would have made. No line that it removes may
// be left, and they must be more than what is kept on one side: lines added
// that tell something, or what is kept on both sides come together.
func (f *file) applied(c *Chunk) (start, n int, ok bool) {
	var now []string
	x := f.index(noEnds)
	last := len(c.Lines) - 1
	framed := c.Lines[0].Kind == ' ' && c.Lines[last].Kind == ' '
	tells := false
	for _, l := range c.Lines {
		heavy := lineWeight(l.Text) == telling
		if l.Kind != '-' {
			now = append(now, l.Text)
			tells = tells || heavy && (framed || l.Kind == '+')
		} else if heavy && len(x.places[x.number[trim(l.Text)]]) > 0 {
			return 0, 0, false
		}
	}
	if !tells {
		return 0, 0, false
	}
	start, ok = f.seek(now, 0, c.EndOfFile)
	return start, len(now), ok
}

// nearest finds the place that has most of the wanted lines in order, or else
// one line much like the most telling of them. Of equally good places the
// first from start on is taken.
func (f *file) nearest(wanted []string, start int) (int, bool) {
	x := f.index(folded)
	score := map[int]int{}
	best, hit := telling-1, 0
	for i, w := range wanted[:min(len(wanted), nearPlaces)] {
		places := x.places[x.number[loosen(w, folded)]]
		for _, p := range places[:min(len(places), nearPlaces)] {
			at := int(p) - i
			score[at] += lineWeight(w)
			if s := score[at]; s > best || s == best && better(at, hit, start) {
				best, hit = s, at
			}
		}
	}
	if best >= telling {
		return hit, true
	}
	return f.alike(wanted)
}

// better orders places of equal score: those from start on first.
func better(a, b, start int) bool {
	if (a >= start) != (b >= start) {
		return a >= start
	}
	return a < b
}

// lineWeight says how much it tells that two places share a line.
func lineWeight(line string) int {
	if strings.ContainsFunc(line, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
		return telling
	}
	return 1
}

// alike finds the line that shares most pairs of neighbouring bytes with the
// longest of the wanted ones, at least half of all.
func (f *file) alike(wanted []string) (int, bool) {
	at, line := 0, ""
	for i, w := range wanted[:min(len(wanted), nearPlaces)] {
		if w = trim(w); len(w) > len(line) {
			at, line = i, w
		}
	}
	line = line[:min(len(line), nearBytes)]
	if len(line) < 2 {
		return 0, false
	}
	have := make([]int32, 1<<16) // by pair: the number of the line it was last seen in
	for i := range len(line) - 1 {
		have[pairOf(line, i)] = -1
	}
	best, hit := 0.5, -1
	for i := range f.len() {
		other := trim(f.lineAt(i))
		other = other[:min(len(other), nearBytes)]
		shared := 0
		for j := 0; j+1 < len(other); j++ {
			if p := pairOf(other, j); have[p] != 0 && have[p] != int32(i+1) {
				have[p] = int32(i + 1)
				shared++
			}
		}
		if s := 2 * float64(shared) / float64(len(line)+len(other)-2); s > best {
			best, hit = s, i
		}
	}
	return hit - at, hit >= 0
}

func pairOf(s string, i int) int { return int(s[i])<<8 | int(s[i+1]) }
