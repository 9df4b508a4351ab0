//go:build unix

package search

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// A bed is a tree on disk and an engine that keeps it.
type bed struct {
	*testing.T
	*Engine
	top   string
	where Options
}

func newBed(t *testing.T, archive string, opt EngineOptions) *bed {
	b := &bed{T: t, Engine: New(opt), top: grow(t, archive)}
	b.where = Options{
		Dir: b.top, Exact: true, Hidden: true, Closed: true, Worktree: b.top, Excludes: filepath.Join(t.TempDir(), "excludes"),
	}
	t.Cleanup(b.Close)
	return b
}

// warm searches until there is a tree, and an index if there is to be one.
func (b *bed) warm() {
	b.Helper()
	for range 3 {
		b.names(b.where)
		b.keeper.work.Wait()
	}
	if !b.serves(b.where) {
		b.Fatal("there is no tree")
	}
}

// deafen has the tree made without watches.
func (b *bed) deafen() {
	b.Helper()
	b.names(b.where)
	b.keeper.work.Wait()
	for _, s := range b.keeper.list {
		s.deaf = true
		s.discardTree()
	}
	b.warm()
	if b.tree().ears {
		b.Fatal("the tree has watches")
	}
}

func (b *bed) tree() *fileTree { return b.keeper.list[0].tree }

// serves reports whether a search would be answered from a tree.
func (b *bed) serves(where Options) bool {
	b.Helper()
	c := b.hunt(where, Newest, 0).crew()
	u := b.keeper.beginSearch(&where)
	defer b.keeper.active.Add(-1)
	if u.cachedTree == nil {
		return false
	}
	u.gate <- struct{}{}
	p, err := u.plan(b.Context(), c)
	<-u.gate
	if err != nil {
		b.Fatal(err)
	}
	if p == nil {
		return false
	}
	p.release()
	return true
}

func (b *bed) names(where Options) []string {
	b.Helper()
	names, err := b.Glob(context.Background(), Glob{Where: where, Order: ByName})
	if err != nil {
		b.Fatal(err)
	}
	var list []string
	for _, n := range names.Files {
		list = append(list, n.Name)
	}
	return list
}

// same compares the answers to some questions with those of a fresh engine.
func (b *bed) same(when string, where Options) {
	b.Helper()
	fresh := New(EngineOptions{})
	defer fresh.Close()
	ctx := context.Background()
	ignore := cmpopts.IgnoreFields(Skipped{}, "Err")
	for _, order := range []Order{Newest, ByName} {
		want, err := fresh.Glob(ctx, Glob{Where: where, Order: order})
		got, err2 := b.Glob(ctx, Glob{Where: where, Order: order})
		if err := errors.Join(err, err2); err != nil {
			b.Fatal(when, err)
		}
		if diff := cmp.Diff(want, got, ignore, cmpopts.EquateEmpty()); diff != "" {
			b.Fatalf("%s, %s %q: names (-fresh +kept):\n%s", when, where.Dir, where.Globs, diff)
		}
		for _, pattern := range []string{"needle", "o"} {
			q := Grep{Where: where, Order: order, Pattern: compile(b, pattern)}
			want, err := fresh.Grep(ctx, q)
			got, err2 := b.Grep(ctx, q)
			if err := errors.Join(err, err2); err != nil {
				b.Fatal(when, err)
			}
			if diff := cmp.Diff(want, got, ignore, cmpopts.EquateEmpty()); diff != "" {
				b.Fatalf("%s, %s %q: %s (-fresh +kept):\n%s", when, where.Dir, where.Globs, pattern, diff)
			}
		}
	}
}

func (b *bed) path(name string) string { return filepath.Join(b.top, name) }

const keptTree = `
-- .git/HEAD --
-- .gitignore --
ignored/
*.gen
-- a/b/one.go --
a needle
-- a/two.go --
more
-- a.go --
needle, other
-- a-b --
some
-- a0 --
none
-- m.go --
meedle
-- ignored/deep/three.go --
needle
-- x.gen --
needle
`

