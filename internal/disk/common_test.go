package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// folderOf returns an empty folder whose name holds no links.
func folderOf(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	ok(t, err)
	return dir
}

func ok(t failer, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func is(t failer, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("got error %v, want %v", err, want)
	}
}

// put writes a file in place, as other programs do.
func put(t testing.TB, name, data string, mode fs.FileMode) {
	t.Helper()
	ok(t, os.MkdirAll(filepath.Dir(name), 0o755))
	ok(t, os.WriteFile(name, []byte(data), mode))
	ok(t, os.Chmod(name, mode))
}

// saw returns a change of what a name holds now.
func saw(t testing.TB, name, data string) Change {
	t.Helper()
	c := Change{Name: name, Data: []byte(data)}
	var err error
	if c.Was, err = Look(name); err == nil && c.Was.Exists {
		c.WasData, c.Was, err = Read(name, 0)
	}
	ok(t, err)
	return c
}

func sawRemove(t testing.TB, name string) Change {
	t.Helper()
	c := saw(t, name, "")
	c.Data, c.Remove = nil, true
	return c
}

// everything returns what is below a folder: the contents of files with their
// modes, other things with their types.
func everything(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	ok(t, filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == dir {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel := filepath.ToSlash(strings.TrimPrefix(name, dir+string(filepath.Separator)))
		if info.Mode().Type() != 0 {
			all[rel] = info.Mode().Type().String()
			return nil
		}
		data, err := os.ReadFile(name)
		all[rel] = info.Mode().Perm().String() + " " + string(data)
		return err
	}))
	return all
}

func same(t failer, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("(-want +got)\n%s", diff)
	}
}

// A failer is a test of the standard library or of rapid.
type failer interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}
