package search

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
)

const (
	// maxAgain is how many entries may be read anew while a query waits. If
	// there are more, the tree is made anew and the query goes without.
	maxAgain = 8192
	// maxRounds is how often a folder that goes away while it is looked at
	// is looked for again.
	maxRounds = 8
)

// A news is what may have changed since the tree was last updated.
type news struct {
	names map[uint32]map[string]bool // by branch; true if an entry came or went
	again map[uint32]bool            // branches that have to be read anew
	stale bool                       // the tree is no use any more
	count int
}

// touch says that an entry has changed, or may have.
func (n *news) touch(dir uint32, name string, moved bool) {
	if special(name) {
		n.reread(dir)
		return
	}
	if n.names == nil {
		n.names = map[uint32]map[string]bool{}
	}
	if n.names[dir] == nil {
		n.names[dir] = map[string]bool{}
	}
	if _, ok := n.names[dir][name]; !ok {
		n.count++
	}
	n.names[dir][name] = n.names[dir][name] || moved
}

// reread says that a folder has to be read anew, with all in it.
func (n *news) reread(dir uint32) {
	if n.again == nil {
		n.again = map[uint32]bool{}
	}
	n.again[dir] = false // the branch itself stays
}

func (n *news) empty() bool { return len(n.names) == 0 && len(n.again) == 0 }

// update makes the tree what it should be now: no change that was finished
// when it began is missed. An error says that the tree cannot be used.
func (t *fileTree) update(ctx context.Context, root *dirHandle) error {
	n := &news{}
	if !sameAll(t.probes, t.seed) {
		return errStale
	}
	if t.ears {
		overflow, err := t.watch.drain(func(ev change) {
			b := &t.branches[ev.key]
			switch {
			case ev.name == "" && ev.key == 0: // the root itself
				n.stale = true
			case ev.name == "":
				if ev.what == changeSelfGone {
					n.touch(b.parent, string(t.branchName(ev.key)), true)
				}
			default:
				moved := ev.what != changeModified && ev.what != changeClosed && ev.what != changeAttributes
				n.touch(ev.key, ev.name, moved)
			}
		})
		if err != nil || overflow {
			return errors.Join(errStale, err)
		}
	} else if err := t.lookAround(ctx, root, n); err != nil {
		return err
	}
	for id, probes := range t.repos {
		if !sameAll(probes, t.seed) {
			n.reread(id)
		}
	}
	// A file that has several names may have changed under another.
	for id := range t.links {
		st, err := root.look(t.leafPath(id))
		if l := &t.leaves[id]; err != nil || st.time != l.time() {
			n.touch(l.dir, string(t.leafName(id)), false)
		}
	}
	t.lookAtFailed(root, n)
	if n.stale {
		return errStale
	}
	if n.empty() {
		return nil
	}
	return t.apply(ctx, root, n)
}

// lookAtFailed looks whether folders can be read now that could not be.
func (t *fileTree) lookAtFailed(root *dirHandle, n *news) {
	for id, f := range t.failed {
		if f.listed {
			continue
		}
		dir, err := root.openPath(t.branchPath(id))
		switch {
		case err == nil:
			dir.close()
			n.reread(id)
		case !gone(err):
		case id == 0:
			n.stale = true
		default:
			n.touch(t.branches[id].parent, string(t.branchName(id)), true)
		}
	}
}

// apply updates the tree with the changes.
func (t *fileTree) apply(ctx context.Context, root *dirHandle, n *news) error {
	t.detachViews()
	t.bulk = n.count > few || len(n.again) > 0
	g := &gardener{t: t, surveyor: t.surveyor(ctx), root: root, left: maxAgain}
	for range maxRounds {
		next, err := g.round(ctx, n)
		if err != nil {
			return err
		}
		t.findTwins(next)
		if next.empty() {
			t.sortOrder()
			return nil
		}
		n = next
	}
	return errStale
}

// A newcomer is a folder that was not in the tree.
type newcomer struct {
	dir  uint32
	name string
}

