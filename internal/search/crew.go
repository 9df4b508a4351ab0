package search

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
)

const (
	// defaultWorkers is how many goroutines walk an unknown tree. There are more than processors,
	// because a disk is faster with more requests in its queue.
	defaultWorkers = 8
	// portion is how many files of a folder one worker takes at a time.
	portion = 64
	// queued is how long the queue has to be, for each worker there is, to be
	// worth another worker.
	queued = 4
)

// An item is a unit of work: a folder to enter, files to search, the folder of the search itself,
// or files that the walk has deferred.
type item struct {
	at    *walkFolder // nil is what was put off
	name  string      // of the folder in that place
	files []dirEntry  // in that place
}

// A workerPool is the workers of a walk, and the queue of their work. The newest work is done
// first, so that the queue is bounded by the entries of the folders on the way to where the workers
// are.
type workerPool struct {
	*hunt
	most   int // workers
	room   int // how many files one worker puts off
	leads  []string
	holder holder
	rest   backlog
	err    error // why the folder itself cannot be read
	crash  atomic.Pointer[crash]

	mu      sync.Mutex
	wake    sync.Cond
	stack   []item
	workers []*worker
	idle    int
	left    int  // how many workers have left
	over    bool // there is nothing to do any more
	swept   bool // what was put off has been given out
	skipped Skipped
}

// A worker is the memory of one goroutine of a walk.
type worker struct {
	*surveyor
	searcher
	scratch *scratch
	crew    *workerPool
	dir     *dirHandle // where it is
	at      *walkFolder
	base    int    // how much of the path names that
	items   []item // found and not yet put on the stack
	put     pile   // put off until it is known which are the newest
	looked  int    // files since it was last said
}

// walk searches without prior knowledge: it walks the whole tree.
func (c *workerPool) walk(ctx context.Context) error {
	s, dir, err := openScope(ctx, c.where)
	if err != nil {
		return err
	}
	c.leads = globRoots(c.where.Globs)
	c.holder.open(dir)
	defer c.holder.close()
	w := c.hire(s)
	c.stack = append(c.stack, item{at: &c.holder.root})
	c.waitAll(ctx, w)
	if c.err != nil {
		return fmt.Errorf("walking %s: %w", filepath.Join(s.top, filepath.FromSlash(s.prefix)), c.err)
	}
	return nil
}

// searchListed searches a known list of files: only those that next returns, which is called by one
// goroutine at a time, in the wanted order. They are not subject to an [Exclusion]. The surveyor
// and the folder are those of [openScope]; follow closes the folder.
func (c *workerPool) searchListed(ctx context.Context, s *surveyor, dir *dirHandle, next func() (candidate, bool)) {
	c.holder.open(dir)
	defer c.holder.close()
	if c.most <= 0 {
		c.most = runtime.GOMAXPROCS(0)
	}
	w := c.hire(s)
	c.swept = true
	c.rest.next = next
	for range c.most {
		c.stack = append(c.stack, item{})
	}
	for range c.most - 1 {
		c.mu.Lock()
		go c.hire(c.workers[0].fork()).loop(ctx)
		c.mu.Unlock()
	}
	c.waitAll(ctx, w)
}

// waitAll lets the first worker work, and waits for the others.
func (c *workerPool) waitAll(ctx context.Context, w *worker) {
	w.loop(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.left < len(c.workers) {
		c.wake.Wait()
	}
}

// interrupt wakes waiting workers, so that they stop.
func (c *workerPool) interrupt() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wake.Broadcast()
}

// hire makes a worker.
func (c *workerPool) hire(s *surveyor) *worker {
	w := &worker{surveyor: s, scratch: c.engine.borrow(), crew: c}
	w.reader = &w.scratch.list
	if c.pattern != nil {
		w.searcher = searcher{buffers: &w.scratch.text, match: c.pattern.Matcher(&c.stop), stop: &c.stop, want: c.results.want, keep: c.keep}
	}
	c.workers = append(c.workers, w)
	return w
}

// push puts work on the stack, and ensures that a worker does it.
func (c *workerPool) push(ctx context.Context, items []item) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stack = append(c.stack, items...)
	for range min(c.idle, len(items)) {
		c.wake.Signal()
	}
	if c.idle == 0 && len(c.workers) < c.most && len(c.stack) >= queued*len(c.workers) {
		go c.hire(c.workers[0].fork()).loop(ctx)
	}
}

// pop takes work from the stack, and waits for it as long as there may come
// some.
func (c *workerPool) pop() (next item, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.idle++
	for {
		if c.stop.Load() || c.over {
			break
		}
		if last := len(c.stack) - 1; last >= 0 {
			next = c.stack[last]
			c.stack[last] = item{}
			c.stack = c.stack[:last]
			c.idle--
			return next, true
		}
		if c.idle == len(c.workers)-c.left && !c.sweeps() {
			break
		}
		if len(c.stack) == 0 {
			c.wake.Wait()
		}
	}
	c.over = true
	c.wake.Broadcast()
	return item{}, false
}

