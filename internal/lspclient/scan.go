package lspclient

import (
	"context"
	"errors"
	"hash/maphash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// How much of a tree is looked at, and remembered.
const (
	lookEntries = 100_000
	lookTime    = 500 * time.Millisecond
	lookChunk   = 512     // entries of a folder that are read at once
	lookKept    = 200_000 // files, and as many folders; more are not remembered
	summedBytes = 1 << 20 // a file larger than this is known by size and time alone
)

// A tree records the state of the files of a root, to detect changes made by others (a shell, a
// person) without watching. It is safe for concurrent use.
type tree struct {
	root  string
	wants func(rel string) bool
	seed  maphash.Seed
	now   func() time.Time // what the times of files are compared with

	// The limits of one scan, and of the files and folders that are recorded.
	entries int
	time    time.Duration
	most    int

	looking sync.Mutex // one look at a time

	mu             sync.Mutex
	top            *treeFolder
	todo           []stop // that this round has not come to, the next one last
	round          uint32 // counts the walks through the whole tree
	files, folders int    // that are remembered
}

// A treeFolder is what is remembered of a folder.
type treeFolder struct {
	files map[string]sight
	subs  map[string]*treeFolder
	round uint32 // in which it was last seen
}

// A sight is the last known state of a file.
type sight struct {
	size, changed int64
	// sum is a hash of the file's content, and not 0, if it had changed just before: another change
	// may then leave the other attributes the same.
	sum   uint64
	round uint32 // in which it was last looked at
}

// A stop is a folder to be scanned.
type stop struct {
	rel string
	*treeFolder
}

// newTree returns the tree of a root. wants reports which files count, by their path from the root;
// it is called while the tree is locked. If its answers change, a new tree is needed.
func newTree(root string, wants func(rel string) bool) *tree {
	return &tree{
		root: filepath.Clean(root), wants: wants, seed: maphash.MakeSeed(), now: time.Now,
		entries: lookEntries, time: lookTime, most: lookKept, top: &treeFolder{},
	}
}

// look finds what has changed since the last look. The first one finds nothing
// and remembers. A look has a bounded length; complete is false when it has
// not come to the end: then the next one goes on there, and what was not
// looked at is not reported.
func (t *tree) look(ctx context.Context) (changes []FileChange, complete bool) {
	t.looking.Lock()
	defer t.looking.Unlock()
	l := &look{tree: t, left: t.entries, until: time.Now().Add(t.time)}
	whole := len(t.todo) == 0 // only a look has to do with it
	for l.walk(ctx, whole) {
		if whole {
			complete = !l.full
			break
		}
		whole = true // from the top, as that was long ago
	}
	slices.SortStableFunc(l.changes, func(a, b FileChange) int { return strings.Compare(a.Path, b.Path) })
	return l.changes, complete
}

// noted records the present state of a file that the server was notified of by other means.
func (t *tree) noted(path string) {
	rel, ok := relativePath(t.root, filepath.Clean(path))
	if !ok {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	at, dir := t.top, t.root
	parts := strings.Split(rel, string(filepath.Separator))
	for _, part := range parts[:len(parts)-1] {
		dir = filepath.Join(dir, part)
		sub := at.subs[part]
		if sub == nil {
			if info, err := os.Lstat(dir); err != nil || !info.IsDir() || passedOver(part) {
				return
			}
			if sub = t.addFolder(at, part); sub == nil {
				return
			}
		}
		at = sub
	}
	name := parts[len(parts)-1]
	old, known := at.files[name]
	if !known && !t.wants(rel) {
		return
	}
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && known:
		delete(at.files, name)
		t.files--
	case err == nil && counts(info.Mode().Type()):
		s, _ := t.sight(path, info, old)
		t.remember(at, name, s)
	}
}

// addFolder adds a folder to another; nil when there are too many.
func (t *tree) addFolder(in *treeFolder, name string) *treeFolder {
	if t.folders >= t.most {
		return nil
	}
	t.folders++
	if in.subs == nil {
		in.subs = map[string]*treeFolder{}
	}
	sub := &treeFolder{}
	in.subs[name] = sub
	return sub
}

// remember records the state of a file; it returns false if there are too many.
func (t *tree) remember(in *treeFolder, name string, s sight) bool {
	if _, known := in.files[name]; !known {
		if t.files >= t.most {
			return false
		}
		t.files++
	}
	if in.files == nil {
		in.files = map[string]sight{}
	}
	in.files[name] = s
	return true
}

// sight returns the present state of a file, and whether it differs from before.
func (t *tree) sight(path string, info fs.FileInfo, old sight) (now sight, differs bool) {
	now = sight{size: info.Size(), changed: info.ModTime().UnixNano()}
	differs = now.size != old.size || now.changed != old.changed
	young := t.isYoung(info.ModTime())
	if !differs && old.sum == 0 || differs && !young {
		return now, differs
	}
	sum := t.hashFile(path, info)
	differs = differs || sum != old.sum
	if young {
		now.sum = sum
	}
	return now, differs
}

// hashFile returns a hash of a regular file, 0 if it is too large.
func (t *tree) hashFile(path string, info fs.FileInfo) uint64 {
	if !info.Mode().IsRegular() || info.Size() > summedBytes {
		return 0
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // it may have become a pipe
	if err != nil {
		return 0
	}
	defer f.Close()
	var h maphash.Hash
	h.SetSeed(t.seed)
	if _, err := io.Copy(&h, io.LimitReader(f, summedBytes)); err != nil {
		return 0
	}
	return h.Sum64() | 1
}

// isYoung reports whether a file has changed so recently that another change may get the same time,
// within the resolution of the file system.
func (t *tree) isYoung(changed time.Time) bool {
	limit := 50 * time.Millisecond
	if changed.Nanosecond() == 0 {
		limit = 2100 * time.Millisecond // whole seconds, or every other
	}
	return t.now().Sub(changed).Abs() < limit
}

// counts reports whether entries of a type are recorded: files, and links themselves, which are not
// followed.
func counts(typ fs.FileMode) bool { return typ.IsRegular() || typ&fs.ModeSymlink != 0 }

// passedOver reports whether a folder is skipped, because nobody edits files in it.
func passedOver(name string) bool {
	switch name {
	case "node_modules", ".git", ".hg", ".svn", ".bzr", ".jj", ".sl", ".pijul", "_darcs", "CVS":
		return true
	}
	return false
}

// A look is one scan of a tree.
type look struct {
	*tree
	left    int // entries
	until   time.Time
	visits  int
	changes []FileChange
	full    bool // something could not be remembered
}

// spent reports whether the scan must end.
func (l *look) spent(ctx context.Context) bool {
	return l.left <= 0 || ctx.Err() != nil || time.Now().After(l.until)
}

// walk goes through the folders that are to be visited, in a new round through
// all of them; false when the look has to end before.
func (l *look) walk(ctx context.Context, begin bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if begin {
		l.round++
		l.todo = append(l.todo[:0], stop{"", l.top})
	}
	for len(l.todo) > 0 {
		if l.spent(ctx) {
			return false
		}
		here := l.todo[len(l.todo)-1]
		l.visits++
		if fresh, done := l.visit(ctx, here); !done && (fresh || l.visits > 1) {
			return false // it is the first to be visited next time
		}
		// A folder that takes a whole look and shows nothing new is left.
		l.todo = l.todo[:len(l.todo)-1]
		for name, sub := range here.subs {
			if sub.round == l.round {
				l.todo = append(l.todo, stop{filepath.Join(here.rel, name), sub})
			}
		}
		// Others may have something to note.
		l.mu.Unlock()
		l.mu.Lock()
	}
	return true
}

// visit looks at the entries of a folder. fresh says that there was one that
// this round had not come to, done that the last was reached.
func (l *look) visit(ctx context.Context, here stop) (fresh, done bool) {
	f, err := os.OpenFile(filepath.Join(l.root, here.rel), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		l.lose(here)
		return true, true
	}
	if err != nil {
		return true, true // nothing can be said about it
	}
	defer f.Close()
	for {
		list, err := f.ReadDir(lookChunk)
		for _, e := range list {
			if l.spent(ctx) {
				return fresh, false
			}
			l.left--
			if l.visitEntry(here, e) {
				fresh = true
			}
		}
		if errors.Is(err, io.EOF) {
			l.findDeleted(here)
			return true, true
		}
		if err != nil {
			return true, true
		}
	}
}

// visitEntry looks at one thing in a folder, and says whether this round had not
// come to it.
func (l *look) visitEntry(here stop, e fs.DirEntry) bool {
	name := e.Name()
	switch {
	case e.IsDir():
		return l.sub(here, name)
	case !counts(e.Type()):
		return false
	}
	old, known := here.files[name]
	if known && old.round == l.round {
		return false
	}
	rel := filepath.Join(here.rel, name)
	if !known && !l.wants(rel) {
		return false
	}
	info, err := e.Info()
	if errors.Is(err, fs.ErrNotExist) {
		return true // the sweep finds that out
	}
	if err != nil {
		if known {
			old.round = l.round
			here.files[name] = old
		}
		return true
	}
	path := filepath.Join(l.root, rel)
	now, differs := l.sight(path, info, old)
	now.round = l.round
	switch {
	case !l.remember(here.treeFolder, name, now):
		l.full = true
	case !known:
		l.addChange(path, Created)
	case differs:
		l.addChange(path, Altered)
	}
	return true
}

// sub handles a subfolder.
func (l *look) sub(here stop, name string) bool {
	if passedOver(name) {
		return false
	}
	sub := here.subs[name]
	if sub == nil {
		if sub = l.addFolder(here.treeFolder, name); sub == nil {
			l.full = true
			return false
		}
	}
	fresh := sub.round != l.round
	sub.round = l.round
	return fresh
}

// addChange reports a change, unless this is the first scan of the tree.
func (l *look) addChange(path string, kind int) {
	if l.round > 1 {
		l.changes = append(l.changes, FileChange{Path: path, Kind: kind})
	}
}

// findDeleted finds what is missing in a folder that was scanned completely.
func (l *look) findDeleted(here stop) {
	for name, s := range here.files {
		if s.round != l.round {
			l.addChange(filepath.Join(l.root, here.rel, name), Deleted)
			delete(here.files, name)
			l.files--
		}
	}
	for name, sub := range here.subs {
		if sub.round != l.round {
			l.lose(stop{filepath.Join(here.rel, name), sub})
			delete(here.subs, name)
			l.folders--
		}
	}
}

// lose forgets the contents of a deleted folder.
func (l *look) lose(gone stop) {
	for name := range gone.files {
		l.addChange(filepath.Join(l.root, gone.rel, name), Deleted)
	}
	l.files -= len(gone.files)
	for name, sub := range gone.subs {
		l.lose(stop{filepath.Join(gone.rel, name), sub})
	}
	l.folders -= len(gone.subs)
	gone.files, gone.subs = nil, nil
}
