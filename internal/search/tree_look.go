package search

import (
	"context"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// A lookout replaces watches where there are none: it examines every folder and every file. A
// folder is listed again only if its modification time has changed or is too recent to be trusted.
type lookout struct {
	*fileTree
	root   *dirHandle
	starts []uint32 // by branch: where in inside its leaves begin
	inside []uint32
	next   atomic.Int64

	mu   sync.Mutex
	news *news
	read []relisted
}

// A relisted folder was found to hold what the tree says.
type relisted struct {
	id            uint32
	changed, when stamp
}

// lookAround looks at all there is.
func (t *fileTree) lookAround(ctx context.Context, root *dirHandle, n *news) error {
	o := &lookout{fileTree: t, root: root, news: n}
	o.group()
	var crew sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), 1+len(t.branches)/64) {
		crew.Go(func() { o.probeFiles(ctx) })
	}
	crew.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(o.read) > 0 {
		t.detachViews()
	}
	for _, r := range o.read {
		b := &t.branches[r.id]
		b.changed, b.read = r.changed, r.when
	}
	return nil
}

// group puts the leaves of each branch side by side.
func (o *lookout) group() {
	o.starts = make([]uint32, len(o.branches)+1)
	for i := range o.leaves {
		if l := &o.leaves[i]; l.flags&alive != 0 {
			o.starts[l.dir+1]++
		}
	}
	for i := 1; i < len(o.starts); i++ {
		o.starts[i] += o.starts[i-1]
	}
	o.inside = make([]uint32, o.starts[len(o.branches)])
	next := slices.Clone(o.starts)
	for i := range o.leaves {
		if l := &o.leaves[i]; l.flags&alive != 0 {
			o.inside[next[l.dir]] = uint32(i)
			next[l.dir]++
		}
	}
}

func (o *lookout) probeFiles(ctx context.Context) {
	const some = 16
	list := &lister{}
	for ctx.Err() == nil {
		last := int(o.next.Add(some))
		for id := last - some; id < last; id++ {
			if id >= len(o.branches) {
				return
			}
			switch o.branches[id].flags & (alive | shut) {
			case alive:
				o.look(ctx, uint32(id), list)
			case alive | shut:
				o.lookClosed(uint32(id))
			}
		}
	}
}

// addNews adds changes.
func (o *lookout) addNews(f func(n *news)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	f(o.news)
}

// lookClosed looks whether an ignored folder still is one.
func (o *lookout) lookClosed(id uint32) {
	if st, err := o.root.look(o.branchPath(id)); err != nil || st.kind != entryDir {
		o.addNews(func(n *news) { n.touch(o.branches[id].parent, string(o.branchName(id)), true) })
	}
}

// look looks at a folder and at all files in it.
func (o *lookout) look(ctx context.Context, id uint32, list *lister) {
	b := &o.branches[id]
	lost, some := o.failed[id]
	if some && !lost.listed {
		return // it is tried again in any case
	}
	dir, self := o.open(id)
	if dir == nil {
		return
	}
	defer dir.close()
	if some && self.changed != b.changed {
		o.addNews(func(n *news) { n.reread(id) })
		return
	}
	if self.changed != b.changed || !b.changed.isOld(b.read) {
		r := relisted{id, self.changed, now()}
		if !o.list(ctx, id, dir, list) {
			return
		}
		o.addNews(func(*news) { o.read = append(o.read, r) })
	}
	for _, at := range o.inside[o.starts[id]:o.starts[id+1]] {
		if ctx.Err() != nil {
			return
		}
		name := string(o.leafName(at))
		if st, err := dir.look(name); err != nil || st.kind != entryFile || st.time != o.leaves[at].time() {
			o.addNews(func(n *news) { n.touch(id, name, false) })
		}
	}
}

// open opens a folder, or nil if that is not the one it was.
func (o *lookout) open(id uint32) (*dirHandle, entryInfo) {
	dir, err := o.root.openPath(o.branchPath(id))
	if err == nil {
		self, err := dir.lookSelf()
		if err == nil && self.id == o.branches[id].id {
			return dir, self
		}
		dir.close()
	}
	o.addNews(func(n *news) {
		if id == 0 {
			n.stale = true
		} else {
			n.touch(o.branches[id].parent, string(o.branchName(id)), true)
		}
	})
	return nil, entryInfo{}
}

// list compares the entries of a folder with what the tree has of it. It
// reports whether it could.
func (o *lookout) list(ctx context.Context, id uint32, dir *dirHandle, list *lister) bool {
	entries, err := list.list(ctx, dir)
	if err != nil {
		o.addNews(func(n *news) { n.reread(id) })
		return false
	}
	for _, e := range entries {
		leaf, sub := o.findLeaf(id, e.name), o.findBranch(id, e.name)
		if e.kind == entryFile && leaf != none || e.kind == entryDir && sub != none || e.name == ".git" && o.isRepo(id) {
			continue
		}
		o.addNews(func(n *news) { n.touch(id, e.name, true) })
	}
	return true
}

// isRepo reports whether there is a probe for .git in a folder.
func (t *fileTree) isRepo(id uint32) bool {
	probes := t.repos[id]
	return len(probes) > 0 && filepath.Base(probes[0].path) == ".git"
}
