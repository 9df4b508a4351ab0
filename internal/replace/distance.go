package replace

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// What one search may spend on comparing lines: a constant and a multiple of
// the content's bytes. 64 characters of one line with one of another are a
// step.
const (
	maxSteps   = 16 << 20
	stepFactor = 8
)

// units is the length of s in UTF-16, in which OpenCode counts.
func units(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xffff {
			n++
		}
	}
	return n
}

// utf16Of converts s. It is utf16.Encode without the detour over runes.
func utf16Of(s string) []uint16 {
	out := make([]uint16, 0, len(s))
	for _, r := range s {
		out = utf16.AppendRune(out, r)
	}
	return out
}

// lineSimilarity is 1 for equal lines and 0 for lines with nothing in common.
// Two empty lines count as 0, as they do for the reference. It is not ok if it
// would cost more steps than are left.
func (f *search) lineSimilarity(a, b string) (similarity float64, ok bool) {
	f.steps -= (len(a) + len(b)) / 8
	longest := max(units(a), units(b))
	if longest == 0 {
		return 0, true
	}
	if s, ok := f.compared[[2]string{a, b}]; ok {
		return s, true
	}
	d, ok := distance(utf16Of(a), utf16Of(b), &f.steps)
	similarity = 1 - float64(d)/float64(longest)
	if ok && len(f.compared) < mostCompared {
		if f.compared == nil {
			f.compared = map[[2]string]float64{}
		}
		f.compared[[2]string{a, b}] = similarity
	}
	return similarity, ok
}

// mostCompared is how many pairs of lines are remembered.
const mostCompared = 1 << 12

// distance is the Levenshtein distance: how many units must be inserted,
// deleted or changed. It works on 64 rows of the usual matrix at a time, as
// bits that say whether a cell is one more or one less than its neighbour
// (Myers 1999, in the form of Hyyrö 2003). Each such word of bits is a step.
func distance(a, b []uint16, steps *int) (d int, ok bool) {
	a, b = differing(a, b)
	if len(a) == 0 {
		return len(b), true
	}
	words := (len(a) + 63) / 64
	if *steps -= (words + 1) * len(b); *steps < 0 {
		return 0, false
	}
	where := positions{other: map[uint16][]uint64{}, none: make([]uint64, words)}
	for i, u := range a {
		where.add(u, i)
	}
	more, less := make([]uint64, words), make([]uint64, words)
	for i := range more {
		more[i] = ^uint64(0)
	}
	top := uint64(1) << ((len(a) - 1) % 64)
	d = len(a)
	for _, u := range b {
		d += column(where.rowsOf(u), more, less, top)
	}
	return d, true
}

// differing drops what both texts begin and end with, and returns the shorter
// first.
func differing(a, b []uint16) (shorter, longer []uint16) {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	if len(a) > len(b) {
		return b, a
	}
	return a, b
}

// positions say in which rows a unit is, a bit for each.
type positions struct {
	ascii [128][]uint64
	other map[uint16][]uint64
	none  []uint64
}

func (p *positions) add(u uint16, row int) {
	rows := p.rowsOf(u)
	if &rows[0] == &p.none[0] {
		rows = make([]uint64, len(p.none))
		if u < 128 {
			p.ascii[u] = rows
		} else {
			p.other[u] = rows
		}
	}
	rows[row/64] |= 1 << (row % 64)
}

func (p *positions) rowsOf(u uint16) []uint64 {
	rows := p.none
	if u < 128 && p.ascii[u] != nil {
		rows = p.ascii[u]
	} else if u >= 128 && p.other[u] != nil {
		rows = p.other[u]
	}
	return rows
}

// column moves on by one unit and returns by how much the last row changes:
// more and less are the differences between a row and the one above, and top
// is the last row's bit in the last word.
func column(rows, more, less []uint64, top uint64) int {
	up, down := uint64(1), uint64(0) // carried into the next word
	for w := range rows {
		eq, pv, mv := rows[w], more[w], less[w]
		xv := eq | mv
		eq |= down
		xh := (((eq & pv) + pv) ^ pv) | eq
		ph := mv | ^(xh | pv)
		mh := pv & xh
		if w == len(rows)-1 && top != 1<<63 {
			// The rows above the last are not part of the text: look before
			// the shift.
			up, down, ph, mh = bit(ph, top), bit(mh, top), ph<<1|up, mh<<1|down
		} else {
			up, down, ph, mh = ph>>63, mh>>63, ph<<1|up, mh<<1|down
		}
		more[w] = mh | ^(xv | ph)
		less[w] = ph & xv
	}
	return int(up) - int(down)
}

func bit(word, mask uint64) uint64 {
	if word&mask != 0 {
		return 1
	}
	return 0
}

// similarSteps bounds what is spent on a similarity that is only reported.
const similarSteps = 1 << 20

// similarity compares two texts: 1 is equal. Texts too long to compare as a
// whole are compared line by line, and lines too long count as different.
func similarity(a, b string) float64 {
	if a == b {
		return 1
	}
	steps := similarSteps
	if len(a)/64*len(b) <= steps {
		ua, ub := utf16Of(a), utf16Of(b)
		if d, ok := distance(ua, ub, &steps); ok {
			return 1 - float64(d)/float64(max(len(ua), len(ub), 1))
		}
	}
	apart, all := 0, 0
	for a != "" || b != "" {
		var x, y string
		x, a, _ = strings.Cut(a, "\n")
		y, b, _ = strings.Cut(b, "\n")
		longest := max(utf8.RuneCountInString(x), utf8.RuneCountInString(y))
		all += longest
		if x == y {
			continue
		}
		d, ok := 0, false
		if len(x)/64*len(y) <= steps {
			d, ok = distance(utf16Of(x), utf16Of(y), &steps)
		}
		if !ok {
			d = longest
		}
		apart += min(d, longest)
	}
	return 1 - float64(apart)/float64(max(all, 1))
}
