//go:build (linux || darwin || freebsd || netbsd || openbsd || dragonfly) && !disk_simple

package disk

import (
	"errors"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// placeOne makes one change visible and checks that what it replaced is what the caller saw.
func (t *transaction) placeOne(it *item) error {
	if it.Was.Exists {
		if err := t.checkNow(it); err != nil {
			return err
		}
	}
	var err error
	switch {
	case it.Remove:
		if err = t.renameFree(it.dir.fd, it.base, it.temp); err == nil {
			it.staged = true
		}
	case it.update():
		err = t.swap(it)
	default:
		if err = t.renameFree(it.dir.fd, it.temp, it.base); err == nil {
			it.staged = false
		}
	}
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EEXIST) {
		err = ErrChanged
	}
	if err != nil {
		t.landed(it)
		return err
	}
	it.done = true
	return t.checkOld(it)
}

// landed finds out whether a change was made although the system returned an error, as can happen
// over a network.
func (t *transaction) landed(it *item) {
	if it.done {
		return
	}
	name, file := it.base, it.ours
	if it.Remove {
		name, file = it.temp, it.now
	}
	if st, err := statAt(it.dir.fd, name); err == nil && st.sameFile(file) {
		it.done, it.staged = true, it.Was.Exists
	}
}

// checkNow checks the file to replace for the last time.
func (t *transaction) checkNow(it *item) error {
	st, err := statAt(it.dir.fd, it.base)
	if err != nil || st.Same(it.now) {
		return err
	}
	return t.checkOldAt(it, it.base)
}

// checkOld checks the replaced file, which nobody can open any more. Its last change may be too
// recent for the clock to show, so the contents are always compared.
func (t *transaction) checkOld(it *item) error {
	if !it.Was.Exists || it.copied {
		return nil
	}
	return t.checkOldAt(it, it.temp)
}

func (t *transaction) checkOldAt(it *item, name string) error {
	same, err := t.hasContents(it.dir, name, contents{it.now, it.WasData, it.oldContentsKnown()})
	if err == nil && !same {
		err = ErrChanged
	}
	return err
}

// contents are the expected contents of a file. If data is not known, the state decides.
type contents struct {
	file  State
	data  []byte
	known bool
}

// hasContents reports whether a name leads to the expected file with the expected contents. It
// waits a while for programs that have the file open for writing.
func (t *transaction) hasContents(dir *openFolder, name string, want contents) (bool, error) {
	st, err := statAt(dir.fd, name)
	if err != nil {
		return false, err
	}
	if !st.sameFile(want.file) || !st.sameRights(want.file) {
		return false, nil
	}
	if want.known && st.Size != int64(len(want.data)) {
		return false, nil
	}
	fd, _, err := openRegular(dir.fd, name)
	if err == unix.EACCES && !want.known { // one that the caller could not read either
		return st.sameTime(want.file), nil
	}
	if err != nil {
		return false, err
	}
	defer unix.Close(fd)
	return watch(fd, func() (bool, error) { return t.still(fd, want) }, t.wait)
}

// wait uses up some of the patience. It returns false if none is left.
func (t *transaction) wait() bool {
	const step = time.Millisecond
	if t.lacks.patience <= 0 {
		return false
	}
	t.lacks.patience -= step
	time.Sleep(step)
	return true
}

// still reports whether an open file has the expected contents.
func (t *transaction) still(fd int, want contents) (bool, error) {
	if want.known {
		return equal(fd, want.data, t.compareBuffer())
	}
	st, err := statFile(fd)
	return st.sameTime(want.file), err
}

// swap puts the new file in the place of the old one, and the old one under the temporary name.
func (t *transaction) swap(it *item) error {
	if !t.lacks.exchange {
		err := exchange(it.dir.fd, it.temp, it.base)
		if err == nil || !unsupported(err) {
			return err
		}
		t.lacks.exchange = true
	}
	return t.swapByLink(it)
}

// swapByLink is for file systems that cannot exchange names: the old file gets a second name, or is
// copied where links are not supported, and is then replaced. What somebody else writes between the
// two steps is lost.
func (t *transaction) swapByLink(it *item) error {
	if err := t.checkOldAt(it, it.base); err != nil {
		return err
	}
	dir, backup := it.dir.fd, strings.TrimSuffix(it.temp, tempSuffix)+oldSuffix
	err := error(unix.EOPNOTSUPP)
	if !t.lacks.hardLinks {
		err = retryInterrupted(func() error { return unix.Linkat(dir, it.base, dir, backup, 0) })
	}
	if err == unix.EPERM || err == unix.EMLINK || err != nil && unsupported(err) {
		err = t.copyOld(it, backup)
	}
	if err != nil {
		return err
	}
	err = retryInterrupted(func() error { return unix.Renameat(dir, it.temp, dir, it.base) })
	if err != nil {
		return errors.Join(err, remove(dir, backup, 0))
	}
	it.temp = backup
	return nil
}

// copyOld copies the file to replace.
func (t *transaction) copyOld(it *item, backup string) error {
	old, st, err := openRegular(it.dir.fd, it.base)
	if err != nil {
		return err
	}
	defer unix.Close(old)
	data, err := readAll(old, st.Size, 0)
	if err != nil {
		return err
	}
	fd, err := createAt(it.dir.fd, backup, 0o600)
	if err != nil {
		return err
	}
	err = writeAll(fd, data)
	if err == nil {
		err = copyRights(fd, old, st)
	}
	if err == nil && t.opt.Sync {
		err = flush(fd)
	}
	if e := unix.Close(fd); err == nil && e != unix.EINTR {
		err = e
	}
	if err != nil {
		_ = remove(it.dir.fd, backup, 0)
		return err
	}
	it.copied = true
	return nil
}

// renameFree renames a file to a name that must be free. Where the system cannot do that in one
// step, the file briefly has both names; where links are not supported, somebody who takes the name
// at the last moment loses their file.
func (t *transaction) renameFree(dir int, from, to string) error {
	if !t.lacks.noReplace {
		err := renameNew(dir, from, to)
		if err == nil || !unsupported(err) {
			return err
		}
	}
	if !t.lacks.hardLinks {
		err := retryInterrupted(func() error { return unix.Linkat(dir, from, dir, to, 0) })
		if err == nil {
			if err = remove(dir, from, 0); err != nil {
				_ = remove(dir, to, 0)
			}
			return err
		}
		if err != unix.EPERM && err != unix.EMLINK && !unsupported(err) {
			return err
		}
	}
	st, err := statAt(dir, to)
	if err == nil && st.Exists {
		err = unix.EEXIST
	}
	if err != nil {
		return err
	}
	return retryInterrupted(func() error { return unix.Renameat(dir, from, dir, to) })
}
