package lspclient

import (
	"context"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// A grove is a folder with files, and a tree that looks at it.
type grove struct {
	t    testing.TB
	root string
	tree *tree
}

func newGrove(t testing.TB, files ...string) *grove {
	g := &grove{t: t, root: t.TempDir()}
	g.tree = newTree(g.root, func(rel string) bool { return strings.HasSuffix(rel, ".x") })
	for _, f := range files {
		g.write(f, "")
	}
	return g
}

func (g *grove) path(rel string) string { return filepath.Join(g.root, filepath.FromSlash(rel)) }

func (g *grove) check(err error) {
	g.t.Helper()
	if err != nil {
		g.t.Fatal(err)
	}
}

func (g *grove) write(rel, text string) {
	g.t.Helper()
	g.check(os.MkdirAll(filepath.Dir(g.path(rel)), 0o755))
	g.check(os.WriteFile(g.path(rel), []byte(text), 0o644))
}

// age makes a file look as if it was changed a while ago.
func (g *grove) age(rel string, seconds int) {
	g.t.Helper()
	at := time.Now().Add(-time.Duration(seconds) * time.Second)
	g.check(os.Chtimes(g.path(rel), at, at))
}

// look returns what a look finds, as "1 path".
func (g *grove) look() (found []string, complete bool) {
	g.t.Helper()
	changes, complete := g.tree.look(g.t.Context())
	for _, c := range changes {
		rel, err := filepath.Rel(g.root, c.Path)
		g.check(err)
		found = append(found, fmt.Sprint(c.Kind, " ", filepath.ToSlash(rel)))
	}
	return found, complete
}

// finds looks, and compares.
func (g *grove) finds(want ...string) {
	g.t.Helper()
	got, complete := g.look()
	if d := cmp.Diff(want, got); d != "" || !complete {
		g.t.Errorf("complete: %v\n%s", complete, d)
	}
}

func TestTree(t *testing.T) {
	g := newGrove(t, "a.x", "b.x", "sub/c.x", "sub/deep/d.x", "other.y", ".git/e.x", "sub/node_modules/f.x")
	g.finds()
	g.finds()
	g.write("a.x", "longer")
	g.write("new.x", "")
	g.write("fresh/er/new.x", "")
	g.write("other.y", "more")
	g.write(".git/new.x", "")
	g.write("sub/node_modules/f.x", "more")
	g.check(os.Remove(g.path("b.x")))
	g.finds("2 a.x", "3 b.x", "1 fresh/er/new.x", "1 new.x")
	g.finds()
	g.check(os.Rename(g.path("sub"), g.path("moved")))
	g.finds("1 moved/c.x", "1 moved/deep/d.x", "3 sub/c.x", "3 sub/deep/d.x")
	g.check(os.Remove(g.path("new.x")))
	g.check(os.Mkdir(g.path("new.x"), 0o755)) // a folder in place of a file
	g.check(os.RemoveAll(g.path("moved")))
	g.write("moved", "") // and the other way
	g.finds("3 moved/c.x", "3 moved/deep/d.x", "3 new.x")
	g.age("a.x", 1000) // an older one in its place
	g.finds("2 a.x")
	if g.tree.files != 2 || g.tree.folders != 3 {
		t.Errorf("%d files and %d folders", g.tree.files, g.tree.folders)
	}
	g.check(os.RemoveAll(g.root))
	g.finds("3 a.x", "3 fresh/er/new.x")
	if g.tree.files != 0 || g.tree.folders != 0 {
		t.Errorf("%d files and %d folders", g.tree.files, g.tree.folders)
	}
}

// A change that leaves size and time as they are is seen if the file was young
// when it was looked at.
func TestTreeSameTime(t *testing.T) {
	g := newGrove(t)
	for _, tt := range []struct {
		at      time.Time
		after   time.Duration // when the tree looks first
		younger bool
	}{
		{time.Unix(1_900_000_000, 7000), 10 * time.Millisecond, true},
		{time.Unix(1_900_000_000, 7000), -10 * time.Millisecond, true}, // another clock
		{time.Unix(1_900_000_000, 7000), time.Second, false},
		{time.Unix(1_900_000_000, 0), time.Second, true}, // a coarse file system
		{time.Unix(1_900_000_000, 0), 3 * time.Second, false},
		{time.Unix(1_900_000_000, 0), -time.Hour, false},
	} {
		now := tt.at.Add(tt.after)
		g.tree = newTree(g.root, g.tree.wants)
		g.tree.now = func() time.Time { return now }
		set := func(text string) {
			g.write("a.x", text)
			g.check(os.Chtimes(g.path("a.x"), tt.at, tt.at))
		}
		set("one")
		g.finds()
		set("two")
		if tt.younger {
			g.finds("2 a.x")
		} else {
			g.finds() // nobody writes to a file and sets it back
		}
		now = now.Add(time.Minute)
		g.finds()
		if s := g.tree.top.files["a.x"]; s.sum != 0 {
			t.Errorf("%v after %v: it is read again and again", tt.at, tt.after)
		}
	}
}

func TestTreeLinks(t *testing.T) {
	g := newGrove(t, "real/a.x")
	link := func(to, rel string) {
		if err := os.Symlink(to, g.path(rel)); err != nil {
			t.Skip("no links here:", err)
		}
	}
	outside := t.TempDir()
	g.check(os.WriteFile(filepath.Join(outside, "far.x"), nil, 0o644))
	link("..", "real/loop")
	link(outside, "away")
	link("real/a.x", "l.x")
	link("nowhere", "dangling.x")
	g.finds()
	g.write("real/a.x", "changed")
	g.check(os.WriteFile(filepath.Join(outside, "far.x"), []byte("changed"), 0o644))
	g.finds("2 real/a.x")
	g.check(os.Remove(g.path("l.x")))
	link("dangling.x", "l.x")
	link("a.x", "real/new.x")
	g.tree.noted(g.path("away/far.x")) // is not below the root
	g.finds("2 l.x", "1 real/new.x")
	g.finds()
}

func TestTreeNoted(t *testing.T) {
	g := newGrove(t, "a.x", "b.x", "sub/c.x", "d.x")
	g.finds()
	for _, rel := range []string{"a.x", "new.x", "fresh/deep/new.x", "fresh/beside.x", "other.y", ".git/no.x", "node_modules/a/no.x"} {
		g.write(rel, "ours")
	}
	g.write("b.x", "theirs")
	g.check(os.Remove(g.path("sub/c.x")))
	for _, rel := range []string{"a.x", "new.x", "fresh/deep/new.x", "sub/c.x", "other.y", ".git/no.x", "node_modules/a/no.x", "never/was.x", "was/never/../../never.x", "../outside.x", "."} {
		g.tree.noted(g.path(rel))
	}
	g.tree.noted(filepath.Join(g.root+"else", "a.x"))
	g.finds("2 b.x", "1 fresh/beside.x")
	g.write("a.x", "theirs now")
	g.finds("2 a.x")
	g.check(os.Remove(g.path("d.x")))
	g.check(os.Mkdir(g.path("d.x"), 0o755))
	g.tree.noted(g.path("d.x"))
	g.finds("3 d.x")
	g.finds()
}

// A tree that is too large for one look is looked at in parts, and nothing is
// reported that was not looked at.
func TestTreeInParts(t *testing.T) {
	g := newGrove(t)
	for i := range 50 {
		g.write(fmt.Sprintf("d%d/%d.x", i%7, i), "")
		g.write(fmt.Sprintf("d%d/%d.y", i%7, i), "") // nobody wants these, and they take their time
	}
	g.tree.entries = 30
	got := map[string]int{}
	looks := func(n int) {
		t.Helper()
		for range n {
			found, complete := g.look()
			if complete {
				t.Error("30 entries are not all")
			}
			for _, f := range found {
				got[f]++
			}
		}
	}
	looks(15)
	if len(got) > 0 {
		t.Fatalf("nothing has changed, and %v was found", got)
	}
	g.write("d0/0.x", "more")
	g.write("d3/new.x", "")
	g.check(os.Remove(g.path("d6/6.x")))
	g.check(os.RemoveAll(g.path("d5")))
	looks(15)
	want := map[string]int{"2 d0/0.x": 1, "1 d3/new.x": 1, "3 d6/6.x": 1}
	for i := 5; i < 50; i += 7 {
		want[fmt.Sprintf("3 d5/%d.x", i)] = 1
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	g.tree.entries = 1000
	g.finds()
}

// Folders that are too large for one look do not hold up the others, and
// nothing in them is taken for deleted.
func TestTreeLargeFolder(t *testing.T) {
	g := newGrove(t, "small/a.x")
	for i := range 180 {
		g.write(fmt.Sprintf("large%d/%d.x", i%3, i), "")
	}
	g.tree.entries = 25
	for range 30 {
		if found, complete := g.look(); complete || found != nil {
			t.Fatalf("%v %v", found, complete)
		}
	}
	g.write("small/a.x", "more")
	var all []string
	for range 30 {
		found, _ := g.look()
		all = append(all, found...)
	}
	if d := cmp.Diff([]string{"2 small/a.x"}, all); d != "" {
		t.Error(d)
	}
	g.tree.entries = 1000
	found, complete := g.look()
	if !complete || slices.ContainsFunc(found, func(f string) bool { return f[0] != '1' }) {
		t.Errorf("complete: %v, %v", complete, found) // what no look had come to
	}
	g.finds()
}

// What is neither a file nor a link is no file that has changed.
func TestTreeSocket(t *testing.T) {
	g := newGrove(t)
	g.finds()
	l, err := net.Listen("unix", g.path("s.x"))
	if err != nil {
		t.Skip("no sockets here:", err)
	}
	defer l.Close()
	if info, err := os.Lstat(g.path("s.x")); err != nil || info.Mode().Type() != os.ModeSocket {
		t.Skipf("a socket is no socket here: %v %v", info, err)
	}
	g.finds()
	g.tree.noted(g.path("s.x"))
	if g.tree.files != 0 {
		t.Error("a socket is remembered")
	}
}

// No time and an end of the context stop a look, and the next one goes on.
func TestTreeStops(t *testing.T) {
	g := newGrove(t, "a.x", "sub/b.x")
	g.finds()
	g.write("a.x", "more")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if changes, complete := g.tree.look(ctx); changes != nil || complete {
		t.Errorf("%v %v", changes, complete)
	}
	g.tree.time = -1
	if found, complete := g.look(); found != nil || complete {
		t.Errorf("%v %v", found, complete)
	}
	g.tree.time = time.Minute
	g.finds("2 a.x")
}

// Of a tree that is too large to be remembered a part is, and no more.
func TestTreeTooMuch(t *testing.T) {
	g := newGrove(t)
	for i := range 20 {
		g.write(fmt.Sprintf("%d.x", i), "")
		g.write(fmt.Sprintf("d%d/a.x", i), "")
	}
	g.tree.most = 10
	for range 3 {
		if found, complete := g.look(); found != nil || complete {
			t.Errorf("%v %v", found, complete)
		}
	}
	if g.tree.files != 10 || g.tree.folders != 10 {
		t.Errorf("%d files and %d folders", g.tree.files, g.tree.folders)
	}
	for i := range 20 {
		g.write(fmt.Sprintf("%d.x", i), "more")
		g.write(fmt.Sprintf("d%d/a.x", i), "more")
	}
	if found, complete := g.look(); len(found) != 10 || complete || slices.ContainsFunc(found, func(f string) bool { return f[0] != '2' }) {
		t.Errorf("%v %v", found, complete)
	}
	g.check(os.RemoveAll(g.root))
	if found, _ := g.look(); len(found) != 10 || g.tree.files != 0 || g.tree.folders != 0 {
		t.Errorf("%v; %d files and %d folders", found, g.tree.files, g.tree.folders)
	}
}

// A folder that cannot be read says nothing about what is in it.
func TestTreeUnreadable(t *testing.T) {
	if runtime.GOOS == "windows" || os.Geteuid() == 0 {
		t.Skip("everything can be read")
	}
	g := newGrove(t, "a/b.x", "c.x")
	g.finds()
	g.check(os.Chmod(g.path("a"), 0))
	g.write("c.x", "more")
	g.finds("2 c.x")
	g.check(os.Chmod(g.path("a"), 0o755))
	g.finds()
}

// What looks find, one after the other, leads from the first state to the
// last, in whatever parts they are.
func TestTreeLaw(t *testing.T) {
	names := []string{"a.x", "b.x", "d/a.x", "d/b.x", "d/e/a.x", "f/a.x", "f/g/h/a.x"}
	rapid.Check(t, func(r *rapid.T) {
		g := newGrove(t)
		state := map[string]bool{}
		clock := 100_000
		change := func() {
			name := rapid.SampledFrom(names).Draw(r, "name")
			switch rapid.IntRange(0, 3).Draw(r, "do") {
			case 0:
				g.check(os.RemoveAll(g.path(name)))
				delete(state, name)
			case 1:
				dir, _, _ := strings.Cut(name, "/")
				g.check(os.RemoveAll(g.path(dir)))
				maps.DeleteFunc(state, func(k string, _ bool) bool { return k == dir || strings.HasPrefix(k, dir+"/") })
			default:
				g.write(name, "x")
				clock--
				g.age(name, clock)
				state[name] = true
			}
		}
		for range rapid.IntRange(0, 10).Draw(r, "before") {
			change()
		}
		if _, complete := g.look(); !complete {
			r.Fatal("the first look is not complete")
		}
		known := maps.Clone(state)
		for range rapid.IntRange(1, 5).Draw(r, "looks") {
			for range rapid.IntRange(0, 6).Draw(r, "changes") {
				change()
			}
			g.tree.entries = rapid.SampledFrom([]int{2, 5, 1000}).Draw(r, "entries")
			found, complete := g.look()
			follow(r, known, found)
			if complete && !maps.Equal(known, state) {
				r.Fatalf("after a complete look %v, and there is %v", known, state)
			}
		}
		g.tree.entries = 1000
		found, complete := g.look()
		follow(r, known, found)
		if !complete || !maps.Equal(known, state) {
			r.Fatalf("%v in the end (complete: %v), and there is %v", slices.Sorted(maps.Keys(known)), complete, slices.Sorted(maps.Keys(state)))
		}
	})
}

// follow makes the changes that were found.
func follow(t *rapid.T, known map[string]bool, found []string) {
	for _, f := range found {
		kind, name := f[:1], f[2:]
		if known[name] != (kind != "1") {
			t.Fatalf("found %s, and it was there: %v", f, known[name])
		}
		if kind == "3" {
			delete(known, name)
		} else {
			known[name] = true
		}
	}
}

// Looks and notes go together.
func TestTreeAtOnce(t *testing.T) {
	g := newGrove(t, "a/a.x", "b/b.x")
	g.finds()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 200 {
			g.tree.noted(g.path(fmt.Sprintf("a/%d.x", i)))
			g.tree.noted(g.path("a/a.x"))
		}
	}()
	for range 50 {
		if found, _ := g.look(); found != nil {
			t.Errorf("%v", found)
		}
		_, _ = g.tree.look(t.Context())
	}
	<-done
}

func BenchmarkTree(b *testing.B) {
	g := newGrove(b)
	for i := range 20_000 {
		g.write(fmt.Sprintf("d%d/e%d/%d.%c", i%10, i%200, i, "xy"[i%2]), "")
	}
	g.tree.time = time.Hour
	g.finds()
	for b.Loop() {
		g.tree.look(b.Context())
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/20_000, "ns/file")
}
