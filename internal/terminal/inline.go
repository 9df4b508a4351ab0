package terminal

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds on the text between two marks of emphasis, or of a link. A mark without a partner within
// them is literal. Together with the bound on nesting, this makes the time linear, even for a text
// that is all marks.
const (
	maxSpan    = 1000 // bytes
	maxOthers  = 32   // marks that could have been the partner, and are not
	maxTicks   = 8    // backticks before code
	maxNesting = 4
)

// An inliner parses the marks inside a line. Its result depends only on the text within the bounds,
// and never on the pieces in which it arrives.
type inliner struct {
	emit   func(pen, string)
	before rune // the character before what is read next
	looked int  // how many bytes were looked at for partners so far
}

// run prints as much of s as its form is certain, and returns how much that
// is. If the line ends after s, that is all of it.
func (in *inliner) run(s string, end bool, p pen, depth int) int {
	i := 0
	for i < len(s) {
		n := strings.IndexAny(s[i:], "\\`*_~[")
		if n < 0 {
			n = len(s) - i
		}
		if n == 0 {
			var wait bool
			if n, wait = in.readMark(s[i:], end, p, depth); wait {
				return i
			}
		} else {
			in.emit(p, s[i:i+n])
		}
		in.before, _ = utf8.DecodeLastRuneInString(s[:i+n])
		i += n
	}
	return i
}

// readMark parses and prints what a mark begins and returns its length, or says that more of the
// line is needed.
func (in *inliner) readMark(s string, end bool, p pen, depth int) (n int, wait bool) {
	window := s
	if len(s) >= maxSpan {
		window, end = s[:maxSpan], true
	}
	switch {
	case s[0] == '\\':
		n, wait = in.readEscape(window, end, p)
	case s[0] == '`':
		n, wait = in.readCode(window, end, p)
	case depth == maxNesting:
	case s[0] == '[':
		n, wait = in.link(window, end, p, depth)
	default:
		n, wait = in.emphasis(window, end, p, depth)
	}
	if n > 0 || wait {
		return n, wait
	}
	n = 1
	if s[0] != '\\' && s[0] != '[' {
		n = runLength(window)
	}
	in.emit(p, s[:n])
	return n, false
}

// readEscape parses an escaped character.
func (in *inliner) readEscape(s string, end bool, p pen) (n int, wait bool) {
	if len(s) == 1 {
		return 0, !end
	}
	if s[1] >= utf8.RuneSelf || !unicode.In(rune(s[1]), unicode.P, unicode.S) {
		return 0, false
	}
	in.emit(p, s[1:2])
	return 2, false
}

// runLength is how often the first byte of s is repeated.
func runLength(s string) int {
	return len(s) - len(strings.TrimLeft(s, s[:1]))
}

// next finds the next run of one of two bytes in s, from a position on, and its length. If there is
// none, at is the end of s.
func (in *inliner) next(s string, from int, one, other byte) (at, length int) {
	at = from
	for at < len(s) && s[at] != one && s[at] != other {
		at++
	}
	for at+length < len(s) && s[at+length] == s[at] {
		length++
	}
	in.looked += at + length - from
	return at, length
}

// readCode reads code between backticks.
func (in *inliner) readCode(s string, end bool, p pen) (n int, wait bool) {
	open := runLength(s)
	switch {
	case open == len(s):
		return 0, !end
	case open > maxTicks:
		return 0, false
	}
	at, wait := in.closingTicks(s, open, open, end)
	if at < 0 || wait {
		return 0, wait
	}
	body := s[open:at]
	if len(body) > 2 && body[0] == ' ' && body[len(body)-1] == ' ' {
		body = body[1 : len(body)-1]
	}
	in.emit(p.and(cyan), body)
	return at + open, false
}

// closingTicks finds a run of exactly n backticks, from a position on; -1 if there is none.
func (in *inliner) closingTicks(s string, from, n int, end bool) (at int, wait bool) {
	for others := 0; others < maxOthers; others++ {
		at, length := in.next(s, from, '`', '`')
		switch {
		case at+length == len(s) && !end:
			return 0, true
		case at == len(s):
			return -1, false
		case length == n:
			return at, false
		}
		from = at + length
	}
	return -1, false
}

// emphasis reads text between stars, underscores or tildes.
func (in *inliner) emphasis(s string, end bool, p pen, depth int) (n int, wait bool) {
	open := runLength(s)
	if open == len(s) {
		return 0, !end
	}
	next, _ := utf8.DecodeRuneInString(s[open:])
	switch {
	case open > 3, s[0] == '~' && open != 2, unicode.IsSpace(next), s[0] == '_' && isWord(in.before):
		return 0, false
	}
	at, wait := in.closingMark(s[open:], s[0], open, end)
	if at < 0 || wait {
		return 0, wait
	}
	with := [...]pen{italic, bold, bold.and(italic)}[open-1]
	if s[0] == '~' {
		with = strike
	}
	in.before = rune(s[0])
	in.run(s[open:open+at], true, p.and(with), depth+1)
	return open + at + open, false
}

// closingMark finds a run of marks that closes what n marks opened; -1 if there is none. Three
// marks close two emphases, of which the outer one takes the last of them.
func (in *inliner) closingMark(s string, mark byte, n int, end bool) (at int, wait bool) {
	from := 0
	for others := 0; others < maxOthers; others++ {
		at, length := in.next(s, from, mark, '`')
		from = at + length
		switch {
		case from == len(s) && !end:
			return 0, true
		case at == len(s):
			return -1, false
		case s[at] == '`' && length <= maxTicks:
			partner, wait := in.closingTicks(s, from, length, end)
			if wait {
				return 0, true
			}
			if partner >= 0 {
				from = partner + length
			}
		case s[at] == mark && (length == n || length == 3 && n < 3) && closes(s, at, length):
			return from - n, false
		}
	}
	return -1, false
}

// closes reports whether a run of marks can end an emphasis, by the characters around it.
func closes(s string, at, length int) bool {
	if at == 0 || s[at-1] == ' ' || s[at-1] == '\\' {
		return false
	}
	after, _ := utf8.DecodeRuneInString(s[at+length:])
	return s[at] != '_' || !isWord(after)
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// link reads [text](address). Both are printed, so that a text cannot pass for another address.
func (in *inliner) link(s string, end bool, p pen, depth int) (n int, wait bool) {
	label, wait := in.balanced(s, '[', ']', end)
	if label == 0 || wait {
		return 0, wait
	}
	if label == len(s) {
		return 0, !end
	}
	if s[label] != '(' {
		return 0, false
	}
	address, wait := in.balanced(s[label:], '(', ')', end)
	if address == 0 || wait {
		return 0, wait
	}
	words, url := s[1:label-1], strings.TrimSpace(s[label+1:label+address-1])
	if words != url && words != "" {
		in.before = '['
		in.run(words, true, p.and(underline), depth+1)
		in.emit(p, " ")
		url = "(" + url + ")"
	}
	in.emit(p.and(dim), url)
	return label + address, false
}

// balanced returns the length of a bracketed text, with its brackets; 0 if the closing one is
// missing.
func (in *inliner) balanced(s string, open, shut byte, end bool) (n int, wait bool) {
	level, others := 0, 0
	for i := 0; i < len(s) && others < maxOthers; i++ {
		in.looked++
		switch s[i] {
		case '\\':
			i++
		case open:
			level++
			others++
		case shut:
			if level--; level == 0 {
				return i + 1, false
			}
		}
	}
	return 0, !end && others < maxOthers
}
