package terminal

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"

	"github.com/helve-dev/helve/internal/text"
)

// Width is how many columns a text takes that holds no line feed. Sequences
// that set colours take none.
func Width(s string) int {
	n := 0
	for len(s) > 0 {
		if skip := colour(s); skip > 0 {
			s = s[skip:]
			continue
		}
		r, size := utf8.DecodeRuneInString(s)
		n += runeWidth(r)
		s = s[size:]
	}
	return n
}

// colour is how long the sequence is that s begins with and that sets a
// colour; 0 where it begins with none.
func colour(s string) int {
	rest, ok := strings.CutPrefix(s, "\x1b[")
	if !ok {
		return 0
	}
	n := len(rest) - len(strings.TrimLeft(rest, "0123456789;"))
	if n == len(rest) || rest[n] != 'm' {
		return 0
	}
	return n + 3
}

// runeWidth is how many columns a character takes.
func runeWidth(r rune) int {
	switch {
	case r < ' ' || r == 0x7f:
		return 0
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// Clip cuts a line of plain text to so many columns. What is cut off is
// marked by an ellipsis.
func Clip(s string, columns int) string {
	if Width(s) <= columns {
		return s
	}
	n := 0
	for i, r := range s {
		if n += runeWidth(r); n > columns-1 {
			return s[:i] + "…"
		}
	}
	return s
}

// ClipMiddle is [Clip] for a line whose end says as much as its beginning: what
// is cut out lies between them.
func ClipMiddle(s string, columns int) string {
	if Width(s) <= columns {
		return s
	}
	start := Clip(s, columns/3+1)
	at, room := len(s), columns-Width(start)
	for at > 0 {
		r, size := utf8.DecodeLastRuneInString(s[:at])
		if room -= runeWidth(r); room < 0 {
			break
		}
		at -= size
	}
	return start + s[at:]
}

// printable returns a character as it may be printed: itself, the escape of one
// that could hide something, or nothing for a part of the picture before it.
func printable(char string, r, before rune) string {
	if (r == 0xfe0e || r == 0xfe0f || r == 0x200d) && (before >= 0x2000 || strings.ContainsRune("#*0123456789©®", before)) {
		return "" // of an emoji
	}
	if r == '\n' || r >= 0x7f && text.HasHidden(char) || r < ' ' {
		return text.VisibleLine(char)
	}
	return char
}

// Safe is a line of text as it may be printed. Tabs become blanks.
func Safe(s string) string {
	plain := true
	for i := 0; i < len(s) && plain; i++ {
		plain = s[i] >= ' ' && s[i] < 0x7f
	}
	if plain {
		return s
	}
	var out strings.Builder
	before := ' '
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == '\t' {
			out.WriteString("    ")
		} else {
			out.WriteString(printable(s[i:i+size], r, before))
		}
		before, i = r, i+size
	}
	return out.String()
}