// TestKeptRoads checks which searches are answered from a tree.
func TestKeptRoads(t *testing.T) {
	for _, tt := range []struct {
		name string
		set  func(*Options)
		want bool
	}{
		{"all", func(*Options) {}, true},
		{"below", func(o *Options) { o.Dir += "/a/b" }, true},
		{"globs", func(o *Options) { o.Globs = []string{"*.go", "!a0"} }, true},
		{"glob for any folder", func(o *Options) { o.Globs = []string{"**/*"} }, true},
		{"glob that names an ignored folder", func(o *Options) { o.Globs = []string{"ignored/**"} }, false},
		{"glob that may name it", func(o *Options) { o.Globs = []string{"i*d/**"} }, false},
		{"wrong glob", func(o *Options) { o.Globs = []string{"[a"} }, false},
		{"in an ignored folder", func(o *Options) { o.Dir += "/ignored/deep" }, false},
		{"absent", func(o *Options) { o.Dir += "/absent" }, false},
		{"with ignored", func(o *Options) { o.Ignored = true }, false},
		{"without hidden", func(o *Options) { o.Hidden = false }, false},
		{"not closed", func(o *Options) { o.Closed = false }, false},
		{"not exact", func(o *Options) { o.Exact = false }, false},
		{"other excludes", func(o *Options) { o.Excludes = os.DevNull }, false},
		{"other top", func(o *Options) { o.Worktree = "" }, false},
	} {
		b := newBed(t, keptTree, EngineOptions{Keep: true, Memory: -1})
		b.warm()
		where := b.where
		tt.set(&where)
		if got := b.serves(where); got != tt.want {
			t.Errorf("%s: answered from the tree: %v", tt.name, got)
		}
		b.Close()
	}
}

// TestKeptSmallChanges checks changes that are easily missed.
func TestKeptSmallChanges(t *testing.T) {
	for _, deaf := range []bool{false, true} {
		for _, memory := range []int{-1, 0} {
			t.Run(fmt.Sprint("deaf ", deaf, " memory ", memory), func(t *testing.T) { smallChanges(t, deaf, memory) })
		}
	}
}

func smallChanges(t *testing.T, deaf bool, memory int) {
	b := newBed(t, keptTree, EngineOptions{Keep: true, Memory: memory})
	if deaf {
		b.deafen()
	}
	b.warm()
	outside := t.TempDir()
	at := time.Unix(1_000_000, 7)
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"all of one time", func() error {
			for _, name := range []string{"a/b/one.go", "a/two.go", "a.go", "a-b", "a0", "x.gen"} {
				if err := os.Chtimes(b.path(name), at, at); err != nil {
					return err
				}
			}
			return nil
		}},
		{"the same size and time", func() error { return overwrite(b.path("a.go")) }},
		{"back again", func() error { return overwrite(b.path("a.go")) }},
		{"a second name", func() error { return os.Link(b.path("m.go"), b.path("a/m2.go")) }},
		{"written by the second name", func() error { return overwrite(b.path("a/m2.go")) }},
		{"another name", func() error { return os.Link(b.path("a.go"), b.path("a/link.go")) }},
		{"written by the other name", func() error { return overwrite(b.path("a/link.go")) }},
		{"appended by the first name", func() error { return appendTo(b.path("a.go"), "needle\n") }},
		{"a name outside", func() error {
			return errors.Join(os.Link(b.path("a0"), filepath.Join(outside, "link")), os.Chmod(b.path("a0"), 0o600))
		}},
		{"written from outside", func() error { return appendTo(filepath.Join(outside, "link"), "needle\n") }},
		{"an ignored folder more", func() error { return os.MkdirAll(b.path("a/ignored"), 0o755) }},
		{"that becomes a file", func() error {
			return errors.Join(os.Remove(b.path("a/ignored")), tryWrite(b.path("a/ignored"), "needle\n"))
		}},
		{"and is gone", func() error { return os.Remove(b.path("a/ignored")) }},
		{"an ignored file more", func() error { return tryWrite(b.path("a/y.gen"), "needle\n") }},
		{"a folder moved", func() error { return os.Rename(b.path("a"), b.path("c")) }},
		{"a file in it", func() error { return tryWrite(b.path("c/b/new.go"), "needle\n") }},
		{"and back", func() error { return os.Rename(b.path("c"), b.path("a")) }},
		{"a file in it again", func() error { return tryWrite(b.path("a/b/newer.go"), "needle\n") }},
		{"exclude file", func() error { return tryWrite(b.path(".git/info/exclude"), "a0\n") }},
		{"of the same size", func() error { return tryWrite(b.path(".git/info/exclude"), "a.\n\n") }},
		{"excludes file", func() error { return tryWrite(b.where.Excludes, "/b\n") }},
		{"nothing", func() error { return nil }},
		{"another excludes file", func() error { return tryWrite(b.where.Excludes, "one.*\n") }},
		{"a repository inside", func() error { return os.Mkdir(b.path("a/.git"), 0o755) }},
		{"another kind inside", func() error { return os.Mkdir(b.path("a/b/.jj"), 0o755) }},
		{"no repository", func() error { return errors.Join(os.RemoveAll(b.path("a/.git")), os.RemoveAll(b.path(".git"))) }},
		{"rules", func() error { return tryWrite(b.path("a/.ignore"), "*.go\n!one.go\n") }},
		{"no rules", func() error { return os.Remove(b.path("a/.ignore")) }},
	} {
		if err := step.do(); err != nil {
			t.Fatal(step.name, err)
		}
		for _, globs := range [][]string{nil, {"*.go"}, {"!b"}, {"!*.gen"}} {
			where := b.where
			where.Globs = globs
			b.same(step.name, where)
			where.Dir = b.path("a")
			if _, err := os.Lstat(where.Dir); err == nil {
				b.same(step.name, where)
			}
		}
		b.warm()
	}
}

