package regex

import (
	"slices"
	"unicode/utf8"
)

const (
	mostRanges    = 16   // ranges of a class that is spelled out in bytes
	mostSpan      = 1024 // characters of a range of one
	mostEncodings = 4    // sequences of bytes that a class may come to
)

// classPart is one character of a class. A class that is too much to spell out
// is known by its first, its last and all its bytes only.
func classPart(runes []runeRange) literals {
	if list := encodings(runes); list != nil {
		return spelled(list)
	}
	var first, last Set
	done := byte(0)
	for _, r := range runes {
		if r.lo < utf8.RuneSelf {
			hi := byte(min(r.hi, utf8.RuneSelf-1))
			first.Add(byte(r.lo), hi)
			last.Add(byte(r.lo), hi)
		}
		if r.hi < utf8.RuneSelf {
			continue
		}
		if lo, hi := lead(max(r.lo, utf8.RuneSelf)), lead(r.hi); lo != done || hi != done {
			first.Add(lo, hi)
			done = hi
		}
	}
	if done != 0 {
		last.Add(0x80, 0xbf)
	}
	p := literals{
		prefix: []Sequence{{first}},
		suffix: []Sequence{{last}},
		all:    union(first, last),
		least:  1,
		found:  noFinds(),
	}
	p.wide = p.all.Share() > wide
	return p
}

// encodings spells a class out in bytes, or returns nil if that is too much.
func encodings(runes []runeRange) (list []Sequence) {
	if len(runes) > mostRanges {
		return nil
	}
	var ascii Set
	for _, r := range runes {
		if r.hi >= utf8.RuneSelf && r.hi-r.lo > mostSpan {
			return nil
		}
		if r.lo < utf8.RuneSelf {
			ascii.Add(byte(r.lo), byte(min(r.hi, utf8.RuneSelf-1)))
			r.lo = utf8.RuneSelf
		}
		if r.lo <= r.hi {
			list = encode(list, r)
		}
	}
	if list = merge(list); ascii != (Set{}) || len(list) == 0 {
		list = append(list, Sequence{ascii})
	}
	if len(list) > mostEncodings {
		return nil
	}
	return list
}

func spelled(list []Sequence) literals {
	p := literals{known: true, sure: true, exact: list, least: utf8.UTFMax, found: noFinds()}
	for _, s := range list {
		p.least = min(p.least, len(s))
		for _, set := range s {
			p.all = union(p.all, set)
		}
	}
	p.wide = p.all.Share() > wide
	return p
}

// lead returns the first byte of a character outside ASCII.
func lead(r rune) byte {
	switch {
	case r < 0x800:
		return byte(0xc0 | r>>6)
	case r < 0x10000:
		return byte(0xe0 | r>>12)
	}
	return byte(0xf0 | r>>18)
}

// encode adds the sequences of bytes that stand for the characters of a range
// outside ASCII.
func encode(list []Sequence, r runeRange) []Sequence {
	for _, end := range [...]rune{0x7ff, 0xd7ff, 0xffff} {
		if r.lo <= end && end < r.hi {
			list = encode(list, runeRange{r.lo, end})
			r.lo = end + 1
		}
	}
	if 0xd800 <= r.lo && r.lo <= 0xdfff { // not characters
		r.lo = 0xe000
	}
	if r.lo > r.hi {
		return list
	}
	// All are of one length now. Cut where a byte that is not the last one
	// changes while those behind it do not run from their least to their most.
	for shift := 6; shift <= 6*(utf8.RuneLen(r.hi)-1); shift += 6 {
		low := rune(1)<<shift - 1
		if r.lo&^low == r.hi&^low {
			continue
		}
		if r.lo&low != 0 {
			list = encode(list, runeRange{r.lo, r.lo | low})
			return encode(list, runeRange{(r.lo | low) + 1, r.hi})
		}
		if r.hi&low != low {
			list = encode(list, runeRange{r.lo, r.hi&^low - 1})
			return encode(list, runeRange{r.hi &^ low, r.hi})
		}
	}
	var lo, hi [utf8.UTFMax]byte
	n := utf8.EncodeRune(lo[:], r.lo)
	utf8.EncodeRune(hi[:], r.hi)
	s := make(Sequence, n)
	for i := range s {
		s[i].Add(lo[i], hi[i])
	}
	return append(slices.Clip(list), s)
}
