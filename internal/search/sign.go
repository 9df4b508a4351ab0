package search

import (
	"encoding/binary"
	"math/bits"
)

// A signature has between 1<<minClass and 1<<maxClass bits.
const (
	minClass = 6
	maxClass = 20
)

// dense is the number of bits in a signature of which at most one is set.
const dense = 3

// trigramScratch is where signatures are computed.
type trigramScratch [1 << (maxClass - 6)]uint64

// hash spreads a trigram, its first byte lowest, over maxClass bits. Any number
// of the lowest may be used.
func hash(trigram uint64) uint64 {
	return trigram & 0xffffff * 0x9e3779b97f4a7c15 >> (64 - maxClass)
}

// lower is the byte with ASCII letters in lower case.
func lower(c byte) byte {
	if c-'A' < 26 {
		c += 'a' - 'A'
	}
	return c
}

// lower8 is lower for eight bytes at once. Text has too little order in it for
// a branch to be predicted.
func lower8(w uint64) uint64 {
	const ones = 0x0101010101010101
	low := w & (0x7f * ones)
	fromA := low + (0x80-'A')*ones
	pastZ := low + (0x80-'Z'-1)*ones
	capital := (fromA &^ pastZ &^ w) & (0x80 * ones)
	return w | capital>>2
}

// sign computes the signature of a text, with at most one of thin bits set
// where that is possible. It fails if there would be more than one of dense.
func (s *trigramScratch) sign(text []byte, thin int) ([]uint64, bool) {
	start := min(max(bits.Len(uint(thin*len(text))), minClass), maxClass)
	sig := s[:1<<(start-6)]
	clear(sig)
	s.hashTrigrams(text, 1<<start-1)
	set := 0
	for _, word := range sig {
		set += bits.OnesCount64(word)
	}
	if set*dense > len(sig)*64 {
		return nil, false
	}
	for len(sig) > 1<<(minClass-6) {
		// The lower bits of a hash are the hash of a shorter signature.
		low, high := sig[:len(sig)/2], sig[len(sig)/2:]
		set = 0
		for i, word := range low {
			set += bits.OnesCount64(word | high[i])
		}
		if set*thin > len(low)*64 {
			break
		}
		for i, word := range high {
			low[i] |= word
		}
		sig = low
	}
	return sig, true
}

// hashTrigrams sets the bit of every trigram of a text; last is the number of the last
// bit.
func (s *trigramScratch) hashTrigrams(text []byte, last uint64) {
	for len(text) >= 8 {
		w := lower8(binary.LittleEndian.Uint64(text))
		s.set(hash(w) & last)
		s.set(hash(w>>8) & last)
		s.set(hash(w>>16) & last)
		s.set(hash(w>>24) & last)
		s.set(hash(w>>32) & last)
		s.set(hash(w>>40) & last)
		text = text[6:]
	}
	for ; len(text) >= 3; text = text[1:] {
		s.set(hash(trigram(text[0], text[1], text[2])) & last)
	}
}

func (s *trigramScratch) set(bit uint64) { s[bit/64] |= 1 << (bit % 64) }

// trigram puts three bytes together, in lower case.
func trigram(a, b, c byte) uint64 {
	return uint64(lower(a)) | uint64(lower(b))<<8 | uint64(lower(c))<<16
}
