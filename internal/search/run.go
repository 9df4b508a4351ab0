package search

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// grace is how long a search that is being ended is waited for. A system call cannot be
	// interrupted, and one to a dead disk may never return.
	grace = 30 * time.Millisecond
	// firstReport is when a search first reports its progress, and nextReport the interval after
	// that.
	firstReport = time.Second
	nextReport  = 250 * time.Millisecond
)

var (
	errClosed    = errors.New("the search engine is closed")
	errNoPattern = errors.New("there is no pattern to search for")
)

// EngineOptions configure an [Engine]. The zero value keeps nothing.
type EngineOptions struct {
	// Keep says that trees and indexes are kept between searches.
	Keep bool
	// Memory is how many bytes the indexes may have; 128 MiB when 0, and no
	// index when less than 0.
	Memory int
	// Idle is how long an unused tree is kept; 10 minutes when 0.
	Idle time.Duration
	// Workers is how many goroutines one search has at most; 0 is a number that
	// suits it.
	Workers int
}

// An Engine searches trees. Any number of goroutines may use it.
type Engine struct {
	opt     EngineOptions
	keeper  *treeCache // nil if nothing is kept
	room    int        // how many files one worker puts off, if not the usual number
	closed  atomic.Bool
	scratch sync.Pool
}

// New makes an engine, to be closed when it is not needed any more.
func New(opt EngineOptions) *Engine { return &Engine{opt: opt, keeper: newKeeper(opt)} }

// Close releases the engine's resources. Later searches fail.
func (e *Engine) Close() {
	e.closed.Store(true)
	e.keeper.close()
}

// scratch is memory that one worker after another uses.
type scratch struct {
	list lister
	text buffers
}

func (e *Engine) borrow() *scratch {
	if s, ok := e.scratch.Get().(*scratch); ok {
		return s
	}
	return &scratch{}
}

// Grep searches for lines. Of files in the order that is wanted it has the
// first lines, exactly as if all had been read, if the tree does not change
// meanwhile.
//
// A file is searched as text in UTF-8 or in any other encoding that has ASCII
// as it is, or in UTF-16 if it begins with a byte order mark. A NUL in the
// first 64 KiB hides a file, with all that is in it; a NUL later on ends the
// search of that file with the last line that is whole before the 64 KiB that
// hold it. Only regular files are searched, and links are not followed.
//
// There is an error only if the search as a whole fails: ctx is done
// ([context.Cause]), Dir or File cannot be read, a glob is wrong. When ctx is
// done or the budget is used up, the answer comes soon, also if the system
// does not answer: then a goroutine stays behind until it does, since a call
// into the system cannot be ended, and with it the handles that it needs.
func (e *Engine) Grep(ctx context.Context, g Grep) (*Found, error) {
	if g.Pattern == nil {
		return nil, errNoPattern
	}
	h := e.hunt(g.Where, g.Order, g.Limit)
	h.pattern, h.bar, h.keep = g.Pattern, g.Bar, g.LineMax
	if h.keep <= 0 {
		h.keep = defaultLine
	}
	c := h.crew()
	road := c.road
	if g.File != "" {
		road = func(ctx context.Context) error { return c.searchFile(ctx, g.File) }
	}
	late, err := c.oversee(ctx, road, g.Budget, g.Report)
	if err != nil {
		return nil, err
	}
	found := &Found{Late: late, Skipped: c.account()}
	for _, p := range h.results.take() {
		lines := p.lines
		if left := g.Limit - found.Lines; g.Limit > 0 && len(lines) > left {
			lines, found.More = lines[:left], true
		}
		if len(lines) == 0 {
			break
		}
		found.Lines += len(lines)
		found.Files = append(found.Files, File{p.name, p.time.time(), lines})
	}
	return found, nil
}

// Glob searches for files by their names. Errors and time limits are as in [Engine.Grep].
func (e *Engine) Glob(ctx context.Context, g Glob) (*Names, error) {
	h := e.hunt(g.Where, g.Order, g.Limit)
	c := h.crew()
	late, err := c.oversee(ctx, c.road, g.Budget, g.Report)
	if err != nil {
		return nil, err
	}
	names := &Names{Late: late, Skipped: c.account()}
	for _, p := range h.results.take() {
		if g.Limit > 0 && len(names.Files) == g.Limit {
			names.More = true
			break
		}
		names.Files = append(names.Files, Name{p.name, p.time.time()})
	}
	return names, nil
}

