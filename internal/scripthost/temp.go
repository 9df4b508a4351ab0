package scripthost

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/gofrs/flock"
)

// A temporary is the private folder of an engine's scripts: they read and write there without
// permission requests. It is made on first use and removed with the engine. Its parent contains a
// lock, out of the scripts' reach, that shows later processes whether the engine is still alive:
// see removeStale.
type temporary struct {
	mu       sync.Mutex
	path     string
	around   string       // the folder that it is in
	lock     *flock.Flock // nil where the system has none
	gone     bool
	sweeping sync.WaitGroup
	mask     *uint32 // what the process takes from the modes of new files
}

const (
	tempPrefix = "helve-script-"
	tempLock   = "lock"
	tempInner  = "tmp"
)

// folder is the name of it, free of links.
func (t *temporary) folder() (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.path != "" {
		return t.path, nil
	}
	if t.gone {
		return "", fmt.Errorf("making a folder for scripts: %w", os.ErrClosed)
	}
	dir, err := filepath.EvalSymlinks(os.TempDir())
	if err == nil {
		dir, err = filepath.Abs(dir)
	}
	if err == nil {
		err = t.make(dir)
	}
	if err != nil {
		return "", fmt.Errorf("making a folder for scripts: %w", err)
	}
	t.sweeping.Go(func() { removeStale(dir) })
	return t.path, nil
}

// make makes the folder below dir. A concurrent removeStale may take an unlocked folder for
// abandoned, and remove it.
func (t *temporary) make(dir string) error {
	for range 10 {
		around, err := os.MkdirTemp(dir, tempPrefix)
		if err != nil {
			return err
		}
		lock, err := lockTemp(around)
		if err == nil {
			err = os.Mkdir(filepath.Join(around, tempInner), 0o700)
		}
		if err == nil {
			t.path, t.around, t.lock = filepath.Join(around, tempInner), around, lock
			return nil
		}
		_ = discardTemp(around, lock)
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return errors.New("it keeps disappearing")
}

// lockTemp takes the lock of a folder that was just made. Where the system has no locks it makes no
// lock file either, so that the folder cannot be locked later.
func lockTemp(around string) (*flock.Flock, error) {
	path := filepath.Join(around, tempLock)
	lock := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_EXCL|os.O_RDWR), flock.SetPermissions(0o600))
	ok, err := lock.TryLock()
	if err != nil {
		_ = lock.Close()
		if gone := os.Remove(path); errors.Is(gone, fs.ErrNotExist) {
			return nil, err // it was not made: the reason counts
		}
		return nil, nil
	}
	mine, err := lock.Stat()
	if err == nil {
		var there fs.FileInfo
		if there, err = os.Lstat(path); err == nil && ok && os.SameFile(mine, there) {
			return lock, nil
		}
	}
	_ = lock.Close()
	return nil, errors.Join(err, fs.ErrNotExist)
}

// discardTemp removes a folder with its contents. The lock is removed last: while it exists, a
// later sweep can remove what is left.
func discardTemp(around string, lock *flock.Flock) error {
	err := os.RemoveAll(filepath.Join(around, tempInner))
	if lock != nil {
		if err == nil {
			_ = os.Remove(lock.Path()) // not while it is open, on Windows
		}
		_ = lock.Close()
	}
	if err != nil {
		return err
	}
	return os.RemoveAll(around)
}

// contains reports whether a name that is absolute and clean is in the folder. It does not follow
// links.
func (t *temporary) contains(name string) bool {
	t.mu.Lock()
	path := t.path
	t.mu.Unlock()
	if path == "" {
		return false
	}
	rest, ok := strings.CutPrefix(name, path)
	return ok && (rest == "" || os.IsPathSeparator(rest[0]))
}

// umask is what the process takes from the modes of new files, found out by
// making one: to ask for it would be to set it, for everybody.
func (t *temporary) umask() (uint32, error) {
	dir, err := t.folder()
	if err != nil {
		return 0, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.mask != nil {
		return *t.mask, nil
	}
	name := filepath.Join(dir, ".mask")
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o777)
	if err != nil {
		return 0, err
	}
	info, err := f.Stat()
	_ = f.Close()
	_ = os.Remove(name)
	if err != nil {
		return 0, err
	}
	mask := 0o777 &^ uint32(info.Mode().Perm())
	t.mask = &mask
	return mask, nil
}

// remove removes the folder with all that is in it.
func (t *temporary) remove() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	path := t.path
	t.path, t.gone = "", true
	if path == "" {
		return nil
	}
	t.sweeping.Wait()
	return discardTemp(t.around, t.lock)
}
