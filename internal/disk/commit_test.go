//go:build (linux || darwin || freebsd || netbsd || openbsd || dragonfly) && !disk_simple

package disk

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// kinds are the file systems the rules are tried on: what this one can, and
// this one taken for less.
func kinds() map[string]lacks {
	return map[string]lacks{
		"all":      {},
		"named":    {nameless: true},
		"links":    {exchange: true, noReplace: true},
		"no links": {nameless: true, exchange: true, noReplace: true, hardLinks: true},
		"old":      {exchange: true},
	}
}

// onAll runs a test on every kind of file system, in a folder of its own.
func onAll(t *testing.T, test func(t *testing.T, dir string, can lacks)) {
	t.Parallel()
	for name, can := range kinds() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, folderOf(t), can)
		})
	}
}

func TestModeIsKept(t *testing.T) {
	onAll(t, func(t *testing.T, dir string, can lacks) {
		want := map[string]string{}
		var changes []Change
		for _, mode := range []fs.FileMode{0o755, 0o644, 0o640, 0o600, 0o666, 0o777} {
			base := mode.String()
			put(t, filepath.Join(dir, base), "old", mode)
			changes = append(changes, saw(t, filepath.Join(dir, base), "new"))
			want[base] = base + " new"
		}
		ok(t, commit(t.Context(), changes, Options{}, can))
		same(t, everything(t, dir), want)
	})
}

func TestNewFileMode(t *testing.T) {
	onAll(t, func(t *testing.T, dir string, can lacks) {
		var changes []Change
		want := map[string]string{}
		for _, mode := range []fs.FileMode{0, 0o600, 0o666, 0o755} {
			base := mode.String()
			changes = append(changes, Change{Name: filepath.Join(dir, base), Data: []byte("x"), Mode: mode})
			want[base] = base + " x"
		}
		want["----------"] = "-rw-r--r-- x" // the umask is 022
		ok(t, commit(t.Context(), changes, Options{}, can))
		same(t, everything(t, dir), want)
	})
}

func TestSpecialBitsAndOwnerAreKept(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only the superuser can give files away")
	}
	onAll(t, func(t *testing.T, dir string, can lacks) {
		name := filepath.Join(dir, "f")
		put(t, name, "old", 0o755)
		ok(t, os.Chown(name, 65534, 12345))
		ok(t, unix.Chmod(name, 0o6751))
		ok(t, commit(t.Context(), []Change{saw(t, name, "new")}, Options{}, can))
		var st unix.Stat_t
		ok(t, unix.Stat(name, &st))
		same(t, []uint32{st.Uid, st.Gid, uint32(st.Mode) & 0o7777}, []uint32{65534, 12345, 0o6751})
	})
}

// A file with two names gets a new file under one of them.
func TestHardLink(t *testing.T) {
	onAll(t, func(t *testing.T, dir string, can lacks) {
		a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
		put(t, a, "old", 0o644)
		ok(t, os.Link(a, b))
		st, err := Look(a)
		ok(t, err)
		same(t, st.Links, uint64(2))
		ok(t, commit(t.Context(), []Change{saw(t, a, "new")}, Options{}, can))
		same(t, everything(t, dir), map[string]string{"a": "-rw-r--r-- new", "b": "-rw-r--r-- old"})
	})
}

func TestThreeOnAll(t *testing.T) {
	onAll(t, func(t *testing.T, dir string, can lacks) {
		put(t, filepath.Join(dir, "upd"), "old", 0o640)
		put(t, filepath.Join(dir, "gone"), "old", 0o644)
		ok(t, commit(t.Context(), three(t, dir), Options{Sync: true}, can))
		same(t, everything(t, dir), map[string]string{
			"upd": "-rw-r----- new", "a": "d---------", "a/b": "d---------", "a/b/new": "-rw-r--r-- new",
		})
	})
}

// three changes a file, makes one in missing folders and removes one.
func three(t testing.TB, dir string) []Change {
	return []Change{
		saw(t, filepath.Join(dir, "upd"), "new"),
		saw(t, filepath.Join(dir, "a/b/new"), "new"),
		sawRemove(t, filepath.Join(dir, "gone")),
	}
}

