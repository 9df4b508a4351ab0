package search

import (
	"context"
	"fmt"
	"iter"
	"math/bits"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
)

const (
	// maxMemos is how many verdicts on globs are kept with a tree.
	maxMemos = 32
	// maxPicked is how many candidates are sorted by themselves.
	maxPicked = 2048
)

// A memo caches how globs, or an [Exclusion], decide on the files of a tree. Unknown decisions are
// made on demand.
type memo struct {
	key     string
	busy    atomic.Bool
	known   bitmap // by leaf
	yes     bitmap
	covered int    // if nothing has changed since, all leaves below that are known
	folders []byte // by branch: whether it is walked

	counted int // the shape of the tree when that was counted
	ignored int
	named   bool // the globs name a folder that is ignored
}

const (
	folderUnknown = iota
	folderOpen
	folderClosed
)

func newMemo(key string) *memo { return &memo{key: key, counted: -1} }

// A bitmap is a set of small numbers.
type bitmap []uint64

func (b bitmap) contains(id uint32) bool {
	return int(id/64) < len(b) && b[id/64]&(1<<(id%64)) != 0
}

func (b bitmap) remove(id uint32) {
	if int(id/64) < len(b) {
		b[id/64] &^= 1 << (id % 64)
	}
}

func (b *bitmap) set(id uint32) {
	for int(id/64) >= len(*b) {
		*b = append(*b, 0)
	}
	(*b)[id/64] |= 1 << (id % 64)
}

// each gives the numbers of the set.
func (b bitmap) each() iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for i, word := range b {
			for ; word != 0; word &= word - 1 {
				if !yield(uint32(i*64 + bits.TrailingZeros64(word))) {
					return
				}
			}
		}
	}
}

// A treePlan answers a search from a tree. It has its own view of the tree, which may change
// meanwhile.
type treePlan struct {
	view
	*surveyor // its scope is that of the search
	dir       uint32
	handle    *dirHandle // of dir; nil when another owner will close it
	leads     []string
	memo      *memo // nil if there is nothing to remember
	negated   bool  // some globs leave things out
	baseOnly  bool  // globs look at nothing but the last part of a name
	shutAll   int   // files that an ignore file names, in the whole tree

	hits    *Candidates
	reading uint32 // no candidate, but not known to the index

	list    []uint32 // in the order that is wanted
	all     []uint32 // list, with what the index has ruled out
	groups  []uint32 // if list is by folders: where in it each branch begins
	at      int
	barred  bitmap
	suspect *memo
	want    *best
}

// release ends the use of the tree.
func (p *treePlan) release() {
	if p.handle != nil {
		p.handle.close()
	}
	if p.memo != nil {
		p.memo.busy.Store(false)
	}
	if p.suspect != nil {
		p.suspect.busy.Store(false)
	}
	p.users.Add(-1)
}

// plan updates the tree and plans a search. If both the plan and the error are nil, the tree is
// valid but cannot answer. The plan takes over the handle of the folder to search.
func (t *fileTree) plan(ctx context.Context, c *workerPool, root, dir *dirHandle) (*treePlan, error) {
	self, err := root.lookSelf()
	if err != nil || self.id != t.branches[0].id {
		return nil, errStale
	}
	if err := t.update(c.engine.keeper.ctx, root); err != nil {
		return nil, err
	}
	rel := strings.TrimPrefix(strings.TrimPrefix(c.where.Dir, t.root), "/")
	at := t.branchOf(rel, dir)
	if at == none {
		return nil, nil
	}
	s, err := t.scopeOf(c, at)
	if err != nil {
		return nil, nil // the walk will report the error
	}
	p := &treePlan{view: t.view, surveyor: s, dir: at, handle: dir, reading: none, want: &c.results}
	p.shutAll = t.shutAll
	p.leads = globRoots(c.where.Globs)
	if s.globs != nil {
		p.negated = s.globs.plain < len(s.globs.list)
		p.baseOnly = s.globs.exact == nil && s.globs.rest == nil
	}
	p.users.Add(1)
	if at != 0 || s.globs != nil {
		p.memo = t.memo(strings.Join(append([]string{"globs", rel}, c.where.Globs...), "\x00"))
	}
	if !p.count(t) {
		p.handle = nil
		p.release()
		return nil, nil
	}
	p.setup(t, c, rel)
	return p, nil
}

