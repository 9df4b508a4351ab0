package diff

const (
	// maxEdits bounds the lines removed and added of a script that is looked
	// for exactly; the memory for it grows with the square, a bit an entry.
	maxEdits = 12_000

	// maxWork bounds the steps of the exact search.
	maxWork = 100_000_000
)

// exact returns the shortest script, in the choice the npm package makes among
// those equally short. It gives up when that would cost too much.
//
// The three cases that need no search give what the search would: a script of
// additions only can but take every match at once, and where nothing matches
// removals come first.
func (c *comparer) exact(a, b []int32) ([]run, bool) {
	if len(a) <= len(b) {
		if s, ok := subsequence(a, b, add); ok {
			return s, true
		}
	} else if s, ok := subsequence(b, a, remove); ok {
		return s, true
	}
	least, common := c.distance(a, b)
	if common == 0 {
		return push(push(nil, remove, len(a)), add, len(b)), true
	}
	if least > maxEdits {
		return nil, false
	}
	return c.search(a, b, maxEdits)
}

// subsequence makes the script for a text all of whose lines are found, in
// order, in the longer one; the lines between are of the given kind.
func subsequence(short, long []int32, kind byte) ([]run, bool) {
	var script []run
	i := 0
	for j, id := range long {
		if i < len(short) && short[i] == id {
			script = push(script, keep, 1)
			i++
			continue
		}
		if len(short)-i > len(long)-j-1 {
			return nil, false
		}
		script = push(script, kind, 1)
	}
	return script, true
}

// distance returns a number of changes that no script can do without, and how
// many lines could at best be kept.
func (c *comparer) distance(a, b []int32) (least, common int) {
	n := c.tally(a, b)
	for _, id := range a {
		if n[id].b > 0 {
			n[id].b--
			common++
		}
	}
	c.resetCounts(a, b)
	return len(a) + len(b) - 2*common, common
}

// tally counts the lines of both ranges.
func (c *comparer) tally(a, b []int32) []count {
	if c.counts == nil {
		c.counts = make([]count, c.ids)
	}
	for i, id := range a {
		c.counts[id].a++
		c.counts[id].posA = int32(i)
	}
	for i, id := range b {
		c.counts[id].b++
		c.counts[id].posB = int32(i)
	}
	return c.counts
}

func (c *comparer) resetCounts(a, b []int32) {
	for _, id := range a {
		c.counts[id] = count{}
	}
	for _, id := range b {
		c.counts[id] = count{}
	}
}

// A frontier is the state of the search: how far every diagonal has come after
// some number of edits, and by which step every diagonal was reached.
//
// Diagonal k holds the points with k more old lines used than new ones.
// Reach is indexed by mid+k and counts old lines; -1 is a dead end.
type frontier struct {
	reach []int32
	mid   int
	lo    int // diagonals below are done with: the new text's end was met
	hi    int // diagonals above are done with: the old text's end was met

	steps []uint64 // a bit for each diagonal of each round: set for an addition
	rows  []row    // where each round's bits are
	bits  int
}

type row struct{ first, bit int }

// search is Myers' greedy algorithm. Between two ways to reach a diagonal it
// takes the addition if that has used more old lines, else the removal.
func (c *comparer) search(a, b []int32, limit int) ([]run, bool) {
	limit = min(limit, len(a)+len(b))
	f := &frontier{reach: make([]int32, 2*limit+3), mid: limit + 1, lo: -limit, hi: limit}
	for i := range f.reach {
		f.reach[i] = -1
	}
	f.reach[f.mid] = int32(slide(a, b))
	if int(f.reach[f.mid]) == len(a) && len(a) == len(b) {
		return push(nil, keep, len(a)), true
	}
	for d := 1; d <= limit && c.work > 0; d++ {
		if k, done := c.round(f, a, b, d); done {
			return f.replay(a, b, k), true
		}
	}
	return nil, false
}

// round extends every diagonal by one edit and tells the one that has arrived
// at the end of both texts.
func (c *comparer) round(f *frontier, a, b []int32, d int) (int, bool) {
	first, last := max(f.lo, -d), min(f.hi, d)
	f.rows = append(f.rows, row{first: first, bit: f.bits})
	f.bits += max(0, (last-first)/2+1)
	for len(f.steps)*64 < f.bits {
		f.steps = append(f.steps, 0)
	}
	bit := f.rows[d-1].bit
	n, m := len(a), len(b)
	reach := f.reach
	for k := first; k <= last; k, bit = k+2, bit+1 {
		i := f.mid + k
		rem, ad := int(reach[i-1]), int(reach[i+1])
		canRemove := rem >= 0 && rem < n
		canAdd := ad >= 0 && ad-k <= m
		if !canRemove && !canAdd {
			reach[i] = -1
			continue
		}
		x := rem + 1
		if !canRemove || (canAdd && rem < ad) {
			x = ad
			f.steps[bit>>6] |= 1 << (bit & 63)
		}
		same := slide(a[x:], b[x-k:])
		c.work -= same
		x += same
		y := x - k
		if x == n && y == m {
			return k, true
		}
		reach[i] = int32(x)
		if x == n {
			f.hi = min(f.hi, k-1)
		}
		if y == m {
			f.lo = max(f.lo, k+1)
		}
		last = min(last, f.hi)
	}
	c.work -= max(1, (last-first)/2+1)
	return 0, false
}

// replay walks back from the diagonal that arrived to the beginning, and then
// forth again, to make the script.
func (f *frontier) replay(a, b []int32, k int) []run {
	adds := make([]bool, len(f.rows))
	for d := len(f.rows) - 1; d >= 0; d-- {
		bit := f.rows[d].bit + (k-f.rows[d].first)/2
		if f.steps[bit>>6]&(1<<(bit&63)) != 0 {
			adds[d] = true
			k++
		} else {
			k--
		}
	}
	x := slide(a, b)
	y := x
	script := push(nil, keep, x)
	for _, isAdd := range adds {
		if isAdd {
			script = push(script, add, 1)
			y++
		} else {
			script = push(script, remove, 1)
			x++
		}
		n := slide(a[x:], b[y:])
		script = push(script, keep, n)
		x, y = x+n, y+n
	}
	return script
}

// slide counts the equal lines at the beginning.
func slide(a, b []int32) int {
	most := min(len(a), len(b))
	n := 0
	for n < most && a[n] == b[n] {
		n++
	}
	return n
}
