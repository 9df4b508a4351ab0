package terminal

import (
	"strings"
	"unicode/utf8"
)

// A pen is the colours and weights that a text is printed with, as numbers
// between semicolons; "" for none.
type pen string

// The pens. They can be put together with and.
const (
	bold      pen = "1"
	dim       pen = "2"
	italic    pen = "3"
	underline pen = "4"
	strike    pen = "9"
	red       pen = "31"
	green     pen = "32"
	cyan      pen = "36"
)

func (p pen) and(more pen) pen {
	if p == "" || more == "" {
		return p + more
	}
	return p + ";" + more
}

func (p pen) paint(s string) string {
	if p == "" || s == "" {
		return s
	}
	return "\x1b[" + string(p) + "m" + s + "\x1b[0m"
}

// A prefix stands before a line.
type prefix struct {
	text  string // ready to be printed
	width int
}

func (p prefix) add(s string, with pen) prefix {
	return prefix{p.text + with.paint(s), p.width + Width(s)}
}

// A penSpan is a text in one style.
type penSpan struct {
	pen  pen
	text []byte
}

// maxWord bounds the bytes of a word: characters without a width do not fill
// a line.
const maxWord = 1 << 10

// A wrapper breaks text into lines between words. It prints a word when it is
// known where it ends, so that what it prints does not depend on the pieces
// that the text comes in.
type wrapper struct {
	out         *strings.Builder
	width       int
	least       int    // columns for words that every line has
	first, rest prefix // of the first line and of those after it

	begun  bool // the line has its prefix
	lines  int  // begun
	column int
	blanks int // between what is printed and the word
	word   []penSpan
	size   int  // of the word, in columns
	bytes  int  // of the word
	apart  bool // the word may end here without a blank: it ends with a wide character
	before rune // the character before
}

// write adds text in a pen. Characters that must not be printed are escaped.
func (w *wrapper) write(p pen, s string) {
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == ' ' || r == '\t' {
			w.flush()
			w.blanks++
		} else {
			w.add(p, printable(s[i:i+size], r, w.before))
		}
		w.before, i = r, i+size
	}
}

// add adds a character, or its escape, to the word.
func (w *wrapper) add(p pen, s string) {
	if s == "" {
		return
	}
	r, size := utf8.DecodeRuneInString(s)
	columns := Width(s)
	wide := columns == 2 && size == len(s)
	closing := strings.ContainsRune("、。，．！？：；）」』】》〉,.!?:;)]”’", r)
	parts := columns > 0 && !closing && (w.apart || wide) // wide characters may be parted
	if w.size > 0 && (parts || w.size+columns > w.contentWidth()) || w.bytes > maxWord {
		w.flush()
	}
	if n := len(w.word); n > 0 && w.word[n-1].pen == p {
		w.word[n-1].text = append(w.word[n-1].text, s...)
	} else {
		w.word = append(w.word, penSpan{p, []byte(s)})
	}
	w.size += columns
	w.bytes += len(s)
	w.apart = wide || w.apart && closing
}

// contentWidth is how many columns a line has for words.
func (w *wrapper) contentWidth() int { return max(w.width-w.rest.width, w.least) }

// flush prints the word.
func (w *wrapper) flush() {
	if len(w.word) == 0 {
		return
	}
	if !w.begun {
		w.printPrefix()
	}
	start := w.first.width
	if w.lines > 1 {
		start = w.rest.width
	}
	if w.column > start && w.column+w.blanks+w.size > max(w.width, start+w.least) {
		w.out.WriteByte('\n')
		w.printPrefix()
	} else if w.column > start {
		w.out.WriteString(strings.Repeat(" ", w.blanks))
		w.column += w.blanks
	}
	for _, s := range w.word {
		w.out.WriteString(s.pen.paint(string(s.text)))
	}
	w.column += w.size
	w.word, w.size, w.bytes, w.blanks, w.apart = w.word[:0], 0, 0, 0, false
}

// printPrefix prints the prefix of a line.
func (w *wrapper) printPrefix() {
	p := w.first
	if w.lines > 0 {
		p = w.rest
	}
	w.out.WriteString(p.text)
	w.column, w.begun, w.blanks = p.width, true, 0
	w.lines++
}

// end ends the line, and makes ready for one with other prefixes.
func (w *wrapper) end() {
	w.flush()
	if !w.begun {
		w.printPrefix()
	}
	w.out.WriteByte('\n')
	w.begun, w.lines, w.blanks, w.before = false, 0, 0, 0
}

// Wrap breaks a line of text into lines of so many columns, between words. What
// must not be printed is escaped.
func Wrap(s string, columns int) []string {
	if s = Safe(s); Width(s) <= columns {
		return []string{s}
	}
	var out strings.Builder
	w := wrapper{out: &out, width: columns, least: 10}
	w.write("", s)
	w.end()
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
}
