package search

import (
	"github.com/helve-dev/helve/internal/regex"
	"strings"
	"sync"
	"sync/atomic"
)

const (
	// plenty is how many matching lines are found before it is worthwhile to determine the newest
	// files before reading more.
	plenty = 20
	// maxPut is how many files one worker puts off.
	maxPut = 1 << 17
	// maxName is the longest name of a file that is put off. Longer ones cannot
	// be opened in one call.
	maxName = 4000
	// maxRecent is how many lines one report of progress has.
	maxRecent = 20
)

// A hunt is a search in progress, with either strategy.
type hunt struct {
	engine  *Engine
	where   Options
	pattern *regex.Regexp // nil if names are searched for
	keep    int           // how many bytes of a line are kept
	bar     *Exclusion
	results best

	stop   atomic.Bool
	looked atomic.Int64 // files so far
	lines  atomic.Int64 // found so far, also those that were dropped again
	putOff atomic.Bool  // files are put off until the walk is over

	mu     sync.Mutex
	tell   bool // progress is requested
	recent []Hit
}

// A candidate is a file that is searched if it is new enough.
type candidate struct {
	time stamp
	at   *walkFolder // nil is Dir
	name string      // what leads from there to the file

	// files, if any, are the files to search in the folder of that name, unordered.
	files []candidate
}

// A pile is candidates in no order, or a heap with the newest on top.
type pile []candidate

func newer(x, y *candidate) bool { return x.time.compare(y.time) > 0 }

// newest gives the candidates one by one, the newest first. Most are never
// asked for, so they are not sorted.
func (p pile) newest() func() (candidate, bool) {
	for at := len(p)/2 - 1; at >= 0; at-- {
		sink(p, at, newer)
	}
	return func() (candidate, bool) {
		last := len(p) - 1
		if last < 0 {
			return candidate{}, false
		}
		top := p[0]
		p[0] = p[last]
		p = p[:last]
		sink(p, 0, newer)
		return top, true
	}
}

// A backlog gives out candidates to several workers.
type backlog struct {
	mu   sync.Mutex
	over bool
	next func() (candidate, bool)
}

func (b *backlog) take() (c candidate, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over {
		return candidate{}, false
	}
	c, ok = b.next()
	b.over = !ok
	return c, ok
}

// end says that no more candidates are wanted.
func (b *backlog) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.over = true
}

// searchEntry deals with a file of the folder where the worker is. The path names it.
func (w *worker) searchEntry(base string) {
	h := w.crew.hunt
	if h.bar.shuts(w.path[len(w.prefix):]) {
		w.skipped.Barred++
		return
	}
	if h.pattern == nil {
		w.list(base)
		return
	}
	order := h.results.order
	switch {
	case order == ByName:
		if !h.results.matters(stamp{}, w.path[len(w.prefix):]) {
			return
		}
	case order == Newest && (h.putOff.Load() || h.results.bound.Load() != nil):
		st, err := w.dir.stat(base)
		if err != nil {
			w.countFailure(err)
			return
		}
		if !h.results.matters(st.time, w.path[len(w.prefix):]) {
			return
		}
		if h.putOff.Load() && len(w.path)-len(w.prefix) < maxName {
			w.putFile(candidate{time: st.time, at: w.at, name: base})
			return
		}
	}
	f, st, err := w.dir.openFile(base)
	if err != nil {
		w.countFailure(err)
		return
	}
	w.grep(f, st)
}

// shuts reports whether a file may not be searched.
func (b *Exclusion) shuts(name []byte) bool {
	if b == nil {
		return false
	}
	text := string(name)
	return (b.Suspect == nil || b.Suspect(text)) && b.Shut(text)
}

// countFailure counts a file that cannot be read, unless it no longer exists.
func (w *worker) countFailure(err error) {
	if !gone(err) {
		w.countError(err)
	}
}

// putFile keeps a file for later. Once there are too many, later is now.
func (w *worker) putFile(c candidate) {
	w.put = append(w.put, c)
	if len(w.put) < w.crew.room {
		return
	}
	at, dir := w.at, w.dir
	w.searchBacklog(&backlog{next: w.put.newest()})
	w.put = w.put[:0]
	w.goTo(at)
	w.dir = dir
}

// list adds the file of a path to the result.
func (w *worker) list(base string) {
	h := w.crew.hunt
	if h.results.order == ByName && !h.results.matters(stamp{}, w.path[len(w.prefix):]) {
		return
	}
	st, err := w.dir.stat(base)
	if err != nil {
		w.countFailure(err)
		return
	}
	if h.results.matters(st.time, w.path[len(w.prefix):]) {
		h.add(prize{rank: rank{st.time, w.name()}})
	}
}

