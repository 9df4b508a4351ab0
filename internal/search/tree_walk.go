package search

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"math"
	"path/filepath"
)

var (
	// errStale says that too much has changed: the tree has to be made anew.
	errStale = errors.New("the tree is out of date")
	// errForeign says that others can change the files unseen.
	errForeign = errors.New("the file system does not tell of all changes")
	// errNoWatches says that no more folders can be watched.
	errNoWatches = errors.New("there are no watches left")
	// errDeep says that there are more folders in each other than maxDepth.
	errDeep = errors.New("the folders are nested too deep")
)

// maxDepth is how deep a tree that is kept may be. Every folder of it is
// reached from the root, so that deeper trees would cost depth times depth.
const maxDepth = 256

// maxWatches is how many folders of one tree are watched. Others need watches
// too.
const maxWatches = 1 << 16

// A gardener reads folders into a tree.
type gardener struct {
	*surveyor
	t    *fileTree
	root *dirHandle // the tree's
	todo []uint32   // branches to be read
	left int        // how many entries may still be added
}

// plant makes a tree. With ears it is watched: from then on no change is
// missed. It looks at every file once, so it takes as long as a walk.
func plant(ctx context.Context, opt Options, ears bool) (t *fileTree, err error) {
	top := highest(opt.Dir, opt.Worktree)
	probes := append(outerProbes(top, opt.Dir), excludesProbes(opt.Excludes)...)
	opt.Globs, opt.Skipped, opt.Max = nil, nil, 0
	t = newTree(opt.Dir, nil)
	for i := range probes {
		probes[i].take(t.seed)
	}
	s, root, err := openScope(ctx, opt)
	if err != nil {
		return nil, err
	}
	defer root.close()
	if s.top != top {
		return nil, errStale
	}
	t.scope, t.probes = s.scope, probes
	t.above = readFailure{count: s.skipped.Failed, err: s.skipped.Err}
	if !watchable(root.procPath()) {
		return nil, errForeign
	}
	if ears {
		if t.watch, err = newWatcher(); err != nil {
			return nil, fmt.Errorf("%w: %w", errNoWatches, err)
		}
		t.ears = true
	}
	g := &gardener{t: t, surveyor: t.surveyor(ctx), root: root, todo: []uint32{0}, left: math.MaxInt}
	if err = g.walk(ctx); err == nil {
		t.findTwins(&news{}) // they are looked at again below
		// Memory that growing has left over is given back, but for what a few changes need.
		t.leaves = snug(t.leaves)
		t.branches = snug(t.branches)
		t.names = snug(t.names)
		t.fresh = nil
		t.sortAll()
		err = t.update(ctx, root) // what happened meanwhile
	}
	if err != nil {
		t.close()
		return nil, err
	}
	return t, nil
}

func snug[T any](list []T) []T {
	return append(make([]T, 0, len(list)+len(list)/32+16), list...)
}

// walk reads all folders that are to be read, and those in them.
func (g *gardener) walk(ctx context.Context) error {
	if len(g.todo) > 0 {
		g.stock.evict(g.t.allRules())
	}
	for len(g.todo) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		if g.left < 0 {
			return errStale
		}
		id := g.todo[len(g.todo)-1]
		g.todo = g.todo[:len(g.todo)-1]
		if g.t.branches[id].depth > maxDepth {
			return errDeep
		}
		dir, err := g.root.openPath(g.t.branchPath(id))
		if err != nil {
			g.t.lose(id, err, false)
			continue
		}
		err = g.readFolder(ctx, id, dir)
		dir.close()
		if err != nil {
			return err
		}
	}
	return ctx.Err() // then no verdict counts
}

// allRules are those of all ignore files in force.
func (t *fileTree) allRules() iter.Seq[*rules] {
	return func(yield func(*rules) bool) {
		give := func(l *level) bool {
			for _, r := range l.files {
				if r != nil && !yield(r) {
					return false
				}
			}
			return true
		}
		for l := t.scope.above; l != nil; l = l.up {
			if !give(l) {
				return
			}
		}
		for _, l := range t.levels {
			if !give(l) {
				return
			}
		}
		if t.scope.global != nil {
			yield(t.scope.global)
		}
	}
}

