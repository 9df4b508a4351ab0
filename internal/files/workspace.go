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

// Workspace is the door. The zero value has no worktree, and remembers what
// sessions saw for as long as it lives.
type Workspace struct {
	// Worktree is the root of the project, absolute. Where it is "" or a root
	// of the file system there is none, and only the working folder is inside.
	Worktree string
	// Own are folders of our own, of config and data: to write there, a rule
	// has to name them.
	Own []string
	// Home is the home folder of the person, in which the start-up files of
	// shells and the like are protected; the user's own when empty.
	Home string
	// Project names the project in the history.
	Project string
	// Memory keeps what sessions saw; nil forgets it with the process.
	Memory Memory
	// History keeps what changes replaced; nil keeps nothing.
	History *History
	// Unchecked lets files be changed that the session has not read.
	Unchecked bool
	// Sync makes a change survive a power failure.
	Sync bool
	// OnChange is told of every change.
	OnChange func(Changed)
	// OnTrouble is told what went wrong beside a change.
	OnTrouble func(error)
	// Now gives the time; time.Now when nil.
	Now func() time.Time

	recovering sync.Mutex
	recovered  bool
	locks      disk.Locks
	litter     disk.Litter
	list       lazyList
	cache      *pathCache // only while one question is put together
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

// FindWorktree returns the nearest folder, dir or above it, that holds .git;
// the root of the file system when there is none.
func FindWorktree(dir string) string {
	for d := filepath.Clean(dir); ; d = filepath.Dir(d) {
		if _, err := os.Lstat(filepath.Join(d, ".git")); err == nil || isRoot(d) {
			return d
		}
	}
}

// isRoot reports whether nothing is above a folder: /, or C:\, or a share.
func isRoot(dir string) bool { return filepath.Dir(dir) == dir }

// A Path is a file name that has been asked about. Only [Files.Resolve]
// makes one.
type Path struct {
	abs   string // as asked for, absolute and without dots
	real  string // what the system would open
	shown string // from the worktree, for people
	dir   string // where relative names start

	folder bool // a new folder is made of the name, and nothing else
}

// AsFolder is the path for making a folder of its name. A folder that is new
// and empty changes nothing by being on the way to a protected name.
func (p Path) AsFolder() Path {
	p.folder = true
	return p
}

// String gives the path as it was asked for, absolute.
func (p Path) String() string { return p.abs }

// Real gives the name that the system would open: links are followed.
func (p Path) Real() string { return p.real }

// Title gives the path as seen from the worktree.
func (p Path) Title() string { return p.shown }

// Errors a caller decides by.
var (
	ErrBadName     = errors.New("not a file name")
	ErrNameTooLong = errors.New("the file name is too long")
)

// What a name may hold: more the system does not take either.
const (
	maxName  = 4095 // bytes
	maxLinks = 255  // links that lead on from one name
)

// Resolve finds out what name means, starting from dir, and asks before it
// leads outside the workspace. Links are followed first: a link inside that
// points outside is outside.
func (f *Workspace) Resolve(ctx context.Context, a Asker, dir, name string) (Path, error) {
	return f.resolve(ctx, a, Path{dir: dir, abs: name}, false)
}

// ResolveFolder is [Files.Resolve] for the name of a folder.
func (f *Workspace) ResolveFolder(ctx context.Context, a Asker, dir, name string) (Path, error) {
	return f.resolve(ctx, a, Path{dir: dir, abs: name}, true)
}

// ResolveEither is [Files.Resolve] for a name that may be a file's or a
// folder's: what is there decides what is asked about.
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

// relativeTitle is a name as seen from the worktree, also where that is the root:
// titles are as the reference shows them.
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

// baseDir is the folder that names are seen from: the worktree, and where there is
// none the folder of the call.
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
