package command

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// ansiC reads what stands between $' and '.
func ansiC(s string) string {
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			out.WriteByte(s[i])
			continue
		}
		i++
		n, end := 0, false
		switch c := s[i]; c {
		case 'x', 'u', 'U':
			width := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
			if n, end = writeCodePoint(&out, s[i+1:], width, 16); n == 0 {
				out.WriteString(s[i-1 : i+1])
			}
		case '0', '1', '2', '3', '4', '5', '6', '7':
			n, end = writeCodePoint(&out, s[i:], 3, 8)
			n--
		case 'c':
			if i+1 < len(s) {
				n = 1
				out.WriteByte(s[i+1] & 0x1f)
			}
		default:
			if k := strings.IndexByte(`abeEfnrtv\'"?`, c); k >= 0 {
				out.WriteByte("\a\b\x1b\x1b\f\n\r\t\v\\'\"?"[k])
			} else {
				out.WriteString(s[i-1 : i+1])
			}
		}
		if end { // bash ends the string at a NUL
			break
		}
		i += n
	}
	return out.String()
}

// writeCodePoint writes the character whose number stands at the beginning of s, in at
// most width digits. It returns how many there were, and whether it is NUL.
func writeCodePoint(out *strings.Builder, s string, width, base int) (n int, end bool) {
	v := 0
	for n < min(width, len(s)) {
		d, err := strconv.ParseUint(s[n:n+1], base, 8)
		if err != nil {
			break
		}
		v = v*base + int(d)
		n++
	}
	switch {
	case n == 0:
	case v&0xff == 0 && width < 4 || v == 0:
		return n, true
	case width < 4:
		out.WriteByte(byte(v))
	case v <= utf8.MaxRune:
		out.WriteRune(rune(v))
	}
	return n, false
}
