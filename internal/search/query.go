package search

import (
	"iter"
	"math/bits"
)

// The limits of a query. What exceeds them is left out, which can only add candidates.
const (
	maxTrigrams = 64   // of one string
	maxRows     = 2048 // of the alternatives of one need
)

// Candidates are the ids whose texts a query could not rule out. It is a picture
// of one moment; later changes of the index do not show.
//
// An id that the index had no signature of is a candidate. So is every id of a
// nil *Candidates.
type Candidates struct {
	bits []uint64
}

// A word is a string to find, as the hashes of its trigrams.
type word []uint64

// Query returns the ids of the texts that may satisfy all of needs. A need is
// satisfied by a text that contains one of its strings, ASCII letters of either
// case taken as equal. A need with a string of fewer than three bytes, or with
// no string, says nothing; if none is left, Query returns nil.
func (x *Index) Query(needs [][]string) *Candidates {
	var query [][]word
	for _, need := range needs {
		if words := wordsOf(need); len(words) > 0 {
			query = append(query, words)
		}
	}
	if len(query) == 0 {
		return nil
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	found := make([]uint64, len(x.always))
	copy(found, x.always)
	for _, b := range x.blocks {
		if b != nil {
			b.find(query, found)
		}
	}
	return &Candidates{bits: found}
}

// wordsOf converts the strings of a need to words. It returns nil if the need is empty or too broad
// to filter texts.
func wordsOf(need []string) (words []word) {
	rows := 0
	for _, s := range need {
		if len(s) < 3 {
			return nil
		}
		// Trigrams that overlap come late: they rule out least.
		n := min(len(s)-2, maxTrigrams)
		w := make(word, 0, n)
		for from := range 3 {
			for i := from; i < n; i += 3 {
				w = append(w, hash(trigram(s[i], s[i+1], s[i+2])))
			}
		}
		rows += len(w)
		if rows > maxRows {
			return nil
		}
		words = append(words, w)
	}
	return words
}

// find sets the bits of the ids in the block that may satisfy a query.
func (b *trigramBlock) find(query [][]word, found []uint64) {
	left := b.used
	for _, need := range query {
		var union mask
		any := false
		for _, w := range need {
			if m := left; b.contain(&m, w) {
				any = true
				for i := range union {
					union[i] |= m[i]
				}
			}
		}
		if !any {
			return
		}
		left = union
	}
	for i, word := range left {
		for ; word != 0; word &= word - 1 {
			id := b.ids[i*64+bits.TrailingZeros64(word)]
			found[id/64] |= 1 << (id % 64)
		}
	}
}

// contain keeps in m the columns that may contain a word. It reports whether any is left.
func (b *trigramBlock) contain(m *mask, w word) bool {
	for _, h := range w {
		if !b.and(m, h) {
			return false
		}
	}
	return true
}

// Has reports whether the id is a candidate.
func (c *Candidates) Has(id uint32) bool {
	if c == nil || int(id/64) >= len(c.bits) {
		return true
	}
	return c.bits[id/64]&(1<<(id%64)) != 0
}

// Count returns the number of candidates among the ids below n.
func (c *Candidates) Count(n uint32) int {
	if c == nil {
		return int(n)
	}
	count := 0
	whole := min(int(n/64), len(c.bits))
	for _, word := range c.bits[:whole] {
		count += bits.OnesCount64(word)
	}
	if whole < len(c.bits) {
		return count + bits.OnesCount64(c.bits[whole]&(1<<(n%64)-1))
	}
	return count + int(n) - whole*64
}

// All yields the candidates among the ids below n, in ascending order.
func (c *Candidates) All(n uint32) iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		known := uint32(0)
		if c != nil {
			known = uint32(min(int(n), len(c.bits)*64))
			for i, word := range c.bits {
				for ; word != 0; word &= word - 1 {
					id := uint32(i*64 + bits.TrailingZeros64(word))
					if id >= n || !yield(id) {
						return
					}
				}
			}
		}
		for id := known; id < n; id++ {
			if !yield(id) {
				return
			}
		}
	}
}
