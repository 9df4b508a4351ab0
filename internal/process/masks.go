package process

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"
)

// maxFolders bounds how many folders are looked into for files that may not be
// read.
const maxFolders = 200_000

// ErrTooManyFolders reports that the files denied to read could not all be found. No command runs
// in a sandbox that leaves some of them readable.
var ErrTooManyFolders = errors.New("there are too many folders to find every file in them that may not be read, so the wall could not cover them all: " +
	"start in a folder with less below it, remove what is not needed, or set the config key wall.level to off")

// Masks finds the files of a tree that the rules deny to read, so that the kernel can deny them to
// commands too. It caches folders by their change time, which no command can set, and reads only
// changed ones again, so that it can be called before every command.
type Masks struct {
	mu    sync.Mutex
	trees map[string]*masked // by roots and rules
	most  int                // folders; maxFolders when 0
}

type masked struct {
	folders map[string]*maskedFolder
	used    time.Time
}

type maskedFolder struct {
	changed time.Time
	denied  []string // absolute
	below   []string

	// The other names of denied files here, as far as they were searched for. They change with the
	// folder only.
	sought  string
	aliases []string
}

// A PathFilter reports which files may be read; see permission.Policy.
type PathFilter struct {
	Passes func(names ...string) bool // nil: all may
	Key    string
	Names  func(file string) []string // the names of a file that rules are about
}

// Find returns the files below the roots that may not be read, sorted, with the other names of such
// files there. Links are not followed: their targets are masked where they are.
func (m *Masks) Find(ctx context.Context, roots []string, s PathFilter) ([]string, error) {
	if s.Passes == nil {
		return nil, nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.tree(strings.Join(roots, "\x00") + "\x00\x00" + s.Key)
	seen, err := m.walk(ctx, t.folders, roots, s)
	if err != nil {
		return nil, err
	}
	t.folders = seen
	var out []string
	for _, f := range seen {
		out = append(out, f.denied...)
	}
	more, err := aliases(ctx, seen, out)
	if err != nil {
		return nil, err
	}
	out = append(out, more...)
	sort.Strings(out)
	return slices.Compact(out), nil
}

// walk visits all folders below the roots, and uses cached ones.
func (m *Masks) walk(ctx context.Context, known map[string]*maskedFolder, roots []string, s PathFilter) (map[string]*maskedFolder, error) {
	most := m.most
	if most == 0 {
		most = maxFolders
	}
	seen := map[string]*maskedFolder{}
	for todo := slices.Clone(roots); len(todo) > 0; {
		dir := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if seen[dir] != nil {
			continue // a root below another
		}
		f, err := visit(dir, known[dir], s)
		if err != nil {
			return nil, err
		}
		if f == nil {
			continue
		}
		if len(seen) == most {
			return nil, fmt.Errorf("%w (more than %d)", ErrTooManyFolders, most)
		}
		seen[dir] = f
		todo = append(todo, f.below...)
	}
	return seen, nil
}

// visit returns the contents of a folder: the cached ones, if they are still valid. It returns
// nothing if no command could read it either.
func visit(dir string, known *maskedFolder, s PathFilter) (*maskedFolder, error) {
	info, err := os.Lstat(dir)
	if executorClosed(err) || err == nil && !info.IsDir() {
		return nil, nil // it went meanwhile, or may not be looked into
	}
	if err != nil {
		return nil, err
	}
	changed := changeTime(info)
	// A folder that was changed a moment ago may change again within the same
	// tick of the clock.
	if known != nil && known.changed.Equal(changed) && time.Since(changed) >= time.Second {
		return known, nil
	}
	f := &maskedFolder{changed: changed}
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrPermission):
		f.denied = []string{dir} // a command that owns it could open it
		return f, nil
	case err != nil && !executorClosed(err):
		return nil, err
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case e.Type()&fs.ModeSymlink != 0:
		case e.Type().IsRegular() && !s.Passes(s.Names(path)...):
			f.denied = append(f.denied, path)
		case e.IsDir() && e.Name() != ".git":
			f.below = append(f.below, path)
		}
	}
	return f, nil
}

// executorClosed reports whether an error means that there is nothing to be found. Other errors may
// be temporary, and what was not seen would stay readable.
func executorClosed(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission)
}

// tree returns the cache of a key. Few are kept: each is for the rules of an agent.
func (m *Masks) tree(key string) *masked {
	if m.trees == nil {
		m.trees = map[string]*masked{}
	}
	t := m.trees[key]
	if t == nil {
		if len(m.trees) >= 8 {
			oldest := ""
			for k, v := range m.trees {
				if oldest == "" || v.used.Before(m.trees[oldest].used) {
					oldest = k
				}
			}
			delete(m.trees, oldest)
		}
		t = &masked{folders: map[string]*maskedFolder{}}
		m.trees[key] = t
	}
	t.used = time.Now()
	return t
}

// aliases returns the other names of denied files. It searches only if one of them has several
// names, and then once in each folder until the folder or the denied files change.
func aliases(ctx context.Context, folders map[string]*maskedFolder, denied []string) ([]string, error) {
	wanted := map[fileID]bool{}
	var key []string
	for _, path := range denied {
		info, err := os.Lstat(path)
		if executorClosed(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if id, ok := severalNames(info); ok && !wanted[id] {
			wanted[id] = true
			key = append(key, fmt.Sprint(id))
		}
	}
	if len(wanted) == 0 {
		return nil, nil
	}
	sort.Strings(key)
	sought := strings.Join(key, " ")
	var out []string
	for dir, f := range folders {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if f.sought != sought {
			found, err := namesOf(dir, wanted)
			if err != nil {
				return nil, err
			}
			f.sought, f.aliases = sought, found
		}
		out = append(out, f.aliases...)
	}
	return out, nil
}

// namesOf returns the files of a folder that are among the wanted.
func namesOf(dir string, wanted map[fileID]bool) (out []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !executorClosed(err) {
		return nil, err
	}
	for _, e := range entries {
		if !e.Type().IsRegular() {
			continue
		}
		info, err := e.Info()
		if executorClosed(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if id, ok := severalNames(info); ok && wanted[id] {
			out = append(out, filepath.Join(dir, e.Name()))
		}
	}
	return out, nil
}
