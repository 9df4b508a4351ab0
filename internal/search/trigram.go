package search

import (
	"math/bits"
	"slices"
	"sync"
	"unsafe"
)

// MaxText is the length in bytes of the longest text that gets a signature.
const MaxText = 4 << 20

// bookkeeping is what a block's number takes in the lists of the index: its pointer, and itself in
// the list of free columns or of gaps, each with space to grow. The index keeps that when the block
// is dropped.
const bookkeeping = 2*8 + 4*4

// noTrigrams is the place of a text that has no signature.
const noTrigrams = ^uint32(0)

// How the index works.
//
// A text's signature is a set of bits, one for every three neighbouring bytes
// (a trigram) of the text, its ASCII letters in lower case. A hash chooses the
// bit, and the signature is so long that a third of its bits is set at most. A
// word can stand in a text only if the bits of all the word's trigrams are set.
//
// Signatures of the same length lie side by side as the columns of a block. A
// row of the block then tells for one trigram which of the 512 texts may have
// it, in one cache line, and a word costs one such row for each of its trigrams.

// An Index holds the signatures of texts. A text goes by an id that the caller
// chooses; ids should be small and without large gaps, since the index spends a
// few bytes on every one up to the highest.
//
// All methods may be called at any time by any goroutine. Writers wait for each
// other; a query waits for a writer only while a finished signature is put in
// its place, a fraction of a millisecond.
type Index struct {
	writer  sync.Mutex // guards scratch, held during a whole Put
	scratch *trigramScratch

	mu     sync.RWMutex // guards what follows
	budget int
	size   int
	places []uint32 // by id: number of the block and column, or none
	always []uint64 // a bit for every id in places: it has no signature
	blocks []*trigramBlock
	gaps   []int32               // numbers of blocks that were given up
	room   [maxClass + 1][]int32 // by class: blocks with free columns
	texts  [maxClass + 1]int     // by class: columns in use
}

// NewIndex returns an empty index that holds at most budget bytes.
func NewIndex(budget int) *Index {
	return &Index{budget: budget, size: int(unsafe.Sizeof(Index{}))}
}

// Put computes the signature of a text and keeps it under id, in place of an
// earlier one. It reports false if there is no memory left for it: then, and
// also if the text is longer than MaxText or so varied that its signature would
// be too long, id is a candidate of every query. An empty text is a candidate
// of none. The text is not kept.
func (x *Index) Put(id uint32, text []byte) bool {
	x.writer.Lock()
	defer x.writer.Unlock()
	if len(text) > MaxText {
		x.Drop(id)
		return true
	}
	thin, ok := x.reserveScratch()
	if !ok {
		x.Drop(id)
		return false
	}
	sig, ok := x.scratch.sign(text, thin)
	if !ok {
		x.Drop(id)
		return true
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.storeSignature(id, sig)
}

// Drop forgets the text of an id. The id is then, like one that was never put,
// a candidate of every query.
func (x *Index) Drop(id uint32) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.removeID(id)
}

// reserveScratch ensures that there is scratch memory, and returns how thin the next signature may
// be: one bit in how many is set. As memory fills up signatures become shorter, which makes their
// texts candidates more often. So a small tree is filtered best, and in a large one the texts added
// first.
func (x *Index) reserveScratch() (thin int, ok bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.scratch == nil {
		if x.size+int(unsafe.Sizeof(trigramScratch{})) > x.budget {
			return 0, false
		}
		x.size += int(unsafe.Sizeof(trigramScratch{}))
		x.scratch = new(trigramScratch)
	}
	switch {
	case x.size < x.budget/8:
		return 8, true
	case x.size < x.budget/4:
		return 4, true
	}
	return dense, true
}

// storeSignature puts a signature in a column.
func (x *Index) storeSignature(id uint32, sig []uint64) bool {
	if !x.growTo(id) {
		return false // an id out of reach has nothing to forget
	}
	class := bits.Len(uint(len(sig)*64)) - 1
	if place := x.places[id]; place != noTrigrams {
		if b := x.blocks[place/trigramWide]; b.class == class {
			b.write(int(place%trigramWide), sig)
			return true
		}
		x.removeID(id)
	}
	n, ok := x.freeBlock(class)
	if !ok {
		return false
	}
	b := x.blocks[n]
	column := b.take(id)
	if b.full() {
		x.room[class] = x.room[class][:len(x.room[class])-1]
	}
	b.write(column, sig)
	x.texts[class]++
	x.places[id] = uint32(n)*trigramWide + uint32(column)
	x.always[id/64] &^= 1 << (id % 64)
	return true
}

// removeID gives the column of an id free, and the block with its last column.
func (x *Index) removeID(id uint32) {
	if int64(id) >= int64(len(x.places)) || x.places[id] == noTrigrams {
		return
	}
	n := int32(x.places[id] / trigramWide)
	b := x.blocks[n]
	if b.full() {
		x.room[b.class] = append(x.room[b.class], n)
	}
	// The bits of the column stay until it is used again.
	column := int(x.places[id] % trigramWide)
	b.used[column/64] &^= 1 << (column % 64)
	b.count--
	x.texts[b.class]--
	x.places[id] = noTrigrams
	x.always[id/64] |= 1 << (id % 64)
	if b.count == 0 {
		list := x.room[b.class]
		at := slices.Index(list, n)
		x.room[b.class] = slices.Delete(list, at, at+1)
		x.size -= blockBytes(b.class, b.width)
		x.blocks[n] = nil
		x.gaps = append(x.gaps, n)
	}
}

// growTo makes places long enough for an id.
func (x *Index) growTo(id uint32) bool {
	have := int64(len(x.places))
	if int64(id) < have {
		return true
	}
	least := (int64(id) + 64) &^ 63
	for _, want := range []int64{max(least, (have+have/4+1024)&^63), least} {
		more := (want - have) / 64 * (64*4 + 8)
		if more > int64(x.budget-x.size) {
			continue
		}
		x.size += int(more)
		places := make([]uint32, want)
		for i := copy(places, x.places); i < len(places); i++ {
			places[i] = noTrigrams
		}
		always := make([]uint64, want/64)
		for i := copy(always, x.always); i < len(always); i++ {
			always[i] = ^uint64(0)
		}
		x.places, x.always = places, always
		return true
	}
	return false
}

// freeBlock returns the number of a block of a class that has a free column: the last in the list.
func (x *Index) freeBlock(class int) (int32, bool) {
	if list := x.room[class]; len(list) > 0 {
		return list[len(list)-1], true
	}
	n, lists := int32(len(x.blocks)), bookkeeping
	last := len(x.gaps) - 1
	if last >= 0 {
		n, lists = x.gaps[last], 0
	} else if uint32(n) >= noTrigrams/trigramWide {
		return 0, false
	}
	for width := width(class, x.texts[class]); width > 0; width = thinner(width) {
		if x.size+blockBytes(class, width)+lists > x.budget {
			continue
		}
		x.size += blockBytes(class, width) + lists
		if last >= 0 {
			x.gaps = x.gaps[:last]
			x.blocks[n] = newBlock(class, width)
		} else {
			x.blocks = append(x.blocks, newBlock(class, width))
		}
		x.room[class] = append(x.room[class], n)
		return n, true
	}
	return 0, false
}