// grep searches the file that the path names, and closes it.
func (w *worker) grep(f file, st stat) {
	h := w.crew.hunt
	lines, binary, err := w.search(f, st.size)
	f.close()
	if err != nil {
		w.countFailure(err)
	}
	if len(lines) == 0 && !binary {
		return
	}
	name := w.name()
	if st.links > 1 && h.bar != nil && h.bar.Linked != nil && h.bar.Linked(name) {
		return
	}
	if binary {
		w.skipped.Binary++
	}
	if len(lines) == 0 {
		return
	}
	h.add(prize{rank: rank{st.time, name}, lines: lines})
}

// add adds a file to the result.
func (h *hunt) add(p prize) {
	lines := h.lines.Add(int64(len(p.lines)))
	if h.tell {
		h.mu.Lock()
		for _, l := range p.lines[:min(len(p.lines), maxRecent-len(h.recent))] {
			h.recent = append(h.recent, Hit{p.name, l})
		}
		h.mu.Unlock()
	}
	if h.results.add(p) {
		h.stop.Store(true)
	}
	if lines >= plenty && h.results.order == Newest && h.results.want > 0 {
		h.putOff.Store(true)
	}
}

// progress is how far the hunt is.
func (h *hunt) progress() Progress {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := Progress{Files: int(h.looked.Load()), Lines: int(h.lines.Load()), Last: h.recent}
	h.recent = nil
	return p
}

// searchBacklog searches files that were put off, as long as they can matter.
func (w *worker) searchBacklog(b *backlog) {
	h := w.crew.hunt
	root := w.crew.holder.root.dir
	for !h.stop.Load() {
		c, ok := b.take()
		if !ok {
			return
		}
		if c.files != nil {
			w.sweepFolder(c)
			continue
		}
		w.path = append(w.path[:0], w.prefix...)
		if c.at != nil {
			w.path = c.at.appendPath(w.path)
		}
		w.path = append(w.path, c.name...)
		if !h.results.matters(c.time, w.path[len(w.prefix):]) {
			if bound := h.results.bound.Load(); h.results.order == Newest && c.time.compare(bound.time) < 0 {
				b.end()
				return
			}
			continue
		}
		f, st, err := root.openDown(w.name())
		if err != nil {
			w.countFailure(err)
			continue
		}
		w.grep(f, st)
	}
}

// sweepFolder searches files of one folder, as far as they can matter.
func (w *worker) sweepFolder(c candidate) {
	h := w.crew.hunt
	root := w.crew.holder.root.dir
	dir, err := root.goDown(c.name)
	w.path = append(append(w.path[:0], w.prefix...), c.name...)
	if err != nil {
		w.countFailure(err)
		return
	}
	if dir != root {
		defer dir.close()
		w.path = append(w.path, '/')
	}
	base := len(w.path)
	for _, f := range c.files {
		if h.stop.Load() {
			return
		}
		w.path = append(w.path[:base], f.name...)
		if !h.results.matters(f.time, w.path[len(w.prefix):]) {
			continue
		}
		w.looked++
		opened, st, err := dir.openFile(f.name)
		if err != nil {
			w.countFailure(err)
			continue
		}
		w.grep(opened, st)
	}
}

// goDown opens a folder by a name of several parts, none of which may be a link. "" is the folder
// itself.
func (f *dirHandle) goDown(name string) (*dirHandle, error) {
	if name == "" {
		return f, nil
	}
	if sub, ok, err := f.subBelow(name); ok {
		return sub, err
	}
	dir := f
	for part := range strings.SplitSeq(name, "/") {
		sub, err := dir.sub(part)
		if dir != f {
			dir.close()
		}
		if err != nil {
			return nil, err
		}
		dir = sub
	}
	return dir, nil
}

// openDown opens a regular file by a name of several parts, none of which may be a link.
func (f *dirHandle) openDown(name string) (file, stat, error) {
	if opened, st, ok, err := f.openBelow(name); ok {
		return opened, st, err
	}
	at := strings.LastIndexByte(name, '/')
	dir, err := f.goDown(name[:max(at, 0)])
	if err != nil {
		return file{}, stat{}, err
	}
	if dir != f {
		defer dir.close()
	}
	return dir.openFile(name[at+1:])
}
