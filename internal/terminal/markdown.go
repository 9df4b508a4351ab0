package terminal

import (
	"bytes"
	"io"
	"strings"
	"unicode/utf8"
)

// Options say how a text is laid out.
type Options struct {
	Width int  // columns; 80 when 0, and 20 at the least
	Color bool // without colours the marks of Markdown are printed as they are
	Dim   bool // all of it is printed faintly
	// Prefix stands before every line. It is printed as it is.
	Prefix string
}

// maxStart bounds the bytes of a line that are looked at to decide what it is.
const maxStart = 300

// A Markdown prints the Markdown that is written to it, each piece of it as
// soon as its form is certain: a word when it ends, emphasis when it is
// closed, a table when it is whole. What it has printed in the end does not
// depend on the pieces that the text came in. Time and memory are linear in
// the text and bounded in the line.
type Markdown struct {
	w   io.Writer
	o   Options
	err error

	out   strings.Builder // not written yet
	line  []byte          // read and not used up
	place lineState
	leaf  leaf   // what the line is, once its beginning was read
	fence *leaf  // the one that is open
	rows  []row  // of a table that is not printed yet
	size  int    // of the rows, in bytes
	tail  string // of the line, where it is not certain yet what it is
	blank bool   // a blank line is owed
	begun bool   // something was printed

	wrap   wrapper
	in     inliner
	column int  // in a line of code, for its tabs
	before rune // the character before, in a line of code
}

// A lineState is the position of the parser in a line.
type lineState int

const (
	atStart lineState = iota
	inText
	inCode
	inRow
)

// NewMarkdown returns a writer that prints to w.
func NewMarkdown(w io.Writer, o Options) *Markdown {
	if o.Width == 0 {
		o.Width = 80
	}
	o.Width = max(o.Width, 20)
	m := &Markdown{w: w, o: o}
	m.wrap = wrapper{out: &m.out, width: o.Width, least: 8}
	m.in.emit = func(p pen, s string) { m.wrap.write(m.base().and(p), s) }
	return m
}

func (m *Markdown) base() pen {
	if m.o.Dim && m.o.Color {
		return dim
	}
	return ""
}

// Write prints p as far as its form is certain. The error is that of the
// writer below.
func (m *Markdown) Write(p []byte) (int, error) {
	m.line = append(m.line, p...)
	m.line = append(m.line[:0], m.read(m.line)...)
	return len(p), m.print()
}

// Close prints what is left and ends the line. The writer below stays open,
// and what is written next begins anew.
func (m *Markdown) Close() error {
	if len(m.line) > 0 || m.place != atStart {
		m.read(append(m.line, '\n'))
	}
	m.flushTable()
	m.line, m.fence, m.place, m.blank, m.begun = nil, nil, atStart, false, false
	return m.print()
}

// read uses up as much of s as it can and returns the rest.
func (m *Markdown) read(s []byte) []byte {
	for len(s) > 0 {
		n, wait := m.step(s)
		if wait {
			break
		}
		s = s[n:]
	}
	return s
}

func (m *Markdown) print() error {
	if m.out.Len() > 0 && m.err == nil {
		_, m.err = io.WriteString(m.w, m.out.String())
	}
	m.out.Reset()
	return m.err
}

// step reads on in s and returns how much of it was used up, or that more is
// needed.
func (m *Markdown) step(s []byte) (n int, wait bool) {
	switch m.place {
	case atStart:
		return m.start(s)
	case inRow:
		return m.row(s)
	}
	n = bytes.IndexByte(s, '\n')
	end := n >= 0
	if !end {
		n = wholePrefix(s)
	}
	chunk := string(s[:n])
	if end {
		n++
		chunk = strings.TrimSuffix(chunk, "\r")
	}
	if m.place == inCode {
		m.printCode(chunk, end)
	} else {
		m.printText(chunk, end)
	}
	if end {
		m.place = atStart
	}
	return n, n == 0
}

// wholePrefix is how much of s can be read although more may follow: it ends with a
// whole character, and not with a carriage return, which may belong to the end
// of the line.
func wholePrefix(s []byte) int {
	n := len(s)
	for i := 1; i < utf8.UTFMax && i <= n; i++ {
		if utf8.RuneStart(s[n-i]) {
			if !utf8.FullRune(s[n-i:]) {
				n -= i
			}
			break
		}
	}
	if n > 0 && s[n-1] == '\r' {
		n--
	}
	return n
}

