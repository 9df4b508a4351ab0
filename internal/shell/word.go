package shell

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// A Word is one word of a command.
type Word struct {
	Raw   string // as written
	Value string // without quotes; what is not known stands as it was written

	// Literal: the command gets exactly Value. It is false when the word holds
	// an expansion, a substitution, a glob or a brace, whose value only bash
	// knows. A ~ in front is left as it is.
	Literal bool
}

func readWord(src string, w *syntax.Word) Word {
	if len(w.Parts) == 0 {
		return Word{Literal: true}
	}
	raw := src[offset(w.Pos()):min(offset(w.End()), len(src))]
	u := unquoter{src: src, literal: true}
	for _, p := range w.Parts {
		u.part(p, false)
	}
	return Word{Raw: raw, Value: u.out.String(), Literal: u.literal && u.braces < 3}
}

// An unquoter takes the quotes off a word.
type unquoter struct {
	src     string
	out     strings.Builder
	literal bool
	bracket bool // [ was seen, which with a ] is a glob
	braces  int  // how much of {, then a comma or two dots, then } was seen
}

func (u *unquoter) part(p syntax.WordPart, quoted bool) {
	switch p := p.(type) {
	case *syntax.Lit:
		if quoted {
			u.inQuotes(p.Value)
		} else {
			u.bare(p.Value)
		}
	case *syntax.SglQuoted:
		if p.Dollar {
			u.out.WriteString(ansiC(p.Value))
		} else {
			u.out.WriteString(p.Value)
		}
	case *syntax.DblQuoted:
		for _, q := range p.Parts {
			u.part(q, true)
		}
	default:
		u.literal = false
		u.out.WriteString(u.src[offset(p.Pos()):min(offset(p.End()), len(u.src))])
	}
}

// bare reads text that stands outside of quotes.
func (u *unquoter) bare(s string) {
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '\\' && i+1 < len(s):
			i++
			if s[i] != '\n' {
				u.out.WriteByte(s[i])
			}
			continue
		case c == '*' || c == '?' || c == ']' && u.bracket:
			u.literal = false
		case c == '[':
			u.bracket = true
		case c == '{' && u.braces == 0,
			u.braces == 1 && (c == ',' || strings.HasPrefix(s[i:], "..")),
			c == '}' && u.braces == 2:
			u.braces++
		}
		u.out.WriteByte(c)
	}
}

// inQuotes reads text that stands between double quotes.
func (u *unquoter) inQuotes(s string) {
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("$`\"\\\n", s[i+1]) >= 0 {
			i++
			if s[i] == '\n' {
				continue
			}
		}
		u.out.WriteByte(s[i])
	}
}

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
			if n, end = code(&out, s[i+1:], width, 16); n == 0 {
				out.WriteString(s[i-1 : i+1])
			}
		case '0', '1', '2', '3', '4', '5', '6', '7':
			n, end = code(&out, s[i:], 3, 8)
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

// code writes the character whose number stands at the beginning of s, in at
// most width digits. It returns how many there were, and whether it is NUL.
func code(out *strings.Builder, s string, width, base int) (n int, end bool) {
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
