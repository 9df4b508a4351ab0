//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// A placeholder is created where a protected path is missing, because a fixed entry keeps others
// from creating the path. It is visible outside the sandbox too while the sandbox is in use, so it
// is made inconspicuous: an empty folder, which version control does not show; for a .git, which
// would be reported as a damaged repository, a dangling link, which git and other programs ignore;
// for a file that git would read in a repository, a file without effect.

// nowhere is the target of such a link. No process in the sandbox can create it.
const nowhere = "/nonexistent/helve-wall"

// stamp is the time of change that tells an empty placeholder from a folder
// of the user's, also after a crash. Whatever is put in it changes it.
func stamp() time.Time { return time.Unix(1_000_000_007, 0) }

// makePlaceholder makes one; to find something there is fine.
func makePlaceholder(path string) error {
	if filepath.Base(path) == ".git" {
		if err := os.Symlink(nowhere, path); !errors.Is(err, os.ErrExist) {
			return err
		}
		return nil
	}
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	// It is created under another name first: without its stamp it could be mistaken for a file of
	// the user.
	made, err := unnamed(path)
	if err != nil {
		return err
	}
	err = os.Chtimes(made, stamp(), stamp())
	if err == nil {
		err = unix.Renameat2(unix.AT_FDCWD, made, unix.AT_FDCWD, path, unix.RENAME_NOREPLACE)
	}
	if err == nil {
		return nil
	}
	if again := os.Remove(made); again != nil || !errors.Is(err, os.ErrExist) {
		return &os.PathError{Op: "making a placeholder", Path: path, Err: errors.Join(err, again)}
	}
	return nil
}

// unnamed makes what will be the placeholder at path, beside it.
func unnamed(path string) (string, error) {
	dir := filepath.Dir(path)
	text, ok := harmlessContent(filepath.Base(path))
	if !ok || filepath.Base(path) == "commondir" && !isRepository(dir) {
		made, err := os.MkdirTemp(dir, ".wall-")
		if err != nil {
			return "", err
		}
		if err := os.Chmod(made, 0o755); err != nil {
			return "", errors.Join(err, os.Remove(made))
		}
		return made, nil
	}
	f, err := os.CreateTemp(dir, ".wall-")
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Chmod(0o644), f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}

// harmlessContent is what a file of git's holds that changes nothing.
func harmlessContent(base string) (text string, ok bool) {
	switch base {
	case "commondir":
		return ".\n", true // all is in this folder
	case "config.worktree":
		return "", true
	}
	return "", false
}

// isRepository reports whether git takes a folder for a repository. A folder that only a
// placeholder makes complete does not count, because that is the purpose of the placeholder.
func isRepository(dir string) bool {
	head, err := os.Lstat(filepath.Join(dir, "HEAD"))
	if err != nil || head.IsDir() {
		return false
	}
	for _, base := range []string{"objects", "refs"} {
		path := filepath.Join(dir, base)
		if info, err := os.Stat(path); err != nil || !info.IsDir() || isPlaceholder(path, info) {
			return false
		}
	}
	return true
}

// isPlaceholder tells whether what is at path is one of ours, untouched.
func isPlaceholder(path string, info os.FileInfo) bool {
	if info.Mode()&os.ModeSymlink != 0 {
		target, err := os.Readlink(path)
		return err == nil && target == nowhere
	}
	if info.Mode().IsRegular() {
		text, ok := harmlessContent(filepath.Base(path))
		return ok && info.Size() == int64(len(text)) && info.ModTime().Equal(stamp())
	}
	return info.IsDir() && info.ModTime().Equal(stamp())
}

// A Lease is what profiles keep on the disk while they are in use. The process that starts the
// helper owns it, and calls [Lease.Release] when the last process in the sandbox is gone.
type Lease struct {
	paths []string
	// locks are the folders that placeholders are in, each locked for
	// sharing while it is needed. Death ends a lock, too.
	locks map[string]*os.File
}

// Prepare makes what the profile needs on the disk: its own folders, and
// placeholders where protected paths are missing. Several leases on the same
// path live side by side; the last one to go removes the placeholder.
func (p Profile) Prepare() (*Lease, error) {
	l := &Lease{}
	if err := l.Keep(p); err != nil {
		_, again := l.Release()
		return nil, errors.Join(err, again)
	}
	return l, nil
}

