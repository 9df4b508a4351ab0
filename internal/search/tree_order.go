package search

import (
	"bytes"
	"cmp"
	"slices"
)

// few is up to how many changes each is put into its place in the order by
// itself. More are put there together.
const few = 32

// compare is negative if a is before b in the order: newer, or of a name that
// comes first.
func (v *view) compare(a, b uint32) int {
	x, y := &v.leaves[a], &v.leaves[b]
	if c := y.time().compare(x.time()); c != 0 {
		return c
	}
	return v.compareNames(a, b)
}

// compareNames compares the paths of two leaves byte by byte.
func (v *view) compareNames(a, b uint32) int {
	x, y := v.leaves[a].dir, v.leaves[b].dir
	if x == y {
		return bytes.Compare(v.leafName(a), v.leafName(b))
	}
	// Go up to the folder that has both, and compare what leads down from there.
	xName, yName := pathPart{v.leafName(a), false}, pathPart{v.leafName(b), false}
	for x != y {
		xDepth, yDepth := v.branches[x].depth, v.branches[y].depth
		if xDepth >= yDepth {
			xName, x = pathPart{v.branchName(x), true}, v.branches[x].parent
		}
		if yDepth >= xDepth {
			yName, y = pathPart{v.branchName(y), true}, v.branches[y].parent
		}
	}
	return xName.compare(yName)
}

// A pathPart is a component of a path. That of a folder has a slash after it.
type pathPart struct {
	name  []byte
	isDir bool
}

func (p pathPart) compare(o pathPart) int {
	n := min(len(p.name), len(o.name))
	if c := bytes.Compare(p.name[:n], o.name[:n]); c != 0 {
		return c
	}
	return cmp.Compare(p.byteAt(n), o.byteAt(n))
}

// byteAt is the byte there, or what comes after the end.
func (p pathPart) byteAt(i int) int {
	switch {
	case i < len(p.name):
		return int(p.name[i])
	case p.isDir:
		return '/'
	}
	return -1
}

// byName is all leaves in byte order of their paths.
func (v *view) byName() []uint32 {
	// All entries of a folder are put side by side, sorted, and then visited
	// from the root on.
	type entry struct {
		pathPart
		id uint32
	}
	starts := make([]uint32, len(v.branches)+1)
	total := uint32(0)
	for id := range v.leaves {
		if l := &v.leaves[id]; l.flags&alive != 0 {
			starts[l.dir+1]++
			total++
		}
	}
	for id := range v.branches {
		if b := &v.branches[id]; id > 0 && b.flags&alive != 0 {
			starts[b.parent+1]++
			total++
		}
	}
	for i := 1; i < len(starts); i++ {
		starts[i] += starts[i-1]
	}
	entries := make([]entry, total)
	next := slices.Clone(starts)
	add := func(dir uint32, e entry) {
		entries[next[dir]] = e
		next[dir]++
	}
	for id := range v.leaves {
		if l := &v.leaves[id]; l.flags&alive != 0 {
			add(l.dir, entry{pathPart{v.leafName(uint32(id)), false}, uint32(id)})
		}
	}
	for id := range v.branches {
		if b := &v.branches[id]; id > 0 && b.flags&alive != 0 {
			add(b.parent, entry{pathPart{v.branchName(uint32(id)), true}, uint32(id)})
		}
	}
	list := make([]uint32, 0, total)
	for stack := []entry{{pathPart{nil, true}, 0}}; len(stack) > 0; {
		e := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if !e.isDir {
			list = append(list, e.id)
			continue
		}
		inside := entries[starts[e.id]:starts[e.id+1]]
		slices.SortFunc(inside, func(a, b entry) int { return b.compare(a.pathPart) }) // the first on top
		stack = append(stack, inside...)
	}
	return slices.Clip(list)
}

// sortAll makes the order from nothing.
func (t *fileTree) sortAll() {
	list := t.byName()
	place := make([]uint32, len(t.leaves))
	for i, id := range list {
		place[id] = uint32(i)
	}
	slices.SortFunc(list, func(a, b uint32) int {
		if c := t.leaves[b].time().compare(t.leaves[a].time()); c != 0 {
			return c
		}
		return cmp.Compare(place[a], place[b])
	})
	t.newest, t.fresh = snug(list), t.fresh[:0]
}

// unrank removes a leaf from the order, before its time or name is changed.
func (t *fileTree) unrank(id uint32) {
	if t.bulk {
		t.leaves[id].flags |= leaving
		return
	}
	if at := slices.Index(t.fresh, id); at >= 0 {
		t.fresh = slices.Delete(t.fresh, at, at+1)
		return
	}
	if at, ok := slices.BinarySearchFunc(t.newest, id, t.view.compare); ok {
		t.newest = slices.Delete(t.newest, at, at+1)
	}
}

// sortOrder puts the order right after changes.
func (t *fileTree) sortOrder() {
	if t.bulk {
		t.bulk = false
		t.newest = slices.DeleteFunc(t.newest, func(id uint32) bool { return t.leaves[id].flags&leaving != 0 })
		t.freeLeaves = append(t.freeLeaves, t.limbo...)
		t.limbo = t.limbo[:0]
		kept := t.fresh[:0]
		for _, id := range t.fresh {
			if l := &t.leaves[id]; l.flags&alive != 0 {
				l.flags &^= leaving
				kept = append(kept, id)
			}
		}
		slices.Sort(kept) // a leaf that changed twice is there twice
		t.fresh = slices.Compact(kept)
	}
	if len(t.fresh) > few {
		t.merge()
	}
	for _, id := range t.fresh {
		at, _ := slices.BinarySearchFunc(t.newest, id, t.view.compare)
		t.newest = slices.Insert(t.newest, at, id)
	}
	t.fresh = t.fresh[:0]
	t.compact()
}

// merge puts many leaves into the order.
func (t *fileTree) merge() {
	slices.SortFunc(t.fresh, t.view.compare)
	old := t.newest
	t.newest = make([]uint32, 0, len(old)+len(t.fresh))
	at := 0
	for _, id := range t.fresh {
		n, _ := slices.BinarySearchFunc(old[at:], id, t.view.compare)
		t.newest = append(append(t.newest, old[at:at+n]...), id)
		at += n
	}
	t.newest = append(t.newest, old[at:]...)
	t.fresh = t.fresh[:0]
}

// compact throws away the names that nothing uses, when they are many.
func (t *fileTree) compact() {
	if t.wasted < 1<<20 || t.wasted < len(t.names)/2 {
		return
	}
	old := t.names
	t.names = make([]byte, 0, len(old)-t.wasted)
	move := func(name *uint32, size uint16) {
		at := uint32(len(t.names))
		t.names = append(t.names, old[*name:*name+uint32(size)]...)
		*name = at
	}
	for i := range t.leaves {
		if l := &t.leaves[i]; l.flags&alive != 0 {
			move(&l.name, l.size)
		}
	}
	for i := range t.branches {
		if b := &t.branches[i]; b.flags&alive != 0 {
			move(&b.name, b.size)
		}
	}
	t.wasted = 0
}
