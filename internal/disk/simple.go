//go:build disk_simple || !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package disk

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// This file is for systems without folder handles, such as Windows. It works by name, so somebody
// can replace a file between a check and the change; it keeps only the mode bits of a replaced
// file; and processes do not exclude each other.

// owner is not known on these systems.
type owner struct{}

// Open opens a name that is absolute, clean and without links. On these systems, a folder that
// somebody replaces by a link in the meantime is followed.
func Open(name string, flags int) (*os.File, error) {
	if err := checkName(name); err != nil || flags&(os.O_CREATE|os.O_TRUNC) != 0 {
		return nil, pathError("open", name, syscall.EINVAL)
	}
	return os.OpenFile(name, flags, 0)
}

// Look returns the state of a name; a missing one is no error.
func Look(name string) (State, error) {
	if err := checkName(name); err != nil {
		return State{}, pathError("stat", name, err)
	}
	info, err := os.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return State{}, nil
	}
	if err != nil {
		return State{}, err
	}
	return simpleState(info), nil
}

// simpleState has no identity of the file, only its size and time.
func simpleState(info fs.FileInfo) State {
	return State{Exists: true, Size: info.Size(), Mode: info.Mode(), Links: 1, mtime: info.ModTime().UnixNano(), owner: owner{}}
}

// Read reads a regular file of at most max bytes (no limit if max is not positive) and returns the
// State that the bytes belong to.
func Read(name string, max int64) ([]byte, State, error) {
	for range 16 {
		data, st, err := simpleRead(name, max)
		if err != nil {
			return nil, State{}, pathError("read", name, err)
		}
		if st.Exists {
			return data, st, nil
		}
	}
	return nil, State{}, pathError("read", name, ErrChanged)
}

func simpleRead(name string, max int64) ([]byte, State, error) {
	before, err := Look(name)
	if err != nil {
		return nil, State{}, err
	}
	if !before.Exists {
		return nil, State{}, fs.ErrNotExist
	}
	if err := before.regular(); err != nil {
		return nil, State{}, err
	}
	if max > 0 && before.Size > max {
		return nil, State{}, ErrTooLarge
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, State{}, err
	}
	defer f.Close()
	var from io.Reader = f
	if max > 0 {
		from = io.LimitReader(f, max+1)
	}
	data, err := io.ReadAll(from)
	if err != nil {
		return nil, State{}, err
	}
	if max > 0 && int64(len(data)) > max {
		return nil, State{}, ErrTooLarge
	}
	info, err := f.Stat()
	if err != nil {
		return nil, State{}, err
	}
	if after := simpleState(info); after.Same(before) && int64(len(data)) == after.Size {
		return data, after, nil
	}
	return nil, State{}, nil
}

// held is empty: there are no locks between processes here.
type held struct{}

func (held) release() {}

func lockFiles(ctx context.Context, _ []string) (held, error) { return held{}, ctx.Err() }

// Commit makes the changes, all of them or none, as far as that is possible by name. A process that
// is killed in the middle leaves each file in its old or its new state, but possibly not all in the
// same, and temporary files.
func Commit(ctx context.Context, changes []Change, opt Options) (err error) {
	if err := checkChanges(changes); err != nil {
		return err
	}
	t := &simple{opt: opt}
	done := false
	defer func() {
		if done { // also if Staged has panicked
			return
		}
		if errs := t.rollback(); len(errs) > 0 {
			err = errors.Join(append([]error{err}, errs...)...)
		}
	}()
	var temps []string
	for i := range changes {
		c := &changes[i]
		if err = ctx.Err(); err == nil {
			err = t.stage(c)
		}
		if err != nil {
			return pathError("replace", c.Name, err)
		}
		temps = append(temps, t.items[i].temp)
	}
	if opt.Staged != nil {
		if err := opt.Staged(temps); err != nil {
			return fmt.Errorf("staged: %w", err)
		}
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("replace: %w", err)
	}
	for _, it := range t.items {
		if err := t.place(it); err != nil {
			return pathError("replace", it.Name, err)
		}
	}
	done = true
	for _, it := range t.items {
		for _, name := range it.written {
			_ = os.Remove(name)
		}
	}
	return nil
}