// TestKeptTrustsTimes checks that without watches a folder is not listed again
// that has not changed for long, and is when it has.
func TestKeptTrustsTimes(t *testing.T) {
	b := newBed(t, keptTree, EngineOptions{Keep: true, Memory: -1})
	b.deafen()
	age := func() { // as if all had been read long after it was changed
		for i := range b.tree().branches {
			b.tree().branches[i].read.sec += 10
		}
	}
	tick := func() { // until the clock of the file system has gone on
		name := filepath.Join(t.TempDir(), "clock")
		writeFile(t, name, "")
		first, err := lookName(name, false)
		for now := first; now.changed == first.changed && err == nil; now, err = lookName(name, false) {
			writeFile(t, name, "")
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	b.same("at first", b.where)
	age()
	listed := b.tree().branches[0].read
	b.same("aged", b.where)
	if b.tree().branches[0].read != listed {
		t.Error("a folder was listed although it has not changed")
	}
	tick()
	writeFile(t, b.path("new.go"), "needle\n")
	writeFile(t, b.path("a/b/.ignore"), "one.go\n")
	b.same("changed", b.where)
	b.warm()
	age()
	tick()
	if err := os.RemoveAll(b.path("ignored")); err != nil {
		t.Fatal(err)
	}
	b.same("a closed folder is gone", b.where)
}

// TestKeptIndexRaces changes a file while its text is on the way into the
// index.
func TestKeptIndexRaces(t *testing.T) {
	b := newBed(t, keptTree, EngineOptions{Keep: true})
	b.warm()
	s := b.keeper.list[0]
	if s.tree.index == nil {
		t.Skip("there is no index without watches")
	}
	s.filling = true // by ourselves
	root, err := openExact(b.top)
	if err != nil {
		t.Fatal(err)
	}
	defer root.close()
	find := func(when string) {
		t.Helper()
		found, err := b.Grep(context.Background(), Grep{Where: b.where, Pattern: compile(t, "haystack")})
		if err != nil || len(found.Files) != 1 {
			t.Errorf("%s: %v, %v", when, found, err)
		}
	}
	writeFile(t, b.path("a0"), "nothing yet\n")
	b.names(b.where)
	f := &filler{cachedTree: s, root: root}
	name, ok := f.next()
	if !ok || name != "a0" {
		t.Fatalf("to be indexed is %q, %v", name, ok)
	}
	text, ok := f.read(name)
	if !ok {
		t.Fatal("the text cannot be indexed")
	}
	writeFile(t, b.path("a-b"), "something else\n")
	b.names(b.where)
	writeFile(t, b.path("a0"), "a haystack\n")
	find("changed after it was read")
	if !s.tree.index.Put(f.id, text) {
		t.Fatal("no memory")
	}
	find("with the old text in the index")
	for _, want := range []string{"a-b", "a0"} {
		if name, ok = f.next(); !ok || name != want {
			t.Fatalf("the next to be indexed is %q, %v", name, ok)
		}
		find("to be read again, while it is the turn of " + name)
	}
	if text, ok = f.read(name); !ok || !s.tree.index.Put(f.id, text) {
		t.Fatal("the new text cannot be indexed")
	}
	if name, ok = f.next(); ok {
		t.Fatalf("%q is left", name)
	}
	find("with the new text in the index")
}

// TestProbe checks that a file is read again as long as its times cannot be
// trusted.
func TestProbe(t *testing.T) {
	seed := maphash.MakeSeed()
	p := probe{path: filepath.Join(t.TempDir(), "file"), whole: true}
	p.take(seed)
	if !p.unchanged(seed) {
		t.Error("absent and still absent")
	}
	writeFile(t, p.path, "one")
	if p.unchanged(seed) {
		t.Error("made")
	}
	writeFile(t, p.path, "two")
	seen, err := lookName(p.path, false)
	if err != nil {
		t.Fatal(err)
	}
	p.seen = seen // as if the clock had stood still
	if p.unchanged(seed) {
		t.Error("changed at the same time")
	}
	if !p.unchanged(seed) {
		t.Error("not changed")
	}
	if err := os.Chtimes(p.path, time.Time{}, time.Unix(5, 0)); err != nil {
		t.Fatal(err)
	}
	if !p.unchanged(seed) {
		t.Error("only its time has changed")
	}
	if err := os.Remove(p.path); err != nil {
		t.Fatal(err)
	}
	if p.unchanged(seed) {
		t.Error("removed")
	}
}

// TestKeptOverflow checks that nothing is missed if more happens than the
// kernel takes note of.
func TestKeptOverflow(t *testing.T) {
	b := newBed(t, keptTree, EngineOptions{Keep: true, Memory: -1})
	b.warm()
	if !b.tree().ears {
		t.Skip("nothing is watched here")
	}
	for i := range 20_000 { // in turn, since equal neighbours count as one
		if err := os.Chmod(b.path([]string{"a0", "a-b"}[i%2]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	writeFile(t, b.path("late.go"), "needle\n")
	old := b.tree()
	b.same("after the flood", b.where)
	b.warm()
	if b.tree() == old {
		t.Skip("all of it was noted")
	}
	b.same("with a new tree", b.where)
}

// TestKeptConcurrent changes and searches a tree at the same time.
func TestKeptConcurrent(t *testing.T) {
	for way, opt := range keptWays() {
		t.Run(way, func(t *testing.T) {
			b := newBed(t, keptTree, opt)
			if way == "deaf" {
				b.deafen()
			}
			b.warm()
			var crew sync.WaitGroup
			done := make(chan struct{})
			for n := range 2 {
				crew.Go(func() {
					for i := 0; ; i++ {
						select {
						case <-done:
							return
						default:
						}
						dir := b.path(fmt.Sprintf("w%d/%d", n, i%3))
						_ = tryWrite(filepath.Join(dir, fmt.Sprint("f", i%7)), "needle\n")
						switch i % 11 {
						case 3:
							_ = os.RemoveAll(dir)
						case 5:
							_ = os.Rename(dir, dir+"x")
						case 7:
							_ = tryWrite(filepath.Join(dir, ".ignore"), fmt.Sprintf("f%d\n", i%7))
						case 9:
							_ = os.RemoveAll(dir + "x")
						}
					}
				})
			}
			var asking sync.WaitGroup
			for n := range 3 {
				asking.Go(func() {
					where := b.where
					if n == 1 {
						where.Globs = []string{"!f1"}
					}
					for i := range 60 {
						q := Grep{Where: where, Pattern: compile(t, "needle"), Limit: i % 5, Order: Order(i % 3)}
						if _, err := b.Grep(context.Background(), q); err != nil {
							t.Error(err)
						}
					}
				})
			}
			asking.Wait()
			close(done)
			crew.Wait()
			b.same("when all is quiet", b.where)
			b.warm()
			b.same("with a tree", b.where)
		})
	}
}

// TestKeptFew checks that only so many trees are kept, those used last, and
// none when the engine is closed.
func TestKeptFew(t *testing.T) {
	handles := func() int {
		list, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip("no way to count handles: ", err)
		}
		return len(list)
	}
	before := handles()
	b := newBed(t, keptTree, EngineOptions{Keep: true})
	var others []Options
	for range maxKept + 2 {
		where := b.where
		where.Dir = grow(t, keptTree)
		where.Worktree = where.Dir
		others = append(others, where)
		for range 2 {
			b.names(where)
			b.keeper.work.Wait()
		}
	}
	if n := len(b.keeper.list); n != maxKept {
		t.Errorf("%d trees are kept", n)
	}
	if b.serves(others[1]) {
		t.Error("a tree is kept that was used long ago")
	}
	if !b.serves(others[len(others)-1]) {
		t.Error("the last tree is not kept")
	}
	b.Close()
	if after := handles(); after > before {
		t.Errorf("%d handles before, %d after", before, after)
	}
	if _, err := b.Glob(context.Background(), Glob{Where: b.where}); err == nil {
		t.Error("a closed engine has searched")
	}
}

// TestKeptIdle checks that a tree is given up that nobody asks for.
func TestKeptIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t, keptTree, EngineOptions{Keep: true})
		b.warm()
		s := b.keeper.list[0]
		time.Sleep(defaultIdle - time.Second)
		synctest.Wait()
		if !b.serves(b.where) {
			t.Error("the tree was given up too soon")
		}
		time.Sleep(defaultIdle + time.Second)
		synctest.Wait()
		if len(b.keeper.list) != 0 || s.tree != nil {
			t.Error("the tree is still there")
		}
		b.same("after that", b.where)
		b.warm()
		b.Close()
	})
}

