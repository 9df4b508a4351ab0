package replace

import (
	"iter"
	"strings"
)

// trimmedLines yields the runs of whole lines that are equal to the quoted
// ones but for the blanks at their ends.
func (f *search) trimmedLines() iter.Seq[Span] {
	return func(yield func(Span) bool) {
		p := f.indexLines()
		for i := range allMatches(p.cid, p.oid) {
			if !yield(p.c.span(i, i+len(p.oid)-1)) {
				return
			}
		}
	}
}

// A block is a run of lines, both ends included.
type block struct{ first, last int }

// anchors yields, for every line equal to the first quoted one, the block that
// ends with the next line equal to the last quoted one, at least two lines on.
func (f *search) anchors() iter.Seq[block] {
	return func(yield func(block) bool) {
		if strings.Count(f.old, "\n") < 2 {
			return
		}
		p := f.indexLines()
		first, last := p.oid[0], p.oid[len(p.oid)-1]
		end := 0
		for i, id := range p.cid {
			if id != first {
				continue
			}
			for end = max(end, i+2); end < len(p.cid) && p.cid[end] != last; {
				end++
			}
			if end >= len(p.cid) || !yield(block{i, end}) {
				return
			}
		}
	}
}

// enough is how alike a block must be where there are several to choose from.
const enough = 0.3

// anchored yields the block between the anchors: the only one however
// different it is, else the one most alike.
func (f *search) anchored() iter.Seq[Span] {
	return func(yield func(Span) bool) {
		p := f.indexLines()
		var blocks []block
		for b := range f.anchors() {
			blocks = append(blocks, b)
		}
		if len(blocks) == 1 {
			yield(p.c.span(blocks[0].first, blocks[0].last))
			return
		}
		best, at := -1.0, block{}
		for _, b := range blocks {
			s, ok := f.alike(b)
			if !ok {
				return // too costly to tell which
			}
			if s > best {
				best, at = s, b
			}
		}
		if best >= enough {
			yield(p.c.span(at.first, at.last))
		}
	}
}

// alike compares the lines between the anchors one by one, from 0 to 1.
func (f *search) alike(b block) (similarity float64, ok bool) {
	p := f.indexLines()
	n := min(len(p.oid), b.last-b.first+1) - 2
	if n <= 0 {
		return 1, true
	}
	sum := 0.0
	for t := 1; t <= n; t++ {
		if f.steps--; f.steps < 0 {
			return 0, false
		}
		if p.cid[b.first+t] == p.oid[t] {
			if trim(p.o.lineAt(t)) != "" {
				sum++
			}
			continue
		}
		s, ok := f.lineSimilarity(trim(p.c.lineAt(b.first+t)), trim(p.o.lineAt(t)))
		if !ok {
			return 0, false
		}
		sum += s
	}
	return sum / float64(n), true
}

// contextual yields the blocks between the anchors that have as many lines as
// were quoted, at least half of them equal.
func (f *search) contextual() iter.Seq[Span] {
	return func(yield func(Span) bool) {
		p := f.indexLines()
		for b := range f.anchors() {
			if b.last-b.first+1 == len(p.oid) && f.halfEqual(b) && !yield(p.c.span(b.first, b.last)) {
				return
			}
		}
	}
}

// halfEqual reports whether of the lines between the anchors, blank ones not
// counted, at least half are equal but for the blanks at their ends. Blocks of
// the right size overlap in two lines at most, so this reads each line once.
func (f *search) halfEqual(b block) bool {
	p := f.indexLines()
	equal, all := 0, 0
	for t := 1; t < len(p.oid)-1; t++ {
		same := p.cid[b.first+t] == p.oid[t]
		if same && trim(p.o.lineAt(t)) == "" {
			continue
		}
		all++
		if same {
			equal++
		}
	}
	return 2*equal >= all
}
