package shell

import "strings"

// pieces splits a text that can not be parsed wherever a command might begin,
// without regard to quotes. It finds too many commands rather than too few: a
// restriction on one of them still holds.
func pieces(text string) []Unit {
	var units []Unit
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
			u.Words = append(u.Words, Word{Raw: f, Value: strings.Map(dropQuote, f)})
		}
		units = append(units, u)
	}
	return units
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
