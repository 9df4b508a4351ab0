package run

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"sync"
	"time"
)

// maxFolders bounds how many folders are looked into for files that may not be
// read. Beyond it the answer says that it is not whole.
const maxFolders = 200_000

// Masks finds the files of a tree that the rules keep from being read, so that
// the kernel can keep them from commands too. It remembers folders by the time
// they were changed and looks again only into those that were, so that it can
// be asked before every command.
type Masks struct {
	mu    sync.Mutex
	trees map[string]*masked // by root and rules
}

type masked struct {
	folders map[string]*folder
	used    time.Time
}

type folder struct {
	changed time.Time
	denied  []string // absolute
	below   []string
}

// A Sieve tells which files may be read; see permission.Policy.Sieve.
type Sieve struct {
	Passes func(names ...string) bool // nil: all may
	Key    string
	Names  func(file string) []string // the names of a file that rules are about
}

// Find returns the files below root that may not be read, sorted. Links are
// not followed: what they lead to is masked where it is.
func (m *Masks) Find(ctx context.Context, root string, s Sieve) ([]string, error) {
	if s.Passes == nil {
		return nil, nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.tree(root + "\x00" + s.Key)
	var out []string
	seen := map[string]*folder{}
	for todo := []string{root}; len(todo) > 0; {
		dir := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if len(seen) == maxFolders {
			break
		}
		f := t.folders[dir]
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() {
			continue // it went meanwhile, or may not be looked into
		}
		// A folder that was changed a moment ago may change again within the
		// same tick of the clock.
		if f == nil || !f.changed.Equal(info.ModTime()) || time.Since(f.changed) < time.Second {
			f = look(dir, info.ModTime(), s)
		}
		seen[dir] = f
		out = append(out, f.denied...)
		todo = append(todo, f.below...)
	}
	t.folders = seen
	sort.Strings(out)
	return out, nil
}

// tree returns what is remembered under a key. Few are kept: each is the rules
// of an agent.
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
		t = &masked{folders: map[string]*folder{}}
		m.trees[key] = t
	}
	t.used = time.Now()
	return t
}

func look(dir string, changed time.Time, s Sieve) *folder {
	f := &folder{changed: changed}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return f
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
	return f
}
