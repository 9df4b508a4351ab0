package scripthost

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"time"
)

const (
	// shutAge is for how long it is believed which files are kept back.
	shutAge = 5 * time.Second
	// shutWalk bounds how many entries are looked at for it.
	shutWalk = 500_000
)

// An inode identifies a file independent of its names.
type inode struct{ dev, ino uint64 }

func (f facts) inode() inode { return inode{f.Dev, f.Ino} }

// shut are the files of a project that may not be read. A file with several names may be one of
// them under another name. They are listed once, because a walk of the project for each read would
// be too slow, and package managers create many links.
type shut struct {
	mu    sync.Mutex
	key   string
	until time.Time
	found map[inode]bool // nil where not all could be looked at
}

// openLinked opens a file that has several names for reading: what is denied under one name is not
// read under another.
func (w *Host) openLinked(ctx context.Context, by *work, at entryPath) (*os.File, error) {
	found := w.shut.files(ctx, w, by)
	if found == nil {
		f, _, err := w.opt.Files.OpenRead(ctx, w.door(by), at.path)
		return f, err
	}
	if !at.ours {
		if err := w.opt.Files.AskRead(ctx, w.door(by), at.path); err != nil {
			return nil, err
		}
	}
	f, _, err := w.opt.Files.Open(at.path)
	if err != nil {
		return nil, err
	}
	st, err := statOpen(f)
	if err == nil && !found[st.inode()] {
		return f, nil
	}
	_ = f.Close()
	if err != nil {
		return nil, err
	}
	f, _, err = w.opt.Files.OpenRead(ctx, w.door(by), at.path)
	return f, err
}

// files returns the files that may not be read, nil if that is unknown.
func (s *shut) files(ctx context.Context, w *Host, by *work) map[inode]bool {
	passes, key := by.Filter("read")
	if passes == nil {
		return map[inode]bool{}
	}
	home := w.home(by)
	key = home + "\x00" + key
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.key == key && time.Now().Before(s.until) {
		return s.found
	}
	names := w.opt.Files.Names(home)
	walk := shutting{found: map[inode]bool{}, left: shutWalk, kept: func(name string) bool { return !passes(names(name)...) }}
	top := w.opt.Files.Worktree
	if top == "" || filepath.Dir(top) == top {
		top = home
	}
	top, err := filepath.EvalSymlinks(top)
	if err != nil {
		return nil
	}
	d, err := openFolder(top)
	if err != nil {
		return nil
	}
	defer d.close()
	walk.walkFolder(ctx, d, top)
	if ctx.Err() != nil {
		return nil
	}
	s.key, s.until, s.found = key, time.Now().Add(shutAge), walk.found
	if walk.left <= 0 {
		s.found = nil
	}
	return s.found
}

// shutting is a walk that finds the files that may not be read.
type shutting struct {
	kept  func(name string) bool
	found map[inode]bool
	left  int
}

func (s *shutting) walkFolder(ctx context.Context, d dirHandle, at string) {
	entries, err := d.names()
	if err != nil {
		return // what cannot be listed does not belong to the project
	}
	for _, e := range entries {
		if s.left--; s.left <= 0 || ctx.Err() != nil {
			return
		}
		name := at + string(filepath.Separator) + e.Name()
		switch {
		case e.IsDir():
			if e.Name() != ".git" && e.Name() != "node_modules" {
				s.walkBelow(ctx, d, e.Name(), name)
			}
		case e.Type().IsRegular() && s.kept(name):
			if st, err := d.stat(e.Name()); err == nil {
				s.found[st.inode()] = true
			}
		}
	}
}

func (s *shutting) walkBelow(ctx context.Context, d dirHandle, base, at string) {
	if next, err := d.openBelow(base); err == nil {
		s.walkFolder(ctx, next, at)
		next.close()
	}
}
