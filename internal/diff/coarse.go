package diff

import "sort"

const (
	coarseEdits = 1_000      // as maxEdits, for a gap between two anchors
	coarseWork  = 50_000_000 // as maxWork, for all gaps together
	maxDepth    = 8          // how often a gap is looked through for anchors
)

// coarse appends a script for two texts too different to search: lines that
// occur once in each are taken as anchors, and the gaps between them are
// searched if they are small or replaced as a whole.
func (c *comparer) coarse(a, b []int32, depth int) {
	head := slide(a, b)
	c.script = push(c.script, keep, head)
	a, b = a[head:], b[head:]
	tail := 0
	for tail < min(len(a), len(b)) && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	c.gap(a[:len(a)-tail], b[:len(b)-tail], depth)
	c.script = push(c.script, keep, tail)
}

// gap appends a script for two ranges that begin and end differently.
func (c *comparer) gap(a, b []int32, depth int) {
	if len(a) > 0 && len(b) > 0 {
		least, common := c.distance(a, b)
		if common > 0 && least <= coarseEdits {
			if s, ok := c.search(a, b, coarseEdits); ok {
				c.script = join(c.script, s)
				return
			}
		}
		if common > 0 && depth > 0 {
			if anchors := c.anchors(a, b); len(anchors) > 0 {
				c.between(a, b, anchors, depth-1)
				return
			}
		}
	}
	c.script = push(push(c.script, remove, len(a)), add, len(b))
}

// between appends the script of every gap between two anchors.
func (c *comparer) between(a, b []int32, anchors []anchor, depth int) {
	x, y := 0, 0
	for _, k := range anchors {
		if k.x < x || k.y < y {
			continue // the gap before has taken it
		}
		c.coarse(a[x:k.x], b[y:k.y], depth)
		n := slide(a[k.x:], b[k.y:])
		c.script = push(c.script, keep, n)
		x, y = k.x+n, k.y+n
	}
	c.coarse(a[x:], b[y:], depth)
}

// An anchor is a line that occurs once in each range.
type anchor struct{ x, y int }

// anchors returns the longest list of anchors that lie in the same order in
// both ranges.
func (c *comparer) anchors(a, b []int32) []anchor {
	counts := c.tally(a, b)
	var all []anchor
	for i, id := range a {
		if n := counts[id]; n.a == 1 && n.b == 1 {
			all = append(all, anchor{x: i, y: int(n.posB)})
		}
	}
	c.resetCounts(a, b)

	// ends[n] is the anchor with the smallest y that ends a list of n+1.
	var ends []int
	before := make([]int, len(all))
	for i, k := range all {
		n := sort.Search(len(ends), func(n int) bool { return all[ends[n]].y > k.y })
		before[i] = -1
		if n > 0 {
			before[i] = ends[n-1]
		}
		if n == len(ends) {
			ends = append(ends, i)
		} else {
			ends[n] = i
		}
	}
	if len(ends) == 0 {
		return nil
	}
	list := make([]anchor, len(ends))
	for i, n := ends[len(ends)-1], len(ends)-1; n >= 0; i, n = before[i], n-1 {
		list[n] = all[i]
	}
	return list
}
