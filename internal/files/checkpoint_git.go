package files

import (
	"context"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/helve-dev/helve/internal/disk"
)

// A repository is what is known about a git repository. Nothing of it is trusted, and nothing of it
// is run.
type repository struct {
	top     string // of its worktree
	git     string // the git folder
	index   *index
	written int64           // modification time of the index, in nanoseconds
	tracked []string        // in byte order, if asked for
	loose   map[string]bool // by the bytes of the id
	err     error
}

// repository returns the repository whose worktree contains a name; nil if there is none.
func (g *gatherer) repository(path string) *repository {
	for dir := path; ; dir = filepath.Dir(dir) {
		if r, ok := g.repos[dir]; ok {
			return r
		}
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			r := &repository{top: dir, git: gitFolderOf(filepath.Join(dir, ".git"))}
			r.err = r.read()
			g.repos[dir] = r
			return r
		}
		if isRoot(dir) {
			return nil
		}
	}
}

// gitFolderOf returns the folder that a .git is or names.
func gitFolderOf(git string) string {
	info, err := os.Stat(git)
	if err != nil || info.IsDir() {
		return realName(git)
	}
	data, err := readBounded(realName(git), 1<<16)
	to, ok := strings.CutPrefix(strings.TrimSpace(string(data)), "gitdir:")
	if err != nil || !ok {
		return git
	}
	if to = strings.TrimSpace(to); !filepath.IsAbs(to) {
		to = filepath.Join(filepath.Dir(git), to)
	}
	return realName(to)
}

// readBounded reads a small regular file and never blocks.
func readBounded(name string, most int64) ([]byte, error) {
	f, err := disk.Open(name, os.O_RDONLY|syscall.O_NONBLOCK)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return disk.ReadOpen(f, most)
}

// read reads the index. A repository without one tracks nothing.
func (r *repository) read() error {
	name := realName(filepath.Join(r.git, "index"))
	info, err := os.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		r.index = &index{}
		return nil
	}
	if err != nil {
		return err
	}
	r.written = info.ModTime().UnixNano()
	data, err := readBounded(name, maxIndex)
	if err != nil {
		return err
	}
	r.index, err = readIndex(data)
	return err
}

// objects lists the loose objects, which include what was staged and not committed.
func (r *repository) objects() map[string]bool {
	if r.loose != nil {
		return r.loose
	}
	const most = 50_000
	r.loose = map[string]bool{}
	root := realName(filepath.Join(commonDir(r.git), "objects"))
	for i := range 256 {
		prefix := hex.EncodeToString([]byte{byte(i)})
		d, err := disk.Open(filepath.Join(root, prefix), os.O_RDONLY|dirFlag)
		if err != nil {
			continue
		}
		names, _ := d.Readdirnames(most) // what is there is looked at
		d.Close()
		for _, name := range names {
			if id, err := hex.DecodeString(prefix + name); err == nil && len(r.loose) < most {
				r.loose[string(id)] = true
			}
		}
	}
	return r.loose
}

// commonDir is where the objects of a worktree's repository are.
func commonDir(git string) string {
	data, err := readBounded(filepath.Join(git, "commondir"), 1<<16)
	if err != nil {
		return git
	}
	to := strings.TrimSpace(string(data))
	if !filepath.IsAbs(to) {
		to = filepath.Join(git, to)
	}
	return realName(to)
}

// discarded collects what git discards under a name.
func (g *gatherer) discarded(ctx context.Context, path string, e Endangered) {
	if !e.Whole { // a link is a name of its own, a folder may be reached by one
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			path = realName(path)
		}
	}
	r := g.repository(path)
	if r == nil {
		return // git will say that there is none
	}
	at := path
	if e.Whole {
		at = r.top
	}
	if !g.inRoots(at) {
		inner := slices.IndexFunc(g.roots, func(root string) bool { return within(at, root) })
		g.left.add(at, "partly outside the workspace")
		if inner < 0 {
			return
		}
		at = g.roots[inner]
	}
	switch {
	case r.err != nil: // whatever is there may be lost
		g.left.add(g.files.relativeTitle(g.by.Dir, filepath.Join(r.git, "index")), r.err.Error()+": all files are kept instead of the changed ones")
		g.tree(ctx, at)
	case e.Discard == Changes:
		g.changes(ctx, r, at)
	default:
		g.untracked(ctx, r, at, e.Discard)
	}
}

// indexName returns a name as it stands in the index.
func (r *repository) indexName(at string) (prefix string, ok bool) {
	rel, err := filepath.Rel(r.top, at)
	if err != nil || !filepath.IsLocal(rel) {
		return "", false
	}
	if rel == "." {
		return "", true
	}
	return filepath.ToSlash(rel), true
}

// worktreePath returns the path of a clean name of the index.
func (r *repository) worktreePath(name string) string {
	if isRoot(r.top) {
		return filepath.Join(r.top, name)
	}
	return r.top + string(filepath.Separator) + filepath.FromSlash(name)
}

// covers reports whether name is prefix or below it.
func covers(prefix, name string) bool {
	return prefix == "" || name == prefix || len(name) > len(prefix) && name[len(prefix)] == '/' && strings.HasPrefix(name, prefix)
}

