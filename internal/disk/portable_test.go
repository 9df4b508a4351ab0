package disk

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// The tests of this file hold on every system, and for the simple version.

func TestCommitThree(t *testing.T) {
	t.Parallel()
	for _, sync := range []bool{false, true} {
		dir := folderOf(t)
		put(t, filepath.Join(dir, "upd"), "old", 0o644)
		put(t, filepath.Join(dir, "gone"), "old", 0o644)
		changes := []Change{
			saw(t, filepath.Join(dir, "a", "b", "new"), "made"),
			saw(t, filepath.Join(dir, "upd"), "new and longer"),
			sawRemove(t, filepath.Join(dir, "gone")),
		}
		called := 0
		ok(t, Commit(t.Context(), changes, Options{Sync: sync, Staged: func(temps []string) error {
			called++
			if len(temps) != 3 {
				t.Errorf("got temps %q", temps)
			}
			for i, temp := range temps {
				if filepath.Dir(temp) != filepath.Dir(changes[i].Name) || !strings.HasPrefix(filepath.Base(temp), ".helve-") {
					t.Errorf("temporary name %s for %s", temp, changes[i].Name)
				}
				data, err := os.ReadFile(temp)
				if !changes[i].Remove && string(data) != string(changes[i].Data) {
					t.Errorf("%s holds %q, %v", temp, data, err)
				}
			}
			return nil
		}}))
		same(t, called, 1)
		same(t, everything(t, dir), map[string]string{
			"a": "d---------", "a/b": "d---------",
			"a/b/new": "-rw-r--r-- made", "upd": "-rw-r--r-- new and longer",
		})
	}
}

func TestCommitNothing(t *testing.T) {
	t.Parallel()
	ok(t, Commit(t.Context(), nil, Options{}))
}

func TestStagedCallsOff(t *testing.T) {
	t.Parallel()
	dir := folderOf(t)
	put(t, filepath.Join(dir, "upd"), "old", 0o644)
	before := everything(t, dir)
	stop := errors.New("stop")
	ctx, cancel := context.WithCancel(t.Context())
	for _, test := range []struct {
		want   error
		staged func([]string) error
	}{
		{stop, func([]string) error { return stop }},
		{context.Canceled, func([]string) error { cancel(); return nil }},
		{context.Canceled, func([]string) error { t.Error("staged after the end"); return nil }},
	} {
		err := Commit(ctx, []Change{
			saw(t, filepath.Join(dir, "x", "y", "new"), "made"),
			saw(t, filepath.Join(dir, "upd"), "new"),
		}, Options{Staged: test.staged})
		is(t, err, test.want)
		same(t, everything(t, dir), before)
	}
}

func TestStagedPanics(t *testing.T) {
	t.Parallel()
	dir := folderOf(t)
	put(t, filepath.Join(dir, "upd"), "old", 0o644)
	before := everything(t, dir)
	func() {
		defer func() { same(t, recover(), any("stop")) }()
		_ = Commit(t.Context(), []Change{
			saw(t, filepath.Join(dir, "x", "new"), "made"), saw(t, filepath.Join(dir, "upd"), "new"),
		}, Options{Staged: func([]string) error { panic("stop") }})
	}()
	same(t, everything(t, dir), before)
}

func TestBadNames(t *testing.T) {
	t.Parallel()
	dir := folderOf(t)
	twice := filepath.Join(dir, "twice")
	for _, names := range [][]string{
		{"relative"}, {""}, {dir + "/a/../b"}, {dir + "/a/"}, {dir + "/nul\x00"}, {twice, dir + "/other", twice},
	} {
		var changes []Change
		for _, name := range names {
			changes = append(changes, Change{Name: name, Data: []byte("x")})
		}
		err := Commit(t.Context(), changes, Options{})
		if err == nil {
			t.Errorf("%q was taken", names)
		}
		if names[0] != twice {
			is(t, err, syscall.EINVAL)
		}
		same(t, everything(t, dir), map[string]string{})
	}
	for _, name := range []string{"relative", dir + "/a/../b"} {
		_, err := Look(name)
		is(t, err, syscall.EINVAL)
		_, err = Open(name, os.O_RDONLY)
		is(t, err, syscall.EINVAL)
	}
	_, err := Open(filepath.Join(dir, "new"), os.O_WRONLY|os.O_CREATE)
	is(t, err, syscall.EINVAL)
}

