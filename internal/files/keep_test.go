package files

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
)

func noise(n int, seed uint64) []byte {
	out := make([]byte, n)
	r := rand.New(rand.NewPCG(seed, 1))
	for i := 0; i < n; i += 8 {
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], r.Uint64())
		copy(out[i:], b[:])
	}
	return out
}

// observed begins a change whose files somebody else changes.
func observed(t tb, k *Backup, d *memDisk, contents map[string]KeptContent) *PendingSet {
	t.Helper()
	set := ChangeSet{By: By{Call: "observed"}, Observed: true}
	for name, c := range contents {
		set.Changes = append(set.Changes, KeptChange{Path: d.path(name), Title: name, Before: c, After: KeptContent{Exists: true}})
	}
	return must(k.Begin(set, nil))(t)
}

func TestKeepSizes(t *testing.T) {
	t.Parallel()
	s, d := NewHistory(HistoryOptions{Dir: t.TempDir(), FileCap: 2 << 20}), newMemDisk()
	k := s.Keep(0)
	all := map[string][]byte{}
	for _, size := range []int{0, 1, 510, 511, 512, 4086, 4087, 4088, inMemory - 1, inMemory, inMemory + 1, 2 << 20} {
		all[fmt.Sprint("text", size)] = []byte(source(size + 1)[:size])
		all[fmt.Sprint("noise", size)] = noise(size, uint64(size))
	}
	contents := map[string]KeptContent{}
	for name, data := range all {
		// what the size was said to be is only a hint
		hint := int64(len(data))
		if len(data)%3 == 0 {
			hint /= 2
		}
		c := must(k.Add(iotest.HalfReader(bytes.NewReader(data)), hint))(t)
		want(t, c, KeptContent{Exists: true, Hash: contentHash(data), Size: int64(len(data)), Kept: true})
		contents[name] = c
	}
	for _, size := range []int{2<<20 + 1, 3 << 20} {
		for _, hint := range []int64{1, int64(size)} {
			if _, err := k.Add(bytes.NewReader(noise(size, 0)), hint); !errors.Is(err, ErrNoRoom) {
				t.Errorf("%d bytes: %v", size, err)
			}
		}
	}
	if _, err := k.Add(iotest.ErrReader(io.ErrClosedPipe), 10); !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
	p := observed(t, k, d, contents)
	ok(t, p.Done(map[string]KeptContent{}))
	for name, data := range all {
		got := must(s.Content(contents[name].Hash))(t)
		if !bytes.Equal(got, data) {
			t.Errorf("%s is not what it was", name)
		}
	}
	want(t, must(readNames(filepath.Join(s.opt.Dir, "tmp")))(t), []string{})
}

func TestKeepRoom(t *testing.T) {
	t.Parallel()
	s := NewHistory(HistoryOptions{Dir: t.TempDir(), Quota: 100 * blockSize})
	k := s.Keep(0)
	want(t, k.Room(), int64(25*blockSize))
	var kept int
	for i := range 50 {
		switch _, err := k.Add(bytes.NewReader(noise(3*blockSize-blobHeader, uint64(i))), 3*blockSize); {
		case err == nil:
			kept++
		case !errors.Is(err, ErrNoRoom):
			t.Fatal(err)
		}
	}
	want(t, kept, 8)
	// the same once more takes nothing
	must(k.Add(bytes.NewReader(noise(3*blockSize-blobHeader, 0)), 3*blockSize))(t)
	k.Drop()
	want(t, len(tree(t, s.opt.Dir)), 0)
}