// TestKeptStops checks that a search of a tree ends when it is told to.
func TestKeptStops(t *testing.T) {
	b := newBed(t, keptTree, EngineOptions{Keep: true})
	b.warm()
	ctx, cancel := context.WithCancelCause(context.Background())
	why := errors.New("no more")
	_, err := b.Grep(ctx, Grep{Where: b.where, Pattern: compile(t, "needle"), Bar: &Exclusion{Shut: func(string) bool {
		cancel(why)
		return false
	}}})
	if !errors.Is(err, why) {
		t.Errorf("a search that was ended: %v", err)
	}
	if _, err = b.Glob(ctx, Glob{Where: b.where}); !errors.Is(err, why) {
		t.Errorf("a search that was never wanted: %v", err)
	}
	b.same("after that", b.where)
	over := make(chan struct{})
	defer close(over)
	slow := &Exclusion{Shut: func(string) bool { <-over; return false }}
	found, err := b.Grep(context.Background(), Grep{
		Where: b.where, Pattern: compile(t, "needle"), Bar: slow, Budget: time.Millisecond,
	})
	if err != nil || !found.Late {
		t.Errorf("a search that took too long: %v, %v", found, err)
	}
}

// TestKeptMoved checks that a tree is not taken for another one in its place.
func TestKeptMoved(t *testing.T) {
	b := newBed(t, keptTree, EngineOptions{Keep: true, Memory: -1})
	b.where.Dir = b.path("a/b")
	b.warm()
	if err := os.Rename(b.path("a"), b.path("c")); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Glob(context.Background(), Glob{Where: b.where}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that is gone: %v", err)
	}
	writeFile(t, b.path("a/b/other"), "needle\n")
	b.same("another folder", b.where)
	if err := errors.Join(os.RemoveAll(b.path("a")), os.Symlink("c", b.path("a"))); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Glob(context.Background(), Glob{Where: b.where}); err == nil {
		t.Error("a link on the way was followed")
	}
}