// sweeps gives out what the walk has put off, when that has come to its end.
// All workers are idle.
func (c *workerPool) sweeps() bool {
	if c.swept {
		return false
	}
	c.swept = true
	var list pile
	for _, w := range c.workers {
		list = append(list, w.put...)
		w.put = nil
	}
	if len(list) == 0 {
		return false
	}
	c.rest.next = list.newest()
	for range min(len(c.workers), 1+len(list)/queued) {
		c.stack = append(c.stack, item{})
	}
	c.wake.Broadcast()
	return true
}

// collect takes the accounts of a worker that leaves.
func (c *workerPool) collect(w *worker) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left++
	c.skipped.add(w.surveyor.skipped)
	c.looked.Add(int64(w.looked))
	c.engine.scratch.Put(w.scratch)
	c.wake.Broadcast()
}

// loop works until the stack is empty.
func (w *worker) loop(ctx context.Context) {
	defer w.crew.collect(w)
	_ = w.crew.guard(func() error {
		for {
			next, ok := w.crew.pop()
			if !ok {
				return nil
			}
			switch {
			case next.at == nil:
				w.searchBacklog(&w.crew.rest)
			case next.name != "":
				w.open(ctx, next.at, next.name)
			case next.files != nil:
				w.visit(ctx, next.at, next.files)
			default:
				w.crew.err = w.readFolder(ctx, next.at, next.at.dir, w.above)
			}
			w.crew.looked.Add(int64(w.looked))
			w.looked = 0
		}
	}) // which never fails
}

// goTo sets the path to a place.
func (w *worker) goTo(p *walkFolder) {
	w.at = p
	w.path = p.appendPath(append(w.path[:0], w.prefix...))
	w.base = len(w.path)
}

// open enters a folder.
func (w *worker) open(ctx context.Context, up *walkFolder, name string) {
	holder := &w.crew.holder
	p := &walkFolder{up: up, name: name}
	dir, err := holder.borrow(up)
	if err == nil {
		sub, subErr := dir.sub(name)
		holder.giveBack(up)
		dir, err = sub, subErr
	}
	holder.borrowed(up)
	if err == nil {
		if err = w.readFolder(ctx, p, dir, up.level); err != nil {
			dir.close()
		}
	}
	if err != nil && !w.crew.stop.Load() {
		w.goTo(p)
		w.countError(err)
	}
}

// readFolder reads a folder, searches its files and queues its subfolders. Unless there is an error
// it takes over the handle.
func (w *worker) readFolder(ctx context.Context, p *walkFolder, dir *dirHandle, above *level) error {
	w.goTo(p)
	list, level, err := w.survey(ctx, dir, above)
	if err != nil {
		return err
	}
	p.level = level
	files := list[:0]
	w.items = w.items[:0]
	for _, e := range list {
		if e.kind == entryFile {
			files = append(files, e)
			continue
		}
		w.path = append(w.path[:w.base], e.name...)
		if leadsTo(w.path[len(w.prefix):], w.crew.leads) && w.included(ctx, e, level, w.base) {
			w.items = append(w.items, item{at: p, name: e.name})
		}
	}
	mine := files[:min(len(files), portion)]
	for rest := files[len(mine):]; len(rest) > 0; {
		n := min(len(rest), portion)
		w.items = append(w.items, item{at: p, files: rest[:n]})
		rest = rest[n:]
	}
	isRoot := p == &w.crew.holder.root
	switch {
	case len(w.items) > 0 && isRoot:
		w.crew.push(ctx, w.items)
	case len(w.items) > 0:
		w.crew.holder.put(p, dir, len(w.items))
		w.crew.push(ctx, w.items)
		defer w.crew.holder.giveBack(p)
	case !isRoot:
		defer dir.close()
	}
	w.dir = dir
	w.look(ctx, mine)
	return nil
}

// visit searches files of a folder that was read before.
func (w *worker) visit(ctx context.Context, p *walkFolder, files []dirEntry) {
	holder := &w.crew.holder
	dir, err := holder.borrow(p)
	if err == nil {
		w.goTo(p)
		w.dir = dir
		w.look(ctx, files)
		holder.giveBack(p)
	} else {
		w.goTo(p)
		w.countError(err)
	}
	holder.borrowed(p)
}

// look searches files of the worker's folder.
func (w *worker) look(ctx context.Context, files []dirEntry) {
	for _, e := range files {
		if w.crew.stop.Load() {
			return
		}
		w.path = append(w.path[:w.base], e.name...)
		if w.included(ctx, e, w.at.level, w.base) {
			w.looked++
			w.searchEntry(e.name)
		}
	}
	w.path = w.path[:w.base]
}

// name is the name of the file that the path names.
func (w *worker) name() string { return string(w.path[len(w.prefix):]) }
