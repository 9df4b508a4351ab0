package lspclient

import (
	"github.com/helve-dev/helve/lsp"
	"sort"
	"unicode/utf8"
)

// A counting is the unit in which a server counts the characters of a line.
type counting string

// The encodings of the protocol. A server that names none counts in UTF-16.
const (
	utf8Units  counting = "utf-8"
	utf16Units counting = "utf-16"
	utf32Units counting = "utf-32"
)

// lines finds places in a text: by line and character, as servers name them,
// and by offset in bytes. Lines end with \n, \r\n or \r.
//
// A byte that is not UTF-8 counts as the U+FFFD that a server gets in its place.
type lines struct {
	text   string
	starts []int  // where each line begins
	marks  []mark // nil where all is ASCII: offsets are units then
}

// markEvery is how many bytes lie between two marks, and so the most that are counted to find a
// position in a long line.
const markEvery = 128

// A mark is the last character that begins at or before a multiple of
// markEvery, and how many units of each encoding are before it.
type mark struct {
	at           int
	u8, u16, u32 int
}

func (m mark) units(e counting) int {
	switch e {
	case utf8Units:
		return m.u8
	case utf32Units:
		return m.u32
	}
	return m.u16
}

func (m *mark) advance(r rune, width int) {
	m.at += width
	m.u8 += unitsOf(r, utf8Units)
	m.u16 += unitsOf(r, utf16Units)
	m.u32++
}

// unitsOf is how many units a character takes.
func unitsOf(r rune, e counting) int {
	switch {
	case e == utf8Units:
		return utf8.RuneLen(r)
	case e == utf32Units || r < 0x10000:
		return 1
	}
	return 2
}

func newLines(text string) lines {
	l := lines{text: text, starts: []int{0}}
	var all byte
	for i := 0; i < len(text); i++ {
		c := text[i]
		all |= c
		if c == '\n' || c == '\r' && (i+1 == len(text) || text[i+1] != '\n') {
			l.starts = append(l.starts, i+1)
		}
	}
	if all >= utf8.RuneSelf {
		l.marks = marksOf(text)
	}
	return l
}

func marksOf(text string) []mark {
	marks := make([]mark, 0, len(text)/markEvery+1)
	var here mark
	for here.at < len(text) {
		r, width := utf8.DecodeRuneInString(text[here.at:])
		if here.at+width > len(marks)*markEvery {
			marks = append(marks, here)
		}
		here.advance(r, width)
	}
	if here.at == len(marks)*markEvery {
		marks = append(marks, here)
	}
	return marks
}

// offset is where a position is in the text. One past the end of its line is at
// that end, one past the last line at the end of the text, and one inside a
// character before it.
func (l lines) offset(p lsp.Position, e counting) int {
	if p.Line < 0 {
		return 0
	}
	if p.Line >= len(l.starts) {
		return len(l.text)
	}
	start, end := l.starts[p.Line], l.end(p.Line)
	if p.Character <= 0 {
		return start
	}
	if p.Character >= 3*(end-start) { // no byte counts more than 3 units
		return end
	}
	if l.marks == nil {
		return min(start+p.Character, end)
	}
	return l.seek(l.units(start, e)+p.Character, start, e, end)
}

// positionAt is where an offset is. One inside a character, or inside \r\n, counts
// as the place before it.
func (l lines) positionAt(offset int, e counting) lsp.Position {
	offset = max(0, min(offset, len(l.text)))
	line := sort.SearchInts(l.starts, offset+1) - 1
	start := l.starts[line]
	offset = min(offset, l.end(line))
	if l.marks == nil {
		return lsp.Position{Line: line, Character: offset - start}
	}
	for !wholeCharacters(l.text, offset) {
		offset--
	}
	return lsp.Position{Line: line, Character: l.units(offset, e) - l.units(start, e)}
}

// end is where the text of a line ends, before what ends the line.
func (l lines) end(line int) int {
	if line+1 == len(l.starts) {
		return len(l.text)
	}
	end := l.starts[line+1] - 1
	if l.text[end] == '\n' && end > l.starts[line] && l.text[end-1] == '\r' {
		end--
	}
	return end
}

// units is how many units are before a place between characters.
func (l lines) units(offset int, e counting) int {
	m := l.marks[offset/markEvery]
	n := m.units(e)
	for at := m.at; at < offset; {
		r, width := utf8.DecodeRuneInString(l.text[at:])
		n += unitsOf(r, e)
		at += width
	}
	return n
}

// seek returns the last position between characters with at most so many units before it; from and
// end bound it.
func (l lines) seek(units, from int, e counting, end int) int {
	first := from / markEvery
	last := end/markEvery + 1
	n := sort.Search(last-first, func(i int) bool { return l.marks[first+i].units(e) > units })
	m := l.marks[first+max(n-1, 0)]
	at, have := m.at, m.units(e)
	for at < end {
		r, width := utf8.DecodeRuneInString(l.text[at:])
		have += unitsOf(r, e)
		if have > units {
			break
		}
		at += width
	}
	return max(from, min(at, end))
}

// convert says a position in other units. A position in the text as it is has
// to be given; one outside of it is moved to where [lines.offset] puts it,
// unless the units are the same.
func convert(p lsp.Position, l lines, from, to counting) lsp.Position {
	if from == to {
		return p
	}
	return l.positionAt(l.offset(p, from), to)
}

// wholeCharacters reports whether a text can be cut at i without cutting a character.
func wholeCharacters(text string, i int) bool {
	if i <= 0 || i >= len(text) || utf8.RuneStart(text[i]) {
		return true
	}
	for back := 1; back < utf8.UTFMax && back <= i; back++ {
		if utf8.RuneStart(text[i-back]) {
			_, width := utf8.DecodeRuneInString(text[i-back:])
			return width <= back
		}
	}
	return true
}

// wholeLines reports whether a text can be cut at i without cutting a character or a \r\n: only
// such places have a position.
func wholeLines(text string, i int) bool {
	if i > 0 && i < len(text) && text[i-1] == '\r' && text[i] == '\n' {
		return false
	}
	return wholeCharacters(text, i)
}
