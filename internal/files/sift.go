package files

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// A Filterer decides which of very many files may be read.
type Filterer interface {
	Decider
	Filter(permission string) (passes func(names ...string) bool, key string)
}

// A SearchFilter says which files below a folder may not be searched, by names relative to that
// folder. It is made for one search; its methods are safe for concurrent use.
type SearchFilter struct {
	files *Workspace
	by    Filterer
	sieve func(names ...string) bool
	key   string
	dir   Path
	top   string // names are seen from here
	real  string // and from here where links lead elsewhere; "" where they do not
	// hard returns the files with several names that are excluded, and whether the whole project
	// was checked.
	hard func() (shut map[inode]bool, complete bool)
}

// SearchFilter returns the filter for searching below p, or nil if all files may be searched. A
// file is excluded if the rules for reading deny it, or ask about it in particular and nobody has
// allowed it: a search shows the contents of many files, and an answer about all of them would not
// be one about each.
func (f *Workspace) SearchFilter(ctx context.Context, by Filterer, p Path) *SearchFilter {
	sieve, key := by.Filter("read")
	if sieve == nil {
		return nil
	}
	s := &SearchFilter{files: f, by: by, sieve: sieve, key: key, dir: p, top: f.baseDir(p.dir)}
	if p.real != p.abs {
		s.real = realName(s.top)
	}
	s.hard = sync.OnceValues(func() (map[inode]bool, bool) { return s.shutInodes(ctx) })
	return s
}

// Named reports whether the rules for reading deny p or ask about it in particular, under its
// requested or its real name.
func (f *Workspace) Named(by Filterer, p Path) bool {
	passes, _ := by.Filter("read")
	if passes == nil {
		return false
	}
	top := f.baseDir(p.dir)
	return !passes(p.abs, relativeTo(top, p.abs)) || p.real != p.abs && !passes(p.real, relativeTo(realName(top), p.real))
}

// Key identifies the rules and the folder: with equal keys, Suspect gives equal answers.
func (s *SearchFilter) Key() string {
	return strings.Join([]string{s.dir.abs, s.dir.real, s.top, s.real, s.key}, "\x00")
}

// Suspect reports whether the rules alone exclude a file.
func (s *SearchFilter) Suspect(name string) bool {
	abs := join(s.dir.abs, name)
	if s.real == "" {
		return !s.sieve(abs, relativeTo(s.top, abs))
	}
	real := join(s.dir.real, name)
	return !s.sieve(abs, relativeTo(s.top, abs)) || !s.sieve(real, relativeTo(s.real, real))
}

// Shut reports whether a file is excluded, taking approvals into account.
func (s *SearchFilter) Shut(name string) bool {
	return s.Suspect(name) && !s.files.MayRead(s.by, s.pathOf(name))
}

// Linked reports whether a file with several names is excluded under another one of its names in
// the project.
func (s *SearchFilter) Linked(name string) bool {
	info, err := os.Lstat(join(s.dir.real, name))
	if err != nil {
		return true
	}
	shut, complete := s.hard()
	return shut[inodeOf(info)] || !complete // a file that was not checked may be anything
}

func (s *SearchFilter) pathOf(name string) Path {
	abs := join(s.dir.abs, name)
	return Path{abs: abs, real: join(s.dir.real, name), shown: s.files.relativeTitle(s.dir.dir, abs), dir: s.dir.dir}
}

// shutInodes returns the excluded files with several names, and whether the whole project was
// walked. It leaves out git folders and installed packages, as [Workspace.OpenRead] does.
func (s *SearchFilter) shutInodes(ctx context.Context) (map[inode]bool, bool) {
	shut := map[inode]bool{}
	top := realName(s.top)
	_ = filepath.WalkDir(top, func(name string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return nil // what cannot be listed cannot be searched either
		case d.IsDir():
			if d.Name() == ".git" || d.Name() == "node_modules" {
				return fs.SkipDir
			}
			return nil
		case !d.Type().IsRegular() || s.sieve(name, relativeTo(top, name)):
			return nil
		}
		if info, err := d.Info(); err == nil && linkCount(info) > 1 {
			if p := (Path{abs: name, real: name, dir: s.dir.dir}); !s.files.MayRead(s.by, p) {
				shut[inodeOf(info)] = true
			}
		}
		return nil
	})
	return shut, ctx.Err() == nil
}

// relativeTo returns a name relative to a folder, cheaply if it lies inside.
func relativeTo(top, name string) string {
	if rest, ok := strings.CutPrefix(name, top); ok && len(rest) > 1 && rest[0] == filepath.Separator {
		return rest[1:]
	}
	if rel, err := filepath.Rel(top, name); err == nil {
		return rel
	}
	return name
}

func join(dir, name string) string {
	if filepath.Separator != '/' {
		name = filepath.FromSlash(name)
	}
	if isRoot(dir) {
		return dir + name
	}
	return dir + string(filepath.Separator) + name
}
