package text

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// longRun is the number of blanks from which a run of them is shown as a count.
const longRun = 10

// Visible returns s as it may be shown to a person: what could hide, reorder
// or repaint text is replaced by an escape that can be seen. Line feeds and
// tabs are kept.
//
// Control characters become \x1b, other characters that have no picture of
// their own (format and bidi controls, zero-width characters, variation
// selectors, tags, fillers, unusual spaces, line separators, unassigned ones)
// become \u{202e}, and bytes that are not UTF-8 become \xff. Ten or more
// blanks in a row become a count such as <37 spaces>, and so do ten or more
// blank lines.
//
// The escapes cannot be forged: a backslash that would read as the beginning
// of one is doubled, and the < of a text that looks like a count becomes \x3c.
func Visible(s string) string { return visible(s, false) }

// VisibleLine is [Visible] for a place that has one line: a line feed becomes
// \n, and a tab \t.
func VisibleLine(s string) string { return visible(s, true) }

// VisibleLines is text for a place that has many lines: one that holds a
// character which could hide or repaint something is shown with the escapes of
// [VisibleLine], others stay as they are.
func VisibleLines(s string) string {
	if !HasHidden(s) {
		return s
	}
	out := make([]byte, 0, len(s)+64)
	for line, rest, more := strings.Cut(s, "\n"); ; line, rest, more = strings.Cut(rest, "\n") {
		if HasHidden(line) {
			line = VisibleLine(line)
		}
		out = append(out, line...)
		if !more {
			return string(out)
		}
		out = append(out, '\n')
	}
}

// HasHidden reports whether s holds a character that [Visible] escapes. Line
// feeds, tabs, backslashes and runs of blanks do not count: they can be seen.
func HasHidden(s string) bool {
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r != '\n' && hidden(r, size) {
			return true
		}
		i += size
	}
	return false
}

// hidden reports whether r, read from size bytes, cannot be shown as it is.
func hidden(r rune, size int) bool {
	switch {
	case r < utf8.RuneSelf:
		return r < ' ' && r != '\t' || r == 0x7f
	case r == utf8.RuneError && size == 1:
		return true
	}
	return !unicode.IsPrint(r) || invisible(r)
}

// invisible knows the characters that Unicode counts as letters, marks or
// symbols although they leave no mark.
func invisible(r rune) bool {
	switch {
	case r == 0x034f, // combining grapheme joiner
		r == 0x115f, r == 0x1160, r == 0x3164, r == 0xffa0, // Hangul fillers
		r == 0x17b4, r == 0x17b5, // Khmer inherent vowels
		r >= 0x180b && r <= 0x180f,   // Mongolian variation selectors
		r == 0x2800,                  // blank Braille pattern
		r >= 0xfe00 && r <= 0xfe0f,   // variation selectors
		r == 0x16fe4,                 // Khitan filler
		r == 0x1d159,                 // null notehead
		r >= 0xe0000 && r <= 0xe0fff: // tags, variation selectors supplement
		return true
	}
	return false
}

func visible(s string, line bool) string {
	blanks := " \t\n"
	if line {
		blanks = " \t"
	}
	var out strings.Builder
	out.Grow(len(s) + len(s)/8)
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case strings.IndexByte(blanks, c) >= 0:
			n := runOf(s[i:], blanks)
			writeBlanks(&out, s[i:i+n], line)
			i += n
		case c == '\\':
			n := runOf(s[i:], "\\")
			out.WriteString(s[i : i+n])
			i += n
			if takesBackslash(s[i:], line) {
				out.WriteString(s[i-n : i])
			}
		case isPlainByte(c):
			n := 1
			for i+n < len(s) && isPlainByte(s[i+n]) {
				n++
			}
			out.WriteString(s[i : i+n])
			i += n
		default:
			r, size := utf8.DecodeRuneInString(s[i:])
			if hidden(r, size) || c == '<' && likeCount(s[i:]) {
				raw := s[i : i+size]
				switch {
				case r == '\n':
					out.WriteString(`\n`)
				case len(raw) == 1:
					fmt.Fprintf(&out, `\x%02x`, raw[0])
				default:
					fmt.Fprintf(&out, `\u{%x}`, r)
				}
			} else {
				out.WriteString(s[i : i+size])
			}
			i += size
		}
	}
	return out.String()
}

// isPlainByte reports whether a byte always stands for itself.
func isPlainByte(c byte) bool {
	return c > ' ' && c < 0x7f && c != '\\' && c != '<'
}

// runOf returns how many bytes at the beginning of s are of set.
func runOf(s, set string) int {
	n := 0
	for n < len(s) && strings.IndexByte(set, s[n]) >= 0 {
		n++
	}
	return n
}

// takesBackslash reports whether a backslash written before rest would be read
// with it, as an escape or as a doubled backslash.
func takesBackslash(rest string, line bool) bool {
	if rest == "" {
		return false
	}
	switch rest[0] {
	case 'x':
		return true
	case 'u':
		return strings.HasPrefix(rest, "u{")
	case 'n', '\n', 't', '\t':
		return line
	case '<':
		return likeCount(rest)
	}
	r, size := utf8.DecodeRuneInString(rest)
	return hidden(r, size)
}

// writeBlanks writes a run of blanks, or counts of them where it is long.
func writeBlanks(out *strings.Builder, run string, line bool) {
	if feeds := strings.Count(run, "\n"); feeds >= longRun {
		fmt.Fprintf(out, "\n<%d blank lines>\n", feeds-1)
		run = run[strings.LastIndexByte(run, '\n')+1:]
	}
	for more := true; more; {
		var part string
		part, run, more = strings.Cut(run, "\n")
		switch spaces := strings.Count(part, " "); {
		case len(part) < longRun && line:
			out.WriteString(strings.ReplaceAll(part, "\t", `\t`))
		case len(part) < longRun:
			out.WriteString(part)
		case spaces == len(part):
			fmt.Fprintf(out, "<%d spaces>", len(part))
		case spaces == 0:
			fmt.Fprintf(out, "<%d tabs>", len(part))
		default:
			fmt.Fprintf(out, "<%d blanks>", len(part))
		}
		if more {
			out.WriteByte('\n')
		}
	}
}

// likeCount reports whether s, which begins with <, reads like a count of
// blanks.
func likeCount(s string) bool {
	const digits = "0123456789"
	const longest = 20 // more digits than a length can have
	rest := s[1:min(len(s), 1+longest)]
	n := runOf(rest, digits)
	if n == 0 || n == longest {
		return false
	}
	rest = s[1+n:]
	for _, unit := range []string{" spaces>", " tabs>", " blanks>", " blank lines>"} {
		if strings.HasPrefix(rest, unit) {
			return true
		}
	}
	return false
}
