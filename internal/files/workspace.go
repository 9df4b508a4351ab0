package files

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/helve-dev/helve/internal/disk"
	"github.com/helve-dev/helve/permission"
)

// An Asker asks for permission.
type Asker = permission.Asker

// A Workspace resolves, opens and changes files. The zero value has no worktree, and keeps read
// marks in memory.
type Workspace struct {
	// Worktree is the absolute root of the project. If it is "" or a root of the file system, there
	// is none, and only the working directory is inside.
	Worktree string
	// Own are helve's own folders, of config and data. Only a rule that names one allows writing
	// there.
	Own []string
	// Home is the home folder of the person, in which start-up files of shells and the like are
	// protected; the current user's when empty.
	Home string
	// Project identifies the project in the history.
	Project string
	// Memory keeps read marks; when nil, they end with the process.
	Memory Memory
	// History keeps what changes replace; when nil, nothing is kept.
	History *History
	// Unchecked allows changes of files that the session has not read.
	Unchecked bool
	// Sync makes changes survive a power failure.
	Sync bool
	// OnChange is called for every change.
	OnChange func(Changed)
	// OnTrouble is called for errors that do not fail a change.
	OnTrouble func(error)
	// Now returns the time; time.Now when nil.
	Now func() time.Time

	recovering sync.Mutex
	recovered  bool
	locks      disk.Locks
	litter     disk.Litter
	list       lazyList
	cache      *pathCache // set only for one question; see WithCache
	recent     recent
	mu         sync.Mutex
	sights     map[readMarkKey]ReadMark
}

func (f *Workspace) now() time.Time {
	if f.Now != nil {
		return f.Now()
	}
	return time.Now()
}

// FindWorktree returns the nearest folder from dir up that holds .git, or the root of the file
// system if none does.
func FindWorktree(dir string) string {
	for d := filepath.Clean(dir); ; d = filepath.Dir(d) {
		if _, err := os.Lstat(filepath.Join(d, ".git")); err == nil || isRoot(d) {
			return d
		}
	}
}

// isRoot reports whether dir has no parent: /, or C:\, or a share.
func isRoot(dir string) bool { return filepath.Dir(dir) == dir }

// A Path is a file name whose use was permitted. Only [Workspace.Resolve] makes one.
type Path struct {
	abs   string // as requested, absolute and clean
	real  string // what the system would open
	shown string // relative to the worktree, for people
	dir   string // relative names start here

	folder bool // the name is only used to create a folder
}

// AsFolder returns the path for creating a folder. A new, empty folder changes nothing, even if it
// is the parent of a protected name.
func (p Path) AsFolder() Path {
	p.folder = true
	return p
}

// String returns the path as requested, absolute.
func (p Path) String() string { return p.abs }

// Real returns the path that the system would open, with links resolved.
func (p Path) Real() string { return p.real }

// Title returns the path relative to the worktree.
func (p Path) Title() string { return p.shown }

// Errors that callers distinguish.
var (
	ErrBadName     = errors.New("not a file name")
	ErrNameTooLong = errors.New("the file name is too long")
)

// Limits for a name, which the system has too.
const (
	maxName  = 4095 // bytes
	maxLinks = 255  // links followed for one name
)

// Resolve finds out what name means, relative to dir, and asks for permission if it leads outside
// the workspace. It resolves links first: a link inside that points outside is outside.
func (f *Workspace) Resolve(ctx context.Context, a Asker, dir, name string) (Path, error) {
	return f.resolve(ctx, a, Path{dir: dir, abs: name}, false)
}

// ResolveFolder is [Workspace.Resolve] for the name of a folder.
func (f *Workspace) ResolveFolder(ctx context.Context, a Asker, dir, name string) (Path, error) {
	return f.resolve(ctx, a, Path{dir: dir, abs: name}, true)
}

// ResolveEither is [Workspace.Resolve] for the name of a file or a folder: what exists decides what
// is asked about.
func (f *Workspace) ResolveEither(ctx context.Context, a Asker, dir, name string) (Path, error) {
	asked := Path{dir: dir, abs: name}
	raw := name
	if !filepath.IsAbs(raw) {
		raw = dir + string(filepath.Separator) + name
	}
	folder := len(raw) <= maxName && strings.IndexByte(raw, 0) < 0 && f.IsFolder(Path{real: f.cache.real(raw)})
	return f.resolve(ctx, a, asked, folder)
}

func (f *Workspace) resolve(ctx context.Context, a Asker, asked Path, folder bool) (Path, error) {
	dir, name := asked.dir, asked.abs
	if strings.IndexByte(name, 0) >= 0 {
		return Path{}, fmt.Errorf("%w: %q holds a NUL byte", ErrBadName, name)
	}
	raw := name
	if !filepath.IsAbs(raw) {
		raw = dir + string(filepath.Separator) + name // not Join: links come before dots
	}
	if len(raw) > maxName {
		return Path{}, fmt.Errorf("%w: it has %d bytes, and %d are the most", ErrNameTooLong, len(raw), maxName)
	}
	p := Path{abs: filepath.Clean(raw), real: f.cache.real(raw), dir: dir}
	p.shown = f.relativeTitle(dir, p.abs)
	outside := ""
	var asks []permission.Request
	if !f.isInside(dir, p.abs) {
		outside = filepath.Dir(p.abs)
		if folder {
			outside = p.abs
		}
		asks = append(asks, outsideRequest(p.abs, folder))
	}
	leads := filepath.Dir(p.real)
	if folder {
		leads = p.real
	}
	if p.real != p.abs && leads != outside && !f.insideReal(dir, p.real) {
		asks = append(asks, outsideRequest(p.real, folder))
	}
	if len(asks) == 0 {
		return p, nil
	}
	if err := a.Ask(ctx, asks...); err != nil {
		return Path{}, err
	}
	return p, nil
}

// relativeTitle returns a name relative to the worktree, even if that is the root: OpenCode's
// titles are like that.
func (f *Workspace) relativeTitle(dir, abs string) string {
	from := f.Worktree
	if from == "" {
		from = dir
	}
	if rel, err := filepath.Rel(from, abs); err == nil {
		return rel
	}
	return abs
}

// baseDir returns the folder that titles are relative to: the worktree, or else the folder of the
// call.
func (f *Workspace) baseDir(dir string) string {
	if f.Worktree != "" && !isRoot(f.Worktree) {
		return f.Worktree
	}
	return dir
}

func (f *Workspace) isInside(dir, path string) bool {
	return within(dir, path) || f.Worktree != "" && !isRoot(f.Worktree) && within(f.Worktree, path)
}

func (f *Workspace) insideReal(dir, path string) bool {
	if within(f.cache.real(dir), path) {
		return true
	}
	top := f.Worktree
	if top != "" {
		top = f.cache.real(top)
	}
	return top != "" && !isRoot(top) && within(top, path)
}

func within(parent, path string) bool { return disk.Within(parent, path) }
