//go:build (linux || darwin || freebsd || netbsd || openbsd || dragonfly) && !disk_simple

package disk

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// Commit makes the changes, all of them or none. It creates missing folders. A file with several
// names is replaced only under the given one. Until the first file is replaced, the end of ctx
// cancels everything; after that the work is finished. A process that is killed in the middle
// leaves each file in its old or its new state, but possibly not all in the same, and temporary
// files: Options.Staged is for that.
//
// A program that opened a file for writing before it is replaced gets some time to finish, and what
// it wrote is preserved. One that keeps the file open longer goes on writing to the replaced file,
// and so does one that was just about to open it: the system does not show that.
//
// The error names the file and is an [ErrChanged], an [ErrNotRegular] or the system's error. If
// undoing has failed too, it says so and where the old contents are.
func Commit(ctx context.Context, changes []Change, opt Options) error {
	return commit(ctx, changes, opt, lacks{patience: patience})
}

// lacks records what a file system cannot do. Calls that may be missing set it when they fail;
// tests set it to simulate file systems.
type lacks struct {
	nameless  bool // files without a name
	exchange  bool // swapping two names
	noReplace bool // renaming only if the new name is free
	hardLinks bool
	patience  time.Duration // how much longer to wait for other writers
}

// patience is how long one Commit waits in total for others to finish writing to files that it
// replaces.
const patience = 100 * time.Millisecond

func commit(ctx context.Context, changes []Change, opt Options, can lacks) (err error) {
	if err := checkChanges(changes); err != nil {
		return err
	}
	t := &transaction{opt: opt, lacks: can, folders: map[string]*openFolder{}}
	defer t.close()
	done := false
	defer func() {
		if done { // also if Staged has panicked
			return
		}
		if errs := t.rollback(); len(errs) > 0 {
			err = errors.Join(append([]error{err}, errs...)...)
		}
	}()
	for i := range changes {
		if err := ctx.Err(); err != nil {
			return pathError("replace", changes[i].Name, err)
		}
		if err := t.prepareChange(&changes[i]); err != nil {
			return pathError("replace", changes[i].Name, err)
		}
	}
	if err := t.stage(ctx); err != nil {
		return err
	}
	if opt.Staged != nil {
		if err := opt.Staged(t.temps()); err != nil {
			return fmt.Errorf("staged: %w", err)
		}
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("replace: %w", err)
	}
	if err := t.placeAll(); err != nil {
		return err
	}
	done = true
	opt.Litter.removeAll()
	t.removeOld()
	return nil
}

// A transaction is a Commit in progress.
type transaction struct {
	opt     Options
	lacks   lacks
	folders map[string]*openFolder // by name
	made    []*openFolder          // the created ones, parents first
	items   []*item
	buf     []byte // room to compare contents with
	held    int    // how many new files are locked
}

// An item is a change in progress.
type item struct {
	*Change
	dir  *openFolder
	base string // its name in dir
	now  State  // what is there, as last seen before the first change
	ours State  // the file with the new contents
	temp string // a name in dir: of the new contents, then of the old ones

	fd     int  // of the new file while it is written
	open   bool // fd is open
	lock   held // on the file with the new contents
	staged bool // temp is a file of ours, or a replaced one
	copied bool // temp is a copy of the old contents, not the old file
	done   bool // the change is visible
}

// update reports whether the item replaces a file, and neither makes nor
// removes one.
func (it *item) update() bool { return it.Was.Exists && !it.Remove }

// An openFolder is kept open by handle until the end, so that nobody can replace it by another.
type openFolder struct {
	name   string
	fd     int
	state  State
	parent *openFolder // if it was missing and created
}

// prepareChange opens a change's folder and checks that the file is as the caller saw it and may be
// changed.
func (t *transaction) prepareChange(c *Change) error {
	dir, err := t.openDir(filepath.Dir(c.Name), !c.Was.Exists && !c.Remove)
	if err == unix.ENOENT && c.Was.Exists {
		return ErrChanged
	}
	if err != nil {
		return err
	}
	it := &item{Change: c, dir: dir, base: filepath.Base(c.Name)}
	if it.now, err = statAt(dir.fd, it.base); err != nil {
		return err
	}
	if err := it.check(); err != nil {
		return err
	}
	if it.update() {
		err := retryInterrupted(func() error { return unix.Faccessat(dir.fd, it.base, unix.W_OK, accessFlags) })
		if err != nil {
			return err
		}
	}
	t.items = append(t.items, it)
	return nil
}

// check compares the current state with the one that the caller saw.
func (it *item) check() error {
	if it.now.Exists {
		err := it.now.regular()
		if err == unix.ELOOP {
			return ErrChanged
		}
		if err != nil {
			return err
		}
	}
	switch {
	case !it.now.Exists && !it.Was.Exists && it.Remove:
		return unix.ENOENT
	case it.now.Exists != it.Was.Exists:
		return ErrChanged
	case it.now.Same(it.Was) || it.oldContentsKnown() && it.now.Size == int64(len(it.WasData)):
		return nil
	}
	return ErrChanged
}