// branchOf returns the branch of a path, or none if a search in it cannot be answered. The folder
// must be that of the branch.
func (t *fileTree) branchOf(path string, dir *dirHandle) uint32 {
	at := t.descend(path)
	if at == none || at != 0 && !floating(t.scope.global) {
		return none
	}
	if f, ok := t.failed[at]; ok && !f.listed {
		return none
	}
	if self, err := dir.lookSelf(); err != nil || self.id != t.branches[at].id {
		return none
	}
	return at
}

// setup sets what a plan needs to go through the files.
func (p *treePlan) setup(t *fileTree, c *workerPool, rel string) {
	p.list = t.newest
	if c.results.order == ByName {
		if t.named == nil {
			t.named = t.byName()
		}
		p.list = t.named
	}
	p.all = p.list
	if c.pattern == nil {
		return
	}
	if bar := c.bar; bar != nil && bar.Suspect != nil && bar.Key != "" {
		p.suspect = t.memo(strings.Join([]string{"bar", rel, bar.Key}, "\x00"))
	}
	if t.index != nil {
		p.hits, p.reading = t.index.Query(c.pattern.Needs()), t.reading
		p.pick(c.results.order)
	}
}

// pick lists the candidates of the index, if they are few: sorting them is then faster than finding
// them among all files.
func (p *treePlan) pick(order Order) {
	if p.hits == nil || p.hits.Count(uint32(len(p.leaves))) > maxPicked {
		return
	}
	p.list = nil
	for id := range p.hits.All(uint32(len(p.leaves))) {
		if p.leaves[id].flags&alive != 0 {
			p.list = append(p.list, id)
		}
	}
	if r := p.reading; r != none && !p.hits.Has(r) && p.leaves[r].flags&alive != 0 {
		p.list = append(p.list, r)
	}
	compare := p.compare
	if order == ByName {
		compare = p.compareNames
	}
	slices.SortFunc(p.list, compare)
}

// scopeOf is the scope of a search in a branch.
func (t *fileTree) scopeOf(c *workerPool, at uint32) (s *surveyor, err error) {
	scope := *t.scope
	scope.opt = c.where
	scope.prefix = string(t.appendPath([]byte(scope.prefix), 0, at))
	if scope.globs, err = parseGlobs(c.where.Globs); err != nil {
		return nil, err
	}
	if scope.names, err = newNamer(c.where); err != nil {
		return nil, err
	}
	return &surveyor{scope: &scope, reader: &lister{}}, nil
}

// memo returns the cache of a key, for one search at a time.
func (t *fileTree) memo(key string) *memo {
	for _, m := range t.memos {
		if m.key == key {
			if m.busy.CompareAndSwap(false, true) {
				return m
			}
			return newMemo(key)
		}
	}
	m := newMemo(key)
	m.busy.Store(true)
	if len(t.memos) == maxMemos {
		t.memos = append(t.memos[:0:0], t.memos[1:]...)
	}
	t.memos = append(t.memos, m)
	return m
}

// floating reports whether rules decide on a file independently of the folder that its name is
// relative to.
func floating(r *rules) bool {
	if r == nil {
		return true
	}
	if r.exact != nil {
		return false
	}
	for _, at := range r.rest {
		g := r.list[at].glob
		if g.shape == shapeExact {
			return false
		}
		if g.shape != shapeProgram {
			continue
		}
		code := g.prog.code
		if len(code) < 4 || code[0].op != opSplit || code[1].op != opDeep { // **/ comes first
			return false
		}
		for _, i := range code[3:] {
			if i.op == opDeep || i.op == opByte && i.c == '/' {
				return false
			}
		}
	}
	return true
}

// relativeName is the name of a branch in the folder to search, and where its last
// part begins.
func (p *treePlan) relativeName(id uint32) (name []byte, base int) {
	p.path = p.appendPath(p.path[:0], p.dir, id)
	name = p.path[:max(0, len(p.path)-1)]
	return name, len(name) - int(p.branches[id].size)
}

