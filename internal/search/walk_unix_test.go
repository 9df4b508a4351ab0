//go:build unix

package search

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// deepTree makes a chain of folders, with a file and a second folder in each.
// Its names are too long to be used as paths.
func deepTree(t *testing.T, depth int) string {
	t.Helper()
	top := t.TempDir()
	fd, err := openat(unix.AT_FDCWD, top, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		t.Fatal(err)
	}
	for range depth {
		file, err := unix.Openat(fd, "f", unix.O_CREAT|unix.O_WRONLY|unix.O_CLOEXEC, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := unix.Write(file, []byte("foo\n")); err != nil {
			t.Fatal(err)
		}
		_ = unix.Close(file)
		for _, name := range []string{"d", "e"} {
			if err := unix.Mkdirat(fd, name, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		next, err := openat(fd, "d", unix.O_RDONLY|unix.O_DIRECTORY)
		_ = unix.Close(fd)
		if err != nil {
			t.Fatal(err)
		}
		fd = next
	}
	_ = unix.Close(fd)
	return top
}

// TestDeep walks a deep tree, in which every folder is come back to after
// its handle had to be given up.
func TestDeep(t *testing.T) {
	t.Parallel()
	depth := 5000
	if testing.Short() {
		depth = 500
	}
	top := deepTree(t, depth)
	var skipped Skipped
	names := collect(t, Options{Dir: top, Worktree: top, Skipped: &skipped})
	if len(names) != depth || skipped.Failed > 0 {
		t.Fatalf("%d names, %+v", len(names), skipped)
	}
	if want := strings.Repeat("d/", depth-1) + "f"; names[0] != want {
		t.Errorf("the first has %d bytes, not %d", len(names[0]), len(want))
	}
}

// TestLinks lists no link and follows none, loops included.
func TestLinks(t *testing.T) {
	t.Parallel()
	top, outside := t.TempDir(), t.TempDir()
	writeFile(t, filepath.Join(outside, "secret"), "")
	writeFile(t, filepath.Join(outside, "rules"), "a\n")
	writeFile(t, filepath.Join(top, "sub", "a"), "")
	for name, target := range map[string]string{
		"out": outside, "file": filepath.Join(outside, "secret"), "loop": top, "sub/up": "..", "none": "nowhere",
		".ignore": filepath.Join(outside, "rules"),
	} {
		if err := os.Symlink(target, filepath.Join(top, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := unix.Mkfifo(filepath.Join(top, "sub", ".gitignore"), 0o644); err != nil {
		t.Fatal(err)
	}
	want := []string{"sub/a"}
	if diff := cmp.Diff(want, collect(t, Options{Dir: top, Worktree: top, Hidden: true})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// The folder itself may be given by a link.
	if diff := cmp.Diff(want, collect(t, Options{Dir: filepath.Join(top, "loop"), Worktree: top})); diff != "" {
		t.Errorf("by a link (-want +got):\n%s", diff)
	}
}

// TestSwapped exchanges a folder for a link after it was listed and before it
// is entered.
func TestSwapped(t *testing.T) {
	t.Parallel()
	top, outside := t.TempDir(), t.TempDir()
	writeFile(t, filepath.Join(outside, "secret"), "")
	writeFile(t, filepath.Join(top, "a"), "")
	writeFile(t, filepath.Join(top, "sub", "b"), "")
	writeFile(t, filepath.Join(top, "z"), "")
	var skipped Skipped
	var names []string
	for name, err := range Files(t.Context(), Options{Dir: top, Worktree: top, Excludes: os.DevNull, Skipped: &skipped}) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
		if name == "a" {
			if err := os.RemoveAll(filepath.Join(top, "sub")); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(outside, filepath.Join(top, "sub")); err != nil {
				t.Fatal(err)
			}
		}
	}
	if diff := cmp.Diff([]string{"a", "z"}, names); diff != "" || skipped.Failed != 1 || skipped.Err == nil {
		t.Errorf("%+v (-want +got):\n%s", skipped, diff)
	}
}

// TestUnreadable passes over a folder that may not be read.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	if os.Getuid() == 0 {
		t.Skip("root reads everything")
	}
	top := grow(t, "-- a --\n-- sub/b --\n-- z --\n")
	if err := os.Chmod(filepath.Join(top, "sub"), 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(top, "sub"), 0o755) })
	var skipped Skipped
	names := collect(t, Options{Dir: top, Worktree: top, Skipped: &skipped})
	if diff := cmp.Diff([]string{"a", "z"}, names); diff != "" || skipped.Failed != 1 {
		t.Errorf("%+v (-want +got):\n%s", skipped, diff)
	}
}

// TestHandles leaves no handle open, also when the consumer leaves early.
func TestHandles(t *testing.T) {
	top := deepTree(t, 200)
	count := func() int {
		list, err := os.ReadDir("/dev/fd")
		if err != nil {
			t.Skip("the open files of a process cannot be counted here")
		}
		return len(list)
	}
	before, most, names := count(), 0, 0
	for range Files(t.Context(), Options{Dir: top, Worktree: top}) {
		most = max(most, count())
		if names++; names == 150 {
			break
		}
	}
	if after := count(); after != before {
		t.Errorf("%d handles before, %d after", before, after)
	}
	if most > before+maxHeld+2 {
		t.Errorf("%d handles at once", most-before)
	}
}
