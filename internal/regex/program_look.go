package regex

import "unicode/utf8"

// A side is what stands on one side of a place, as a bit of a mask.
type side uint8

const (
	sideEdge  side = 1 << iota // the start or the end of the line
	sideASCII                  // a character of words, ASCII
	sideWord                   // a character of words, beyond ASCII
	sideOther                  // another character
	sideWrong                  // no valid UTF-8, or the middle of a character

	sideAll side = 1<<5 - 1
)

// satisfied tells whether a look holds between two sides. Where there is no valid
// UTF-8, a place is no boundary by itself and \B and the half boundaries do
// not hold: they could split a character.
func (l look) satisfied(before, after side) bool {
	const word = sideASCII | sideWord
	switch l {
	case lookLineStart, lookTextStart:
		return before == sideEdge
	case lookLineEnd, lookTextEnd:
		return after == sideEdge
	case lookWord:
		return (before&word != 0) != (after&word != 0)
	case lookNotWord:
		return before != sideWrong && after != sideWrong && (before&word != 0) == (after&word != 0)
	case lookWordStart:
		return before&word == 0 && after&word != 0
	case lookWordEnd:
		return before&word != 0 && after&word == 0
	case lookWordStartHalf:
		return before&(word|sideWrong) == 0
	case lookWordEndHalf:
		return after&(word|sideWrong) == 0
	}
	return l.holdsASCII(before == sideASCII, after == sideASCII)
}

func (l look) holdsASCII(before, after bool) bool {
	switch l {
	case lookASCIIWord:
		return before != after
	case lookASCIINotWord:
		return before == after
	case lookASCIIWordStart:
		return !before && after
	case lookASCIIWordEnd:
		return before && !after
	case lookASCIIWordStartHalf:
		return !before
	case lookASCIIWordEndHalf:
		return !after
	}
	return false
}

// allows is the sides that may follow a place for a look to hold there.
func (l look) allows(before side) side {
	var mask side
	for after := sideEdge; after < sideAll; after <<= 1 {
		if l.satisfied(before, after) {
			mask |= after
		}
	}
	return mask
}

func isWordByte(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || b == '_'
}

// sideOfByte is the side that an ASCII byte is.
func sideOfByte(b byte) side {
	if isWordByte(b) {
		return sideASCII
	}
	return sideOther
}

// sideOfValue is the side that a value of the trie of words stands for.
func sideOfValue(value uint16) side {
	switch value {
	case trieYes:
		return sideWord
	case trieOther:
		return sideOther
	}
	return sideWrong
}

// sideBefore is the side before a place in a line.
func (p *program) sideBefore(line []byte, at int) side {
	switch {
	case at == 0:
		return sideEdge
	case line[at-1] < 0x80:
		return sideOfByte(line[at-1])
	case !p.unicode:
		return sideOther
	}
	// The last byte that does not continue a character, of at most four, says
	// what stands here, even when more bytes continue it than belong to it:
	// so does ripgrep.
	start := at - 1
	for start > 0 && start > at-4 && line[start]&0xC0 == 0x80 {
		start--
	}
	return p.sideAfter(line[:at], start).prolonged()
}

// prolonged returns the side of a character whose last byte is not ASCII, as it may have too many
// bytes behind it.
func (s side) prolonged() side {
	if s == sideASCII {
		return sideWord
	}
	return s
}

// sideAfter is the side behind a place in a line.
func (p *program) sideAfter(line []byte, at int) side {
	switch {
	case at == len(line):
		return sideEdge
	case line[at] < 0x80:
		return sideOfByte(line[at])
	case !p.unicode:
		return sideOther
	}
	if r, size := utf8.DecodeRune(line[at:]); r == utf8.RuneError && size == 1 {
		return sideWrong
	}
	t := p.wordRunes()
	value := t.leadNode(line[at])
	for i := at + 1; value >= trieNode; i++ {
		value = t.more(value, line[i])
	}
	return sideOfValue(value)
}
