package search

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// maxKept is how many trees are kept.
	maxKept = 4
	// defaultIdle is how long an unused tree is kept.
	defaultIdle = 10 * time.Minute
	// defaultMemory is how many bytes indexes may have.
	defaultMemory = 128 << 20
	// closeGrace is how long close waits for background work.
	closeGrace = 2 * time.Second
	// longestRest is for how long at most no new tree is made of a folder in
	// which too much happens for one.
	longestRest = time.Minute
)

// A treeCache keeps trees between searches. It builds them in the background, after the first
// search of a folder has been answered without one, and their indexes after the second.
//
// A search of a tree returns what a walk would: it sees all changes by system calls that had
// returned when the search began. It misses these, unless there is another change to the same file:
//
//   - writes to a mapped file, until it is unmapped, and writes through a name outside of the
//     tree that the file got after it was examined: the file keeps its old position in the
//     order, and an index may skip it;
//   - a file system that is mounted on a folder of the tree, or unmounted.
type treeCache struct {
	memory int
	idle   time.Duration
	ctx    context.Context // ends with the cache
	cancel context.CancelFunc
	work   sync.WaitGroup
	active atomic.Int32 // searches under way

	mu     sync.Mutex
	closed bool
	list   []*cachedTree // the one used last is the last
}

// A cachedTree is a folder whose tree is kept, or will be.
type cachedTree struct {
	keeper *treeCache
	opt    Options // Dir is the folder
	top    string

	gate chan struct{} // holds a token while what follows is in use
	tree *fileTree     // nil as long as there is none
	over bool          // it is not kept any more

	granted atomic.Int64 // bytes that the index may have

	// Guarded by the cache's lock.
	timer    *time.Timer
	queries  int
	building bool
	filling  bool
	deaf     bool // there are not enough watches
	foreign  bool // the file system does not tell of changes
	wasted   int  // how many trees in a row were of no use
	rest     time.Time
}

// newKeeper returns a cache, or nil if nothing is to be kept.
func newKeeper(opt EngineOptions) *treeCache {
	if !opt.Keep || !keepable {
		return nil
	}
	k := &treeCache{memory: opt.Memory, idle: opt.Idle}
	if k.idle <= 0 {
		k.idle = defaultIdle
	}
	if k.memory == 0 {
		k.memory = defaultMemory
	}
	k.ctx, k.cancel = context.WithCancel(context.Background())
	return k
}

// close drops all trees, and waits a while for background work.
func (k *treeCache) close() {
	if k == nil {
		return
	}
	k.cancel()
	k.mu.Lock()
	k.closed = true
	list := k.list
	k.list = nil
	for _, s := range list {
		s.timer.Stop()
	}
	k.mu.Unlock()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, s := range list {
			s.end()
		}
		k.work.Wait()
	}()
	timer := time.NewTimer(closeGrace)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C: // a call into the system does not return
	}
}

// end gives up the tree.
func (s *cachedTree) end() {
	s.gate <- struct{}{}
	defer func() { <-s.gate }()
	s.over = true
	s.discardTree()
}

// discardTree drops the tree. The caller holds the gate.
func (s *cachedTree) discardTree() {
	if s.tree != nil {
		s.tree.close()
		s.tree = nil
		s.granted.Store(0)
	}
}

// serves reports whether a tree can answer this kind of search.
func serves(opt *Options) bool {
	return opt.Exact && opt.Hidden && opt.Closed && !opt.Ignored && strings.HasPrefix(opt.Dir, "/")
}

// find returns the tree of a folder or of one above it. If there is none, it adds the folder.
func (k *treeCache) find(opt *Options) *cachedTree {
	top := topOf(opt)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return nil
	}
	at := -1
	for i, s := range k.list {
		if s.top == top && s.opt.Excludes == opt.Excludes && isWithin(opt.Dir, s.opt.Dir) && (!s.foreign || s.opt.Dir == opt.Dir) &&
			(at < 0 || len(s.opt.Dir) > len(k.list[at].opt.Dir)) {
			at = i
		}
	}
	if at < 0 {
		s := &cachedTree{keeper: k, top: top, gate: make(chan struct{}, 1)}
		s.opt = Options{Dir: opt.Dir, Exact: true, Hidden: true, Closed: true, Worktree: opt.Worktree, Excludes: opt.Excludes}
		s.timer = time.AfterFunc(k.idle, func() { k.removeTree(s) })
		k.list = append(k.list, s)
		if len(k.list) > maxKept {
			old := k.list[0]
			k.list = slices.Delete(k.list, 0, 1)
			old.timer.Stop()
			k.work.Go(old.end)
		}
		return s
	}
	s := k.list[at]
	k.list = append(slices.Delete(k.list, at, at+1), s)
	s.timer.Reset(k.idle)
	return s
}

// removeTree drops a tree that is no longer used.
func (k *treeCache) removeTree(s *cachedTree) {
	k.mu.Lock()
	at := slices.Index(k.list, s)
	if at < 0 || k.closed {
		k.mu.Unlock()
		return
	}
	k.list = slices.Delete(k.list, at, at+1)
	k.work.Add(1)
	k.mu.Unlock()
	defer k.work.Done()
	s.end()
}

// isWithin reports whether a folder is another one or in it.
func isWithin(dir, of string) bool {
	rest, ok := strings.CutPrefix(dir, strings.TrimSuffix(of, "/"))
	return ok && (rest == "" || rest[0] == '/')
}

