package terminal

import (
	"strings"
)

// A leafKind says what a line is.
type leafKind int

const (
	undecided leafKind = iota // more of it is needed
	blankLeaf
	textLeaf // also headings and items of lists
	ruleLeaf
	fenceLeaf // the beginning of code
	codeLeaf
	closeLeaf // the end of code
	leaveLeaf // code is over, without an end of its own
	rowLeaf   // of a table
)

// A leaf is a line whose kind is known.
type leaf struct {
	kind        leafKind
	level       int    // of a heading
	first, rest prefix // what is printed before the line, and before those that it is broken into

	quotes int    // how many quotes it stands in
	indent int    // how many blanks stand before it, inside of these
	mark   string // of a fence
	info   string // of a fence
}

// An opening reads the beginning of a line.
type opening struct {
	s   string
	at  int
	end bool // the line ends after s
	m   *Markdown
}

const maxContainers = 8

// read decides what a line is that does not stand in code.
func (o *opening) read() leaf {
	l := leaf{kind: textLeaf}
	l.first = l.first.add(o.m.o.Prefix, "")
	l.rest = l.rest.add(o.m.o.Prefix, "")
	items := false
	for range maxContainers {
		blanks := o.blanks(maxStart)
		l.indent += blanks
		if o.at == len(o.s) {
			switch {
			case !o.end:
				l.kind = undecided
			case !items:
				l.kind = blankLeaf
			}
			return l
		}
		pad := strings.Repeat(" ", min(blanks, o.m.o.Width/4))
		l.first, l.rest = l.first.add(pad, ""), l.rest.add(pad, "")
		if o.s[o.at] == '|' && !items {
			l.kind = rowLeaf
			return l
		}
		if o.matchBlock(&l) {
			return l
		}
		more := false
		switch {
		case o.s[o.at] == '>':
			more = o.quote(&l)
		default:
			var n int
			if n, more = o.item(); n > 0 {
				// The mark of a list item.
				mark := o.s[o.at : o.at+n]
				if o.m.o.Color && n == 1 {
					mark = "•"
				}
				o.at += n
				if o.at < len(o.s) {
					o.at++ // the blank after it
				}
				l.first = l.first.add(mark+" ", "")
				l.rest = l.rest.add(strings.Repeat(" ", n+1), "")
				l.indent += n + 1
				items = true
			} else if !more {
				return l
			}
		}
		if more {
			l.kind = undecided
			return l
		}
	}
	return l
}

// blanks skips blanks, at most so many columns of them, and returns how many.
func (o *opening) blanks(most int) (n int) {
	for o.at < len(o.s) && n < most {
		switch o.s[o.at] {
		case ' ':
			n++
		case '\t':
			n += 4
		default:
			return n
		}
		o.at++
	}
	return n
}

// matchBlock tries the blocks that cannot contain others: a heading, a rule, a fence. It returns
// true if the line is one, or if more input is needed to know.
func (o *opening) matchBlock(l *leaf) bool {
	switch c := o.s[o.at]; c {
	case '#':
		return o.heading(l)
	case '-', '*', '_':
		return o.rule(l, c)
	case '`', '~':
		return o.fence(l, c)
	}
	return false
}

func (o *opening) heading(l *leaf) bool {
	rest := o.s[o.at:]
	n := runLength(rest)
	switch {
	case n > 6:
		return false
	case n == len(rest) && !o.end:
		l.kind = undecided
		return true
	case n < len(rest) && rest[n] != ' ' && rest[n] != '\t':
		return false
	}
	l.level = n
	if o.m.o.Color {
		o.at += n
		o.blanks(maxStart)
	}
	return true
}

// rule finds lines of three or more of the same mark.
func (o *opening) rule(l *leaf, mark byte) bool {
	count := 0
	for i := o.at; i < len(o.s); i++ {
		switch o.s[i] {
		case mark:
			count++
		case ' ', '\t':
		default:
			return false
		}
	}
	switch {
	case !o.end:
		l.kind = undecided
		return true
	case count < 3:
		return false
	}
	l.kind = ruleLeaf
	return true
}

func (o *opening) fence(l *leaf, mark byte) bool {
	rest := o.s[o.at:]
	n := runLength(rest)
	switch {
	case n < 3 && (n < len(rest) || o.end):
		return false
	case mark == '`' && strings.IndexByte(rest[n:], mark) >= 0:
		return false
	case !o.end:
		l.kind = undecided
		return true
	}
	l.kind, l.mark, l.info = fenceLeaf, rest[:n], strings.TrimSpace(rest[n:])
	return true
}

// quote reads the mark of a quote and reports whether more is needed.
func (o *opening) quote(l *leaf) (more bool) {
	o.at++
	if o.at == len(o.s) && !o.end {
		return true
	}
	if o.at < len(o.s) && o.s[o.at] == ' ' {
		o.at++
	}
	bar, p := "> ", pen("")
	if o.m.o.Color {
		bar, p = "│ ", dim
	}
	l.first, l.rest = l.first.add(bar, p), l.rest.add(bar, p)
	l.quotes++
	l.indent = 0
	return false
}

// item is how long the mark of a list item is that stands here; 0 where none
// does.
func (o *opening) item() (n int, more bool) {
	rest := o.s[o.at:]
	switch c := rest[0]; {
	case c == '-' || c == '*' || c == '+':
		n = 1
	case c >= '0' && c <= '9':
		n = len(rest) - len(strings.TrimLeft(rest, "0123456789"))
		switch {
		case n > 9:
			return 0, false
		case n == len(rest):
			return 0, !o.end
		case rest[n] != '.' && rest[n] != ')':
			return 0, false
		}
		n++
	default:
		return 0, false
	}
	switch {
	case n == len(rest) && !o.end:
		return 0, true
	case n < len(rest) && rest[n] != ' ' && rest[n] != '\t':
		return 0, false
	}
	return n, false
}

// inFence decides what a line is that stands in code.
func (o *opening) inFence(f *leaf) leaf {
	for range f.quotes {
		o.blanks(3)
		if o.at < len(o.s) && o.s[o.at] != '>' || o.at == len(o.s) && o.end {
			return leaf{kind: leaveLeaf}
		}
		if o.at == len(o.s) || o.quote(&leaf{}) {
			return leaf{kind: undecided}
		}
	}
	o.blanks(f.indent)
	body := strings.TrimLeft(o.s[o.at:], " ")
	n := 0
	if body != "" && body[0] == f.mark[0] {
		n = runLength(body)
	}
	closing := strings.TrimRight(body[n:], " \t") == "" && len(o.s)-o.at-len(body) <= 3
	switch {
	case closing && !o.end: // and so it may still be
		return leaf{kind: undecided}
	case closing && n >= len(f.mark):
		return leaf{kind: closeLeaf}
	}
	return leaf{kind: codeLeaf}
}