// lose notes that something in a folder cannot be read.
func (t *fileTree) lose(id uint32, err error, listed bool) {
	f := t.failed[id]
	if f.count == 0 {
		f.err = err
	}
	f.count++
	f.listed = listed
	t.failed[id] = f
}

// readFolder reads a folder. It adds the watch first, so that later changes are reported.
func (g *gardener) readFolder(ctx context.Context, id uint32, dir *dirHandle) error {
	st, err := dir.lookSelf()
	if err != nil {
		g.t.lose(id, err, false)
		return nil
	}
	b := &g.t.branches[id]
	b.id, b.changed, b.read = st.id, st.changed, now()
	if id != 0 && st.id.dev != g.t.branches[0].id.dev && !watchable(dir.procPath()) {
		return errForeign
	}
	if g.t.ears {
		if len(g.t.branches) > maxWatches {
			return errNoWatches
		}
		if err := g.t.watch.add(dir.procPath(), id); err != nil {
			// A folder that may not be read is not the fault of the watcher.
			if errors.Is(err, fs.ErrPermission) {
				g.t.lose(id, err, false)
				return nil
			}
			return fmt.Errorf("%w: %w", errNoWatches, err)
		}
	}
	list, err := g.listWithRules(ctx, id, dir)
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		g.t.lose(id, err, false)
		return nil
	}
	g.left -= len(list)
	return g.take(ctx, id, dir, list)
}

// take takes the entries of a folder into the tree. The path names it. An error
// says that the context is done.
func (g *gardener) take(ctx context.Context, id uint32, dir *dirHandle, list []dirEntry) error {
	l := g.t.levelOf(id)
	base := len(g.path)
	for _, e := range list {
		if e.kind == entryDir && e.name == ".git" {
			continue
		}
		g.path = append(g.path[:base], e.name...)
		out := g.ignoreVerdict(ctx, l, g.path, base, e.kind == entryDir) == ignored
		if err := ctx.Err(); err != nil {
			return err
		}
		if e.kind == entryDir {
			sub := g.t.addBranch(id, e.name, out)
			if !out {
				g.todo = append(g.todo, sub)
			}
			continue
		}
		st, err := dir.look(e.name)
		switch {
		case err == nil && st.kind == entryFile:
			g.t.addLeaf(id, e.name, &st, out)
		case err != nil && !gone(err):
			g.t.lose(id, err, true)
		}
	}
	return nil
}

// listWithRules lists a folder and reads the ignore files in it. The path names it
// then, with a slash at the end.
func (g *gardener) listWithRules(ctx context.Context, id uint32, dir *dirHandle) ([]dirEntry, error) {
	above := g.above
	if up := g.t.branches[id].parent; up != none {
		above = g.t.levelOf(up)
	}
	g.path = g.t.appendPath(append(g.path[:0], g.prefix...), 0, id)
	g.skipped = Skipped{}
	list, l, err := g.survey(ctx, dir, above)
	if err != nil {
		return nil, err
	}
	if probes := g.probes(id); len(probes) > 0 {
		// What is not watched is looked at before it is read.
		for i := range probes {
			probes[i].take(g.t.seed)
		}
		g.t.repos[id] = probes
		g.skipped = Skipped{}
		l = g.readLevel(dir, g.reader.marks, above)
	}
	b := &g.t.branches[id]
	switch {
	case l != above:
		g.t.levels[id] = l
		b.level = id
	case id == 0:
		b.level = none
	default:
		b.level = g.t.branches[b.parent].level
	}
	if n := g.skipped.Failed; n > 0 {
		g.t.failed[id] = readFailure{count: n, err: g.skipped.Err, listed: true}
	}
	return list, nil
}

// probes are those of the folder that was listed last.
func (g *gardener) probes(id uint32) (list []probe) {
	marks := g.reader.marks
	name := filepath.Join(g.t.root, g.t.branchPath(id))
	if marks.repo {
		list = repoProbes(name)
	}
	for kind, base := range ignoreFiles() {
		if !g.t.ears && marks.files[kind] {
			list = append(list, probe{path: filepath.Join(name, base), whole: true})
		}
	}
	return list
}
