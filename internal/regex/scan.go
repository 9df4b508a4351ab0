package regex

import (
	"bytes"
	"math/bits"
)

// A Set is a set of bytes.
type Set [4]uint64

// Has reports whether b is in the set.
func (s *Set) Has(b byte) bool { return s[b>>6]&(1<<(b&63)) != 0 }

// Add puts the bytes from lo to hi, both included, into the set.
func (s *Set) Add(lo, hi byte) {
	for w := int(lo >> 6); w <= int(hi>>6) && lo <= hi; w++ {
		mask := ^uint64(0)
		if w == int(lo>>6) {
			mask <<= lo & 63
		}
		if w == int(hi>>6) {
			mask &= ^uint64(0) >> (63 - hi&63)
		}
		s[w] |= mask
	}
}

// Len returns how many bytes are in the set.
func (s *Set) Len() int {
	return bits.OnesCount64(s[0]) + bits.OnesCount64(s[1]) + bits.OnesCount64(s[2]) + bits.OnesCount64(s[3])
}

// smallest returns the smallest byte of a set that is not empty.
func (s *Set) smallest() byte {
	for i, w := range s {
		if w != 0 {
			return byte(i<<6 | bits.TrailingZeros64(w))
		}
	}
	return 0
}

// A Sequence is sets that follow each other: a literal is a sequence of sets
// of one byte each, a literal in any case one of pairs.
type Sequence []Set

// MaxSequences is how many alternatives a [Scanner] can look for at once.
const MaxSequences = 16

// A way is how a Finder gets to the places worth a closer look.
type way uint8

const (
	wayByte    way = iota // one byte: all there is to find
	wayLiteral            // one literal without a rare byte
	wayRare               // one sequence with a rare byte
	wayTable              // anything, byte by byte
	wayPair               // one sequence, two bytes of it, by vector
	wayTeddy              // anything, three bytes of it, by vector
)

// A Scanner looks for alternatives. It is never changed and may be shared.
type Scanner struct {
	way    way
	alts   []alternative
	window scanWindow
	tables [width][256]uint16 // by place in the window and byte: the alternatives that are content
	rare   byte               // wayByte, wayRare: the byte
	rareAt int                // wayRare: where it stands in the sequence
	pair   pair
	teddy  teddy
}

// An alternative is a sequence made ready for comparing.
type alternative struct {
	literal string   // when all sets hold one byte
	sets    Sequence // otherwise
}

// NewFinder returns a Scanner of the alternatives, or nil if scanning for them is not worthwhile:
// there are none, or more than [MaxSequences], one is empty, or so many positions of an ordinary
// text would be hit that a matcher is as fast alone. Portable leaves the vector instructions of the
// machine unused; the results are the same.
func NewFinder(alternatives []Sequence, portable bool) *Scanner {
	if len(alternatives) == 0 || len(alternatives) > MaxSequences {
		return nil
	}
	p := newPlan(alternatives)
	if p.window.n == 0 || p.window.rate > dense {
		return nil
	}
	f := &Scanner{window: p.window, alts: make([]alternative, len(alternatives))}
	for i, s := range alternatives {
		f.alts[i] = newAlternative(s)
	}
	f.choose(&p, !portable && vectors())
	return f
}

func newAlternative(s Sequence) alternative {
	literal := make([]byte, len(s))
	for i := range s {
		if s[i].Len() != 1 {
			return alternative{sets: append(Sequence(nil), s...)}
		}
		literal[i] = s[i].smallest()
	}
	return alternative{literal: string(literal)}
}

// choose picks the way.
func (f *Scanner) choose(p *scanPlan, vector bool) {
	one := len(f.alts) == 1
	switch {
	case one && len(f.alts[0].literal) == 1:
		f.way, f.rare = wayByte, f.alts[0].literal[0]
		return
	case vector && one && p.pairs():
		f.way, f.pair = wayPair, p.pair
		return
	case vector:
		f.way, f.teddy = wayTeddy, newTeddy(p)
	case one && p.rare():
		f.way, f.rare, f.rareAt = wayRare, p.rareByte, p.rareAt
		return
	case one && f.alts[0].literal != "":
		f.way = wayLiteral
		return
	default:
		f.way = wayTable
	}
	for i, s := range p.alts {
		for k := range f.tables {
			setBits(&f.tables[k], &s[f.window.at[k]], 1<<i)
		}
	}
}

func setBits(table *[256]uint16, set *Set, bit uint16) {
	for w, word := range set {
		for ; word != 0; word &= word - 1 {
			table[w<<6|bits.TrailingZeros64(word)] |= bit
		}
	}
}

// Next returns the smallest position at or after from at which an alternative
// stands in text as a whole, or -1.
func (f *Scanner) Next(text []byte, from int) int {
	if from >= len(text) {
		return -1
	}
	switch f.way {
	case wayByte:
		return shiftIndex(bytes.IndexByte(text[from:], f.rare), from)
	case wayLiteral:
		return shiftIndex(bytes.Index(text[from:], []byte(f.alts[0].literal)), from)
	case wayRare:
		return f.byRare(text, from)
	case wayTable:
		return f.byTable(text, from)
	}
	return f.byVector(text, from)
}

func shiftIndex(i, from int) int {
	if i < 0 {
		return -1
	}
	return from + i
}

// byRare leaps from one rare byte to the next.
func (f *Scanner) byRare(text []byte, from int) int {
	for at := from + f.rareAt; at < len(text); at++ {
		i := bytes.IndexByte(text[at:], f.rare)
		if i < 0 {
			return -1
		}
		at += i
		if f.alts[0].stands(text, at-f.rareAt) {
			return at - f.rareAt
		}
	}
	return -1
}

// byTable looks at every position.
func (f *Scanner) byTable(text []byte, from int) int {
	end := len(text) - f.window.reach // no alternative stands at or after it
	if from >= end {
		return -1
	}
	first, skip := &f.tables[0], f.window.at[0]
	for i, b := range text[from+skip : end+skip] {
		if first[b] == 0 {
			continue
		}
		if m := f.candidatesAt(text, from+i); m != 0 && f.any(text, from+i, m) {
			return from + i
		}
	}
	return -1
}

// candidatesAt returns the alternatives whose window lets text pass at p.
func (f *Scanner) candidatesAt(text []byte, p int) uint16 {
	at := &f.window.at
	return f.tables[0][text[p+at[0]]] & f.tables[1][text[p+at[1]]] & f.tables[2][text[p+at[2]]]
}

// any reports whether one of the alternatives of m stands at p.
func (f *Scanner) any(text []byte, p int, m uint16) bool {
	for ; m != 0; m &= m - 1 {
		if f.alts[bits.TrailingZeros16(m)].stands(text, p) {
			return true
		}
	}
	return false
}

// stands reports whether the alternative is at p.
func (a *alternative) stands(text []byte, p int) bool {
	if n := len(a.literal); n > 0 {
		return p+n <= len(text) && string(text[p:p+n]) == a.literal
	}
	if p+len(a.sets) > len(text) {
		return false
	}
	for i := range a.sets {
		if !a.sets[i].Has(text[p+i]) {
			return false
		}
	}
	return true
}