// round updates the tree with some changes. What is still unclear is left for the next round.
func (g *gardener) round(ctx context.Context, n *news) (next *news, err error) {
	t := g.t
	next = &news{}
	drop := map[uint32]bool{}
	for id := range n.again {
		drop[id] = false
	}
	var came []newcomer
	for _, id := range t.byDepth(n.names) {
		if _, ok := drop[id]; ok || t.branches[id].flags&alive == 0 || t.isBelowAny(id, drop) {
			continue
		}
		some, err := g.lookAgain(ctx, id, n.names[id], drop, next)
		if err != nil {
			return nil, err
		}
		came = append(came, some...)
	}
	if len(drop) > 0 && !t.bulk {
		t.sortOrder()
		t.bulk = true
	}
	t.dropBelow(drop)
	for id, gone := range drop {
		if !gone && t.branches[id].flags&alive != 0 {
			g.todo = append(g.todo, id)
		}
	}
	for _, c := range came {
		g.welcome(ctx, c)
	}
	return next, g.walk(ctx)
}

// byDepth returns the branches with changes, the highest first.
func (t *fileTree) byDepth(names map[uint32]map[string]bool) []uint32 {
	return slices.SortedFunc(maps.Keys(names), func(a, b uint32) int {
		return cmp.Compare(t.branches[a].depth, t.branches[b].depth)
	})
}

// welcome takes a folder into the tree, to be read.
func (g *gardener) welcome(ctx context.Context, c newcomer) {
	t := g.t
	if t.branches[c.dir].flags&alive == 0 || t.findBranch(c.dir, c.name) != none {
		return
	}
	out := g.ignores(ctx, c.dir, c.name, true)
	if id := t.addBranch(c.dir, c.name, out); !out {
		g.todo = append(g.todo, id)
	}
}

// isBelowAny reports whether a branch is below one of some others.
func (t *fileTree) isBelowAny(id uint32, of map[uint32]bool) bool {
	for id = t.branches[id].parent; id != none; id = t.branches[id].parent {
		if _, ok := of[id]; ok {
			return true
		}
	}
	return false
}

// ignores reports whether an ignore file names an entry.
func (g *gardener) ignores(ctx context.Context, dir uint32, name string, isDir bool) bool {
	g.path = g.t.appendPath(append(g.path[:0], g.prefix...), 0, dir)
	base := len(g.path)
	g.path = append(g.path, name...)
	return g.ignoreVerdict(ctx, g.t.levelOf(dir), g.path, base, isDir) == ignored
}

// lookAgain looks at entries of a folder. It returns the folders that are new,
// and adds to drop those that are gone, or have to be read anew.
func (g *gardener) lookAgain(ctx context.Context, id uint32, names map[string]bool, drop map[uint32]bool, next *news) (came []newcomer, err error) {
	t := g.t
	dir, err := g.root.openPath(t.branchPath(id))
	var self entryInfo
	if err == nil {
		defer dir.close()
		self, err = dir.lookSelf()
	}
	if err != nil || self.id != t.branches[id].id {
		// It goes away as we look: see what has become of it.
		if id == 0 {
			return nil, errStale
		}
		next.touch(t.branches[id].parent, string(t.branchName(id)), true)
		return nil, nil
	}
	for name, moved := range names {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		st, err := dir.look(name)
		if err != nil && !gone(err) {
			drop[id] = false // read it anew, and count what fails
			return nil, nil
		}
		sub := t.findBranch(id, name)
		closed := sub != none && t.branches[sub].flags&shut != 0
		if sub != none && (st.kind != entryDir || !closed) {
			drop[sub] = true
		}
		if st.kind == entryDir && !closed {
			came = append(came, newcomer{id, name})
		}
		g.renew(ctx, id, name, &st, moved)
	}
	return came, nil
}

// renew updates the leaf of a name.
func (g *gardener) renew(ctx context.Context, dir uint32, name string, st *entryInfo, moved bool) {
	t := g.t
	id := t.findLeaf(dir, name)
	switch {
	case id == none && st.kind == entryFile:
		t.addLeaf(dir, name, st, g.ignores(ctx, dir, name, false))
	case id == none:
	case st.kind != entryFile:
		t.dropLeaf(id)
	default:
		if moved || t.leaves[id].inode != uint32(st.id.ino) {
			// The name is that of another file now, which is not yet known to have other names.
			t.leaves[id].flags &^= shared
			delete(t.links, id)
		}
		t.updateLeaf(id, st)
	}
}
