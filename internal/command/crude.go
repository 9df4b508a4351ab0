package command

import (
	"slices"
	"strings"
)

// pieces splits a text that cannot be parsed wherever a command might begin, ignoring quotes. It
// finds too many commands rather than too few, so a restriction on one of them still holds.
func (c *collector) pieces(text string) {
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool {
		return strings.ContainsRune(";&|()`{}\n\r\x00", r)
	}) {
		fields := strings.Fields(part)
		for len(fields) > 0 && keyword(fields[0]) {
			fields = fields[1:]
		}
		if len(fields) == 0 {
			continue
		}
		u := Unit{Kind: Piece, Text: strings.TrimSpace(part)}
		for _, f := range fields {
			v := strings.Map(dropQuote, f)
			u.Words = append(u.Words, Word{Raw: f, Value: v, Shape: v})
		}
		unit := c.add(u, nil)
		c.r.units[unit].Dir = Dir{}
		c.wrapped(unit)
	}
}

// wrapped adds the command that a piece runs if it is one of the commands that
// run another one.
func (c *collector) wrapped(unit int) {
	u := c.r.units[unit]
	words := slices.Clone(u.Words)
	for i := range words {
		words[i].Literal = !strings.Contains(words[i].Shape, "$")
	}
	for range maxLevel {
		inner := crudePayload(words)
		if len(inner) == 0 {
			break
		}
		words = inner
	}
	if len(words) == len(u.Words) {
		return
	}
	for i := range words {
		words[i].Literal = false
	}
	inner := c.add(Unit{Kind: Piece, Text: rawText(words), Words: words}, nil)
	c.r.units[inner].Inside = u.Text
	c.r.units[inner].Dir = Dir{}
}

func dropQuote(r rune) rune {
	if r == '\'' || r == '"' || r == '\\' {
		return -1
	}
	return r
}

// keyword reports whether a command may follow the word on the same line.
func keyword(word string) bool {
	switch word {
	case "!", "if", "then", "elif", "else", "while", "until", "do", "time", "coproc", "$":
		return true
	}
	return false
}
