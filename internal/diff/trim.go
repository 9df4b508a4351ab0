package diff

import (
	"strings"
	"unicode/utf8"
)

// Trim takes the indentation that all lines of a unified diff share off them.
// Lines without text do not count, but lose as much.
func Trim(d string) string {
	cut := -1
	for line := range strings.SplitSeq(d, "\n") {
		if !isContent(line) {
			continue
		}
		n, blank := indent(line[1:])
		if !blank && (cut < 0 || n < cut) {
			cut = n
		}
	}
	if cut <= 0 {
		return d
	}
	var out strings.Builder
	out.Grow(len(d))
	first := true
	for line := range strings.SplitSeq(d, "\n") {
		if !first {
			out.WriteByte('\n')
		}
		first = false
		if isContent(line) {
			out.WriteByte(line[0])
			line = skipRunes(line[1:], cut)
		}
		out.WriteString(line)
	}
	return out.String()
}

// isContent tells a line of the texts from the lines of the diff's own. A
// removed line that begins with two dashes is taken for the latter.
func isContent(line string) bool {
	if line == "" || strings.HasPrefix(line, "---") || strings.HasPrefix(line, "+++") {
		return false
	}
	return line[0] == add || line[0] == remove || line[0] == keep
}

// indent counts the white characters a line begins with, and tells whether
// there is nothing else.
func indent(line string) (n int, blank bool) {
	for _, r := range line {
		if !isSpace(r) {
			return n, false
		}
		n++
	}
	return n, true
}

// skipRunes drops the first n characters.
func skipRunes(s string, n int) string {
	for ; n > 0 && s != ""; n-- {
		_, size := utf8.DecodeRuneInString(s)
		s = s[size:]
	}
	return s
}

// isSpace reports what JavaScript calls white, which is what the diffs that
// this form comes from are trimmed by.
func isSpace(r rune) bool {
	switch {
	case r >= '\t' && r <= '\r', r == ' ', r == 0xA0, r == 0x1680, r == 0x202F, r == 0x205F, r == 0x3000, r == 0xFEFF:
		return true
	}
	return r >= 0x2000 && r <= 0x200A || r == 0x2028 || r == 0x2029
}
