package text

import (
	"strings"
	"unicode"
	"unicode/utf16"
)

// VisibleJSON returns JSON text with every character that cannot be seen as
// an escape: the same document, safe to show on a terminal. Line ends stay.
func VisibleJSON(s string) string {
	hidden := func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }
	if strings.IndexFunc(s, hidden) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case !hidden(r):
			b.WriteRune(r)
		case r > 0xffff:
			hi, lo := utf16.EncodeRune(r)
			writeUnit(&b, hi)
			writeUnit(&b, lo)
		default:
			writeUnit(&b, r)
		}
	}
	return b.String()
}

func writeUnit(b *strings.Builder, r rune) {
	const digits = "0123456789abcdef"
	b.WriteString(`\u`)
	for shift := 12; shift >= 0; shift -= 4 {
		b.WriteByte(digits[r>>shift&15])
	}
}