// changes collects the tracked files that may differ from git's last commit: those that do not look
// as git recorded, and those whose contents are still loose objects.
func (g *gatherer) changes(ctx context.Context, r *repository, at string) {
	prefix, ok := r.indexName(at)
	if !ok {
		return
	}
	const batch = 4096
	loose := r.objects()
	list := make([]indexEntry, 0, batch)
	for e := range r.index.entries() {
		if g.over {
			return
		}
		if !covers(prefix, e.name) {
			continue
		}
		if list = append(list, e); len(list) == batch {
			g.compare(ctx, r, list, loose)
			list = list[:0]
		}
	}
	g.compare(ctx, r, list, loose)
}

// compare checks a number of files in parallel.
func (g *gatherer) compare(ctx context.Context, r *repository, list []indexEntry, loose map[string]bool) {
	if g.over || g.tooLate(ctx) {
		return
	}
	g.looked += len(list)
	infos := make([]fs.FileInfo, len(list))
	var all sync.WaitGroup
	workers := min(runtime.GOMAXPROCS(0), maxKeepers)
	for part := range slices.Chunk(indexes(len(list)), max(1, (len(list)+workers-1)/workers)) {
		all.Go(func() {
			for _, i := range part {
				e := list[i]
				switch e.mode & gitTypeMask {
				case gitFile, gitLink:
				default: // a repository of its own, or a folder that is not checked out
					continue
				}
				info, err := os.Lstat(r.worktreePath(e.name))
				if err != nil || info.IsDir() {
					continue
				}
				if e.differs(info, r.written) || loose[string(e.object)] {
					infos[i] = info
				}
			}
		})
	}
	all.Wait()
	for i, info := range infos {
		if info != nil {
			g.add(r.worktreePath(list[i].name), info)
		}
	}
}

func indexes(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// list builds the list of tracked files.
func (r *repository) list() {
	if r.tracked != nil {
		return
	}
	r.tracked = make([]string, 0, r.index.count)
	for e := range r.index.entries() {
		r.tracked = append(r.tracked, e.name)
	}
	slices.Sort(r.tracked) // it should be already
}

// untracked collects the files that git does not track.
func (g *gatherer) untracked(ctx context.Context, r *repository, at string, what Discard) {
	r.list()
	prefix, ok := r.indexName(at)
	if !ok {
		return
	}
	info, err := os.Lstat(at)
	if err != nil {
		return
	}
	if !info.IsDir() {
		if _, is := slices.BinarySearch(r.tracked, prefix); !is {
			g.add(at, info)
		}
		return
	}
	w := untrackedWalk{gatherer: g, repo: r, what: what}
	first := visit{dir: at, name: prefix, rules: w.ignoringAbove(at), whole: prefix != "" && !w.holdsTracked(prefix)}
	if first.whole {
		if info, err := os.Lstat(at); err == nil {
			w.add(at, info)
		}
	}
	queue := []visit{first}
	for len(queue) > 0 && !w.timeIsUp(ctx) {
		v := queue[0]
		queue = append(queue[1:], w.visit(ctx, v)...)
	}
}

// An untrackedWalk goes through a worktree.
type untrackedWalk struct {
	*gatherer
	repo *repository
	what Discard
}

// A visit is a folder to be looked at.
type visit struct {
	dir, name string // dir is resolved, name is relative to the top
	rules     *ignoring
	ignored   bool // the folder itself is ignored
	whole     bool // nothing in it is tracked
}

// holdsTracked reports whether a tracked file lies below a folder.
func (w *untrackedWalk) holdsTracked(name string) bool { return w.repo.tracks(name) }

func (r *repository) tracks(folder string) bool {
	i, _ := slices.BinarySearch(r.tracked, folder+"/")
	return i < len(r.tracked) && strings.HasPrefix(r.tracked[i], folder+"/")
}

func (w *untrackedWalk) visit(ctx context.Context, v visit) (below []visit) {
	d, err := disk.Open(v.dir, os.O_RDONLY|dirFlag)
	if err != nil {
		w.left.add(w.files.relativeTitle(w.by.Dir, v.dir), "can not be listed")
		return nil
	}
	entries, _ := d.ReadDir(-1) // what can be listed is looked at
	d.Close()
	rules := v.rules
	if w.what != AndIgnored {
		rules = rules.withFolder(v.dir, v.name)
	}
	for _, e := range entries {
		if w.timeIsUp(ctx) {
			break
		}
		name := e.Name()
		if v.name != "" {
			name = v.name + "/" + name
		}
		path := filepath.Join(v.dir, e.Name())
		if e.Name() == ".git" || w.files.History.Holds(path) {
			continue
		}
		ignored := v.ignored || rules.match(name, e.IsDir())
		if !e.IsDir() {
			_, tracked := slices.BinarySearch(w.repo.tracked, name)
			if !tracked && (!ignored || w.what != Untracked) {
				if info, err := os.Lstat(path); err == nil {
					w.add(path, info)
				}
			}
			continue
		}
		next := visit{dir: path, name: name, rules: rules, ignored: ignored, whole: !w.holdsTracked(name)}
		if w.enters(next) {
			below = append(below, next)
		}
	}
	return below
}

// enters reports whether a folder has to be read, and collects the folder itself if it may go as a
// whole.
func (w *untrackedWalk) enters(v visit) bool {
	switch {
	case !v.whole:
		return true
	case v.ignored && w.what == Untracked:
		return false
	case isBulk(filepath.Base(v.dir)):
		w.bulk = append(w.bulk, v.dir)
		return false
	}
	if info, err := os.Lstat(v.dir); err == nil {
		w.add(v.dir, info)
	}
	return true
}