func TestRead(t *testing.T) {
	t.Parallel()
	dir := folderOf(t)
	name := filepath.Join(dir, "f")
	put(t, name, "12345", 0o640)
	for _, max := range []int64{0, -1, 5, 6} {
		data, st, err := Read(name, max)
		ok(t, err)
		same(t, string(data), "12345")
		if !st.Exists || st.Size != 5 || st.Mode != 0o640 || st.Links != 1 {
			t.Errorf("got %+v", st)
		}
		now, err := Look(name)
		ok(t, err)
		if !now.Same(st) {
			t.Errorf("%+v and %+v are not the same", now, st)
		}
	}
	_, _, err := Read(name, 4)
	is(t, err, ErrTooLarge)
	_, _, err = Read(dir, 0)
	is(t, err, ErrNotRegular)
	is(t, err, syscall.EISDIR)
	_, _, err = Read(filepath.Join(dir, "missing"), 0)
	is(t, err, fs.ErrNotExist)
	_, _, err = Read(filepath.Join(dir, "no", "folder"), 0)
	is(t, err, fs.ErrNotExist)
	st, err := Look(filepath.Join(dir, "no", "folder"))
	ok(t, err)
	same(t, st.Exists, false)
	put(t, filepath.Join(dir, "empty"), "", 0o600)
	data, st, err := Read(filepath.Join(dir, "empty"), 1)
	ok(t, err)
	if len(data) != 0 || !st.Exists {
		t.Errorf("got %q, %+v", data, st)
	}
}

func TestOpen(t *testing.T) {
	t.Parallel()
	dir := folderOf(t)
	put(t, filepath.Join(dir, "sub", "f"), "x", 0o600)
	f, err := Open(filepath.Join(dir, "sub", "f"), os.O_RDONLY)
	ok(t, err)
	ok(t, f.Close())
	d, err := Open(filepath.Join(dir, "sub"), os.O_RDONLY)
	ok(t, err)
	names, err := d.Readdirnames(-1)
	ok(t, err)
	ok(t, d.Close())
	same(t, names, []string{"f"})
	root, err := Open(filepath.VolumeName(dir)+string(filepath.Separator), os.O_RDONLY)
	ok(t, err)
	ok(t, root.Close())
	_, err = Open(filepath.Join(dir, "sub", "missing"), os.O_RDONLY)
	is(t, err, fs.ErrNotExist)
}

func TestSameStates(t *testing.T) {
	t.Parallel()
	a := State{Exists: true, Size: 1, dev: 1, ino: 2, mtime: 3, ctime: 4}
	same(t, a.Same(a), true)
	same(t, State{}.Same(State{}), true)
	for _, b := range []State{
		{},
		{Exists: true, Size: 2, dev: 1, ino: 2, mtime: 3, ctime: 4},
		{Exists: true, Size: 1, dev: 2, ino: 2, mtime: 3, ctime: 4},
		{Exists: true, Size: 1, dev: 1, ino: 3, mtime: 3, ctime: 4},
		{Exists: true, Size: 1, dev: 1, ino: 2, mtime: 4, ctime: 4},
		{Exists: true, Size: 1, dev: 1, ino: 2, mtime: 3, ctime: 5},
	} {
		if a.Same(b) || b.Same(a) {
			t.Errorf("%+v is the same", b)
		}
	}
}

