package search

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/helve-dev/helve/internal/disk"
)

// A scope is what a walk is about. Once it is open it does not change any
// more but for its stock, and all goroutines of the walk share it.
type scope struct {
	opt    Options
	globs  *rules
	names  *namer // which folders the globs name, nil if that does not count
	global *rules // the user's own excludes file
	size   int    // bytes of text of the user's own excludes file
	work   int    // what its rules cost for a name
	stock  *stock // the ignore files that were read
	top    string // the highest folder that has a say
	prefix string // what leads from top to Dir, with a slash at the end
	above  *level // the ignore files above Dir
}

// A surveyor looks at folders and says which of their entries belong to the
// walk. It is the scratch memory of one goroutine.
//
// Paths are relative to scope.top, names to Dir. All ignore files of a walk
// have their place in a path, so a level means the same to all surveyors of
// a scope.
type surveyor struct {
	*scope
	path    []byte // of what is being looked at
	reader  *lister
	machine machine
	skipped Skipped
}

// openScope opens Dir and reads the ignore files above it. The surveyor's path
// is that of Dir then. The caller closes the folder.
func openScope(ctx context.Context, opt Options) (s *surveyor, dir *dirHandle, err error) {
	s = &surveyor{scope: &scope{opt: opt, stock: &stock{}}, reader: &lister{}}
	if s.globs, err = parseGlobs(opt.Globs); err != nil {
		return s, nil, err
	}
	if s.names, err = newNamer(opt); err != nil {
		return s, nil, err
	}
	name, open := opt.Dir, openExact
	if !opt.Exact {
		open = openFolder
		if name, err = filepath.Abs(name); err == nil {
			name, err = filepath.EvalSymlinks(name)
		}
	}
	if err == nil {
		dir, err = open(name)
	}
	if err != nil {
		return s, nil, fmt.Errorf("walking: %w", err)
	}
	s.top = name
	if !opt.Ignored {
		s.readGlobal()
		s.readAbove(name)
	}
	s.prefix = string(s.path)
	return s, dir, nil
}

// fork is a surveyor of the same walk for another goroutine.
func (s *surveyor) fork() *surveyor { return &surveyor{scope: s.scope, reader: &lister{}} }

// readAbove reads the ignore files of the folders above the one to be walked,
// and sets the path to that folder's.
func (s *surveyor) readAbove(name string) {
	top := highest(name, s.opt.Worktree)
	rel, err := filepath.Rel(top, name)
	if err != nil || rel == "." {
		return
	}
	s.top = top
	at := top
	for _, part := range strings.Split(rel, string(filepath.Separator)) {
		if dir, err := openFolder(at); err == nil {
			s.above = s.readLevel(dir, marks{unlisted: true}, s.above)
			dir.close()
		}
		at = filepath.Join(at, part)
		s.path = append(append(s.path, part...), '/')
	}
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
	if !disk.Within(abs, name) {
		return root
	}
	return abs
}

// survey reads the entries of the folder that the path names, unsorted, and the ignore files in it.
// The level is the one that applies to the entries.
func (s *surveyor) survey(ctx context.Context, dir *dirHandle, above *level) (list []dirEntry, l *level, err error) {
	list, err = s.reader.list(ctx, dir)
	if err != nil {
		return nil, nil, err
	}
	if s.opt.Ignored {
		return list, nil, nil
	}
	return list, s.readLevel(dir, s.reader.marks, above), nil
}

// included decides on the entry of a path, and counts it if it is left out. Its name begins at
// base, and the level is that of its folder. After the context is done, nothing is included.
func (s *surveyor) included(ctx context.Context, e dirEntry, l *level, base int) bool {
	isDir := e.kind == entryDir
	if e.kind == entryOther || isDir && e.name == ".git" || ctx.Err() != nil {
		return false
	}
	s.machine.ctx = ctx
	dirAt := len(s.prefix)
	chosen := false
	switch s.globs.match(&s.machine, s.path[dirAt:], base-dirAt, isDir) {
	case ignored: // by the glob's own reading: it names what is wanted
		chosen = true
	case kept: // who asks leaves it out
		return false
	}
	if chosen && !(isDir && s.opt.Closed) {
		return true
	}
	if !chosen && !isDir && s.globs != nil && s.globs.plain > 0 {
		return false
	}
	return s.allowed(ctx, e, l, base, chosen)
}

// allowed asks the ignore files about an entry that globs leave open. One that
// they have chosen may be hidden.
func (s *surveyor) allowed(ctx context.Context, e dirEntry, l *level, base int, chosen bool) bool {
	isDir := e.kind == entryDir
	switch s.ignoreVerdict(ctx, l, s.path, base, isDir) {
	case ignored:
		dirAt := len(s.prefix)
		if isDir && s.names.match(&s.machine, s.path[dirAt:], base-dirAt) {
			return true
		}
		s.skipped.Ignored++
		return false
	case kept:
		return true
	}
	if !chosen && !s.opt.Hidden && strings.HasPrefix(e.name, ".") {
		s.skipped.Hidden++
		return false
	}
	return true
}

// countError counts an unreadable entry, which the path names.
func (s *surveyor) countError(err error) {
	s.skipped.Failed++
	if s.skipped.Err == nil {
		s.skipped.Err = fmt.Errorf("reading %s: %w", bytes.TrimSuffix(s.path[min(len(s.prefix), len(s.path)):], []byte("/")), err)
	}
}

// add adds up what two walks, or parts of one, left out.
func (s *Skipped) add(o Skipped) {
	s.Ignored += o.Ignored
	s.Hidden += o.Hidden
	s.Barred += o.Barred
	s.Binary += o.Binary
	s.Failed += o.Failed
	if s.Err == nil {
		s.Err = o.Err
	}
}
