package search

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

func watcherFor(t *testing.T, folders ...string) *watcher {
	t.Helper()
	w, err := newWatcher()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.close)
	for key, name := range folders {
		if err := w.add(name, uint32(key)); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// drained returns the changes of a drain that must not overflow.
func drained(t interface {
	Helper()
	Fatal(...any)
}, w *watcher) (list []change) {
	t.Helper()
	overflow, err := w.drain(func(ev change) { list = append(list, ev) })
	if err != nil {
		t.Fatal(err)
	}
	if overflow {
		t.Fatal("changes were lost")
	}
	return list
}

func must(t interface {
	Helper()
	Fatal(...any)
}, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestWatchKinds(t *testing.T) {
	dir := t.TempDir()
	file, sub := filepath.Join(dir, "file"), filepath.Join(dir, "sub")
	must(t, os.Mkdir(sub, 0o777))
	w := watcherFor(t, dir, sub)
	if got := drained(t, w); got != nil {
		t.Fatalf("before any change: %v", got)
	}
	for _, step := range []struct {
		name string
		do   func() error
		want []change
	}{
		{"create", func() error { return os.WriteFile(file, nil, 0o666) }, []change{
			{what: changeCreated, name: "file"},
			{what: changeClosed, name: "file"},
		}},
		{"rewrite", func() error { return os.WriteFile(file, []byte("text"), 0o666) }, []change{
			{what: changeModified, name: "file"},
			{what: changeClosed, name: "file"},
		}},
		{"touch", func() error { return os.Chtimes(file, time.Unix(1, 0), time.Unix(1, 0)) }, []change{
			{what: changeAttributes, name: "file"},
		}},
		{"truncate", func() error { return os.Truncate(file, 1) }, []change{
			{what: changeModified, name: "file"},
		}},
		{"read", func() error { _, err := os.ReadFile(file); return err }, nil},
		{"make folder", func() error { return os.Mkdir(file+"s", 0o777) }, []change{
			{what: changeCreated, name: "files"},
		}},
		{"link", func() error { return os.Symlink("file", file+"l") }, []change{
			{what: changeCreated, name: "filel"},
		}},
		{"move", func() error { return os.Rename(file, filepath.Join(sub, "moved")) }, []change{
			{what: changeMovedFrom, name: "file"},
			{what: changeMovedTo, name: "moved", key: 1},
		}},
		{"move folder", func() error { return os.Rename(sub, sub+"2") }, []change{
			{what: changeMovedFrom, name: "sub"},
			{what: changeMovedTo, name: "sub2"},
			{what: changeSelfMoved, key: 1},
		}},
		{"remove in the moved folder", func() error { return os.Remove(filepath.Join(sub+"2", "moved")) }, []change{
			{what: changeRemoved, name: "moved", key: 1},
		}},
		{"remove folder", func() error { return os.Remove(sub + "2") }, []change{
			{what: changeSelfGone, key: 1},
			{what: changeRemoved, name: "sub2"},
		}},
	} {
		must(t, step.do())
		got := drained(t, w)
		if len(got) == 2 && got[0].what == changeRemoved && got[1].what == changeSelfGone {
			slices.Reverse(got) // kernels differ
		}
		if diff := cmp.Diff(step.want, got, cmp.AllowUnexported(change{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.name, diff)
		}
	}
	if len(w.nums) != 1 || len(w.keys) != 1 {
		t.Errorf("the folder that is gone is still known: %v %v", w.nums, w.keys)
	}
}

// What another goroutine, and so another thread, has finished is seen.
func TestWatchSeesFinishedChanges(t *testing.T) {
	dir := t.TempDir()
	w := watcherFor(t, dir)
	next, done := make(chan int), make(chan error)
	go func() {
		for i := range next {
			f, err := os.OpenFile(filepath.Join(dir, strconv.Itoa(i%10)), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666)
			if err == nil {
				_, err = f.WriteString("x")
				done <- err // not closed yet
				<-next
				err = f.Close()
			}
			done <- err
		}
	}()
	for i := range 500 {
		for _, what := range []changeKind{changeModified, changeClosed} {
			next <- i
			must(t, <-done)
			if got := drained(t, w); !slices.ContainsFunc(got, func(ev change) bool {
				return ev.what == what && ev.name == strconv.Itoa(i%10)
			}) {
				t.Fatalf("round %d: no change of kind %d in %v", i, what, got)
			}
		}
	}
	close(next)
}

// A folder that has several names has one watch, and all names hear of it.
func TestWatchSharedFolder(t *testing.T) {
	dir := t.TempDir()
	real, link, other := filepath.Join(dir, "real"), filepath.Join(dir, "link"), filepath.Join(dir, "other")
	must(t, os.Mkdir(real, 0o777))
	must(t, os.Mkdir(other, 0o777))
	must(t, os.Symlink("real", link))
	open, err := os.Open(real)
	must(t, err)
	defer open.Close()
	w := watcherFor(t, real, link, fmt.Sprintf("/proc/self/fd/%d", open.Fd()), other)
	if len(w.keys) != 2 {
		t.Fatalf("%d watches for two folders", len(w.keys))
	}
	heard := func() (keys []uint32) {
		must(t, os.WriteFile(filepath.Join(link, "file"), nil, 0o666))
		must(t, os.Remove(filepath.Join(real, "file")))
		for _, ev := range drained(t, w) {
			if ev.what == changeCreated {
				keys = append(keys, ev.key)
			}
		}
		return keys
	}
	check := func(when string, want ...uint32) {
		t.Helper()
		if diff := cmp.Diff(want, heard()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", when, diff)
		}
	}
	check("all", 0, 1, 2)
	must(t, w.add(link, 1))
	check("one added again", 0, 1, 2)
	w.removeWatch(1)
	w.removeWatch(1)
	check("one dropped", 0, 2)
	must(t, w.add(other, 2))
	check("one moved elsewhere", 0)
	must(t, w.add(real, 7))
	w.removeWatch(0)
	check("the first dropped", 7)
	w.removeWatch(7)
	check("all dropped")
	if len(w.nums) != 2 || len(w.keys) != 1 {
		t.Errorf("left are %v and %v", w.nums, w.keys)
	}
	must(t, w.add(real, 7))
	check("one added after all were dropped", 7)
}

func TestWatchMountedFolder(t *testing.T) {
	dir := t.TempDir()
	real, mounted := filepath.Join(dir, "real"), filepath.Join(dir, "mounted")
	must(t, os.Mkdir(real, 0o777))
	must(t, os.Mkdir(mounted, 0o777))
	if err := unix.Mount(real, mounted, "", unix.MS_BIND, ""); err != nil {
		t.Skip("no mount: ", err)
	}
	defer func() { must(t, unix.Unmount(mounted, unix.MNT_DETACH)) }()
	w := watcherFor(t, real, mounted)
	must(t, os.Mkdir(filepath.Join(real, "new"), 0o777))
	want := []change{
		{key: 0, what: changeCreated, name: "new"},
		{key: 1, what: changeCreated, name: "new"},
	}
	if diff := cmp.Diff(want, drained(t, w), cmp.AllowUnexported(change{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// While it is told of a change, the caller may add and drop.
func TestWatchChangedWhileDraining(t *testing.T) {
	dir := t.TempDir()
	w := watcherFor(t, dir, dir, dir)
	must(t, os.Mkdir(filepath.Join(dir, "a"), 0o777))
	must(t, os.Mkdir(filepath.Join(dir, "b"), 0o777))
	var got []string
	_, err := w.drain(func(ev change) {
		got = append(got, fmt.Sprintf("%d %s", ev.key, ev.name))
		if ev.key == 0 {
			w.removeWatch(0)
			w.removeWatch(1)
			must(t, w.add(filepath.Join(dir, ev.name), 3))
			must(t, os.WriteFile(filepath.Join(dir, ev.name, "file"), nil, 0o666))
		}
	})
	must(t, err)
	if diff := cmp.Diff([]string{"0 a", "2 a", "2 b"}, got[:3]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, ev := range drained(t, w) {
		got = append(got, fmt.Sprintf("%d %s", ev.key, ev.name))
	}
	if !slices.Contains(got, "3 file") {
		t.Errorf("the folder added meanwhile is silent: %v", got)
	}
}

func TestWatchOverflow(t *testing.T) {
	raw, err := os.ReadFile("/proc/sys/fs/inotify/max_queued_events")
	must(t, err)
	most, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	must(t, err)
	if most > 100_000 {
		t.Skipf("%d changes fit into the queue", most)
	}
	dir := t.TempDir()
	names := []string{filepath.Join(dir, "a"), filepath.Join(dir, "b")}
	for _, name := range names {
		must(t, os.WriteFile(name, nil, 0o666))
	}
	w := watcherFor(t, dir)
	flood := func(n int) (seen int, overflow bool) {
		for i := range n { // in turn, since equal neighbours count as one
			must(t, os.Chmod(names[i%2], 0o666))
		}
		overflow, err := w.drain(func(change) { seen++ })
		must(t, err)
		return seen, overflow
	}
	if seen, overflow := flood(most); seen != most || overflow {
		t.Errorf("a full queue: %d of %d, overflow %v", seen, most, overflow)
	}
	if seen, overflow := flood(most + 100); seen != most || !overflow {
		t.Errorf("more than the queue: %d of %d, overflow %v", seen, most, overflow)
	}
	if seen, overflow := flood(10); seen != 10 || overflow {
		t.Errorf("after the overflow: %d of 10, overflow %v", seen, overflow)
	}
}

// A drain ends although somebody makes changes as fast as it takes them.
func TestWatchEndless(t *testing.T) {
	dir := t.TempDir()
	names := []string{filepath.Join(dir, "a"), filepath.Join(dir, "b")}
	for _, name := range names {
		must(t, os.WriteFile(name, nil, 0o666))
	}
	w := watcherFor(t, dir)
	const before = 5000 // more than a buffer holds
	for i := range before {
		must(t, os.Chmod(names[i%2], 0o666))
	}
	seen := 0
	_, err := w.drain(func(change) {
		seen++
		if seen > 2*before {
			t.Fatal("the drain does not end")
		}
		must(t, os.Chmod(names[seen%2], 0o666))
	})
	must(t, err)
	if seen < before {
		t.Errorf("%d of %d changes were seen", seen, before)
	}
}

func TestWatchRefuses(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	must(t, os.WriteFile(file, nil, 0o666))
	w := watcherFor(t)
	if err := w.add(file, 1); !errors.Is(err, unix.ENOTDIR) {
		t.Errorf("a file: %v", err)
	}
	if err := w.add(filepath.Join(dir, "absent"), 1); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("nothing: %v", err)
	}
	if len(w.nums)+len(w.keys) != 0 {
		t.Errorf("a refused key is kept: %v %v", w.nums, w.keys)
	}
}

func TestWatchLeavesNothingOpen(t *testing.T) {
	count := func() int {
		list, err := os.ReadDir("/proc/self/fd")
		must(t, err)
		return len(list)
	}
	dir := t.TempDir()
	before := count()
	for range 150 { // more than the instances a user may have, were they kept
		w := watcherFor(t, dir)
		must(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o666))
		drained(t, w)
		w.close()
		w.close()
		if _, err := w.drain(func(change) {}); err == nil {
			t.Fatal("a closed watcher was drained")
		}
	}
	if after := count(); after > before+5 {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

func TestWatchable(t *testing.T) {
	if watchable("/proc/self") {
		t.Error("/proc is watchable")
	}
	if watchable(filepath.Join(t.TempDir(), "absent")) {
		t.Error("what does not exist is watchable")
	}
	for _, tt := range []struct {
		name  string
		magic uint32
		want  bool
	}{
		{"ext4", unix.EXT4_SUPER_MAGIC, true},
		{"btrfs", unix.BTRFS_SUPER_MAGIC, true},
		{"xfs", unix.XFS_SUPER_MAGIC, true},
		{"tmpfs", unix.TMPFS_MAGIC, true},
		{"overlay", unix.OVERLAYFS_SUPER_MAGIC, true},
		{"nfs", unix.NFS_SUPER_MAGIC, false},
		{"cifs", unix.CIFS_SUPER_MAGIC, false},
		{"smb2", unix.SMB2_SUPER_MAGIC, false},
		{"9p", unix.V9FS_MAGIC, false},
		{"fuse", unix.FUSE_SUPER_MAGIC, false},
	} {
		if got := !foreign(tt.magic); got != tt.want {
			t.Errorf("%s: watchable is %v, want %v", tt.name, got, tt.want)
		}
	}
	dir := t.TempDir()
	var st unix.Statfs_t
	must(t, unix.Statfs(dir, &st))
	if got, want := watchable(dir), !foreign(uint32(st.Type)); got != want {
		t.Errorf("watchable = %v, want %v", got, want)
	}
}

// same reports whether two names are of the same file.
func same(a, b string) bool {
	x, _ := os.Lstat(a)
	y, _ := os.Lstat(b)
	return x != nil && y != nil && os.SameFile(x, y)
}

// Whatever is done to a tree, each entry it touches is named to each key of its
// folder by the very next drain.
func TestWatchMissesNothing(t *testing.T) {
	root := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp(root, "")
		must(t, err)
		defer os.RemoveAll(dir)
		w, err := newWatcher()
		must(t, err)
		defer w.close()
		must(t, os.Symlink("a", filepath.Join(dir, "c")))
		keys := map[string][]uint32{"a": {0, 2}, "b": {1}}
		for key, name := range []string{"a", "b", "c"} {
			if name != "c" {
				must(t, os.Mkdir(filepath.Join(dir, name), 0o777))
			}
			must(t, w.add(filepath.Join(dir, name), uint32(key)))
		}
		entry := rapid.Custom(func(t *rapid.T) [2]string {
			return [2]string{rapid.SampledFrom([]string{"a", "b"}).Draw(t, "folder"), rapid.StringMatching(`[xyz]|long{9}name`).Draw(t, "name")}
		})
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			from, to := entry.Draw(t, "entry"), entry.Draw(t, "other")
			path, other := filepath.Join(dir, from[0], from[1]), filepath.Join(dir, to[0], to[1])
			touched := [][2]string{from}
			switch rapid.IntRange(0, 5).Draw(t, "step") {
			case 0, 1:
				err = os.WriteFile(path, []byte("text"), 0o666)
			case 2:
				err = os.Remove(path)
			case 3:
				err = os.Chtimes(path, time.Unix(5, 0), time.Unix(6, 0))
			case 4:
				touched = append(touched, to)
				if same(path, other) { // then a rename does nothing
					touched = nil
				}
				err = os.Rename(path, other)
			case 5:
				err = os.Link(path, other)
				touched = [][2]string{to}
			}
			got := drained(t, w)
			if err != nil {
				continue // such an entry was not there, or was there
			}
			for _, e := range touched {
				for _, key := range keys[e[0]] {
					if !slices.ContainsFunc(got, func(ev change) bool { return ev.key == key && ev.name == e[1] }) {
						t.Fatalf("%v of key %d is missing in %v", e, key, got)
					}
				}
			}
		}
	})
}

func BenchmarkWatchIdle(b *testing.B) {
	w, err := newWatcher()
	if err != nil {
		b.Fatal(err)
	}
	defer w.close()
	if err := w.add(b.TempDir(), 1); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := w.drain(func(change) { b.Fatal("a change") }); err != nil {
			b.Fatal(err)
		}
	}
}
