package page

import (
	"strings"
	"unicode"
)

// isBlank tells the characters that count as blanks at the ends of inline
// elements: those of Unicode, and the mark of a byte order.
func isBlank(r rune) bool {
	switch r {
	case 0x85:
		return false
	case 0xfeff:
		return true
	}
	return unicode.IsSpace(r)
}

// isGap tells the characters that HTML collapses.
func isGap(c byte) bool {
	return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f'
}

// collapse makes one space of every run of blanks.
func collapse(s string) string {
	for i := 0; i < len(s); i++ {
		if isGap(s[i]) && (s[i] != ' ' || i+1 < len(s) && isGap(s[i+1])) {
			return collapseFrom(s, i)
		}
	}
	return s
}

func collapseFrom(s string, at int) string {
	var out strings.Builder
	out.Grow(len(s))
	for s != "" {
		out.WriteString(s[:at])
		s = s[at:]
		if s != "" {
			out.WriteByte(' ')
		}
		for s != "" && isGap(s[0]) {
			s = s[1:]
		}
		for at = 0; at < len(s) && !isGap(s[at]); at++ {
		}
	}
	return out.String()
}

// escape puts a backslash before what would be Markdown; first says that the
// text starts a line.
func escape(s string, first bool) string {
	at := -1
	if first {
		at = opening(s)
	}
	if at < 0 && !strings.ContainsAny(s, "\\*`[]_") {
		return s
	}
	var out strings.Builder
	out.Grow(len(s) + 8)
	for i := range len(s) {
		switch s[i] {
		case '\\', '*', '`', '[', ']', '_':
			out.WriteByte('\\')
		default:
			if i == at {
				out.WriteByte('\\')
			}
		}
		out.WriteByte(s[i])
	}
	return out.String()
}

// opening returns where a text has to be escaped because it would open a
// block, or -1: the mark of a list, a heading, a quote, a fence.
func opening(s string) int {
	if s == "" {
		return -1
	}
	switch s[0] {
	case '-', '=', '>':
		return 0
	case '+':
		if strings.HasPrefix(s, "+ ") {
			return 0
		}
	case '~':
		if strings.HasPrefix(s, "~~~") {
			return 0
		}
	case '#':
		rest := strings.TrimLeft(s, "#")
		if len(s)-len(rest) <= 6 && strings.HasPrefix(rest, " ") {
			return 0
		}
	default:
		rest := strings.TrimLeft(s, "0123456789")
		if len(rest) < len(s) && strings.HasPrefix(rest, ". ") {
			return len(s) - len(rest)
		}
	}
	return -1
}