// topOf is the highest folder whose ignore files count for a search. A
// worktree that the folder is in by its name is no link, since the folder is
// exact.
func topOf(opt *Options) string {
	if opt.Worktree != "" && strings.HasPrefix(opt.Worktree, "/") && isWithin(opt.Dir, opt.Worktree) && isCleanPath(opt.Worktree) {
		return opt.Worktree
	}
	return highest(opt.Dir, opt.Worktree)
}

// isCleanPath reports whether an absolute name is as short as it can be.
func isCleanPath(name string) bool {
	return name == "/" || !strings.HasSuffix(name, "/") && !strings.Contains(name, "//") &&
		!strings.Contains(name+"/", "/./") && !strings.Contains(name+"/", "/../")
}

// A use is a search for which there may be a tree.
type use struct {
	*cachedTree
	from *treeCache
}

// beginSearch begins a search, which must be ended.
func (k *treeCache) beginSearch(opt *Options) use {
	if k == nil || !serves(opt) || !isCleanPath(opt.Dir) {
		return use{}
	}
	k.active.Add(1)
	return use{k.find(opt), k}
}

// end has done in the background what makes the next search quicker.
func (u use) end() {
	if u.from == nil {
		return
	}
	u.from.active.Add(-1)
	if u.cachedTree != nil {
		u.cachedTree.tend(true)
	}
}

// take answers a search from the tree, if there is one that can.
func (u use) take(ctx context.Context, c *workerPool) (ok bool, err error) {
	s := u.cachedTree
	if s == nil {
		return false, nil
	}
	select {
	case s.gate <- struct{}{}:
	case <-ctx.Done():
		return true, ctx.Err()
	}
	p, err := s.makePlan(ctx, c)
	if p == nil || err != nil {
		return err != nil, err
	}
	defer p.release()
	if c.most <= 0 {
		c.most = runtime.GOMAXPROCS(0)
	}
	p.run(ctx, c)
	return true, nil
}

// makePlan makes a plan and leaves the gate. A tree is dropped if a change to it panicked halfway.
func (s *cachedTree) makePlan(ctx context.Context, c *workerPool) (*treePlan, error) {
	whole := false
	defer func() {
		if !whole {
			s.discardTree()
		}
		<-s.gate
	}()
	p, err := s.plan(ctx, c)
	whole = true
	return p, err
}

// plan updates the tree and plans the search; the plan is nil if the tree cannot answer it. An
// error ends the search.
func (s *cachedTree) plan(ctx context.Context, c *workerPool) (*treePlan, error) {
	if s.tree == nil {
		return nil, nil
	}
	root, err := openExact(s.opt.Dir)
	if err != nil {
		s.spoil(err)
		return nil, nil
	}
	dir := root
	if c.where.Dir != s.opt.Dir {
		defer root.close()
		if dir, err = openExact(c.where.Dir); err != nil {
			return nil, nil
		}
	}
	p, err := s.tree.plan(ctx, c, root, dir)
	if p != nil {
		return p, nil
	}
	dir.close()
	if err != nil {
		s.spoil(err)
	}
	return nil, ctx.Err()
}

// spoil drops a tree that is no longer valid. The caller holds the gate.
func (s *cachedTree) spoil(err error) {
	s.discardTree()
	s.keeper.mu.Lock()
	defer s.keeper.mu.Unlock()
	s.recordFailure(err)
}

// recordFailure records why there is no tree. With each failure it takes longer until a new one is
// built. The caller holds the cache's lock.
func (s *cachedTree) recordFailure(err error) {
	switch {
	case errors.Is(err, errNoWatches) && !s.deaf:
		s.deaf = true
	case errors.Is(err, errForeign):
		s.foreign = true
	default:
		if s.wasted++; s.wasted > 1 {
			s.rest = time.Now().Add(min(longestRest, 50*time.Millisecond<<min(s.wasted, 16)))
		}
	}
}

// tend begins to make a tree, or to fill the index of the one there is.
func (s *cachedTree) tend(asked bool) {
	k := s.keeper
	k.mu.Lock()
	defer k.mu.Unlock()
	if asked {
		s.queries++
	}
	if k.closed || s.building || s.filling || s.foreign || !slices.Contains(k.list, s) {
		return
	}
	select {
	case s.gate <- struct{}{}:
	default:
		return // another search is at it, and will come here too
	}
	defer func() { <-s.gate }()
	if s.tree == nil {
		if time.Now().After(s.rest) {
			s.building = true
			deaf := s.deaf
			k.work.Go(func() { s.build(deaf) })
		}
		return
	}
	s.wasted = 0
	if s.tree.hungry(s.queries > 1 && k.memory > 0) {
		s.filling = true
		k.work.Go(s.fillIndex)
	}
}

// build makes a tree.
func (s *cachedTree) build(deaf bool) {
	k := s.keeper
	t, err := plant(k.ctx, s.opt, !deaf)
	if errors.Is(err, errNoWatches) {
		t, err = plant(k.ctx, s.opt, false)
	}
	s.gate <- struct{}{}
	if err == nil && s.over {
		t.close()
	} else if err == nil {
		s.tree = t
	}
	<-s.gate
	k.mu.Lock()
	s.building = false
	if err != nil {
		s.recordFailure(err)
	}
	more := err == nil && s.queries > 1
	k.mu.Unlock()
	if more { // the index has been waited for
		s.tend(false)
	}
}
