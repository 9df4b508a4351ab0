package search

import (
	"context"
	"hash/maphash"
	"slices"
	"strings"
	"sync/atomic"
)

// A fileNode is a file of a kept tree. Records have no pointers, so that a hundred
// thousand of them are no work for the garbage collector.
type fileNode struct {
	sec   int64 // of its last change
	nsec  uint32
	hash  uint32 // of its place
	dir   uint32
	name  uint32 // where in view.names its name begins
	inode uint32 // the low half of its number
	size  uint16 // of the name
	flags uint16
}

// The flags of a leaf or a branch.
const (
	alive   = 1 << iota
	shut    // an ignore file names it; such a folder is not looked into
	shared  // it has several names, or had
	leaving // its place in the order is not right any more
)

// A branch is a folder of a kept tree.
type branch struct {
	id      fileID
	changed stamp // when it was changed last, of interest if there are no watches
	read    stamp // and when it was read
	parent  uint32
	name    uint32
	size    uint16
	flags   uint16
	hash    uint32
	depth   uint32
	level   uint32 // the branch whose ignore files hold for its entries, or none
	shut    uint32 // how many of its files an ignore file names
}

// A fileID identifies a file or folder.
type fileID struct{ dev, ino uint64 }

// none is the id of no branch and no leaf.
const none = ^uint32(0)

// A view is what a query needs of a tree. While a view is in use the tree does not change it, but
// goes on with a copy.
type view struct {
	leaves   []fileNode
	branches []branch // the first is the root
	names    []byte   // grows only
	newest   []uint32 // all leaves, the newest first
	closed   []uint32 // all branches that are shut
	named    []uint32 // all leaves by name, nil if that is not known
	users    *atomic.Int32
}

// A fileTree holds all that a walk would find below a folder, with ignored files and folders
// flagged. It belongs to one goroutine at a time.
type fileTree struct {
	view
	root     string // where it is
	scope    *scope
	above    readFailure // what could not be read above the root
	watch    *watcher
	ears     bool // there are watches; otherwise all is looked at again
	leafAt   table
	branchAt table
	seed     maphash.Seed

	freeLeaves, freeBranches []uint32
	limbo                    []uint32 // leaves that are free when the order is right again
	fresh                    []uint32 // leaves that have no place in the order yet
	bulk                     bool     // many changes: put the order right once
	wasted                   int      // bytes of names that nothing uses

	levels map[uint32]*level
	repos  map[uint32][]probe     // the exclude files of repositories
	failed map[uint32]readFailure // what could not be read
	links  map[uint32]struct{}    // leaves that are shared
	twins  map[uint32]struct{}    // inodes whose other names have to be found
	probes []probe                // what the ignore files above depend on

	shape   int // counts changes of what is in the tree
	shutAll int // leaves that are shut
	memos   []*memo

	index   *Index
	bare    bool     // there is no memory for an index
	todo    []uint32 // leaves that have to be put into the index
	waiting bitmap   // the same
	reading uint32   // the leaf whose text is being indexed
	touched bool     // that has changed meanwhile
}

// A readFailure is what could not be read in a folder.
type readFailure struct {
	count  int
	err    error
	listed bool // the folder itself could be read
}

func newTree(root string, s *scope) *fileTree {
	t := &fileTree{root: root, scope: s, seed: maphash.MakeSeed(), reading: none}
	t.users = new(atomic.Int32)
	t.levels = map[uint32]*level{}
	t.repos = map[uint32][]probe{}
	t.failed = map[uint32]readFailure{}
	t.links = map[uint32]struct{}{}
	t.twins = map[uint32]struct{}{}
	t.branches = []branch{{parent: none, level: none, flags: alive}}
	return t
}

// close gives back what the tree holds.
func (t *fileTree) close() {
	if t.watch != nil {
		t.watch.close()
	}
}

// detachViews copies what views use and is about to change.
func (t *fileTree) detachViews() {
	if t.users.Load() == 0 {
		return
	}
	t.users = new(atomic.Int32)
	t.leaves = slices.Clone(t.leaves)
	t.branches = slices.Clone(t.branches)
	t.newest = slices.Clone(t.newest)
	t.closed = slices.Clone(t.closed)
	t.memos = nil
}

func (v *view) leafName(id uint32) []byte {
	l := &v.leaves[id]
	return v.names[l.name : l.name+uint32(l.size)]
}

func (v *view) branchName(id uint32) []byte {
	b := &v.branches[id]
	return v.names[b.name : b.name+uint32(b.size)]
}

func (l *fileNode) time() stamp { return stamp{l.sec, int64(l.nsec)} }

