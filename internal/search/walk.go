package search

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxHeld is how many folders on the way to the current one are held open.
const maxHeld = 64

// An entryKind is what a folder entry is.
type entryKind uint8

const (
	entryOther entryKind = iota // a link, a socket, ...
	entryFile
	entryDir
)

// An entry is a name in a folder.
type entry struct {
	name string
	kind entryKind
}

// A frame is a folder on the way from Dir to where the walk is.
type frame struct {
	name    string  // in its parent
	dir     *folder // nil while it is not held open
	list    []entry
	next    int    // the entry whose turn it is
	lastDir int    // the last entry that is a folder, -1 if there is none
	level   *level // the ignore files that hold for its entries
	end     int    // how much of walker.path names the folder, with the slash
}

// A walker is a walk under way.
type walker struct {
	ctx     context.Context
	opt     Options
	globs   *rules
	global  *rules
	stack   []frame
	top     string // the highest folder that has a say
	path    []byte // of the current entry, relative to top
	dirAt   int    // where in path names relative to Dir begin
	reader  lister
	machine machine
	live    int // bytes of ignore files in force
	yielded int
	skipped Skipped
}

// open opens Dir and reads the ignore files above it.
func (w *walker) open() (err error) {
	if w.globs, err = parseGlobs(w.opt.Globs); err != nil {
		return err
	}
	name, open := w.opt.Dir, openExact
	if !w.opt.Exact {
		open = openFolder
		if name, err = filepath.Abs(name); err == nil {
			name, err = filepath.EvalSymlinks(name)
		}
	}
	if err != nil {
		return fmt.Errorf("walking: %w", err)
	}
	dir, err := open(name)
	if err != nil {
		return fmt.Errorf("walking: %w", err)
	}
	w.top = name
	var above *level
	if !w.opt.Ignored {
		w.readGlobal()
		above = w.readAbove(name)
	}
	if err := w.push("", dir, above); err != nil {
		dir.close()
		return fmt.Errorf("walking %s: %w", name, err)
	}
	return nil
}

// readAbove reads the ignore files of the folders above the one to be walked,
// and sets the path to that folder's.
func (w *walker) readAbove(name string) (above *level) {
	top := highest(name, w.opt.Worktree)
	rel, err := filepath.Rel(top, name)
	if err != nil || rel == "." {
		return nil
	}
	w.top = top
	at := top
	for _, part := range strings.Split(rel, string(filepath.Separator)) {
		if dir, err := openFolder(at); err == nil {
			above = w.readLevel(dir, nil, above)
			dir.close()
		}
		at = filepath.Join(at, part)
		w.path = append(append(w.path, part...), '/')
	}
	w.dirAt = len(w.path)
	return above
}

// highest is the highest folder whose ignore files count for name.
func highest(name, worktree string) string {
	root := filepath.VolumeName(name) + string(filepath.Separator)
	if worktree == "" {
		return root
	}
	abs, err := filepath.Abs(worktree)
	if err != nil {
		return root
	}
	if abs, err = filepath.EvalSymlinks(abs); err != nil {
		return root
	}
	rel, err := filepath.Rel(abs, name)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return root
	}
	return abs
}

// run yields the files. The error is why the walk ended early.
func (w *walker) run(yield func(string, error) bool) error {
	for turn := 0; len(w.stack) > 0; turn++ {
		if turn%64 == 0 && w.ctx.Err() != nil {
			return w.ctx.Err()
		}
		f := &w.stack[len(w.stack)-1]
		if f.next == len(f.list) {
			w.pop()
			continue
		}
		e := f.list[f.next]
		f.next++
		w.path = append(w.path[:f.end], e.name...)
		if !w.wanted(e, f) {
			continue
		}
		if e.kind == entryDir {
			if err := w.enter(e.name); err != nil {
				return err
			}
			continue
		}
		if !yield(string(w.path[w.dirAt:]), nil) {
			return nil
		}
		w.yielded++
		if w.yielded == w.opt.Max {
			return nil
		}
	}
	return nil
}