// hunt begins a search. It searches for one more result than is wanted, to know whether there are
// more.
func (e *Engine) hunt(where Options, order Order, limit int) *hunt {
	h := &hunt{engine: e, where: where}
	h.results.order = order
	if limit > 0 {
		h.results.want = limit + 1
	}
	return h
}

func (h *hunt) crew() *workerPool {
	c := &workerPool{hunt: h, most: h.engine.opt.Workers, room: maxPut}
	if h.engine.room > 0 {
		c.room = h.engine.room
	}
	c.wake.L = &c.mu
	return c
}

// road chooses and runs the strategy that suits the search.
func (c *workerPool) road(ctx context.Context) error {
	use := c.engine.keeper.beginSearch(&c.where)
	defer use.end()
	if known, err := use.take(ctx, c); known {
		return err
	}
	if c.most <= 0 {
		c.most = defaultWorkers
	}
	return c.walk(ctx)
}

// searchFile searches one file, which only an [Exclusion] can prevent.
func (c *workerPool) searchFile(ctx context.Context, name string) error {
	c.most = 1
	s, dir, err := openScope(ctx, Options{Dir: c.where.Dir, Exact: c.where.Exact, Ignored: true})
	if err != nil {
		return err
	}
	if path.Clean(name) != name || name == "." || !filepath.IsLocal(name) {
		dir.close()
		return fmt.Errorf("searching %s: %w", name, fs.ErrInvalid)
	}
	if c.bar.shuts([]byte(name)) {
		dir.close()
		c.mu.Lock()
		c.skipped.Barred++
		c.mu.Unlock()
		return nil
	}
	f, _, err := dir.openDown(name)
	if err != nil {
		dir.close()
		return fmt.Errorf("searching %s: %w", name, err)
	}
	f.close()
	given := false
	c.searchListed(ctx, s, dir, func() (candidate, bool) {
		first := !given
		given = true
		return candidate{name: name}, first
	})
	return nil
}

// oversee runs a strategy to its end, or until the time is over.
func (c *workerPool) oversee(ctx context.Context, road func(context.Context) error, limit time.Duration, report func(Progress)) (late bool, err error) {
	if c.engine.closed.Load() {
		return false, errClosed
	}
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	c.tell = report != nil
	done := make(chan error, 1)
	go func() {
		err := c.guard(func() error { return road(inner) })
		done <- err
	}()
	var budget, tick clock
	if limit > 0 {
		budget.start(limit)
		defer budget.timer.Stop()
	}
	if report != nil {
		tick.start(firstReport)
		defer tick.timer.Stop()
	}
	for {
		select {
		case err := <-done:
			c.rethrow()
			if ctx.Err() != nil {
				return false, context.Cause(ctx)
			}
			return false, err
		case <-ctx.Done():
			c.end(cancel, done)
			c.rethrow()
			return false, context.Cause(ctx)
		case <-budget.c:
			c.end(cancel, done)
			c.rethrow()
			return true, nil
		case <-tick.c:
			report(c.progress())
			tick.timer.Reset(nextReport)
		}
	}
}

// A crash is a panic of a worker.
type crash struct {
	value any
	stack []byte
}

// guard runs f. If that panics, the search ends and its caller panics, rather than the process as a
// whole.
func (c *workerPool) guard(work func() error) error {
	defer func() {
		if value := recover(); value != nil {
			c.crash.CompareAndSwap(nil, &crash{value, debug.Stack()})
			c.stop.Store(true)
			c.interrupt()
		}
	}()
	return work()
}

// rethrow panics if a worker has.
func (c *workerPool) rethrow() {
	if crash := c.crash.Load(); crash != nil {
		panic(fmt.Sprintf("searching: %v\n\n%s", crash.value, crash.stack))
	}
}

// A clock reports when a time is over. One that was not started never does.
type clock struct {
	timer *time.Timer
	c     <-chan time.Time
}

func (c *clock) start(d time.Duration) {
	c.timer = time.NewTimer(d)
	c.c = c.timer.C
}

// end has everybody stop, and waits a little until they have.
func (c *workerPool) end(cancel context.CancelFunc, done chan error) {
	c.stop.Store(true)
	cancel()
	c.interrupt()
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}

// account returns what was left out.
func (c *workerPool) account() Skipped {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.skipped
}