// appendPath appends the way from one branch down to another, with a slash at
// the end.
func (v *view) appendPath(path []byte, from, to uint32) []byte {
	size := 0
	for at := to; at != from; at = v.branches[at].parent {
		size += int(v.branches[at].size) + 1
	}
	end := len(path) + size
	path = slices.Grow(path, size)[:end]
	for at := to; at != from; at = v.branches[at].parent {
		name := v.branchName(at)
		end -= len(name) + 1
		copy(path[end:], name)
		path[end+len(name)] = '/'
	}
	return path
}

// branchPath is the way to a branch from the root, without a slash at the end,
// and "." for the root.
func (v *view) branchPath(id uint32) string {
	if id == 0 {
		return "."
	}
	path := v.appendPath(nil, 0, id)
	return string(path[:len(path)-1])
}

// leafPath returns the path of a leaf from the root.
func (v *view) leafPath(id uint32) string {
	return string(append(v.appendPath(nil, 0, v.leaves[id].dir), v.leafName(id)...))
}

// nameHash is the hash of a name in a folder.
func (t *fileTree) nameHash(dir uint32, name string) uint32 {
	h := maphash.String(t.seed, name)
	h ^= uint64(dir) * 0x9e3779b97f4a7c15
	return uint32(h ^ h>>32)
}

// findLeaf returns the leaf of that name, or none.
func (t *fileTree) findLeaf(dir uint32, name string) uint32 {
	return t.leafAt.find(t.nameHash(dir, name), func(id uint32) bool {
		return t.leaves[id].dir == dir && string(t.leafName(id)) == name
	})
}

// findBranch is the branch of that name, or none.
func (t *fileTree) findBranch(dir uint32, name string) uint32 {
	return t.branchAt.find(t.nameHash(dir, name), func(id uint32) bool {
		return t.branches[id].parent == dir && string(t.branchName(id)) == name
	})
}

// descend is the branch that a path names, or none. The empty path is the
// root.
func (t *fileTree) descend(path string) uint32 {
	at := uint32(0)
	for path != "" {
		part, rest, _ := strings.Cut(path, "/")
		at, path = t.findBranch(at, part), rest
		if at == none || t.branches[at].flags&shut != 0 {
			return none
		}
	}
	return at
}

// addLeaf makes a record of a file.
func (t *fileTree) addLeaf(dir uint32, name string, st *entryInfo, ignored bool) {
	id := uint32(len(t.leaves))
	if last := len(t.freeLeaves) - 1; last >= 0 {
		id, t.freeLeaves = t.freeLeaves[last], t.freeLeaves[:last]
	} else {
		t.leaves = append(t.leaves, fileNode{})
	}
	l := &t.leaves[id]
	*l = fileNode{
		dir: dir, name: uint32(len(t.names)), size: uint16(len(name)), hash: t.nameHash(dir, name),
		sec: st.time.sec, nsec: uint32(st.time.nsec), inode: uint32(st.id.ino), flags: alive,
	}
	t.names = append(t.names, name...)
	if ignored {
		l.flags |= shut
		t.branches[dir].shut++
		t.shutAll++
	}
	t.leafAt.put(l.hash, id, t.leafHash)
	t.fresh = append(t.fresh, id)
	t.named = nil
	t.shape++
	for _, m := range t.memos {
		// A leaf has changed.
		m.known.remove(id)
		m.covered = 0
	}
	t.share(id, st)
	t.changed(id)
}

// share records that a file has several names. All of them are then checked for each query, because
// a change is reported only for the name through which it was made.
func (t *fileTree) share(id uint32, st *entryInfo) {
	if st.links < 2 || t.leaves[id].flags&shared != 0 {
		return
	}
	t.markShared(id)
	t.twins[uint32(st.id.ino)] = struct{}{}
}

// findTwins finds the other names of files that were found to have several. Changes made through
// one name were not reported for the others.
func (t *fileTree) findTwins(n *news) {
	if len(t.twins) == 0 {
		return
	}
	for id := range t.leaves {
		l := &t.leaves[id]
		if _, ok := t.twins[l.inode]; ok && l.flags&(alive|shared) == alive {
			t.markShared(uint32(id))
			n.touch(l.dir, string(t.leafName(uint32(id))), false)
		}
	}
	clear(t.twins)
}

// markShared flags a leaf as shared. The index cannot be used for it any more.
func (t *fileTree) markShared(id uint32) {
	if t.leaves[id].flags&shared != 0 {
		return
	}
	t.leaves[id].flags |= shared
	t.links[id] = struct{}{}
	t.changed(id)
}

