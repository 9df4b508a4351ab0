//go:build unix

package search

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// TestOddFiles passes over all that is no file, and does not wait for it.
func TestOddFiles(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	outside := filepath.Join(t.TempDir(), "outside")
	writeFile(t, outside, "foo\n")
	names := []string{"new\nline", "bad\xff\xfe", " lead", "trail ", "-dash", "quote\"'", "*", "tab\t"}
	for _, name := range names {
		writeFile(t, filepath.Join(top, "odd"+name+"dir", name), "foo\n")
	}
	for name, target := range map[string]string{"file": outside, "loop": top, "self": "self", "none": "nowhere", "up": ".."} {
		if err := os.Symlink(target, filepath.Join(top, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := unix.Mkfifo(filepath.Join(top, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	if l, err := net.Listen("unix", filepath.Join(top, "s")); err == nil {
		defer func() { _ = l.Close() }()
	}
	addDevice(t, filepath.Join(top, "zero"))
	found := grep(t, Grep{Where: Options{Dir: top, Worktree: top}, Pattern: compile(t, "foo")})
	if found.Lines != len(names) || found.Skipped != (Skipped{}) {
		t.Errorf("%q %+v", found.print(), found.Skipped)
	}
	for _, f := range found.Files {
		if _, err := os.Stat(filepath.Join(top, f.Name)); err != nil {
			t.Errorf("%q: %v", f.Name, err)
		}
	}
}

// TestReplaced exchanges files after they were listed and before they are
// opened. The bar is what is asked in between.
func TestReplaced(t *testing.T) {
	t.Parallel()
	outside := filepath.Join(t.TempDir(), "outside")
	writeFile(t, outside, "foo\n")
	for name, with := range map[string]func(name string) error{
		"pipe":   func(name string) error { return unix.Mkfifo(name, 0o644) },
		"link":   func(name string) error { return os.Symlink(outside, name) },
		"folder": func(name string) error { return os.Mkdir(name, 0o755) },
		"gone":   func(string) error { return nil },
		"other":  func(name string) error { return os.WriteFile(name, []byte("foo new\n"), 0o644) },
	} {
		for _, limit := range []int{0, 1} {
			t.Run(fmt.Sprint(name, limit), func(t *testing.T) {
				t.Parallel()
				top := t.TempDir()
				file := filepath.Join(top, "file")
				writeFile(t, file, "foo\n")
				bar := &Exclusion{Shut: func(string) bool {
					if err := os.Remove(file); err != nil {
						t.Error(err)
					}
					if err := with(file); err != nil {
						t.Error(err)
					}
					return false
				}}
				found := grep(t, Grep{Where: Options{Dir: top, Worktree: top}, Pattern: compile(t, "foo"), Bar: bar, Limit: limit})
				want := "[]"
				if name == "other" {
					want = "[file:1:foo new]"
				}
				if got := fmt.Sprint(found.print()); got != want || found.Skipped != (Skipped{}) {
					t.Errorf("%s %+v", got, found.Skipped)
				}
			})
		}
	}
}

// TestReplacedFolder exchanges a folder for a link on the way to a file that
// was put off.
func TestReplacedFolder(t *testing.T) {
	t.Parallel()
	top, outside := t.TempDir(), t.TempDir()
	writeFile(t, filepath.Join(outside, "file"), "foo outside\n")
	writeFile(t, filepath.Join(top, "many"), strings.Repeat("foo\n", 2*plenty))
	for i := range 50 {
		writeFile(t, filepath.Join(top, "dir", "sub", fmt.Sprint(i)), "foo inside\n")
	}
	writeFile(t, filepath.Join(top, "dir", "sub", "file"), "foo inside\n")
	var asked atomic.Int32
	bar := &Exclusion{Shut: func(string) bool {
		if asked.Add(1) == 52 { // the last: all the others are known
			if err := os.Rename(filepath.Join(top, "dir", "sub"), filepath.Join(top, "dir", "old")); err != nil {
				t.Error(err)
			}
			if err := os.Symlink(outside, filepath.Join(top, "dir", "sub")); err != nil {
				t.Error(err)
			}
		}
		return false
	}}
	found := grep(t, Grep{Where: Options{Dir: top, Worktree: top}, Pattern: compile(t, "foo"), Bar: bar, Limit: 1000})
	if found.Lines < 2*plenty || strings.Contains(fmt.Sprint(found.print()), "outside") {
		t.Errorf("%q", found.print())
	}
}

// TestHardLinks asks about files of several names before it shows them.
func TestHardLinks(t *testing.T) {
	t.Parallel()
	top := grow(t, "-- a --\nfoo\n-- b --\nfoo\n-- c --\nnothing\n")
	writeFile(t, filepath.Join(top, "bin"), "foo\x00")
	for _, name := range []string{"a", "c", "bin"} {
		if err := os.Link(filepath.Join(top, name), filepath.Join(top, name+"2")); err != nil {
			t.Fatal(err)
		}
	}
	var asked atomic.Int32
	bar := &Exclusion{Shut: func(string) bool { return false }, Linked: func(name string) bool {
		asked.Add(1)
		return name != "a2"
	}}
	found := grep(t, Grep{Where: Options{Dir: top, Worktree: top}, Pattern: compile(t, "foo"), Bar: bar, Order: ByName})
	if diff := cmp.Diff([]string{"a2:1:foo", "b:1:foo"}, found.print()); diff != "" || asked.Load() != 4 || found.Skipped != (Skipped{}) {
		t.Errorf("asked %d times, %+v (-want +got):\n%s", asked.Load(), found.Skipped, diff)
	}
}

// TestNobody searches as a user who may not read everything.
func TestNobody(t *testing.T) {
	const variable = "HELVE_TEST_NOBODY"
	if top := os.Getenv(variable); top != "" { // this is the child
		for _, err := range []error{syscall.Setgroups(nil), syscall.Setgid(65534), syscall.Setuid(65534)} {
			if err != nil {
				t.Fatal(err)
			}
		}
		searchAsNobody(t, top)
		return
	}
	top := grow(t, "-- a --\nfoo\n-- shut --\nfoo\n-- sub/b --\nfoo\n-- z --\nfoo\n")
	for dir := top; len(dir) > len(os.TempDir()); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"shut", "sub"} {
		if err := os.Chmod(filepath.Join(top, name), 0); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(top, "sub"), 0o755) })
	if os.Geteuid() != 0 {
		searchAsNobody(t, top)
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestNobody$")
	cmd.Env = append(os.Environ(), variable+"="+top)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

func searchAsNobody(t *testing.T, top string) {
	for order := range ByName + 1 {
		found := grep(t, Grep{Where: Options{Dir: top, Worktree: top}, Pattern: compile(t, "foo"), Order: order})
		if found.Lines != 2 || found.Skipped.Failed != 2 || found.Skipped.Err == nil {
			t.Errorf("%q %+v", found.print(), found.Skipped)
		}
	}
	var skipped Skipped
	if names := collect(t, Options{Dir: top, Worktree: top, Skipped: &skipped}); len(names) != 3 || skipped.Failed != 1 {
		t.Errorf("%q %+v", names, skipped)
	}
}

// TestDeepSearch searches a deep tree, with few handles.
func TestDeepSearch(t *testing.T) {
	depth := 5000
	if testing.Short() {
		depth = 500
	}
	top := deepTree(t, depth)
	var asked, most atomic.Int64
	before := openHandles(t)
	bar := &Exclusion{Shut: func(string) bool {
		if asked.Add(1)%16 == 0 {
			most.Store(max(most.Load(), int64(openHandles(t))))
		}
		return false
	}}
	for order := range ByName + 1 {
		g := Grep{Where: Options{Dir: top, Worktree: top}, Pattern: compile(t, "foo"), Order: order, Limit: depth, Bar: bar}
		found := grep(t, g)
		if found.Lines != depth || found.More || found.Skipped != (Skipped{}) {
			t.Errorf("order %d: %d lines, more %t, %+v", order, found.Lines, found.More, found.Skipped)
		}
	}
	if after := openHandles(t); after != before {
		t.Errorf("%d handles before, %d after", before, after)
	}
	if limit := int64(before + maxHeld + 4*defaultWorkers); most.Load() > limit {
		t.Errorf("%d handles at once", most.Load())
	}
}

func openHandles(t *testing.T) int {
	list, err := os.ReadDir("/dev/fd")
	if err != nil {
		t.Skip("the open files of a process cannot be counted here")
	}
	return len(list)
}

// TestLongLine searches a line that does not fit into memory, so to say.
func TestLongLine(t *testing.T) {
	size := 1 << 30
	if testing.Short() {
		size = 16 << 20
	}
	top := t.TempDir()
	f, err := os.Create(filepath.Join(top, "long"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	part := []byte("first\n" + strings.Repeat("x", 1<<20))
	for n := 0; n < size; n += len(part) {
		if _, err := f.Write(part); err != nil {
			t.Skipf("there is no room for the file: %v", err)
		}
		part = part[len(part)-1<<20:]
	}
	if _, err := f.WriteString("foo\nfoo\n"); err != nil {
		t.Fatal(err)
	}
	g := Grep{Where: Options{Dir: top, Worktree: top}, Pattern: compile(t, "xfoo$|^foo$"), LineMax: 10, Limit: 10}
	var start, end runtime.MemStats
	runtime.ReadMemStats(&start)
	found := grep(t, g)
	runtime.ReadMemStats(&end)
	if diff := cmp.Diff([]string{"long:2:xxxxxxxxxx...", "long:3:foo"}, found.print()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if used := end.TotalAlloc - start.TotalAlloc; used > 8<<20 {
		t.Errorf("%d bytes of memory", used)
	}
	// A hole is NULs: the search ends before it.
	if err := f.Truncate(int64(size) * 2); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"long:2:xxxxxxxxxx...", "long:3:foo"}, grep(t, g).print()); size%block == 0 && diff == "" {
		t.Error("lines of the block with the hole were found")
	}
}
