package search

import (
	"math/bits"
	"unsafe"
)

// The widths that a block can have, in columns.
const (
	trigramWide = 512
	narrow      = 64
	single      = 1
)

// The largest classes of wide and of narrow blocks. They keep a block within
// 512 KB.
const (
	maxWide   = 13
	maxNarrow = 16
)

// A mask has a bit for each column of a block.
type mask [trigramWide / 64]uint64

// A trigramBlock holds the signatures of one class, side by side.
type trigramBlock struct {
	class int // log2 of the number of rows
	width int // number of columns
	count int // columns in use
	rows  []uint64
	ids   []uint32 // by column
	used  mask
	dirty mask // columns that were written, by this id or an earlier one
}

// width is the best width for a further block of a class that has some texts
// already: few texts should not take the memory of many.
func width(class, texts int) int {
	switch {
	case class > maxNarrow:
		return single
	case class > maxWide || texts < narrow:
		return narrow
	}
	return trigramWide
}

// thinner is the next width to try if there is no memory for a block, or 0.
func thinner(width int) int {
	switch width {
	case trigramWide:
		return narrow
	case narrow:
		return single
	}
	return 0
}

// blockBytes is the number of bytes that a block of that form takes.
func blockBytes(class, width int) int {
	return 8*rowWords(class, width) + 4*width + int(unsafe.Sizeof(trigramBlock{}))
}

func rowWords(class, width int) int {
	return max(1, (width<<class)/64)
}

func newBlock(class, width int) *trigramBlock {
	return &trigramBlock{
		class: class,
		width: width,
		rows:  make([]uint64, rowWords(class, width)),
		ids:   make([]uint32, width),
	}
}

func (b *trigramBlock) full() bool { return b.count == b.width }

// take gives a free column to an id. There must be one.
func (b *trigramBlock) take(id uint32) (column int) {
	word := 0
	for b.used[word] == ^uint64(0) {
		word++
	}
	column = word*64 + bits.TrailingZeros64(^b.used[word])
	b.used[word] |= 1 << (column % 64)
	b.ids[column] = id
	b.count++
	return column
}

// write sets the bits of a column to those of a signature.
func (b *trigramBlock) write(column int, sig []uint64) {
	if b.width == single {
		copy(b.rows, sig)
		return
	}
	stride := b.width / 64
	at := column / 64
	bit := uint64(1) << (column % 64)
	if b.dirty[at]&bit != 0 {
		for i := at; i < len(b.rows); i += stride {
			b.rows[i] &^= bit
		}
	}
	for _, word := range sig {
		for ; word != 0; word &= word - 1 {
			b.rows[at+bits.TrailingZeros64(word)*stride] |= bit
		}
		at += 64 * stride
	}
	b.dirty[column/64] |= bit
}

// and keeps in m the columns that have a trigram, given by its hash. It reports
// whether any is left.
func (b *trigramBlock) and(m *mask, hash uint64) bool {
	row := int(hash) & (1<<b.class - 1)
	switch b.width {
	case trigramWide:
		r := (*mask)(b.rows[row*len(m):])
		m[0] &= r[0]
		m[1] &= r[1]
		m[2] &= r[2]
		m[3] &= r[3]
		m[4] &= r[4]
		m[5] &= r[5]
		m[6] &= r[6]
		m[7] &= r[7]
		return m[0]|m[1]|m[2]|m[3]|m[4]|m[5]|m[6]|m[7] != 0
	case narrow:
		m[0] &= b.rows[row]
	default:
		m[0] &= b.rows[row/64] >> (row % 64)
	}
	return m[0] != 0
}