// walks reports whether a walk would come to a branch.
func (p *treePlan) walks(id uint32) bool {
	if id == p.dir {
		return true
	}
	if id == 0 {
		return false
	}
	if p.memo == nil {
		return true
	}
	m := p.memo
	if len(m.folders) < len(p.branches) {
		m.folders = append(m.folders, make([]byte, len(p.branches)-len(m.folders))...)
	}
	if m.folders[id] == folderUnknown {
		m.folders[id] = folderClosed
		if p.walks(p.branches[id].parent) && p.enters(id) {
			m.folders[id] = folderOpen
		}
	}
	return m.folders[id] == folderOpen
}

// enters reports whether a walk that reaches a branch would enter it, or would if it were not
// ignored.
func (p *treePlan) enters(id uint32) bool {
	if p.leads == nil && !p.negated {
		return true
	}
	name, base := p.relativeName(id)
	return leadsTo(name, p.leads) && p.globs.match(&p.machine, name, base, true) != kept
}

// wants reports whether a walk would find a leaf.
func (p *treePlan) wants(id uint32) bool {
	l := &p.leaves[id]
	if p.memo == nil {
		return l.flags&shut == 0
	}
	m := p.memo
	if !m.known.contains(id) {
		m.known.set(id)
		m.yes.remove(id)
		if p.walks(l.dir) && p.finds(id) {
			m.yes.set(id)
		}
	}
	return m.yes.contains(id)
}

// finds reports whether a walk would find a leaf in its folder.
func (p *treePlan) finds(id uint32) bool {
	l := &p.leaves[id]
	if p.globs == nil {
		return l.flags&shut == 0
	}
	switch p.judgeLeaf(id) {
	case ignored: // a glob chooses it
		return true
	case kept:
		return false
	}
	return p.globs.plain == 0 && l.flags&shut == 0
}

// judgeLeaf matches a leaf against the globs.
func (p *treePlan) judgeLeaf(id uint32) verdict {
	if p.baseOnly {
		return p.globs.match(&p.machine, p.leafName(id), 0, false)
	}
	p.path = p.appendPath(p.path[:0], p.dir, p.leaves[id].dir)
	base := len(p.path)
	p.path = append(p.path, p.leafName(id)...)
	return p.globs.match(&p.machine, p.path, base, false)
}

// count counts what a walk would leave out. It reports false if the globs name
// a folder that is ignored, and so is not in the tree.
func (p *treePlan) count(t *fileTree) bool {
	ignored, named := p.shutAll+len(p.closed), false
	if m := p.memo; m != nil {
		if m.counted != t.shape {
			m.ignored, m.named = p.countIgnored()
			m.counted = t.shape
		}
		ignored, named = m.ignored, m.named
	}
	p.skipped = Skipped{Ignored: ignored}
	p.skipped.add(Skipped{Failed: t.above.count, Err: t.above.err})
	for id, f := range t.failed {
		above := f.listed && !p.walks(id) && t.isBelowAny(p.dir, map[uint32]bool{id: true})
		if above || p.walks(id) {
			name, _ := filepath.Rel(filepath.FromSlash(t.branchPath(p.dir)), filepath.FromSlash(t.branchPath(id)))
			p.skipped.add(Skipped{Failed: f.count, Err: fmt.Errorf("reading %s: %w", filepath.ToSlash(name), f.err)})
		}
	}
	return !named
}

// countIgnored counts the files and folders that are left out because an
// ignore file names them.
func (p *treePlan) countIgnored() (count int, named bool) {
	for _, id := range p.closed {
		if !p.walks(p.branches[id].parent) || !p.enters(id) {
			continue
		}
		if name, base := p.relativeName(id); p.scope.names.match(&p.machine, name, base) {
			named = true
		}
		count++
	}
	if p.globs == nil || p.globs.plain == 0 {
		count += p.countFiles()
	}
	return count, named
}

// countFiles counts the files that an ignore file names, in the folders that
// are walked.
func (p *treePlan) countFiles() (count int) {
	if !p.negated {
		for id := range p.branches {
			if b := &p.branches[id]; b.shut > 0 && b.flags&alive != 0 && p.walks(uint32(id)) {
				count += int(b.shut)
			}
		}
		return count
	}
	for id := range p.leaves {
		l := &p.leaves[id]
		if l.flags&(alive|shut) == alive|shut && p.walks(l.dir) && p.judgeLeaf(uint32(id)) != kept {
			count++
		}
	}
	return count
}
