package command

import (
	"slices"
	"strings"
	"unicode"

	"github.com/helve-dev/helve/internal/text"
)

// deceives reports whether a command line may look like another one: it contains a control
// character, a character that reorders text, or an unquoted invisible one.
func deceives(command string, units []Unit) bool {
	for _, r := range command {
		if unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) {
			return true
		}
	}
	if !text.HasHidden(command) && !escapes(command) {
		return false
	}
	for _, u := range units {
		for _, w := range u.Words {
			if text.HasHidden(unquotedPart(w.Raw)) {
				return true
			}
		}
		for _, a := range u.Assigns {
			if text.HasHidden(unquotedPart(a.Raw)) {
				return true
			}
		}
		for _, r := range u.Redirects {
			if text.HasHidden(unquotedPart(r.Target.Raw)) {
				return true
			}
		}
	}
	return slices.ContainsFunc(Loose(command), func(w string) bool { return text.HasHidden(unquotedPart(w)) })
}

// escapes reports whether code inside the text may hold characters that the
// text itself spells.
func escapes(command string) bool { return strings.Contains(command, "$'") }

// unquotedPart is the part of a word that stands outside of quotes.
func unquotedPart(raw string) string {
	if !strings.ContainsAny(raw, `'"`) {
		return raw
	}
	var out strings.Builder
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; c {
		case '\\':
			if i++; i < len(raw) {
				out.WriteByte(raw[i])
			}
		case '\'', '"':
			i = closing(raw, i)
		default:
			out.WriteByte(c)
		}
	}
	return out.String()
}

// closing is where the quotes that open at i end.
func closing(raw string, i int) int {
	quote := raw[i]
	for i++; i < len(raw) && raw[i] != quote; i++ {
		if quote == '"' && raw[i] == '\\' {
			i++
		}
	}
	return i
}
