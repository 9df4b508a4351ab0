package regex

// What the bytes of a character come to in a trie. A larger value is a node,
// numbered from trieNode: more bytes have to follow.
const (
	trieNone  = 0 // no character of the set, or no character at all
	trieYes   = 1 // a character of the set
	trieOther = 2 // a character outside the set, where the trie tells them apart
	trieNode  = 3
)

// A trie reads characters beyond ASCII byte by byte. Equal parts of it are
// kept once, so that its size follows the shape of the set and not its number
// of characters.
type trie struct {
	lead  [64]uint16   // by the first byte, from 0xC0
	nodes [][64]uint16 // by a byte that continues, from 0x80
}

// leadNode tells what b, as the first byte of a character, leads to.
func (t *trie) leadNode(b byte) uint16 {
	if b < 0xC0 {
		return trieNone
	}
	return t.lead[b-0xC0]
}

// more tells what b leads to from a node.
func (t *trie) more(node uint16, b byte) uint16 {
	if b&0xC0 != 0x80 {
		return trieNone
	}
	return t.nodes[node-trieNode][b&0x3F]
}

// A valueRange is characters that come to the same value.
type valueRange struct {
	lo, hi rune
	value  uint16
}

// A trieBuilder makes a trie from ranges, in one pass over them.
type trieBuilder struct {
	trie   *trie
	ranges []valueRange // those before the present place are cut off
	min    rune         // what is below has a shorter form
	index  map[[64]uint16]uint16
	whole  [4][2]uint16 // the nodes with all characters yes or other, by level
}

// newTrie builds the trie of a set. With others it tells valid characters
// outside of the set from what is no character.
func newTrie(runes []runeRange, others bool) *trie {
	b := &trieBuilder{trie: &trie{}, index: make(map[[64]uint16]uint16, min(len(runes), 512))}
	b.trie.nodes = make([][64]uint16, 0, min(len(runes), 512))
	b.ranges = valued(runes, others)
	b.min = 0x80
	for c := byte(0xC2); c <= 0xDF; c++ {
		b.trie.lead[c-0xC0] = b.buildNode(1, rune(c&0x1F)<<6)
	}
	b.min = 0x800
	for c := byte(0xE0); c <= 0xEF; c++ {
		b.trie.lead[c-0xC0] = b.buildNode(2, rune(c&0x0F)<<12)
	}
	b.min = 0x10000
	for c := byte(0xF0); c <= 0xF4; c++ {
		b.trie.lead[c-0xC0] = b.buildNode(3, rune(c&0x07)<<18)
	}
	return b.trie
}

// valued gives the ranges their value, and with others fills the gaps.
func valued(runes []runeRange, others bool) []valueRange {
	all := make([]valueRange, 0, 2*len(runes)+3)
	next := rune(0)
	gap := func(hi rune) {
		for _, part := range [2]runeRange{{0, 0xD7FF}, {0xE000, 0x10FFFF}} {
			if lo, hi := max(next, part.lo), min(hi, part.hi); others && lo <= hi {
				all = append(all, valueRange{lo, hi, trieOther})
			}
		}
	}
	for _, r := range runes {
		gap(r.lo - 1)
		all = append(all, valueRange{r.lo, r.hi, trieYes})
		next = r.hi + 1
	}
	gap(0x10FFFF)
	return all
}

// buildNode builds the node for the characters from lo on that level more bytes
// tell apart. It must be called with rising lo for one level.
func (b *trieBuilder) buildNode(level int, lo rune) uint16 {
	shift := 6 * (level - 1)
	hi := lo + 64<<shift - 1
	if hi < b.min {
		return trieNone
	}
	b.skipBelow(max(lo, b.min))
	if len(b.ranges) == 0 || b.ranges[0].lo > hi {
		return trieNone
	}
	r := b.ranges[0]
	full := lo >= b.min && r.lo <= lo && r.hi >= hi
	if full && b.whole[level][r.value-trieYes] != 0 {
		return b.whole[level][r.value-trieYes]
	}
	var table [64]uint16
	if level > 1 {
		for i := range table {
			table[i] = b.buildNode(level-1, lo+rune(i)<<shift)
		}
	} else {
		b.fillTable(&table, lo)
	}
	id := b.intern(&table)
	if full {
		b.whole[level][r.value-trieYes] = id
	}
	return id
}

func (b *trieBuilder) skipBelow(c rune) {
	for len(b.ranges) > 0 && b.ranges[0].hi < c {
		b.ranges = b.ranges[1:]
	}
}

// fillTable fills a table with the values of the characters from lo on. They are
// not below the least one of their length: that is a multiple of 64.
func (b *trieBuilder) fillTable(table *[64]uint16, lo rune) {
	for _, r := range b.ranges {
		if r.lo > lo+63 {
			return
		}
		part := table[max(r.lo-lo, 0) : min(r.hi-lo, 63)+1]
		for i := range part {
			part[i] = r.value
		}
	}
}

func (b *trieBuilder) intern(table *[64]uint16) uint16 {
	if *table == [64]uint16{} {
		return trieNone
	}
	id, ok := b.index[*table]
	if !ok {
		id = uint16(len(b.trie.nodes) + trieNode)
		b.trie.nodes = append(b.trie.nodes, *table)
		b.index[*table] = id
	}
	return id
}
