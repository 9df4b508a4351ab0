package text

import (
	"fmt"
	"strings"
	"unicode"
)

// Harmless makes a text safe to read on a terminal: control characters except tabs and line feeds
// become visible symbols, bidirectional ones an escape, and invisible ones are removed. Single
// joiners, which some scripts need, stay. Unlike the result of [Visible], the text cannot be
// compared with the original.
func Harmless(s string) string { return disarmed(s, false) }

// HarmlessMarked is [Harmless] for text with markup, such as Markdown: invisible characters become
// visible instead of being removed, because joining their neighbours could change the markup.
func HarmlessMarked(s string) string { return disarmed(s, true) }

func disarmed(s string, marked bool) string {
	if !strings.ContainsFunc(s, acts) {
		return s
	}
	var out strings.Builder
	out.Grow(len(s))
	var before rune
	for i, r := range s {
		switch {
		case !acts(r), joins(r) && !joins(before):
			out.WriteRune(r)
		case !marked && (Unseen(r) || joins(r)):
			continue // not before anything
		case r == '\r' && strings.HasPrefix(s[i+1:], "\n"):
		case r == '\r', !marked && (r == 0x2028 || r == 0x2029):
			out.WriteByte('\n')
		default:
			out.WriteString(picture(r))
		}
		before = r
	}
	return out.String()
}

// picture shows a character that acts.
func picture(r rune) string {
	switch {
	case r < ' ':
		return string(0x2400 + r) // ␛ for an escape
	case r == 0x7f:
		return "\u2421"
	}
	return fmt.Sprintf(`\u{%x}`, r)
}

// acts reports whether a character does something beside being shown.
func acts(r rune) bool {
	switch {
	case r < 0x7f:
		return r < ' ' && r != '\t' && r != '\n'
	case r <= 0x9f: // controls
		return true
	}
	return turns(r) || joins(r) || Unseen(r)
}

// turns reports whether a character changes the direction of a text, ends its line, or is an
// invisible tag.
func turns(r rune) bool {
	switch r {
	case 0x61c, 0x200e, 0x200f, 0x2028, 0x2029, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069:
		return true
	}
	return r >= 0xe0000 && r <= 0xe007f
}

// joins reports whether a character only says how its neighbours are written.
func joins(r rune) bool { return r == 0x200c || r == 0x200d }

// Unseen reports whether a character shows nothing and means nothing by itself, so that a row of
// them can only hide something.
func Unseen(r rune) bool {
	if r < 0xad || joins(r) || turns(r) || unicode.Is(unicode.Prepended_Concatenation_Mark, r) {
		return false
	}
	return unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}
