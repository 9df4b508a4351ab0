package search

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// A rank is what decides on a file's place in an order.
type rank struct {
	time stamp
	name string
}

// compare is negative if a comes before b.
func (o Order) compare(a, b *rank) int {
	if o == Newest {
		if c := b.time.compare(a.time); c != 0 {
			return c
		}
	}
	return strings.Compare(a.name, b.name)
}

// A prize is a file that was found, and the lines in it.
type prize struct {
	rank
	lines []MatchLine
}

// matchCount is what a file counts: its lines, or itself if only names are wanted.
func (p *prize) matchCount() int { return max(1, len(p.lines)) }

// A best keeps the first results in an order, up to a total weight. Any number of goroutines may
// add to it.
type best struct {
	order Order
	want  int // 0 is all

	// bound is the last result that still counts, nil as long as all do.
	bound atomic.Pointer[rank]

	mu     sync.Mutex
	closed bool
	weight int
	heap   []prize // the last in the order on top, if there is a bound to keep
}

// matters reports whether a file of that time and name would be kept.
func (b *best) matters(time stamp, name []byte) bool {
	bound := b.bound.Load()
	if bound == nil {
		return true
	}
	if b.order == Newest {
		if c := time.compare(bound.time); c != 0 {
			return c > 0
		}
	}
	return string(name) < bound.name
}

// total is how much there is so far.
func (b *best) total() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.weight
}

// add adds a result. It reports whether later results cannot matter any more.
func (b *best) add(p prize) (done bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return true
	}
	b.weight += p.matchCount()
	b.heap = append(b.heap, p)
	if b.order == First || b.want == 0 {
		return b.want > 0 && b.weight >= b.want
	}
	for at := len(b.heap) - 1; at > 0; { // up to its place
		up := (at - 1) / 2
		if b.order.compare(&b.heap[at].rank, &b.heap[up].rank) <= 0 {
			break
		}
		b.heap[at], b.heap[up] = b.heap[up], b.heap[at]
		at = up
	}
	for b.weight-b.heap[0].matchCount() >= b.want {
		b.weight -= b.heap[0].matchCount()
		b.pop()
	}
	if b.weight >= b.want {
		bound := b.heap[0].rank
		b.bound.Store(&bound)
	}
	return false
}

// pop takes the last in the order out.
func (b *best) pop() {
	last := len(b.heap) - 1
	b.heap[0] = b.heap[last]
	b.heap[last] = prize{}
	b.heap = b.heap[:last]
	sink(b.heap, 0, func(x, y *prize) bool { return b.order.compare(&x.rank, &y.rank) > 0 })
}

// sink moves an element of a heap down to its place.
func sink[T any](heap []T, at int, before func(x, y *T) bool) {
	for {
		next := 2*at + 1
		if next >= len(heap) {
			return
		}
		if next+1 < len(heap) && before(&heap[next+1], &heap[next]) {
			next++
		}
		if !before(&heap[next], &heap[at]) {
			return
		}
		heap[at], heap[next] = heap[next], heap[at]
		at = next
	}
}

// take is all that is kept, in order. Nothing can be added any more.
func (b *best) take() []prize {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	if b.order != First {
		slices.SortFunc(b.heap, func(x, y prize) int { return b.order.compare(&x.rank, &y.rank) })
	}
	return b.heap
}
