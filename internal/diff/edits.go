package diff

import (
	"strings"

	"github.com/helve-dev/helve/internal/text"
)

// PatchEdits returns the spans of content that the chunks change. The content has
// line feeds only, and so has the new text. Lines that a chunk keeps stay as
// they are in the content, and so does the lack of a newline at its end.
//
// Chunks are looked for in the order of the file, each after the one before.
// A chunk that only adds lines adds them at the end. Name is for the
// [*MatchError] that tells of a chunk whose place was not found.
func PatchEdits(content, name string, chunks []Chunk) ([]text.Edit, error) {
	m := &matcher{file: newFile(content, searchedLines(chunks))}
	for i := range chunks {
		if kind := m.placeChunk(&chunks[i]); kind != "" {
			return nil, m.explain(kind, name, &chunks[i])
		}
	}
	if n := m.file.len(); len(m.added) > 0 {
		m.ops = append(m.ops, op{from: n, to: n, lines: m.added})
	}
	var list []text.Edit
	for i := 0; i < len(m.ops); {
		o := m.ops[i]
		o.lines = o.lines[:len(o.lines):len(o.lines)]
		for i++; i < len(m.ops) && m.ops[i].from == o.to; i++ {
			o.to = m.ops[i].to
			o.lines = append(o.lines, m.ops[i].lines...)
		}
		list = append(list, m.file.edit(o))
	}
	return list, nil
}

// searchedLines returns every line that may be looked for.
func searchedLines(chunks []Chunk) []string {
	var list []string
	for i := range chunks {
		c := &chunks[i]
		list = append(list, contexts(c)...)
		for _, l := range c.Lines {
			if l.Kind == '+' {
				continue
			}
			list = append(list, l.Text)
			if plain, ok := unnumber(l.Text); ok {
				list = append(list, plain)
			}
		}
	}
	return list
}

// A matcher collects the changes of a file.
type matcher struct {
	file  *file
	at    int      // the line from which the next chunk is looked for
	ops   []op     // in order
	added []string // lines to add at the end
}

// An op replaces the lines from one to before another.
type op struct {
	from, to int
	lines    []string
}

// placeChunk finds a chunk's place and notes its changes. If there is none it says
// what was not found.
func (m *matcher) placeChunk(c *Chunk) (missing MatchKind) {
	sole := false // the lines must have one place only, as nothing says which
	if c.Context != "" {
		hit, ok := m.context(c)
		switch {
		case ok:
			m.at = hit + 1
		case isRange(c.Context) && len(olds(c.Lines)) > 0:
			sole = true
		default:
			return MissingContext
		}
	}
	if len(olds(c.Lines)) == 0 {
		for _, l := range c.Lines {
			m.added = append(m.added, l.Text)
		}
		return ""
	}
	for _, lines := range variants(c.Lines) {
		old := olds(lines)
		hit, ok := m.file.seek(old, m.at, c.EndOfFile)
		if !ok {
			continue
		}
		if sole {
			if _, again := m.file.seek(old, hit+1, false); again {
				return MissingContext
			}
		}
		m.addChanges(lines, hit)
		return ""
	}
	return MissingLines
}

// context finds the line named as context.
func (m *matcher) context(c *Chunk) (int, bool) {
	for _, s := range contexts(c) {
		if hit, ok := m.file.seek([]string{s}, m.at, false); ok {
			return hit, true
		}
	}
	return 0, false
}

// contexts returns the readings of a chunk's context: as written, or without
// the @@ that some put behind it.
func contexts(c *Chunk) []string {
	if c.Context == "" {
		return nil
	}
	list := []string{c.Context}
	if s, ok := strings.CutSuffix(c.Context, "@@"); ok && trim(s) != "" {
		list = append(list, trim(s))
	}
	return list
}

// isRange reports whether a context is the line numbers of a unified diff.
func isRange(context string) bool {
	fields := strings.Fields(context)
	if len(fields) < 3 || fields[2] != "@@" {
		return false
	}
	for i, sign := range [...]string{"-", "+"} {
		s, ok := strings.CutPrefix(fields[i], sign)
		if !ok || s == "" || strings.Trim(s, "0123456789,") != "" {
			return false
		}
	}
	return true
}

// olds returns the lines a file has before the change.
func olds(lines []Line) []string {
	var list []string
	for _, l := range lines {
		if l.Kind != '+' {
			list = append(list, l.Text)
		}
	}
	return list
}

// variants returns the readings of a chunk's lines: as written, and without
// the line numbers that were copied along with them, each also without an
// empty line at the end.
func variants(lines []Line) [][]Line {
	list := [][]Line{lines}
	list = append(list, withoutTail(lines)...)
	if plain, ok := unnumbered(lines); ok {
		list = append(list, plain)
		list = append(list, withoutTail(plain)...)
	}
	return list
}

// withoutTail leaves out the last line to be found, if it is empty and not the
// only one, and the last new line if that is empty too.
func withoutTail(lines []Line) [][]Line {
	last, seen := -1, 0
	for i, l := range lines {
		if l.Kind != '+' {
			last = i
			seen++
		}
	}
	if seen < 2 || lines[last].Text != "" {
		return nil
	}
	out := append([]Line{}, lines[:last]...)
	if lines[last].Kind == ' ' {
		out = append(out, Line{Kind: '+'}) // it is among the new lines still
	}
	out = append(out, lines[last+1:]...)
	if n := len(out) - 1; out[n].Kind == '+' && out[n].Text == "" {
		out = out[:n]
	}
	return [][]Line{out}
}

// unnumbered takes the line numbers off, if every line to be found has one.
func unnumbered(lines []Line) ([]Line, bool) {
	out := make([]Line, len(lines))
	for i, l := range lines {
		s, ok := unnumber(l.Text)
		if !ok && l.Kind != '+' {
			return nil, false
		}
		out[i] = Line{Kind: l.Kind, Text: s}
	}
	return out, true
}

// unnumber takes off a line number as the read tool shows it: digits, a bar
// and a space. It returns the line as it is if it has none.
func unnumber(line string) (string, bool) {
	rest := strings.TrimLeft(line, "0123456789")
	digits := len(line) - len(rest)
	if digits < 5 || !strings.HasPrefix(rest, "|") {
		return line, false
	}
	return strings.TrimPrefix(rest[1:], " "), true
}

// addChanges notes the changes of lines that were found at hit.
func (m *matcher) addChanges(lines []Line, hit int) {
	at, open := hit, false
	for _, l := range lines {
		if l.Kind == ' ' {
			at++
			open = false
			continue
		}
		if !open {
			m.ops = append(m.ops, op{from: at, to: at})
			open = true
		}
		o := &m.ops[len(m.ops)-1]
		if l.Kind == '-' {
			at++
			o.to = at
		} else {
			o.lines = append(o.lines, l.Text)
		}
	}
	m.at = at
}

// edit turns a change of lines that touches no other into a change of text.
func (f *file) edit(o op) text.Edit {
	e := text.Edit{Start: f.at[o.from], End: f.at[o.to], New: strings.Join(o.lines, "\n")}
	open := o.to == f.len() && f.len() > 0 && !strings.HasSuffix(f.content, "\n")
	switch {
	case !open && len(o.lines) > 0:
		e.New += "\n"
	case open && o.from == f.len():
		e.New = "\n" + e.New
	case open && len(o.lines) == 0 && o.from > 0:
		e.Start-- // the newline that sets the removed lines apart
	}
	return e
}