// TestKeptUnreadable checks that a folder that cannot be read is counted, and
// read when it can.
func TestKeptUnreadable(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("everything can be read by this user")
	}
	for _, deaf := range []bool{false, true} {
		b := newBed(t, keptTree, EngineOptions{Keep: true})
		if deaf {
			b.deafen()
		}
		b.warm()
		for _, mode := range []fs.FileMode{0, 0o700, 0o300, 0o400, 0o755} {
			for _, name := range []string{"a/b", "a.go", ".gitignore", "a"} {
				if err := os.Chmod(b.path(name), mode); err != nil {
					t.Fatal(err)
				}
				for range 2 {
					b.same(fmt.Sprint(name, " ", mode), b.where)
					where := b.where
					where.Globs = []string{"!b"}
					b.same(fmt.Sprint(name, " ", mode), where)
					b.keeper.work.Wait()
				}
				if err := os.Chmod(b.path(name), 0o755); err != nil {
					t.Fatal(err)
				}
			}
		}
		b.Close()
	}
}

// TestTableIsAMap compares a table with a map.
func TestTableIsAMap(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var tab table
		live := map[uint32]bool{}
		hash := func(id uint32) uint32 { return id * id % 23 }
		for _, id := range rapid.SliceOfN(rapid.Uint32Range(0, 200), 0, 600).Draw(rt, "ids") {
			if live[id] {
				tab.removeSlot(hash(id), id)
			} else {
				tab.put(hash(id), id, hash)
			}
			live[id] = !live[id]
		}
		for id := range uint32(201) {
			found := tab.find(hash(id), func(at uint32) bool { return at == id })
			if (found == id) != live[id] {
				rt.Fatalf("%d: found %v, want %v", id, found, live[id])
			}
		}
	})
}

