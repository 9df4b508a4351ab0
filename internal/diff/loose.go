package diff

import (
	"strings"
	"unicode/utf8"
)

// The ways to compare lines, from strict to loose. Each is tried over the
// whole range before the next.
const (
	exact  = iota
	noTail // white space at the end is left out
	noEnds // also at the beginning
	folded // also, typographic marks are plain ones
	looseness
)

// loosen returns what counts of a line when it is compared in the given way.
func loosen(line string, way int) string {
	switch way {
	case noTail:
		return strings.TrimRightFunc(line, isSpace)
	case noEnds:
		return trim(line)
	case folded:
		return fold(trim(line))
	}
	return line
}

// trim takes the white space off both ends.
func trim(s string) string { return strings.TrimFunc(s, isSpace) }

// fold replaces typographic quotes, dashes, dots and spaces.
func fold(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return asciiFor(r) != "" }) {
		return s
	}
	var b strings.Builder
	for s != "" {
		r, size := utf8.DecodeRuneInString(s)
		if p := asciiFor(r); p != "" {
			b.WriteString(p)
		} else {
			b.WriteString(s[:size])
		}
		s = s[size:]
	}
	return b.String()
}

// asciiFor returns what is written for a typographic mark; empty for all else.
func asciiFor(r rune) string {
	switch {
	case r >= 0x2018 && r <= 0x201B:
		return "'"
	case r >= 0x201C && r <= 0x201F:
		return `"`
	case r >= 0x2010 && r <= 0x2015:
		return "-"
	case r == 0x2026:
		return "..."
	case r == 0xA0:
		return " "
	}
	return ""
}