// Keep adds to the lease what a profile needs, and restores what has been removed. So one lease
// serves all sandboxes of a process.
func (l *Lease) Keep(p Profile) error {
	for _, dir := range []string{p.Temp, p.Cache} {
		if dir == "" {
			continue
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	p, err := p.Check()
	if err != nil || p.Bare || p.Level == Off {
		return err
	}
	if l.locks == nil {
		l.locks = map[string]*os.File{}
	}
	for _, path := range p.Protected {
		if err := l.take(p, path); err != nil {
			return err
		}
	}
	return nil
}

// take makes and holds the placeholder a protected path needs, if any.
func (l *Lease) take(p Profile, path string) error {
	spots, err := trace(path)
	if errors.Is(err, os.ErrPermission) || len(spots) == 0 {
		return nil // the helper, which gets through, will see to it
	}
	if err != nil {
		return err
	}
	end := spots[len(spots)-1]
	known := slices.Contains(l.paths, end.path)
	if end.kind != missing && end.kind != placeholder || !p.writable(end.path) {
		return nil
	}
	if err := l.lock(filepath.Dir(end.path)); err != nil {
		return err
	}
	// With the lock, and not before: another lease may have ended meanwhile
	// and taken it away.
	err = makePlaceholder(end.path)
	if err == nil && !known {
		l.paths = append(l.paths, end.path)
	}
	if errors.Is(err, os.ErrPermission) {
		return nil
	}
	return err
}

// flock locks an open folder, shared or alone, or fails at once. The lock
// ends when the file is closed, also by death.
func flock(f *os.File, alone bool) error {
	how := unix.LOCK_SH
	if alone {
		how = unix.LOCK_EX
	}
	return unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
}

// patience is how long to wait for a lease that ends at the same moment.
const patience = 100 * time.Millisecond

// lock locks a folder against the removal of placeholders in it. It does not wait for long: if
// another process, perhaps in a sandbox, keeps the folder locked, it stays unlocked here and
// nothing will be removed from it. Lock is tried again, without waiting, when the lease is asked
// for more.
func (l *Lease) lock(dir string) error {
	old, known := l.locks[dir]
	if old != nil && samePlace(old, dir) {
		return nil
	}
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	wait := patience
	if known {
		wait = 0
	}
	if old != nil { // another folder has taken its place
		if err := old.Close(); err != nil {
			return errors.Join(err, f.Close())
		}
	}
	for deadline := time.Now().Add(wait); ; time.Sleep(time.Millisecond) {
		if flock(f, false) == nil {
			l.locks[dir] = f
			return nil
		}
		if time.Now().After(deadline) {
			l.locks[dir] = nil
			return f.Close()
		}
	}
}

// samePlace tells whether an open folder is the one that is at dir now.
func samePlace(f *os.File, dir string) bool {
	held, err := f.Stat()
	if err != nil {
		return false
	}
	now, err := os.Stat(dir)
	return err == nil && os.SameFile(held, now)
}

// Release removes the placeholders that are still untouched and that no
// other lease holds, and returns those that stay.
func (l *Lease) Release() (left []string, err error) {
	alone := map[string]bool{}
	for dir, f := range l.locks {
		alone[dir] = f != nil && flock(f, true) == nil
	}
	// The last one first: a commondir holds off git until refs is gone.
	for _, path := range slices.Backward(l.paths) {
		info, e := os.Lstat(path)
		if errors.Is(e, os.ErrNotExist) {
			continue
		}
		if e != nil || !alone[filepath.Dir(path)] || !isPlaceholder(path, info) || os.Remove(path) != nil {
			left = append(left, path)
		}
	}
	for _, f := range l.locks {
		if f != nil {
			err = errors.Join(err, f.Close())
		}
	}
	l.paths, l.locks = nil, nil
	return left, err
}

// Sweep removes the placeholders at protected paths that no process holds any more, because their
// maker was killed. It also removes a .git beside them, since a path in it may have been resolved
// and not show where it was. Without placeholders it costs one lookup for each path.
func Sweep(paths []string) error {
	found := map[string][]string{} // by the folder they are in
	all := slices.DeleteFunc(slices.Clone(paths), func(path string) bool { return !filepath.IsAbs(path) })
	for _, path := range all {
		all = append(all, filepath.Join(filepath.Dir(path), ".git"))
	}
	for _, path := range sortUnique(all) {
		spots, err := trace(path)
		if err != nil || len(spots) == 0 {
			continue // what cannot be reached was not made by this user
		}
		end := spots[len(spots)-1]
		if dir := filepath.Dir(end.path); end.kind == placeholder && !slices.Contains(found[dir], end.path) {
			found[dir] = append(found[dir], end.path)
		}
	}
	var errs []error
	for dir, left := range found {
		errs = append(errs, sweepFolder(dir, left))
	}
	return errors.Join(errs...)
}

// sweepFolder removes placeholders from a folder, unless a lease holds it.
func sweepFolder(dir string, paths []string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	if flock(f, true) != nil {
		return nil // they are in use
	}
	var errs []error
	for _, path := range slices.Backward(paths) { // as in Release
		info, err := os.Lstat(path)
		if err != nil || !isPlaceholder(path, info) {
			continue // another process was faster
		}
		err = os.Remove(path)
		if !errors.Is(err, os.ErrNotExist) && !errors.Is(err, unix.ENOTEMPTY) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
