package regex

import (
	"math/bits"
	"unsafe"
)

const (
	block   = 32 // positions a kernel looks at in one go
	buckets = 8  // groups of alternatives the Teddy kernel can tell apart
)

// A teddy is the masks of the Teddy kernel: for each place of the window and
// each value of a half byte, the buckets it is content with. A byte is content
// with the buckets that both its halves are content with, so a bucket stands
// for all bytes that combine a high half with a low half of its set.
type teddy struct {
	low, high [width][16]byte
	at        [width]int
}

// A box is one bucket: the sets of the places of the window.
type box [width]Set

func newTeddy(p *scanPlan) (t teddy) {
	t.at = p.window.at
	for b, x := range boxes(p) {
		for k := range x {
			for w, word := range x[k] {
				for ; word != 0; word &= word - 1 {
					c := w<<6 | bits.TrailingZeros64(word)
					t.low[k][c&15] |= 1 << b
					t.high[k][c>>4] |= 1 << b
				}
			}
		}
	}
	return t
}

// boxes distributes the alternatives over the buckets. Where buckets are left,
// sets that are not all combinations of their halves are cut into such.
func boxes(p *scanPlan) []box {
	list := make([]box, 0, MaxSequences)
	for _, s := range p.alts {
		var x box
		for k, at := range p.window.at {
			x[k] = s[at]
		}
		list = append(list, x)
	}
	for len(list) > buckets {
		list = join(list)
	}
	for i, k := 0, 0; i < len(list); {
		parts := list[i][k].rows()
		if len(parts) > 1 && len(list)+len(parts)-1 <= buckets {
			for _, part := range parts[1:] {
				x := list[i]
				x[k] = part
				list = append(list, x)
			}
			list[i][k] = parts[0]
		}
		if k++; k == p.window.n {
			i, k = i+1, 0
		}
	}
	return list
}

// join makes one of those two boxes that are best put together.
func join(list []box) []box {
	a, b, least := 0, 1, 0.0
	for i := range list {
		for j := i + 1; j < len(list); j++ {
			if r := list[i].union(&list[j]).rate(); (i == 0 && j == 1) || r < least {
				a, b, least = i, j, r
			}
		}
	}
	list[a] = list[a].union(&list[b])
	list[b] = list[len(list)-1]
	return list[:len(list)-1]
}

func (x box) union(y *box) box {
	for k := range x {
		for w := range x[k] {
			x[k][w] |= y[k][w]
		}
	}
	return x
}

func (x box) rate() float64 { return x[0].Share() * x[1].Share() * x[2].Share() }

// rows cuts the set into sets that are all combinations of some high and some
// low halves.
func (s *Set) rows() (parts []Set) {
	var seen [16]uint16
	for high := range seen {
		seen[high] = uint16(s[high>>2] >> (high & 3 << 4))
	}
	for high := range seen {
		low := seen[high]
		if low == 0 {
			continue
		}
		var part Set
		for h := high; h < 16; h++ {
			if seen[h] == low {
				part[h>>2] |= uint64(low) << (h & 3 << 4)
				seen[h] = 0
			}
		}
		parts = append(parts, part)
	}
	return parts
}

// byVector lets a kernel find the blocks worth a closer look. The last block
// overlaps the one before it, so that nothing behind text is read.
func (f *Scanner) byVector(text []byte, from int) int {
	last := len(text) - block - f.lookahead()
	if last < 0 {
		return f.byHand(text, from)
	}
	for at := from; at < last+block; at += block {
		mask := uint32(0)
		if at <= last {
			at, mask = f.kernel(text, at, last)
		}
		if mask == 0 && at < last+block {
			_, mask = f.kernel(text, last, last)
			mask >>= at - last // these were looked at before
		}
		for ; mask != 0; mask &= mask - 1 {
			if p := at + bits.TrailingZeros32(mask); f.stands(text, p) {
				return p
			}
		}
	}
	return -1
}

func (f *Scanner) lookahead() int {
	if f.way == wayPair {
		return max(f.pair.at[0], f.pair.at[1])
	}
	return f.window.reach
}

func (f *Scanner) kernel(text []byte, at, last int) (int, uint32) {
	if f.way == wayPair {
		return pairScan(&f.pair, unsafe.SliceData(text), at, last)
	}
	return teddyScan(&f.teddy, unsafe.SliceData(text), at, last)
}

// byHand looks at every position of a text that is too short for a kernel.
func (f *Scanner) byHand(text []byte, from int) int {
	if f.way == wayTeddy {
		return f.byTable(text, from)
	}
	for p := from; p < len(text); p++ {
		if f.alts[0].stands(text, p) {
			return p
		}
	}
	return -1
}

// stands reports whether an alternative is at p, where the window passed.
func (f *Scanner) stands(text []byte, p int) bool {
	if f.way == wayPair {
		return f.alts[0].stands(text, p)
	}
	m := f.candidatesAt(text, p)
	return m != 0 && f.any(text, p, m)
}
