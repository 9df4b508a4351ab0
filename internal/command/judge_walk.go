package command

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/helve-dev/helve/internal/disk"
	"github.com/helve-dev/helve/internal/files"
	"github.com/helve-dev/helve/permission"
)

// maxNamed limits how many files of a folder are asked about one by one if it is not known which of
// them the rules single out.
const maxNamed = 1000

// A walk visits a folder that a command reaches as a whole.
type walk struct {
	*accessFinder
	access        Access
	passes        func(names ...string) bool // nil: every file is asked about
	top           string
	mounted       map[string]bool
	fresh         bool
	named         int
	uncertainties []permission.Uncertainty
}

// deep asks about everything below a folder.
func (f *accessFinder) deep(ctx context.Context, a Access, p files.Path) ([]permission.Uncertainty, error) {
	w := walk{accessFinder: f, access: a, top: f.files.Worktree, fresh: a.Fresh && !f.stale}
	if w.top == "" || filepath.Dir(w.top) == w.top {
		w.top = f.place.Dir
	}
	if f.by != nil {
		name := "read"
		if a.Kind == Write {
			name = "edit"
		}
		if w.passes, _ = f.by.Filter(name); w.passes == nil {
			if a.Kind != Write {
				return nil, nil // nothing is singled out
			}
			w.passes = func(...string) bool { return true }
		}
	}
	err := w.walkFolder(ctx, p.Real())
	return w.uncertainties, err
}

// giveUp records that the folder contains more than can be checked.
func (w *walk) giveUp() error {
	more := w.access
	more.Path = Word{Raw: "everything below " + w.access.Path.Raw}
	w.stale = w.stale || w.access.Kind == Write
	w.uncertainties = unknown(more)[:1]
	return fs.SkipAll
}

// kernels reports whether the kernel generates the contents of a folder, which then change all the
// time.
func kernels(name string) bool {
	return slices.ContainsFunc([]string{"/proc", "/sys"}, func(at string) bool { return name == at || strings.HasPrefix(name, at+"/") })
}

// mounts returns the mount points of other file systems, where the system lists them.
func mounts() map[string]bool {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil
	}
	found := map[string]bool{}
	written := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) > 4 {
			found[written.Replace(fields[4])] = true
		}
	}
	return found
}

// abroad reports whether a folder below the walked one is on another file system, which may be on a
// network. File systems mounted in the project are part of it.
func (w *walk) abroad(name string) bool {
	return w.mounted[name] && !disk.Within(w.top, name)
}

func (w *walk) walkFolder(ctx context.Context, root string) error {
	if kernels(root) {
		_ = w.giveUp()
		return nil
	}
	w.mounted = mounts()
	return filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil || name == root {
			return nil // what cannot be listed cannot be read either
		}
		if w.left--; w.left <= 0 {
			return w.giveUp()
		}
		if d.IsDir() && (kernels(name) || w.abroad(name)) {
			_ = w.giveUp() // but what is beside it is looked at
			return fs.SkipDir
		}
		return w.askEntry(ctx, name, d)
	})
}

// askEntry asks about one entry of a folder, if it has to be asked about.
func (w *walk) askEntry(ctx context.Context, name string, d fs.DirEntry) error {
	var skip error
	if d.IsDir() {
		skip = fs.SkipDir
	}
	if w.leftOut(name, d.IsDir()) {
		return skip
	}
	if folder, ok := w.singled(name); ok {
		switch {
		case w.isProjectFolder(folder):
			if err := w.askOne(ctx, name); err != nil {
				return err
			}
			return skip
		case w.passes == nil: // of another project, which goes as a whole
			return skip
		}
	}
	w.stale = w.stale || w.unsettles(name)
	if d.IsDir() || w.mayPass(name, d) {
		return nil
	}
	if w.named++; w.named > maxNamed {
		return w.giveUp()
	}
	return w.askOne(ctx, name)
}

// gitLeavesOut reports whether the command skips what git tracks or ignores, and this file is. If
// the line changes what is ignored, the answer is false.
func (w *walk) gitLeavesOut(name string, folder bool) bool {
	return w.fresh && w.git.LeavesOut(name, folder)
}

// ignores reports whether a file says what git ignores or knows.
func ignores(name string) bool {
	switch filepath.Base(name) {
	case ".gitignore", "exclude", "index":
		return true
	}
	return false
}

// unsettles reports whether what git ignores may change later, even without a rule for the file.
func (w *walk) unsettles(name string) bool {
	return w.access.Kind == Write && ignores(name) && !strings.Contains(name, "/.git/")
}

// leftOut reports whether the command skips a name.
func (w *walk) leftOut(name string, folder bool) bool {
	base := filepath.Base(name)
	if w.access.Why == "git" && base == ".git" {
		return true // its own, which it does not take for a part of the tree
	}
	matches := func(pattern string) bool { return wild(pattern, base) }
	switch {
	case w.access.Visible && strings.HasPrefix(base, "."):
		return true
	case folder:
		return slices.ContainsFunc(w.access.Shut, matches) || w.gitLeavesOut(name, true)
	case len(w.access.Only) > 0:
		return !slices.ContainsFunc(w.access.Only, matches)
	}
	return slices.ContainsFunc(w.access.Except, matches)
}

// mayPass reports whether a file need not be asked about.
func (w *walk) mayPass(name string, d fs.DirEntry) bool {
	return w.common(name, d) || w.gitLeavesOut(name, false)
}

// common reports whether the rules do not single a file out, under its name or the target of a
// link.
func (w *walk) common(name string, d fs.DirEntry) bool {
	if w.passes == nil {
		return false
	}
	if !w.passes(name, w.rel(name)) {
		return false
	}
	if d.Type()&fs.ModeSymlink == 0 {
		return true
	}
	real, err := filepath.EvalSymlinks(name)
	return err == nil && w.passes(real, w.rel(real)) || os.IsNotExist(err)
}

func (w *walk) rel(name string) string {
	if rel, err := filepath.Rel(w.top, name); err == nil {
		return rel
	}
	return name
}

// askOne asks about one file of the folder.
func (w *walk) askOne(ctx context.Context, name string) error {
	a := w.access
	a.Deep, a.Into = false, nil
	_, err := w.askFile(ctx, a, name)
	return err
}

// singled reports whether a name is one that changes what runs later, and the folder in which that
// holds: removing or moving that folder changes it too.
func (w *walk) singled(name string) (folder string, ok bool) {
	if w.access.Kind != Write || w.access.Why == "git" {
		return "", false
	}
	return w.files.Singled(name)
}

// isProjectFolder reports whether a folder is the one of the session or of the project.
func (w *walk) isProjectFolder(folder string) bool {
	for _, dir := range []string{w.place.Dir, w.top} {
		if real, err := filepath.EvalSymlinks(dir); folder == dir || err == nil && folder == real {
			return true
		}
	}
	return false
}