// updateLeaf notes what became of a file.
func (t *fileTree) updateLeaf(id uint32, st *entryInfo) {
	l := &t.leaves[id]
	l.inode = uint32(st.id.ino)
	if l.time() != st.time {
		t.unrank(id)
		l.sec, l.nsec = st.time.sec, uint32(st.time.nsec)
		t.fresh = append(t.fresh, id)
	}
	t.share(id, st)
	t.changed(id)
}

// dropLeaf forgets a file.
func (t *fileTree) dropLeaf(id uint32) {
	l := &t.leaves[id]
	t.unrank(id)
	if l.flags&shut != 0 {
		t.branches[l.dir].shut--
		t.shutAll--
	}
	t.leafAt.removeSlot(l.hash, id)
	t.wasted += int(l.size)
	delete(t.links, id)
	l.flags = l.flags&^(alive|shared|shut) | leaving
	if t.bulk {
		t.limbo = append(t.limbo, id)
	} else {
		t.freeLeaves = append(t.freeLeaves, id)
	}
	t.named = nil
	t.shape++
	t.unindex(id)
}

// addBranch makes a record of a folder.
func (t *fileTree) addBranch(dir uint32, name string, ignored bool) uint32 {
	id := uint32(len(t.branches))
	if last := len(t.freeBranches) - 1; last >= 0 {
		id, t.freeBranches = t.freeBranches[last], t.freeBranches[:last]
	} else {
		t.branches = append(t.branches, branch{})
	}
	b := &t.branches[id]
	*b = branch{
		parent: dir, name: uint32(len(t.names)), size: uint16(len(name)), hash: t.nameHash(dir, name),
		depth: t.branches[dir].depth + 1, level: none, flags: alive,
	}
	t.names = append(t.names, name...)
	if ignored {
		b.flags |= shut
		t.closed = append(t.closed, id)
	}
	t.branchAt.put(b.hash, id, t.branchHash)
	t.shape++
	t.memos = nil
	return id
}

// dropBelow forgets all that is below some branches, and those branches too
// where asked. It makes one round over all records, however much goes.
func (t *fileTree) dropBelow(roots map[uint32]bool) {
	if len(roots) == 0 {
		return
	}
	t.shape++
	t.memos = nil
	const unknown, stays, empties, goes = 0, 1, 2, 3
	state := make([]byte, len(t.branches))
	var judge func(id uint32) byte
	judge = func(id uint32) byte {
		if state[id] != unknown {
			return state[id]
		}
		s := byte(stays)
		if up := t.branches[id].parent; up != none && judge(up) > stays {
			s = goes
		} else if self, ok := roots[id]; ok && self {
			s = goes
		} else if ok {
			s = empties
		}
		state[id] = s
		return s
	}
	for id := range t.leaves {
		if l := &t.leaves[id]; l.flags&alive != 0 && judge(l.dir) > stays {
			t.dropLeaf(uint32(id))
		}
	}
	for id := range t.branches {
		if t.branches[id].flags&alive == 0 {
			continue
		}
		if s := judge(uint32(id)); s == goes {
			t.dropBranch(uint32(id))
		} else if s == empties {
			t.clearBranch(uint32(id))
		}
	}
	t.closed = slices.DeleteFunc(t.closed, func(id uint32) bool { return t.branches[id].flags&alive == 0 })
}

// dropBranch forgets the record of a folder that has nothing in it any more.
func (t *fileTree) dropBranch(id uint32) {
	b := &t.branches[id]
	t.branchAt.removeSlot(b.hash, id)
	t.wasted += int(b.size)
	t.clearBranch(id)
	b.flags = 0
	t.freeBranches = append(t.freeBranches, id)
	if t.ears {
		t.watch.removeWatch(id)
	}
}

// clearBranch forgets what was read in a folder.
func (t *fileTree) clearBranch(id uint32) {
	delete(t.levels, id)
	delete(t.repos, id)
	delete(t.failed, id)
}

// levelOf is the ignore files that hold for the entries of a branch.
func (t *fileTree) levelOf(id uint32) *level {
	if owner := t.branches[id].level; owner != none {
		return t.levels[owner]
	}
	return t.scope.above
}

func (t *fileTree) leafHash(id uint32) uint32   { return t.leaves[id].hash }
func (t *fileTree) branchHash(id uint32) uint32 { return t.branches[id].hash }

// surveyor is one to look at folders of the tree.
func (t *fileTree) surveyor(ctx context.Context) *surveyor {
	return &surveyor{scope: t.scope, reader: &lister{}}
}