// TestTreeOrder compares the orders of a tree with sorting, while it changes.
func TestTreeOrder(t *testing.T) {
	name := rapid.StringMatching(`[ab.0-]{1,2}`)
	rapid.Check(t, func(rt *rapid.T) {
		tr := newTree("/", &scope{})
		dirs := []uint32{0}
		live := map[string]uint32{}
		change := func() {
			dir := rapid.SampledFrom(dirs).Draw(rt, "dir")
			base := name.Draw(rt, "name")
			at := entryInfo{kind: entryFile, links: 1, time: stamp{int64(rapid.IntRange(0, 2).Draw(rt, "time")), 0}}
			switch id := tr.findLeaf(dir, base); {
			case tr.findBranch(dir, base) != none:
			case id != none && rapid.Bool().Draw(rt, "drop"):
				delete(live, tr.leafPath(id))
				tr.dropLeaf(id)
			case id != none:
				tr.updateLeaf(id, &at)
			case rapid.IntRange(0, 4).Draw(rt, "folder") == 0:
				dirs = append(dirs, tr.addBranch(dir, base, false))
			default:
				tr.addLeaf(dir, base, &at, false)
				id := tr.findLeaf(dir, base)
				live[tr.leafPath(id)] = id
			}
		}
		for range rapid.IntRange(1, 12).Draw(rt, "rounds") {
			tr.bulk = rapid.Bool().Draw(rt, "bulk")
			for range rapid.IntRange(0, 60).Draw(rt, "changes") {
				change()
			}
			tr.sortOrder()
			var want []string
			for path := range live {
				want = append(want, path)
			}
			slices.Sort(want)
			var got []string
			for _, id := range tr.byName() {
				got = append(got, tr.leafPath(id))
			}
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				rt.Fatalf("by name (-want +got):\n%s", diff)
			}
			slices.SortFunc(want, func(a, b string) int {
				if c := tr.leaves[live[b]].time().compare(tr.leaves[live[a]].time()); c != 0 {
					return c
				}
				return strings.Compare(a, b)
			})
			got = got[:0]
			for _, id := range tr.newest {
				got = append(got, tr.leafPath(id))
			}
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				rt.Fatalf("newest (-want +got):\n%s", diff)
			}
		}
	})
}