// Somebody else comes between what the caller saw and the Commit.
func TestChangedBefore(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		seen, now string // "-" for missing
		remove    bool
		want      error
	}{
		"made":                  {"-", "theirs", false, ErrChanged},
		"removed":               {"old", "-", false, ErrChanged},
		"written":               {"old", "theirs", false, ErrChanged},
		"written, same length":  {"old", "new", false, ErrChanged},
		"cut":                   {"old", "", false, ErrChanged},
		"filled":                {"", "theirs", false, ErrChanged},
		"written and removed":   {"old", "theirs", true, ErrChanged},
		"removed twice":         {"old", "-", true, ErrChanged},
		"nothing to remove":     {"-", "-", true, fs.ErrNotExist},
		"made and removed":      {"-", "theirs", true, ErrChanged},
		"written with the same": {"old", "old", false, nil},
		"emptied again":         {"", "", false, nil},
		"removed all the same":  {"old", "old", true, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := folderOf(t)
			file := filepath.Join(dir, "f")
			if test.seen != "-" {
				put(t, file, test.seen, 0o644)
			}
			c := saw(t, file, "mine")
			c.Remove = test.remove
			if test.now == "-" {
				_ = os.Remove(file)
			} else {
				put(t, file, test.now, 0o644)
			}
			put(t, filepath.Join(dir, "other"), "old", 0o644)
			before := everything(t, dir)
			err := Commit(t.Context(), []Change{saw(t, filepath.Join(dir, "other"), "new"), c}, Options{})
			is(t, err, test.want)
			if test.want != nil {
				var named *fs.PathError
				if !errors.As(err, &named) || named.Path != file {
					t.Errorf("the error does not name the file: %v", err)
				}
				same(t, everything(t, dir), before)
				return
			}
			want := map[string]string{"f": "-rw-r--r-- mine", "other": "-rw-r--r-- new"}
			if test.remove {
				delete(want, "f")
			}
			same(t, everything(t, dir), want)
		})
	}
}

func TestFoldersAreRefused(t *testing.T) {
	t.Parallel()
	dir := folderOf(t)
	ok(t, os.Mkdir(filepath.Join(dir, "d"), 0o755))
	for _, c := range []Change{
		{Name: filepath.Join(dir, "d"), Data: []byte("x")},
		{Name: filepath.Join(dir, "d"), Remove: true},
		saw2(t, filepath.Join(dir, "d")),
	} {
		err := Commit(t.Context(), []Change{c}, Options{})
		is(t, err, syscall.EISDIR)
		is(t, err, ErrNotRegular)
	}
	put(t, filepath.Join(dir, "f"), "x", 0o644)
	if err := Commit(t.Context(), []Change{{Name: filepath.Join(dir, "f", "g")}}, Options{}); err == nil {
		t.Error("a file was made in a file")
	}
	same(t, everything(t, dir), map[string]string{"d": "d---------", "f": "-rw-r--r-- x"})
}

// saw2 is a change that takes a folder for a file.
func saw2(t *testing.T, name string) Change {
	st, err := Look(name)
	ok(t, err)
	return Change{Name: name, Was: st}
}

// What the caller did not read is changed if its state has not.
func TestUnreadContents(t *testing.T) {
	t.Parallel()
	dir := folderOf(t)
	file := filepath.Join(dir, "f")
	put(t, file, "old", 0o644)
	c := saw(t, file, "newer")
	c.WasData = nil
	ok(t, Commit(t.Context(), []Change{c}, Options{}))
	same(t, everything(t, dir), map[string]string{"f": "-rw-r--r-- newer"})
	is(t, Commit(t.Context(), []Change{c}, Options{}), ErrChanged)
}

func TestTempTaken(t *testing.T) {
	t.Parallel()
	dir := folderOf(t)
	put(t, filepath.Join(dir, ".helve-x.tmp"), "theirs", 0o644)
	put(t, filepath.Join(dir, ".helve-x.old"), "theirs", 0o644)
	put(t, filepath.Join(dir, "f"), "old", 0o644)
	before := everything(t, dir)
	err := Commit(t.Context(), []Change{saw(t, filepath.Join(dir, "f"), "new")}, Options{Temp: func() string { return "x" }})
	is(t, err, fs.ErrExist)
	same(t, everything(t, dir), before)
}
