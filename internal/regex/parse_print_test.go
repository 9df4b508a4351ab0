package regex

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// show prints a tree for the tables of expectations: 'x' is a character,
// "xyz" several in a row, [a-z] a class, <00-FF> a class of bytes, (a b) one
// after another, (a | b) one of both, ε the empty text.
func show(n *node) string {
	switch n.kind {
	case kindEmpty:
		return "ε"
	case kindClass:
		return showClass(n.runes)
	case kindBytes:
		return showBytes(n.bytes)
	case kindLook:
		return showLook(n.look)
	case kindConcat:
		return "(" + strings.Join(showRow(n.subs), " ") + ")"
	case kindEither:
		var parts []string
		for _, s := range n.subs {
			parts = append(parts, show(s))
		}
		return "(" + strings.Join(parts, " | ") + ")"
	}
	return show(n.subs[0]) + showCount(n)
}

func showCount(n *node) string {
	count := fmt.Sprintf("{%d,%d}", n.min, n.max)
	switch {
	case n.min == 0 && n.max == -1:
		count = "*"
	case n.min == 1 && n.max == -1:
		count = "+"
	case n.min == 0 && n.max == 1:
		count = "?"
	case n.max == -1:
		count = fmt.Sprintf("{%d,}", n.min)
	case n.min == n.max:
		count = fmt.Sprintf("{%d}", n.min)
	}
	if n.lazy {
		count += "?"
	}
	return count
}

func one(n *node) (rune, bool) {
	if n.kind == kindClass && len(n.runes) == 1 && n.runes[0].lo == n.runes[0].hi {
		return n.runes[0].lo, true
	}
	return 0, false
}

func showRow(subs []*node) (parts []string) {
	for i := 0; i < len(subs); {
		var text []rune
		for ; i < len(subs); i++ {
			r, ok := one(subs[i])
			if !ok {
				break
			}
			text = append(text, r)
		}
		switch len(text) {
		case 0:
			parts = append(parts, show(subs[i]))
			i++
		case 1:
			parts = append(parts, strconv.QuoteRune(text[0]))
		default:
			parts = append(parts, strconv.Quote(string(text)))
		}
	}
	return parts
}

func showClass(s set) string {
	if len(s) == 1 && s[0].lo == s[0].hi {
		return strconv.QuoteRune(s[0].lo)
	}
	p := &parser{flags: flagUnicode}
	for _, c := range "dswDSW" {
		if slices.Equal(s, p.perl(c).withoutNewline()) {
			return `\` + string(c)
		}
	}
	if slices.Equal(s, set{{'\n', '\n'}}.negate(maxRune)) {
		return "."
	}
	if len(s) > 12 {
		return fmt.Sprintf("[%d ranges]", len(s))
	}
	var b strings.Builder
	for _, r := range s {
		b.WriteString(showRune(r.lo))
		if r.hi > r.lo {
			b.WriteString("-" + showRune(r.hi))
		}
	}
	return "[" + b.String() + "]"
}

func showRune(r rune) string {
	q := strconv.QuoteRune(r)
	return q[1 : len(q)-1]
}

func showBytes(s *byteSet) string {
	var parts []string
	for b := 0; b < 256; b++ {
		if !s.contains(byte(b)) {
			continue
		}
		lo := b
		for b < 255 && s.contains(byte(b+1)) {
			b++
		}
		parts = append(parts, fmt.Sprintf("%02X-%02X", lo, b))
	}
	return "<" + strings.Join(parts, " ") + ">"
}

func showLook(l look) string {
	names := []string{"^", "$", `\A`, `\z`, `\b`, `\B`, `\<`, `\>`, `\b{start-half}`, `\b{end-half}`,
		"ascii:\\b", "ascii:\\B", "ascii:\\<", "ascii:\\>", `ascii:\b{start-half}`, `ascii:\b{end-half}`}
	return names[l]
}

// asGo prints a tree in the syntax of Go's regexp. Bytes and the boundaries
// that Go lacks are not for it.
func asGo(n *node) string {
	var b strings.Builder
	switch n.kind {
	case kindClass:
		if len(n.runes) == 0 {
			return `[^\x00-\x{10FFFF}]`
		}
		b.WriteByte('[')
		for _, r := range n.runes {
			fmt.Fprintf(&b, `\x{%X}-\x{%X}`, r.lo, r.hi)
		}
		b.WriteByte(']')
	case kindLook:
		return []string{"(?m:^)", "(?m:$)", `\A`, `\z`, `\b`, `\B`}[n.look]
	case kindConcat, kindEither:
		for i, s := range n.subs {
			if i > 0 && n.kind == kindEither {
				b.WriteByte('|')
			}
			b.WriteString("(?:" + asGo(s) + ")")
		}
	case kindRepeat:
		return "(?:" + asGo(n.subs[0]) + ")" + showCount(n)
	}
	return b.String()
}
