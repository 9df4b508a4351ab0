package search

import (
	"bytes"
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

// A dirEntry is a name in a folder.
type dirEntry struct {
	name string
	kind entryKind
}

// A walkFrame is a folder on the way from Dir to where the walk is.
type walkFrame struct {
	name    string     // in its parent
	dir     *dirHandle // nil while it is not held open
	list    []dirEntry
	next    int    // the entry whose turn it is
	lastDir int    // the last entry that is a folder, -1 if there is none
	level   *level // the ignore files that hold for its entries
	end     int    // how much of walker.path names the folder, with the slash
}

// A walker is a walk under way, of one goroutine and in order.
type walker struct {
	*surveyor
	stack   []walkFrame
	yielded int
}

// open opens Dir and reads the ignore files above it.
func (w *walker) open(ctx context.Context, opt Options) error {
	s, dir, err := openScope(ctx, opt)
	w.surveyor = s
	if err != nil {
		return err
	}
	if err := w.push(ctx, "", dir, s.above); err != nil {
		dir.close()
		return fmt.Errorf("walking %s: %w", filepath.Join(s.top, filepath.FromSlash(s.prefix)), err)
	}
	return nil
}

// run yields the files. The error is why the walk ended early.
func (w *walker) run(ctx context.Context, yield func(string, error) bool) error {
	for len(w.stack) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		f := &w.stack[len(w.stack)-1]
		if f.next == len(f.list) {
			w.pop()
			continue
		}
		e := f.list[f.next]
		f.next++
		w.path = append(w.path[:f.end], e.name...)
		if !w.included(ctx, e, f.level, f.end) {
			continue
		}
		if e.kind == entryDir {
			if err := w.enterFolder(ctx, e.name); err != nil {
				return err
			}
			continue
		}
		if !yield(string(w.path[len(w.prefix):]), nil) {
			return nil
		}
		w.yielded++
		if w.yielded == w.opt.Max {
			return nil
		}
	}
	return ctx.Err()
}

// enterFolder goes down into a folder of the current one. The error is not nil only
// if the walk is to end.
func (w *walker) enterFolder(ctx context.Context, name string) error {
	top := len(w.stack) - 1
	dir, err := w.held(top)
	if err == nil {
		dir, err = dir.sub(name)
	}
	if f := &w.stack[top]; f.next > f.lastDir {
		w.release(top)
	}
	if err == nil {
		if err = w.push(ctx, name, dir, w.stack[top].level); err != nil {
			dir.close()
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		w.countError(err)
	}
	return nil
}

// push reads a folder and puts it on the stack, which takes the handle over. If
// there is an error the caller still has it.
func (w *walker) push(ctx context.Context, name string, dir *dirHandle, above *level) error {
	f := walkFrame{name: name, dir: dir, lastDir: -1}
	if len(w.stack) > 0 {
		w.path = append(w.path, '/')
	}
	f.end = len(w.path)
	var err error
	if f.list, f.level, err = w.survey(ctx, dir, above); err != nil {
		return err
	}
	slices.SortFunc(f.list, func(a, b dirEntry) int { return strings.Compare(a.name, b.name) })
	for i, e := range f.list {
		if e.kind == entryDir {
			f.lastDir = i
		}
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
	*f = walkFrame{}
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
func (w *walker) held(top int) (*dirHandle, error) {
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

// readBounded reads a file to its end or to the limit, and in that case to the
// end of the last whole line.
func readBounded(f *os.File, limit int) (string, error) {
	text := make([]byte, 0, 1024)
	for len(text) <= limit {
		text = slices.Grow(text, 1)
		n, err := f.Read(text[len(text):cap(text)])
		text = text[:len(text)+n]
		if err == io.EOF {
			break
		}
		if err != nil {
			return "", err
		}
	}
	if len(text) > limit {
		text = text[:bytes.LastIndexByte(text[:limit], '\n')+1]
	}
	return string(text), nil
}