func TestKeepGivesBack(t *testing.T) {
	t.Parallel()
	s, d := NewHistory(HistoryOptions{Dir: t.TempDir()}), newMemDisk()
	d.put(map[string]*file{d.path("old"): text("shared")})
	d.change(t, s, ChangeSet{}, map[string]*file{d.path("old"): text("new")})
	before := tree(t, s.opt.Dir)
	delete(before, "lock")
	keep := func() (*PendingSet, map[string]KeptContent) {
		k := s.Keep(0)
		contents := map[string]KeptContent{}
		for _, name := range []string{"shared", "mine", "yours", strings.Repeat("large", 1<<18)} {
			contents[name[:4]] = must(k.Add(strings.NewReader(name), int64(len(name))))(t)
		}
		return observed(t, k, d, contents), contents
	}
	rest := func() map[string]string {
		out := tree(t, s.opt.Dir)
		delete(out, "lock")
		return out
	}
	// nothing has happened
	p, contents := keep()
	ok(t, p.Done(after(d, contents)))
	want(t, rest(), before)
	p, _ = keep()
	ok(t, p.Abort())
	want(t, rest(), before)

	// somebody else needs what came with it, then it stays
	p, contents = keep()
	d.put(map[string]*file{d.path("x"): text("yours")})
	d.change(t, s, ChangeSet{By: By{Call: "other"}}, map[string]*file{d.path("x"): nil})
	other := d.begin(t, s, ChangeSet{By: By{Call: "pending"}}, map[string]*file{d.path("old"): text("mine")})
	k := s.Keep(0)
	want(t, k.Known(contentHash([]byte("mine"))), true)
	third := observed(t, k, d, map[string]KeptContent{"mine": contents["mine"]})
	ok(t, p.Done(after(d, contents)))
	for _, data := range []string{"shared", "yours", "mine"} {
		want(t, string(must(s.Content(contentHash([]byte(data))))(t)), data)
	}
	if _, err := s.Content(contents["larg"].Hash); !errors.Is(err, ErrLost) {
		t.Errorf("the large one is still there: %v", err)
	}
	ok(t, third.Done(map[string]KeptContent{d.path("mine"): {}}))
	ok(t, other.Abort())
	want(t, string(must(s.Content(contentHash([]byte("mine"))))(t)), "mine")
	want(t, s.bytes(t), usage(t, s.opt.Dir)-onDisk(ledgerSize)-sweepFile(s))
}

// bytes is what the ledger counts.
func (s *History) bytes(t tb) (n int64) {
	t.Helper()
	ok(t, s.locked(func(l *ledger) error { n = l.bytes; return nil }))
	return n
}

func sweepFile(s *History) int64 {
	if _, err := os.Lstat(filepath.Join(s.opt.Dir, "sweep")); err == nil {
		return blockSize
	}
	return 0
}

// after is that nothing has changed.
func after(d *memDisk, contents map[string]KeptContent) map[string]KeptContent {
	out := map[string]KeptContent{}
	for name, c := range contents {
		out[d.path(name)] = c
	}
	return out
}

// What is kept already is not swept while a change is being prepared.
func TestKeepPins(t *testing.T) {
	t.Parallel()
	s, d := NewHistory(HistoryOptions{Dir: t.TempDir()}), newMemDisk()
	d.put(map[string]*file{d.path("a"): text("contents")})
	set := d.change(t, s, ChangeSet{}, map[string]*file{d.path("a"): nil})
	k := s.Keep(0)
	hash := contentHash([]byte("contents"))
	want(t, k.Known(hash), true)
	want(t, k.Known(contentHash([]byte("never seen"))), false)
	want(t, k.Known("../../lock"), false)
	ok(t, remove(s.setPath(set.ID, false)))
	ok(t, s.Sweep(t.Context()))
	if _, err := s.Content(hash); err == nil {
		t.Fatal("it was not swept")
	}
	p := observed(t, k, d, map[string]KeptContent{"b": {Exists: true, Hash: hash, Size: 8, Mode: 0o644}})
	ok(t, p.Done(map[string]KeptContent{d.path("b"): {}}))
	want(t, string(must(s.Content(hash))(t)), "contents")
	want(t, briefs(t, s, d.plan(t, s, p.Set())), []brief{{"b", UndoCreate, "contents"}})
}

func TestKeepAtOnce(t *testing.T) {
	t.Parallel()
	s, d := NewHistory(HistoryOptions{Dir: t.TempDir()}), newMemDisk()
	k := s.Keep(0)
	contents := map[string]KeptContent{}
	var mu sync.Mutex
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for j := range 50 {
				data := fmt.Sprint("contents ", (i+j)%20)
				c, err := k.Add(strings.NewReader(data), int64(len(data)))
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				contents[fmt.Sprint(i, "-", j)] = c
				mu.Unlock()
			}
		})
	}
	all.Wait()
	p := observed(t, k, d, contents)
	ok(t, p.Done(nil))
	want(t, len(p.Set().Changes), 400)
	want(t, s.bytes(t), usage(t, s.opt.Dir)-onDisk(ledgerSize)-sweepFile(s))
	for _, c := range contents {
		must(s.Content(c.Hash))(t)
	}
}

