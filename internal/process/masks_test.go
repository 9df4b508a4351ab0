package process

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"sort"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestMasks(t *testing.T) {
	root := t.TempDir()
	put := func(name string) {
		t.Helper()
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("a/.env")
	put("a/b/ok.txt")
	put(".git/x.env")
	if err := os.Symlink("a/.env", filepath.Join(root, "link.env")); err != nil {
		t.Fatal(err)
	}
	s := PathFilter{
		Passes: func(names ...string) bool { return !strings.HasSuffix(names[0], ".env") },
		Names:  func(file string) []string { return []string{file} },
	}
	var m Masks
	check := func(want ...string) {
		t.Helper()
		for i := range want {
			want[i] = filepath.Join(root, want[i])
		}
		got, err := m.Find(t.Context(), []string{root}, s)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	check("a/.env")
	put("a/b/new.env") // noticed at once
	check("a/.env", "a/b/new.env")
	if err := os.RemoveAll(filepath.Join(root, "a/b")); err != nil {
		t.Fatal(err)
	}
	check("a/.env")
	if got, err := m.Find(t.Context(), []string{root}, PathFilter{}); err != nil || got != nil {
		t.Errorf("where all may be read: %v, %v", got, err)
	}
}

// envs is a sieve that lets no .env be read, and counts what it is asked.
func envs(asked *int) PathFilter {
	return PathFilter{
		Passes: func(names ...string) bool { *asked++; return filepath.Base(names[0]) != ".env" },
		Names:  func(file string) []string { return []string{file} },
	}
}

// Where not all folders can be looked into there is no answer at all.
func TestMasksTooMany(t *testing.T) {
	root := t.TempDir()
	for _, dir := range []string{"a/b", "c"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	asked := 0
	m := Masks{most: 4}
	if _, err := m.Find(t.Context(), []string{root}, envs(&asked)); err != nil {
		t.Error(err)
	}
	m.most = 3
	if got, err := m.Find(t.Context(), []string{root}, envs(&asked)); !errors.Is(err, ErrTooManyFolders) || got != nil {
		t.Errorf("%v, %v", got, err)
	}
}

// A folder whose time of modification was set back is looked into again, and
// one that was not changed is not.
func TestMasksTimeSetBack(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no other time there")
	}
	root := t.TempDir()
	put := func(name string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(root, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(root, time.Unix(5, 0), time.Unix(5, 0)); err != nil {
			t.Fatal(err)
		}
	}
	put("ok")
	var m Masks
	asked := 0
	find := func() []string {
		t.Helper()
		got, err := m.Find(t.Context(), []string{root}, envs(&asked))
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := find(); got != nil {
		t.Error(got)
	}
	put(".env")
	if got := find(); len(got) != 1 {
		t.Errorf("set back: %v", got)
	}
	// What is older than a moment is taken as it was.
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(100 * 365 * 24 * time.Hour) // its clock starts in the past
		before := asked
		if got := find(); len(got) != 1 || asked != before {
			t.Errorf("%v, after %d more questions", got, asked-before)
		}
	})
}

// A file that may not be read is masked under all its names, in all roots.
func TestMasksHardLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no wall, and no number of names")
	}
	one, two := t.TempDir(), t.TempDir()
	for _, path := range []string{filepath.Join(one, "a", ".env"), filepath.Join(one, "plain"), filepath.Join(two, "other")} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var m Masks
	asked := 0
	check := func(want ...string) {
		t.Helper()
		got, err := m.Find(t.Context(), []string{one, two, filepath.Join(one, "a")}, envs(&asked))
		if err != nil {
			t.Fatal(err)
		}
		sort.Strings(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	link := func(from, to string) {
		t.Helper()
		if err := os.Link(from, to); err != nil {
			t.Fatal(err)
		}
	}
	env := filepath.Join(one, "a", ".env")
	check(env)
	link(env, filepath.Join(two, "copy"))
	check(env, filepath.Join(two, "copy"))
	link(env, filepath.Join(one, "copy"))
	check(env, filepath.Join(one, "copy"), filepath.Join(two, "copy"))
	// A name that is there already becomes one of a file that may not be read.
	link(filepath.Join(two, "other"), filepath.Join(two, ".env"))
	check(env, filepath.Join(one, "copy"), filepath.Join(two, "copy"), filepath.Join(two, "other"), filepath.Join(two, ".env"))
	for _, path := range []string{filepath.Join(one, "copy"), filepath.Join(two, "copy"), filepath.Join(two, ".env")} {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	check(env)
}

// A folder that cannot be looked into is masked whole: who owns it could open
// it again.
func TestMasksClosedFolder(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root looks into every folder")
	}
	root := t.TempDir()
	closed := filepath.Join(root, "closed")
	if err := os.Mkdir(closed, 0); err != nil {
		t.Fatal(err)
	}
	var m Masks
	got, err := m.Find(t.Context(), []string{root}, PathFilter{Passes: func(...string) bool { return true }, Names: func(f string) []string { return []string{f} }})
	if diff := cmp.Diff([]string{closed}, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
}
