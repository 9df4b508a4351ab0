//go:build (linux || darwin || freebsd || netbsd || openbsd || dragonfly) && !disk_simple

package disk

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// errTheirs says that somebody changed a file after our change and before we could undo it. The
// file then stays as it is.
var errTheirs = errors.New("was changed by somebody else meanwhile and is left alone")

// putBack undoes a visible change. Afterwards it.staged says whether there is still a file to
// remove. After an error nothing is removed.
func (t *transaction) putBack(it *item) error {
	var err error
	switch {
	case it.Remove:
		err = t.putBackRemoved(it)
	case it.update():
		err = t.putBackOld(it)
	default:
		err = t.takeBackNew(it)
	}
	if err != nil && it.staged {
		err = fmt.Errorf("%w (what was there is in %s)", err, filepath.Join(it.dir.name, it.temp))
	}
	return err
}

// mine reports whether a name holds our new file, unmodified.
func (t *transaction) mine(it *item, name string) (bool, error) {
	return t.hasContents(it.dir, name, contents{it.ours, it.Data, true})
}

// moveBack is move with retries.
func (t *transaction) moveBack(it *item, from, to string) error {
	return stubborn(func() error { return t.renameFree(it.dir.fd, from, to) })
}

func (t *transaction) putBackRemoved(it *item) error {
	err := t.moveBack(it, it.temp, it.base)
	if err == unix.EEXIST {
		return errTheirs
	}
	it.staged = err != nil
	return err
}

// takeBackNew removes a file that we made. It is moved away first, because nobody can change a file
// without a name while it is checked.
func (t *transaction) takeBackNew(it *item) error {
	err := t.moveBack(it, it.base, it.temp)
	if err == unix.ENOENT {
		return nil // somebody has removed it
	}
	if err != nil {
		return err
	}
	mine, err := t.mine(it, it.temp)
	if mine && err == nil {
		it.staged = true
		return nil
	}
	back := t.moveBack(it, it.temp, it.base)
	it.staged = back != nil
	return errors.Join(errTheirs, err, back)
}

// swapTries limits how often two files are swapped until nobody writes to the one to remove.
const swapTries = 16

// putBackOld moves the old file back and checks the new one, which is then removed. If somebody has
// written to the new one, it stays instead: the two are swapped again, unless somebody has then
// written to the other.
func (t *transaction) putBackOld(it *item) error {
	if t.lacks.exchange {
		return t.putBackByName(it)
	}
	goes := contents{it.ours, it.Data, true}
	for try := range swapTries {
		if try > 1 { // give the writers time to finish
			time.Sleep(time.Duration(try) * time.Millisecond)
		}
		stays, err := statAt(it.dir.fd, it.temp)
		if err == nil {
			err = stubborn(func() error { return exchange(it.dir.fd, it.temp, it.base) })
		}
		if err == unix.ENOENT {
			return errTheirs // it is gone, and not by us
		}
		if err != nil {
			return err
		}
		untouched, err := t.hasContents(it.dir, it.temp, goes)
		if err != nil {
			return err
		}
		if untouched && goes.file.sameFile(it.ours) {
			return nil
		}
		if untouched {
			it.staged = remove(it.dir.fd, it.temp, 0) != nil
			return errTheirs
		}
		goes = contents{file: stays}
	}
	return errTheirs
}

// putBackByName is for file systems that cannot exchange names.
func (t *transaction) putBackByName(it *item) error {
	mine, err := t.mine(it, it.base)
	if err != nil {
		return err
	}
	if !mine {
		return errTheirs
	}
	err = stubborn(func() error { return unix.Renameat(it.dir.fd, it.temp, it.dir.fd, it.base) })
	it.staged = err != nil
	return err
}