// A set that was observed is as new as its end.
func TestObservedIsLate(t *testing.T) {
	t.Parallel()
	s, d := NewHistory(HistoryOptions{Dir: t.TempDir()}), newMemDisk()
	k := s.Keep(0)
	c := must(k.Add(strings.NewReader("one"), 3))(t)
	c.Mode = 0o644
	p := observed(t, k, d, map[string]KeptContent{"a": c})
	begun := p.Set().ID
	d.put(map[string]*file{d.path("a"): text("one")})
	edit := d.change(t, s, ChangeSet{By: By{Call: "edit"}}, map[string]*file{d.path("a"): text("two")})
	delete(d.files, d.path("a"))
	ok(t, p.Done(map[string]KeptContent{d.path("a"): {}}))
	if id := p.Set().ID; id <= edit.ID || edit.ID <= begun {
		t.Fatalf("%s, %s, %s", begun, edit.ID, id)
	}
	want(t, ids(list(t, s, HistoryQuery{})), []string{p.Set().ID, edit.ID})
	want(t, briefs(t, s, d.plan(t, s, p.Set())), []brief{{"a", UndoCreate, "one"}})
	want(t, list(t, s, HistoryQuery{})[0].Observed, true)
}

// Of a process that died while it observed, what was lost is recorded, and
// nothing else stays.
func TestObservedRecover(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, d := NewHistory(HistoryOptions{Dir: dir}), newMemDisk()
	k := s.Keep(0)
	contents := map[string]KeptContent{}
	for _, name := range []string{"gone", "changed", "same", "unknown", "unknown-gone"} {
		c := must(k.Add(strings.NewReader(name), 4))(t)
		c.Mode = 0o644
		d.put(map[string]*file{d.path(name): text(name)})
		if strings.HasPrefix(name, "unknown") {
			c = KeptContent{Exists: true, Mode: 0o644}
		}
		contents[name] = c
	}
	p := observed(t, k, d, contents)
	d.put(map[string]*file{d.path("gone"): nil, d.path("unknown-gone"): nil, d.path("changed"): text("by a command")})
	p.release() // as its end would

	r := must(s.Recover(t.Context(), d.look))(t)
	want(t, len(r), 1)
	want(t, r[0].Half(), false)
	sets := list(t, s, HistoryQuery{})
	want(t, len(sets), 1)
	want(t, r[0].Set.ID, sets[0].ID)
	var names []string
	for _, c := range sets[0].Changes {
		names = append(names, c.Title)
	}
	want(t, len(names), 3)
	for _, i := range d.plan(t, s, sets...).Items {
		state := map[string]UndoState{"gone": UndoCreate, "changed": UndoRestore, "unknown-gone": UndoLost}[i.Title]
		want(t, i.State, state)
	}
	if _, err := s.Content(contents["same"].Hash); !errors.Is(err, ErrLost) {
		t.Error("what was not lost is still kept")
	}
}

// Links and folders are no files that hold the same.
func TestKindsDiffer(t *testing.T) {
	t.Parallel()
	s, d := NewHistory(HistoryOptions{Dir: t.TempDir()}), newMemDisk()
	link := &file{"target", fs.ModeSymlink | 0o777}
	d.put(map[string]*file{d.path("a"): link, d.path("b"): text("target"), d.path("c"): {"", fs.ModeDir | 0o755}})
	set := d.change(t, s, ChangeSet{}, map[string]*file{d.path("a"): text("target"), d.path("b"): link, d.path("c"): text("")})
	want(t, len(set.Changes), 3)
	plan := d.plan(t, s, set)
	want(t, briefs(t, s, plan), []brief{{"a", UndoRestore, "target"}, {"b", UndoRestore, "target"}, {"c", UndoRestore, ""}})
	want(t, plan.Items[0].Want.Mode, fs.ModeSymlink|0o777)
	want(t, list(t, s, HistoryQuery{})[0].Changes[0].Before.Mode, fs.ModeSymlink|0o777)

	// the mode of a link means nothing
	a, b := DescribeContent([]byte("x"), true, fs.ModeSymlink|0o777), DescribeContent([]byte("x"), true, fs.ModeSymlink|0o700)
	want(t, a.Is(b), true)
	want(t, a.Is(DescribeContent([]byte("x"), true, 0o777)), false)
}