// What was changed already is put back when a later change fails, and is the
// very file that was there.
func TestRollback(t *testing.T) {
	onAll(t, func(t *testing.T, dir string, can lacks) {
		put(t, filepath.Join(dir, "upd"), "old", 0o640)
		put(t, filepath.Join(dir, "gone"), "old", 0o600)
		put(t, filepath.Join(dir, "last"), "old", 0o644)
		changes := append(three(t, dir), saw(t, filepath.Join(dir, "last"), "new"))
		upd, gone := changes[0].Was, changes[2].Was
		before := everything(t, dir)
		err := commit(t.Context(), changes, Options{Staged: func([]string) error {
			put(t, filepath.Join(dir, "last"), "theirs", 0o644)
			return nil
		}}, can)
		is(t, err, ErrChanged)
		if !strings.Contains(err.Error(), filepath.Join(dir, "last")) {
			t.Errorf("the error names no file: %v", err)
		}
		before["last"] = "-rw-r--r-- theirs"
		same(t, everything(t, dir), before)
		for name, was := range map[string]State{"upd": upd, "gone": gone} {
			st, err := Look(filepath.Join(dir, name))
			ok(t, err)
			if !can.hardLinks && !st.sameFile(was) {
				t.Errorf("%s is another file", name)
			}
		}
	})
}

// Somebody else comes when everything is staged.
func TestChangedAtLast(t *testing.T) {
	theirs := func(t *testing.T, name string) { put(t, name, "theirs", 0o644) }
	for name, test := range map[string]struct {
		missing bool // before
		act     func(t *testing.T, name string)
		want    error
	}{
		"written":              {false, theirs, ErrChanged},
		"written, same length": {false, func(t *testing.T, name string) { put(t, name, "OLD", 0o644) }, ErrChanged},
		"cut":                  {false, func(t *testing.T, name string) { ok(t, os.Truncate(name, 0)) }, ErrChanged},
		"replaced": {false, func(t *testing.T, name string) {
			theirs(t, name+"2")
			ok(t, os.Rename(name+"2", name))
		}, ErrChanged},
		"removed": {false, func(t *testing.T, name string) { ok(t, os.Remove(name)) }, ErrChanged},
		"link": {false, func(t *testing.T, name string) {
			ok(t, os.Rename(name, name+"2"))
			ok(t, os.Symlink(name+"2", name))
		}, ErrChanged},
		"folder": {false, func(t *testing.T, name string) {
			ok(t, os.Remove(name))
			ok(t, os.Mkdir(name, 0o755))
		}, ErrChanged},
		"pipe": {false, func(t *testing.T, name string) {
			ok(t, os.Remove(name))
			ok(t, unix.Mkfifo(name, 0o644))
		}, ErrChanged},
		"mode":                  {false, func(t *testing.T, name string) { ok(t, os.Chmod(name, 0o600)) }, ErrChanged},
		"touched":               {false, func(t *testing.T, name string) { put(t, name, "old", 0o644) }, nil},
		"made":                  {true, theirs, ErrChanged},
		"made a folder":         {true, func(t *testing.T, name string) { ok(t, os.Mkdir(name, 0o755)) }, ErrChanged},
		"made a link":           {true, func(t *testing.T, name string) { ok(t, os.Symlink("nowhere", name)) }, ErrChanged},
		"made a pipe":           {true, func(t *testing.T, name string) { ok(t, unix.Mkfifo(name, 0o644)) }, ErrChanged},
		"nothing":               {false, func(*testing.T, string) {}, nil},
		"nothing, to a new one": {true, func(*testing.T, string) {}, nil},
	} {
		for kind, can := range kinds() {
			for _, remove := range []bool{false, true} {
				if remove && test.missing {
					continue
				}
				t.Run(name+"/"+kind, func(t *testing.T) {
					t.Parallel()
					dir := folderOf(t)
					file := filepath.Join(dir, "sub", "f")
					put(t, filepath.Join(dir, "sub", "first"), "old", 0o644)
					if !test.missing {
						put(t, file, "old", 0o644)
					}
					c := saw(t, file, "mine")
					c.Remove = remove
					var between map[string]string
					var temps []string
					err := commit(t.Context(), []Change{saw(t, filepath.Join(dir, "sub", "first"), "new"), c}, Options{
						Staged: func(names []string) error {
							temps = names
							test.act(t, file)
							between = everything(t, dir)
							return nil
						}}, can)
					is(t, err, test.want)
					for _, temp := range temps {
						delete(between, "sub/"+filepath.Base(temp))
					}
					if test.want == nil {
						between["sub/first"], between["sub/f"] = "-rw-r--r-- new", "-rw-r--r-- mine"
						if remove {
							delete(between, "sub/f")
						}
					}
					same(t, everything(t, dir), between)
				})
			}
		}
	}
}