// openDir opens a folder by handle, and creates it if make is set.
func (t *transaction) openDir(name string, make bool) (*openFolder, error) {
	if f := t.folders[name]; f != nil {
		return f, nil
	}
	f := &openFolder{name: name}
	var err error
	f.fd, err = open(name, folderFlags)
	if err == unix.ENOENT && make {
		if f.parent, err = t.openDir(filepath.Dir(name), true); err != nil {
			return nil, err
		}
		base := filepath.Base(name)
		err = retryInterrupted(func() error { return unix.Mkdirat(f.parent.fd, base, 0o777) })
		if err == nil {
			t.made = append(t.made, f)
		} else if err == unix.EEXIST { // somebody else was faster
			f.parent = nil
		} else {
			return nil, err
		}
		parent := f.parent
		if parent == nil {
			parent = t.folders[filepath.Dir(name)]
		}
		f.fd, err = openAt(parent.fd, base, folderFlags)
	}
	if err != nil {
		return nil, err
	}
	t.folders[name] = f
	f.state, err = statFile(f.fd)
	return f, err
}

// moved checks that the folders are still where they were found.
func (t *transaction) moved() error {
	seen := map[*openFolder]bool{}
	for _, it := range t.items {
		f := it.dir
		if seen[f] {
			continue
		}
		seen[f] = true
		fd, err := open(f.name, folderFlags)
		if err != nil {
			return pathError("replace", it.Name, fmt.Errorf("%w: %w", ErrChanged, err))
		}
		st, err := statFile(fd)
		_ = unix.Close(fd)
		if err != nil {
			return pathError("replace", it.Name, err)
		}
		if !st.sameFile(f.state) {
			return pathError("replace", it.Name, ErrChanged)
		}
	}
	return nil
}

// temps returns the temporary names in the order of the changes.
func (t *transaction) temps() []string {
	names := make([]string, len(t.items))
	for i, it := range t.items {
		names[i] = filepath.Join(it.dir.name, it.temp)
	}
	return names
}

// placeAll replaces the files and checks that the replaced ones were as expected: at once, and
// again when everything is done and nobody can have opened an old one by mistake.
func (t *transaction) placeAll() error {
	if err := t.moved(); err != nil {
		return err
	}
	for _, it := range t.items {
		if err := t.placeOne(it); err != nil {
			return pathError("replace", it.Name, err)
		}
	}
	if t.opt.Sync {
		if err := t.flushFolders(); err != nil {
			return err
		}
	}
	for _, it := range t.items {
		if err := t.checkOld(it); err != nil {
			return pathError("replace", it.Name, err)
		}
	}
	return nil
}

// flushFolders writes the folders with new names to the disk.
func (t *transaction) flushFolders() error {
	flushed := map[*openFolder]bool{}
	one := func(f *openFolder) error {
		if flushed[f] {
			return nil
		}
		flushed[f] = true
		fd, err := openAt(f.fd, ".", unix.O_RDONLY|unix.O_DIRECTORY)
		if err == unix.EACCES { // one that we may not list
			return nil
		}
		if err == nil {
			err = flush(fd)
			_ = unix.Close(fd)
		}
		if err != nil && !unsupported(err) {
			return pathError("sync", f.name, err)
		}
		return nil
	}
	for _, it := range t.items {
		if err := one(it.dir); err != nil {
			return err
		}
	}
	for _, f := range t.made {
		if err := one(f.parent); err != nil {
			return err
		}
	}
	return nil
}

// removeOld removes the old contents. The changes are already complete, so a failure only leaves an
// extra file.
func (t *transaction) removeOld() {
	for _, it := range t.items {
		if it.staged {
			_ = t.removeTemp(it)
		}
	}
}

// removeTemp removes the file under an item's temporary name, or remembers it.
func (t *transaction) removeTemp(it *item) error {
	err := remove(it.dir.fd, it.temp, 0)
	if err == nil || err == unix.ENOENT {
		return nil
	}
	name := filepath.Join(it.dir.name, it.temp)
	t.opt.Litter.add(name)
	return pathError("remove", name, err)
}

// rollback undoes everything, the last change first. It returns an error for each file that cannot
// be restored.
func (t *transaction) rollback() (errs []error) {
	for _, it := range slices.Backward(t.items) {
		if it.done {
			if err := t.putBack(it); err != nil {
				errs = append(errs, fmt.Errorf("putting back: %w", pathError("replace", it.Name, err)))
				continue
			}
		}
		if it.staged {
			if err := t.removeTemp(it); err != nil {
				errs = append(errs, err)
			}
		}
	}
	for _, f := range slices.Backward(t.made) {
		// It is not empty if somebody else uses it already: then it stays.
		_ = remove(f.parent.fd, filepath.Base(f.name), unix.AT_REMOVEDIR)
	}
	return errs
}

func (t *transaction) close() {
	for _, it := range t.items {
		it.lock.release()
	}
	for _, f := range t.folders {
		_ = unix.Close(f.fd)
	}
}

// remove removes a name, with retries.
func remove(dir int, name string, flags int) error {
	return stubborn(func() error { return unix.Unlinkat(dir, name, flags) })
}

// stubborn retries a call that should not fail.
func stubborn(call func() error) (err error) {
	for range 4 {
		err = retryInterrupted(call)
		switch err {
		case nil, unix.ENOENT, unix.EEXIST, unix.ENOTEMPTY, unix.EPERM, unix.EACCES, unix.EROFS:
			return err
		}
		if unsupported(err) {
			return err
		}
	}
	return err
}