// wanted judges the entry that the path names now.
func (w *walker) wanted(e entry, f *frame) bool {
	isDir := e.kind == entryDir
	if e.kind == entryOther || isDir && e.name == ".git" {
		return false
	}
	switch w.globs.match(&w.machine, w.path[w.dirAt:], f.end-w.dirAt, isDir) {
	case ignored: // by the glob's own reading: it names what is wanted
		return true
	case kept:
		w.skipped.Ignored++
		return false
	}
	if w.globs != nil && w.globs.plain > 0 && !isDir {
		return false
	}
	switch w.judge(f.level, f.end, isDir) {
	case ignored:
		w.skipped.Ignored++
		return false
	case kept:
		return true
	}
	if !w.opt.Hidden && strings.HasPrefix(e.name, ".") {
		w.skipped.Hidden++
		return false
	}
	return true
}

// enter goes down into a folder of the current one. The error is not nil only
// if the walk is to end.
func (w *walker) enter(name string) error {
	top := len(w.stack) - 1
	dir, err := w.held(top)
	if err == nil {
		dir, err = dir.sub(name)
	}
	if f := &w.stack[top]; f.next > f.lastDir {
		w.release(top)
	}
	if err == nil {
		if err = w.push(name, dir, w.stack[top].level); err != nil {
			dir.close()
		}
	}
	if w.ctx.Err() != nil {
		return w.ctx.Err()
	}
	if err != nil {
		w.fail(err)
	}
	return nil
}

// push reads a folder and puts it on the stack, which takes the handle over. If
// there is an error the caller still has it.
func (w *walker) push(name string, dir *folder, above *level) error {
	list, err := w.reader.list(w.ctx, dir)
	if err != nil {
		return err
	}
	slices.SortFunc(list, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	f := frame{name: name, dir: dir, list: list, lastDir: -1, level: above}
	if len(w.stack) > 0 {
		w.path = append(w.path, '/')
	}
	f.end = len(w.path)
	for i, e := range list {
		if e.kind == entryDir {
			f.lastDir = i
		}
	}
	if !w.opt.Ignored {
		f.level = w.readLevel(dir, list, above)
	}
	w.stack = append(w.stack, f)
	top := len(w.stack) - 1
	if f.lastDir < 0 {
		w.release(top)
	}
	w.release(top - maxHeld)
	return nil
}

// pop leaves the current folder.
func (w *walker) pop() {
	top := len(w.stack) - 1
	f := &w.stack[top]
	if f.dir != nil {
		f.dir.close()
	}
	if f.level != nil && f.level.end == f.end {
		w.live -= f.level.size
	}
	*f = frame{}
	w.stack = w.stack[:top]
}

// release closes the handle of a folder on the stack. The first folder stays
// open: from it all others can be reached again.
func (w *walker) release(at int) {
	if at <= 0 || w.stack[at].dir == nil {
		return
	}
	w.stack[at].dir.close()
	w.stack[at].dir = nil
}

// held is the handle of the folder on top of the stack, opened again if it had
// to be released. On the way to it some folders above it, which will be asked
// for next, are opened to stay.
func (w *walker) held(top int) (*folder, error) {
	from := top
	for w.stack[from].dir == nil {
		from--
	}
	dir := w.stack[from].dir
	for at := from + 1; at <= top; at++ {
		sub, err := dir.sub(w.stack[at].name)
		if w.stack[at-1].dir != dir {
			dir.close()
		}
		if err != nil {
			return nil, err
		}
		dir = sub
		f := &w.stack[at]
		if at == top || at > top-maxHeld/2 && f.next <= f.lastDir {
			f.dir = dir
		}
	}
	return dir, nil
}

func (w *walker) close() {
	for len(w.stack) > 0 {
		w.pop()
	}
}

// fail counts what could not be read.
func (w *walker) fail(err error) {
	w.skipped.Failed++
	if w.skipped.Err == nil {
		w.skipped.Err = fmt.Errorf("reading %s: %w", w.path[min(w.dirAt, len(w.path)):], err)
	}
}

// readBounded reads a file to its end or to the limit, and in that case to the
// end of the last whole line.
func readBounded(f *os.File, limit int) (string, error) {
	var text strings.Builder
	n, err := io.Copy(&text, io.LimitReader(f, int64(limit)+1))
	if err != nil {
		return "", err
	}
	if n <= int64(limit) {
		return text.String(), nil
	}
	cut := text.String()[:limit]
	return cut[:strings.LastIndexByte(cut, '\n')+1], nil
}