// The folder is swapped when everything is staged: nothing is written to the
// one that has taken its place, nor to where a link leads.
func TestFolderMoved(t *testing.T) {
	onAll(t, func(t *testing.T, dir string, can lacks) {
		sub, away := filepath.Join(dir, "sub"), filepath.Join(dir, "away")
		for _, link := range []bool{false, true} {
			put(t, filepath.Join(sub, "f"), "old", 0o644)
			var want map[string]string
			err := commit(t.Context(), []Change{saw(t, filepath.Join(sub, "f"), "new")}, Options{
				Staged: func(temps []string) error {
					ok(t, os.Rename(sub, away))
					if link {
						ok(t, os.Symlink(away, sub))
					} else {
						put(t, filepath.Join(sub, "f"), "old", 0o644)
					}
					want = everything(t, dir)
					delete(want, "away/"+filepath.Base(temps[0]))
					return nil
				}}, can)
			is(t, err, ErrChanged)
			same(t, everything(t, dir), want)
			ok(t, os.RemoveAll(sub))
			ok(t, os.RemoveAll(away))
		}
	})
}

func TestLinksAreNotFollowed(t *testing.T) {
	t.Parallel()
	dir := folderOf(t)
	put(t, filepath.Join(dir, "real", "f"), "old", 0o644)
	ok(t, os.Symlink("real", filepath.Join(dir, "link")))
	ok(t, os.Symlink("f", filepath.Join(dir, "real", "l")))
	before := everything(t, dir)
	for _, name := range []string{filepath.Join(dir, "link", "f"), filepath.Join(dir, "real", "l")} {
		_, _, err := Read(name, 0)
		is(t, err, syscall.ELOOP)
		_, err = Open(name, os.O_RDONLY)
		is(t, err, syscall.ELOOP)
		_, err = openByParts(name, readFlags)
		is(t, err, syscall.ELOOP)
		c := saw(t, filepath.Join(dir, "real", "f"), "new")
		c.Name = name
		if err := Commit(t.Context(), []Change{c}, Options{}); err == nil {
			t.Errorf("%s was written to", name)
		}
	}
	_, err := Open(filepath.Join(dir, "link"), os.O_RDONLY|syscall.O_DIRECTORY)
	is(t, err, syscall.ELOOP)
	_, err = Look(filepath.Join(dir, "link", "f"))
	is(t, err, syscall.ELOOP)
	st, err := Look(filepath.Join(dir, "real", "l"))
	ok(t, err)
	same(t, st.Mode.Type(), fs.ModeSymlink)
	same(t, everything(t, dir), before)
}

// It would hang if opening one waited.
func TestSpecialFiles(t *testing.T) {
	dir := folderOf(t)
	ok(t, unix.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
	t.Chdir(dir) // the name of a socket has to be short
	l, err := net.Listen("unix", "socket")
	ok(t, err)
	defer l.Close()
	before := everything(t, dir)
	for _, name := range []string{filepath.Join(dir, "pipe"), filepath.Join(dir, "socket"), "/dev/null", "/dev/zero"} {
		_, _, err := Read(name, 10)
		is(t, err, ErrNotRegular)
		st, err := Look(name)
		ok(t, err)
		for _, c := range []Change{{Name: name}, {Name: name, Was: st}, {Name: name, Was: st, Remove: true}} {
			is(t, Commit(t.Context(), []Change{c}, Options{}), ErrNotRegular)
		}
		var locks Locks
		release, err := locks.Lock(t.Context(), name)
		ok(t, err)
		release()
	}
	same(t, everything(t, dir), before)
}

// Reading a file that somebody writes to gives what it held at one moment.
func TestReadWhileWritten(t *testing.T) {
	t.Parallel()
	name := filepath.Join(folderOf(t), "f")
	const size = 64 << 10
	texts := []string{strings.Repeat("a", size), strings.Repeat("b", size), strings.Repeat("c", size/2)}
	put(t, name, texts[0], 0o644)
	stop, done := make(chan struct{}), make(chan error)
	go func() {
		for i := 0; ; i++ {
			f, err := os.OpenFile(name, os.O_WRONLY, 0)
			if err == nil {
				_, err = f.WriteString(texts[i%3])
			}
			if err == nil && i%3 == 2 {
				err = f.Truncate(size / 2)
			}
			err = errors.Join(err, f.Close())
			select {
			case <-stop:
				done <- err
				return
			default:
			}
			if err != nil {
				done <- err
				return
			}
		}
	}()
	torn, whole := 0, 0
	for range 60 {
		data, st, err := Read(name, 0)
		if errors.Is(err, ErrChanged) {
			torn++
			continue
		}
		ok(t, err)
		whole++
		// Before it is cut, a file may hold the third text and half of the second.
		mixed := texts[2] + texts[1][size/2:]
		if s := string(data); int64(len(s)) != st.Size || s != mixed && !slices.Contains(texts, s) {
			t.Fatalf("got %d bytes, size %d: from %.1s to %s", len(s), st.Size, s, s[len(s)-1:])
		}
	}
	close(stop)
	ok(t, <-done)
	t.Logf("%d whole, %d given up", whole, torn)
}
