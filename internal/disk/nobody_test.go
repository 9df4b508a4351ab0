//go:build (linux || darwin || freebsd || netbsd || openbsd || dragonfly) && !disk_simple

package disk

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestRights runs as a user who may not do everything.
func TestRights(t *testing.T) {
	t.Parallel()
	dir := folderOf(t)
	if os.Geteuid() == 0 {
		ok(t, os.Chmod(filepath.Dir(dir), 0o755))
		ok(t, os.Chown(dir, 65534, 65534))
		for name, mode := range map[string]fs.FileMode{"theirs": 0o666, "group": 0o676, "setuid": 0o777 | fs.ModeSetuid} {
			put(t, filepath.Join(dir, name), "old", 0o600)
			ok(t, os.Chmod(filepath.Join(dir, name), mode))
		}
	}
	out, err := jobCommand(t, "nobody", dir).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

func workNobody(dir string) error {
	super := os.Geteuid() == 0
	if super {
		for _, err := range []error{syscall.Setgroups(nil), syscall.Setgid(65534), syscall.Setuid(65534)} {
			if err != nil {
				return err
			}
		}
	}
	var errs []error
	for _, can := range kinds() {
		errs = append(errs, readOnly(dir, can))
	}
	if super {
		errs = append(errs, ofOthers(dir))
	}
	return errors.Join(errs...)
}

// readOnly tries to change what the user has made read-only.
func readOnly(dir string, can lacks) error {
	dir, err := os.MkdirTemp(dir, "")
	if err != nil {
		return err
	}
	file, locked := filepath.Join(dir, "f"), filepath.Join(dir, "locked")
	shut := filepath.Join(dir, "shut", "f")
	err = errors.Join(
		os.WriteFile(file, []byte("old"), 0o444),
		os.Mkdir(filepath.Dir(shut), 0o755),
		os.WriteFile(shut, []byte("old"), 0o644),
		os.WriteFile(locked, []byte("old"), 0o200),
		os.Chmod(filepath.Dir(shut), 0o555))
	if err != nil {
		return err
	}
	defer os.Chmod(filepath.Dir(shut), 0o755) // so that it can be removed
	data, st, err := Read(file, 0)
	if err != nil {
		return err
	}
	there, err := Look(locked)
	if err != nil {
		return err
	}
	inside, was, err := Read(shut, 0)
	if err != nil {
		return err
	}
	for _, c := range []Change{
		{Name: file, Data: []byte("new"), Was: st, WasData: data},
		{Name: locked, Data: []byte("new"), Was: there},
		{Name: shut, Data: []byte("new"), Was: was, WasData: inside},
		{Name: shut, Remove: true, Was: was, WasData: inside},
		{Name: filepath.Join(dir, "shut", "new")},
		{Name: filepath.Join(dir, "shut", "sub", "new")},
	} {
		if err := commit(context.Background(), []Change{c}, Options{}, can); !errors.Is(err, fs.ErrPermission) {
			return fmt.Errorf("%s: got %v", c.Name, err)
		}
	}
	if now, _, err := Read(file, 0); string(now) != "old" || err != nil {
		return fmt.Errorf("the file holds %q, %v", now, err)
	}
	// The right to remove a file is the folder's.
	if err := commit(context.Background(), []Change{{Name: file, Remove: true, Was: st, WasData: data}}, Options{}, can); err != nil {
		return err
	}
	left, err := os.ReadDir(dir)
	if len(left) != 2 || err != nil {
		return fmt.Errorf("left %v, %v", left, err)
	}
	return nil
}

// ofOthers changes files of the superuser that everybody may write to.
func ofOthers(dir string) error {
	for name, want := range map[string]fs.FileMode{"theirs": 0o666, "group": 0o666} {
		name = filepath.Join(dir, name)
		data, st, err := Read(name, 0)
		if err != nil {
			return err
		}
		if err := Commit(context.Background(), []Change{{Name: name, Data: []byte("new"), Was: st, WasData: data}}, Options{}); err != nil {
			return err
		}
		data, st, err = Read(name, 0)
		if err != nil {
			return err
		}
		if string(data) != "new" || st.Mode != want || st.uid != 65534 || st.gid != 65534 {
			return fmt.Errorf("%s holds %q, %+v", name, data, st)
		}
	}
	name := filepath.Join(dir, "setuid")
	data, st, err := Read(name, 0)
	if err != nil {
		return err
	}
	err = Commit(context.Background(), []Change{{Name: name, Data: []byte("new"), Was: st, WasData: data}}, Options{})
	if !errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("setuid: got %v", err)
	}
	if now, err := Look(name); err != nil || !now.Same(st) {
		return fmt.Errorf("setuid: %+v, %v", now, err)
	}
	return nil
}
