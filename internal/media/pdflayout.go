package media

import (
	"bytes"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"
)

const maxPageText = 4 << 20 // bytes of one page

// A glyphPosition is where a glyph stands on the page.
type glyphPosition struct {
	x, y   float64 // where it begins
	dx, dy float64 // from there to where the next would begin
	ux, uy float64 // along the line
	height float64 // of the font
}

// A layout makes lines of text out of glyphs and their places, in the order in
// which they come. A glyph that follows the one before it on the same line
// belongs to it; a gap between the two is a space, whether or not the document
// has one there.
type layout struct {
	buf    []byte
	any    bool
	x, y   float64 // where the next glyph is expected
	ux, uy float64 // the line's direction, of length 1
	height float64
}

func (l *layout) full() bool { return len(l.buf) >= maxPageText }

// put adds the text of a glyph at its spot.
func (l *layout) put(text string, s glyphPosition) {
	long := math.Hypot(s.ux, s.uy)
	if sum := s.x + s.y + s.dx + s.dy + s.height + long; math.IsNaN(sum) || math.IsInf(sum, 0) || long == 0 {
		return
	}
	if l.any {
		l.separate(s, s.ux/long, s.uy/long)
	}
	text = printableText(text) // if nothing is left, the glyph still takes its room
	if text != " " || !l.atBreak() {
		l.buf = append(l.buf, text...)
	}
	l.x, l.y = s.x+s.dx, s.y+s.dy
	l.ux, l.uy = s.ux/long, s.uy/long
	l.height = s.height
	l.any = true
}

// separate writes what lies between the last glyph and one at s.
func (l *layout) separate(s glyphPosition, ux, uy float64) {
	const (
		word      = 0.17 // heights; the narrowest space of a justified line is wider
		column    = 2.5
		back      = -1.0 // further back is another line
		line      = 0.5  // further up or down is another line, less an exponent
		paragraph = 1.9
	)
	vx, vy := s.x-l.x, s.y-l.y
	along := vx*l.ux + vy*l.uy
	across := math.Abs(vx*l.uy - vy*l.ux)
	height := max(l.height, s.height, 1e-9)
	turned := ux*l.ux+uy*l.uy < 0.9
	switch {
	case turned || across > line*height || along < back*height:
		l.newline()
		if across > paragraph*height {
			l.blankLine()
		}
	case along > column*height:
		l.gap('\t')
	case along > word*min(height, max(l.height, 1e-9), max(s.height, 1e-9)):
		l.gap(' ')
	}
}

// atBreak reports whether a space here would be one too many.
func (l *layout) atBreak() bool {
	n := len(l.buf)
	return n == 0 || l.buf[n-1] == ' ' || l.buf[n-1] == '\n' || l.buf[n-1] == '\t'
}

func (l *layout) gap(c byte) {
	if !l.atBreak() {
		l.buf = append(l.buf, c)
	}
}

func (l *layout) newline() {
	l.buf = bytes.TrimRight(l.buf, " \t")
	if n := len(l.buf); n > 0 && l.buf[n-1] != '\n' {
		l.buf = append(l.buf, '\n')
	}
}

func (l *layout) blankLine() {
	if n := len(l.buf); n > 1 && l.buf[n-2] != '\n' {
		l.buf = append(l.buf, '\n')
	}
}

// String returns the lines, or "" if there is nothing to read.
func (l *layout) String() string {
	s := strings.TrimSpace(string(l.buf))
	if s == "" {
		return ""
	}
	return s + "\n"
}

// printableText returns text without what can not be shown, with ligatures taken
// apart: they are drawn for the eye, and nobody searches for them.
func printableText(text string) string {
	if len(text) == 1 && text[0] >= ' ' && text[0] < 0x7f {
		return text
	}
	var out []rune
	for _, r := range text {
		switch {
		case unicode.IsSpace(r):
			out = append(out, ' ')
		case r == utf8.RuneError, unicode.IsControl(r), r == '\u00ad', r == '\ufeff':
		case r == '\u2126': // the sign of the ohm, by which names of glyphs mean the letter
			out = append(out, 'Ω')
		case r >= '\ufb00' && r <= '\ufb06':
			out = append(out, []rune([...]string{"ff", "fi", "fl", "ffi", "ffl", "st", "st"}[r-'\ufb00'])...)
		default:
			out = append(out, r)
		}
	}
	return string(out)
}
