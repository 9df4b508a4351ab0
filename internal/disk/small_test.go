package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

func TestReplaceSmall(t *testing.T) {
	t.Parallel()
	for _, sync := range []bool{false, true} {
		dir := folderOf(t)
		name := filepath.Join(dir, "file")
		ok(t, ReplaceSmall(name, []byte("made"), sync))
		if runtime.GOOS != "windows" {
			same(t, everything(t, dir), map[string]string{"file": "-rw------- made"})
		}
		put(t, name, "what others could read", 0o644)
		ok(t, ReplaceSmall(name, nil, sync))
		ok(t, ReplaceSmall(name, []byte("new"), sync))
		if runtime.GOOS != "windows" {
			same(t, everything(t, dir), map[string]string{"file": "-rw------- new"})
		}
	}
}

func TestReplaceSmallLink(t *testing.T) {
	t.Parallel()
	dir := folderOf(t)
	put(t, filepath.Join(dir, "target"), "kept", 0o644)
	if err := os.Symlink("target", filepath.Join(dir, "link")); err != nil {
		t.Skip("no links here:", err)
	}
	ok(t, ReplaceSmall(filepath.Join(dir, "link"), []byte("new"), false))
	same(t, everything(t, dir)["target"], "-rw-r--r-- kept")
	same(t, everything(t, dir)["link"], "-rw------- new")
}

// What fails leaves nothing but what was there.
func TestReplaceSmallFails(t *testing.T) {
	t.Parallel()
	dir := folderOf(t)
	is(t, ReplaceSmall(filepath.Join(dir, "missing", "file"), []byte("x"), true), fs.ErrNotExist)
	put(t, filepath.Join(dir, "folder", "file"), "kept", 0o644)
	if ReplaceSmall(filepath.Join(dir, "folder"), []byte("x"), true) == nil {
		t.Error("a folder was replaced")
	}
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	ok(t, err)
	hidden, err := filepath.Glob(filepath.Join(dir, ".*"))
	ok(t, err)
	same(t, append(names, hidden...), []string{filepath.Join(dir, "folder")})
}

// Of many who write and read at once nobody sees half a file.
func TestReplaceSmallAtOnce(t *testing.T) {
	t.Parallel()
	dir := folderOf(t)
	name := filepath.Join(dir, "file")
	texts := []string{strings.Repeat("a", 100_000), strings.Repeat("b", 70_000)}
	ok(t, ReplaceSmall(name, []byte(texts[0]), false))
	var all sync.WaitGroup
	for _, text := range texts {
		all.Go(func() {
			for range 50 {
				if err := ReplaceSmall(name, []byte(text), false); err != nil {
					t.Error(err)
				}
			}
		})
		all.Go(func() {
			for range 50 {
				got, err := ReadSmall(name, 100_000)
				if runtime.GOOS == "windows" && err != nil {
					continue // it is being replaced just now
				}
				if err != nil || string(got) != texts[0] && string(got) != texts[1] {
					t.Errorf("read %d bytes, %v", len(got), err)
				}
			}
		})
	}
	all.Wait()
	left, err := os.ReadDir(dir)
	ok(t, err)
	same(t, len(left), 1)
}

func TestTrySmall(t *testing.T) {
	t.Parallel()
	dir := folderOf(t)
	put(t, filepath.Join(dir, "file"), "kept", 0o600)
	ok(t, TrySmall(filepath.Join(dir, "file"), 10_000))
	left, err := os.ReadDir(dir)
	ok(t, err)
	same(t, len(left), 1)
	got, err := os.ReadFile(filepath.Join(dir, "file"))
	ok(t, err)
	same(t, string(got), "kept")
	is(t, TrySmall(filepath.Join(dir, "missing", "file"), 1), fs.ErrNotExist)
}

func TestUnplaced(t *testing.T) {
	t.Parallel()
	temp, err := stageSmall(filepath.Join(folderOf(t), "file"), nil, false)
	ok(t, err)
	if !Unplaced(temp) {
		t.Errorf("%s is not known", temp)
	}
	for _, name := range []string{"file", ".helve-file", "file.tmp", filepath.Join(".helve-a.tmp", "file")} {
		if Unplaced(name) {
			t.Errorf("%s is taken for a temporary file", name)
		}
	}
}

func TestReadSmall(t *testing.T) {
	t.Parallel()
	dir := folderOf(t)
	name := filepath.Join(dir, "file")
	put(t, name, "12345", 0o600)
	got, err := ReadSmall(name, 5)
	ok(t, err)
	same(t, string(got), "12345")
	_, err = ReadSmall(name, 4)
	is(t, err, ErrTooLarge)
	if want := "file too large: more than 4 bytes"; !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), name) {
		t.Errorf("the error %q does not name the file and say %q", err, want)
	}
	_, err = ReadSmall(name, 0) // no bound is what nobody asks for here
	is(t, err, ErrTooLarge)
	_, err = ReadSmall(dir, 5)
	is(t, err, ErrNotRegular)
	_, err = ReadSmall(filepath.Join(dir, "missing"), 5)
	is(t, err, fs.ErrNotExist)
	if !os.IsNotExist(err) {
		t.Error("os.IsNotExist does not know", err)
	}
	put(t, name, "", 0o600)
	got, err = ReadSmall(name, 0)
	ok(t, err)
	same(t, len(got), 0)
}

func TestReadSmallLink(t *testing.T) {
	t.Parallel()
	dir := folderOf(t)
	put(t, filepath.Join(dir, "target"), "there", 0o644)
	if err := os.Symlink("target", filepath.Join(dir, "link")); err != nil {
		t.Skip("no links here:", err)
	}
	got, err := ReadSmall(filepath.Join(dir, "link"), 5)
	ok(t, err)
	same(t, string(got), "there")
}

// A file is held to its bound also by what it says of itself when it is open.
func TestReadOpen(t *testing.T) {
	t.Parallel()
	name := filepath.Join(folderOf(t), "file")
	put(t, name, "12345", 0o600)
	f, err := os.Open(name)
	ok(t, err)
	defer f.Close()
	_, err = ReadOpen(f, 4)
	is(t, err, ErrTooLarge)
	got, err := ReadOpen(f, 5)
	ok(t, err)
	same(t, string(got), "12345")

	out, in, err := os.Pipe()
	ok(t, err)
	defer func() { ok(t, errors.Join(out.Close(), in.Close())) }()
	_, err = ReadOpen(out, 5)
	is(t, err, ErrNotRegular)
}