type simple struct {
	opt   Options
	made  []string // folders, parents first
	items []*simpleItem
}

type simpleItem struct {
	*Change
	temp, old string
	written   []string // which of them there are
	mode      fs.FileMode
	done      bool
}

// stage writes the new contents, and a copy of the old ones to put back.
func (t *simple) stage(c *Change) error {
	data, mode, err := t.check(c)
	if err != nil {
		return err
	}
	random := make([]byte, 8)
	_, _ = rand.Read(random) // it never fails
	part := hex.EncodeToString(random)
	if t.opt.Temp != nil {
		part = t.opt.Temp()
	}
	base := filepath.Join(filepath.Dir(c.Name), tempPrefix+part)
	it := &simpleItem{Change: c, temp: base + tempSuffix, old: base + oldSuffix, mode: mode}
	t.items = append(t.items, it)
	if !c.Was.Exists {
		if err := t.mkdir(filepath.Dir(c.Name)); err != nil {
			return err
		}
	} else if err := t.write(it, it.old, data); err != nil {
		return err
	}
	if c.Remove {
		return nil
	}
	return t.write(it, it.temp, c.Data)
}

// check compares the file with what the caller saw. It returns its contents
// and the mode for the new one.
func (t *simple) check(c *Change) ([]byte, fs.FileMode, error) {
	now, err := Look(c.Name)
	if err != nil {
		return nil, 0, err
	}
	if now.Exists {
		if err := now.regular(); err == syscall.ELOOP {
			return nil, 0, ErrChanged
		} else if err != nil {
			return nil, 0, err
		}
	}
	switch {
	case now.Exists != c.Was.Exists:
		return nil, 0, ErrChanged
	case !now.Exists && c.Remove:
		return nil, 0, fs.ErrNotExist
	case !now.Exists:
		return nil, c.Mode.Perm(), nil
	}
	if now.Mode.Perm()&0o200 == 0 && !c.Remove {
		return nil, 0, fs.ErrPermission
	}
	data, st, err := Read(c.Name, 0)
	if err == nil && !c.saw(st, data) {
		err = ErrChanged
	}
	if c.SetMode && c.Mode != 0 {
		return data, c.Mode.Perm(), err
	}
	return data, now.Mode.Perm(), err
}

// saw reports whether st and data are what the caller saw.
func (c *Change) saw(st State, data []byte) bool {
	if c.oldContentsKnown() {
		return bytes.Equal(data, c.WasData)
	}
	return st.Same(c.Was)
}

func (t *simple) mkdir(name string) error {
	if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := t.mkdir(filepath.Dir(name)); err != nil {
		return err
	}
	err := os.Mkdir(name, 0o777)
	if err == nil {
		t.made = append(t.made, name)
	}
	return err
}

func (t *simple) write(it *simpleItem, name string, data []byte) error {
	create := it.mode
	if create == 0 {
		create = 0o666
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, create)
	if err != nil {
		return err
	}
	it.written = append(it.written, name)
	_, err = f.Write(data)
	if err == nil && it.mode != 0 {
		err = os.Chmod(name, it.mode)
	}
	if err == nil && t.opt.Sync {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

func (t *simple) place(it *simpleItem) error {
	if _, _, err := t.check(it.Change); err != nil {
		return err
	}
	var err error
	if it.Remove {
		err = os.Remove(it.Name)
	} else {
		err = os.Rename(it.temp, it.Name)
	}
	it.done = err == nil
	return err
}

func (t *simple) rollback() (errs []error) {
	for _, it := range slices.Backward(t.items) {
		var err error
		switch {
		case it.done && it.Was.Exists:
			err = os.Rename(it.old, it.Name)
		case it.done:
			err = os.Remove(it.Name)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("putting back: %w", err))
			continue
		}
		for _, name := range it.written {
			_ = os.Remove(name)
		}
	}
	for _, name := range slices.Backward(t.made) {
		_ = os.Remove(name)
	}
	return errs
}