// start reads the beginning of a line, as far as it takes to decide what the
// line is.
func (m *Markdown) start(s []byte) (n int, wait bool) {
	view := s[:min(len(s), maxStart)]
	end := bytes.IndexByte(view, '\n')
	full := len(view) == maxStart
	if end >= 0 {
		view = bytes.TrimSuffix(view[:end], []byte{'\r'})
	} else if !full {
		view = view[:wholePrefix(view)]
	}
	look := &opening{s: string(view), end: end >= 0, m: m}
	l := leaf{kind: leaveLeaf}
	if m.fence != nil {
		l = look.inFence(m.fence)
	}
	if l.kind == leaveLeaf {
		look.at = 0
		l = look.read()
		if l.kind == undecided && full {
			l = leaf{kind: textLeaf}
			l.first = l.first.add(m.o.Prefix, "")
			l.rest = l.first
		}
	} else if l.kind == undecided && full {
		l.kind = codeLeaf
	}
	if l.kind == undecided {
		return 0, true
	}
	n = look.at
	if l.kind == blankLeaf || l.kind == ruleLeaf || l.kind == fenceLeaf || l.kind == closeLeaf {
		n = end + 1
	}
	m.beginLeaf(l)
	return n, false
}

// beginLeaf begins a line whose kind is known.
func (m *Markdown) beginLeaf(l leaf) {
	m.leaf = l
	if l.kind != rowLeaf {
		m.flushTable()
	}
	if l.kind != codeLeaf && l.kind != closeLeaf {
		m.fence = nil
	}
	switch l.kind {
	case blankLeaf:
		m.blank = m.begun
		return
	case rowLeaf:
		m.place = inRow
		return
	}
	m.printOwedBlank()
	switch l.kind {
	case codeLeaf:
		m.place, m.column, m.before = inCode, 0, 0
		m.out.WriteString(m.fence.rest.text)
		if m.o.Color {
			m.out.WriteString("  \x1b[" + string(m.base().and(cyan)) + "m")
		}
	case closeLeaf:
		if !m.o.Color {
			m.out.WriteString(m.fence.rest.text + m.fence.mark + "\n")
		}
		m.fence = nil
	case fenceLeaf:
		m.fence = &l
		switch {
		case !m.o.Color:
			m.out.WriteString(l.first.text + l.mark + Safe(l.info) + "\n")
		case l.info != "" || l.first.text != l.rest.text:
			m.out.WriteString(l.first.text + dim.paint("["+Safe(l.info)+"]") + "\n")
		}
	case ruleLeaf:
		m.out.WriteString(l.first.text + m.rule() + "\n")
	default:
		m.wrap.first, m.wrap.rest = l.first, l.rest
		m.place, m.tail, m.in.before = inText, "", ' '
	}
}

// printOwedBlank prints the blank line that is owed.
func (m *Markdown) printOwedBlank() {
	if m.blank {
		m.out.WriteString(strings.TrimRight(m.o.Prefix, " ") + "\n")
	}
	m.blank, m.begun = false, true
}

func (m *Markdown) rule() string {
	if !m.o.Color {
		return "---"
	}
	return dim.paint(strings.Repeat("─", min(m.o.Width-8, 40)))
}

// printText reads on in a line of words.
func (m *Markdown) printText(s string, end bool) {
	if !m.o.Color {
		m.wrap.write("", s)
	} else {
		p := pen("")
		switch m.leaf.level {
		case 0:
		case 1:
			p = bold.and(underline)
		default:
			p = bold
		}
		m.tail += s
		m.tail = m.tail[m.in.run(m.tail, end, p, 0):]
	}
	if end {
		m.wrap.end()
	}
}

// printCode reads on in a line of code. It is not broken: it is the terminal that
// does, so that what is copied from there stays whole.
func (m *Markdown) printCode(s string, end bool) {
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		char := s[i : i+size]
		if r == '\t' {
			char = strings.Repeat(" ", 4-m.column%4)
		} else {
			char = printable(char, r, m.before)
		}
		m.column += Width(char)
		m.before, i = r, i+size
		m.out.WriteString(char)
	}
	if end {
		if m.o.Color {
			m.out.WriteString("\x1b[0m")
		}
		m.out.WriteByte('\n')
	}
}
