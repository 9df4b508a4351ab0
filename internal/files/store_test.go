package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// A store that nothing was recorded in leaves no trace, and is not an error.
func TestLazy(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "history")
	s, d := NewHistory(HistoryOptions{Dir: dir}), newMemDisk()
	want(t, len(list(t, s, HistoryQuery{})), 0)
	want(t, len(must(s.Recover(t.Context(), d.look))(t)), 0)
	want(t, len(d.plan(t, s).Items), 0)
	ok(t, s.Sweep(t.Context()))
	if _, err := s.Content(contentHash(nil)); !errors.Is(err, ErrLost) {
		t.Error(err)
	}
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the folder was made")
	}
}

// Nothing outside the folder is touched, a repository's own files least of
// all, and what is inside is for the user only.
func TestOutside(t *testing.T) {
	root := t.TempDir()
	project := filepath.Join(root, "project")
	ok(t, os.MkdirAll(filepath.Join(project, ".git"), 0o700))
	ok(t, os.WriteFile(filepath.Join(project, ".git", "index"), []byte("index"), 0o600))
	ok(t, os.WriteFile(filepath.Join(project, "a"), []byte("a"), 0o600))
	for _, env := range []string{"HOME", "TMPDIR", "TMP", "TEMP", "USERPROFILE"} {
		t.Setenv(env, project)
	}
	old := tree(t, project)
	s := NewHistory(HistoryOptions{Dir: filepath.Join(root, "history"), Quota: 20 * blockSize, Sync: true})
	path := filepath.Join(project, "a")
	for i := range 40 {
		c := KeptChange{Path: path, Before: DescribeContent(fmt.Append(nil, i), true, 0o600), After: DescribeContent(fmt.Append(nil, i+1), true, 0o600)}
		p := must(s.Begin(ChangeSet{By: By{Dir: project}, Project: project, Changes: []KeptChange{c}}, map[string][]byte{path: fmt.Append(nil, i)}, []string{path + ".new"}))(t)
		ok(t, p.Done(nil))
	}
	must(s.Recover(t.Context(), realLook))(t)
	must(s.Plan(t.Context(), list(t, s, HistoryQuery{}), realLook))(t)
	want(t, tree(t, project), old)
	want(t, len(must(os.ReadDir(root))(t)), 2)
	if runtime.GOOS == "windows" {
		return
	}
	ok(t, filepath.WalkDir(s.opt.Dir, func(path string, e fs.DirEntry, err error) error {
		ok(t, err)
		mode := fs.FileMode(0o600)
		if e.IsDir() {
			mode = 0o700
		}
		if info := must(e.Info())(t); info.Mode().Perm() != mode {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return nil
	}))
}

func TestList(t *testing.T) {
	t.Parallel()
	s, d := NewHistory(HistoryOptions{Dir: t.TempDir()}), newMemDisk()
	odd := d.path("odd\xff<&>")
	var all []ChangeSet
	for i := range 20 {
		set := ChangeSet{By: By{Session: fmt.Sprint("s", i%2), Message: fmt.Sprint("m", i/2), Call: fmt.Sprint("c", i), Tool: "edit"}, Project: "p"}
		if i == 7 {
			set.Project = "q"
		}
		path := d.path(filepath.Join("sub", fmt.Sprint(i%3)))
		if i == 9 {
			path = odd
		}
		all = append(all, d.change(t, s, set, map[string]*file{path: text(fmt.Sprint(i))}))
	}
	slices.Reverse(all)
	if !slices.IsSortedFunc(all, func(a, b ChangeSet) int { return strings.Compare(b.ID, a.ID) }) {
		t.Fatal("ids are not in order")
	}
	where := func(keep func(i int) bool) (out []string) {
		for i, set := range all {
			if keep(19 - i) {
				out = append(out, set.ID)
			}
		}
		return out
	}
	want(t, list(t, s, HistoryQuery{}), all) // what is read is what was written
	for name, c := range map[string]struct {
		q    HistoryQuery
		want []string
	}{
		"limit":       {HistoryQuery{Limit: 3}, ids(all[:3])},
		"since":       {HistoryQuery{Since: all[5].ID}, ids(all[:5])},
		"until":       {HistoryQuery{Until: all[5].ID, Limit: 2}, ids(all[6:8])},
		"session":     {HistoryQuery{Session: "s1"}, where(func(i int) bool { return i%2 == 1 })},
		"message":     {HistoryQuery{Message: "m4"}, where(func(i int) bool { return i/2 == 4 })},
		"call":        {HistoryQuery{Call: "c3"}, where(func(i int) bool { return i == 3 })},
		"project":     {HistoryQuery{Project: "q"}, where(func(i int) bool { return i == 7 })},
		"path":        {HistoryQuery{Path: d.path(filepath.Join("sub", "1"))}, where(func(i int) bool { return i%3 == 1 })},
		"folder":      {HistoryQuery{Path: d.path("sub")}, where(func(i int) bool { return i != 9 })},
		"part":        {HistoryQuery{Path: d.path("su")}, nil},
		"odd":         {HistoryQuery{Path: odd}, where(func(i int) bool { return i == 9 })},
		"all folders": {HistoryQuery{Path: d.root + string(filepath.Separator)}, ids(all)},
		"both":        {HistoryQuery{Session: "s1", Message: "m4"}, where(func(i int) bool { return i == 9 })},
		"none":        {HistoryQuery{Session: "s0", Message: "m4", Call: "c9"}, nil},
	} {
		if got := ids(list(t, s, c.q)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v instead of %v", name, got, c.want)
		}
	}

	// A page that starts below an undo knows of it.
	undo := d.undo(t, s, d.plan(t, s, all[0]))
	want(t, list(t, s, HistoryQuery{Until: undo.ID, Limit: 1})[0].UndoneBy, undo.ID)
	want(t, list(t, s, HistoryQuery{Call: "c19"})[0].UndoneBy, undo.ID)

	// Only what is asked for is read; what is broken does not hide the rest.
	ok(t, os.WriteFile(s.setPath(all[4].ID, false), []byte("{"), 0o600))
	ok(t, os.WriteFile(s.setPath(all[6].ID, false), must(os.ReadFile(s.setPath(all[7].ID, false)))(t), 0o600))
	ok(t, os.WriteFile(filepath.Join(s.opt.Dir, "sets", "README"), nil, 0o600))
	want(t, len(list(t, s, HistoryQuery{Limit: 5})), 5)
	var broken []string
	n := 0
	for set, err := range s.Sets(t.Context(), HistoryQuery{}) {
		if n++; err != nil {
			broken = append(broken, set.ID)
		}
	}
	want(t, n, 21)
	want(t, broken, []string{all[4].ID, all[6].ID})
	want(t, len(d.plan(t, s, all[8]).Items), 1)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range s.Sets(ctx, HistoryQuery{}) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("listed after the end: %v", err)
		}
	}
	if _, err := s.Plan(ctx, all, d.look); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestDone(t *testing.T) {
	t.Parallel()
	s, d := NewHistory(HistoryOptions{Dir: t.TempDir()}), newMemDisk()
	a, b := d.path("a"), d.path("b")
	d.put(map[string]*file{a: text("a"), b: text("b")})

	// A formatter made something else of one file, and b was not changed at all.
	p := d.begin(t, s, ChangeSet{By: By{Call: "1"}}, map[string]*file{a: text("a1"), b: text("b1")})
	formatted := DescribeContent([]byte("a2"), true, 0o644)
	ok(t, p.Done(map[string]KeptContent{a: formatted, b: p.Set().Changes[1].Before}))
	sets := list(t, s, HistoryQuery{})
	want(t, sets, []ChangeSet{p.Set()})
	want(t, len(sets[0].Changes), 1)
	want(t, sets[0].Changes[0].After, formatted)
	if err := p.Done(nil); err == nil {
		t.Error("recorded twice")
	}
	ok(t, p.Abort()) // has no effect
	want(t, len(list(t, s, HistoryQuery{})), 1)

	// Nothing happened.
	ok(t, d.begin(t, s, ChangeSet{}, map[string]*file{a: text("x")}).Abort())
	p = d.begin(t, s, ChangeSet{}, map[string]*file{a: text("x")})
	ok(t, p.Done(map[string]KeptContent{a: p.Set().Changes[0].Before}))
	want(t, len(list(t, s, HistoryQuery{})), 1)
	want(t, len(must(s.list("pending"))(t)), 0)

	// An undo that found nothing to do still says so.
	p = must(s.Begin(ChangeSet{By: By{Undoes: []string{sets[0].ID}}}, nil, nil))(t)
	ok(t, p.Done(nil))
	want(t, list(t, s, HistoryQuery{})[1].UndoneBy, p.Set().ID)
}

func TestBeginRefuses(t *testing.T) {
	t.Parallel()
	s, d := NewHistory(HistoryOptions{Dir: t.TempDir()}), newMemDisk()
	a := d.path("a")
	is := DescribeContent([]byte("x"), true, 0o644)
	first := d.change(t, s, ChangeSet{ID: "one"}, map[string]*file{a: text("x")})
	want(t, first.ID, "one")
	for name, c := range map[string]struct {
		set    ChangeSet
		before map[string][]byte
		temps  []string
	}{
		"relative path":   {set: ChangeSet{Changes: []KeptChange{{Path: "a", Before: is}}}},
		"no path":         {set: ChangeSet{Changes: []KeptChange{{Before: is}}}},
		"zero byte":       {set: ChangeSet{Changes: []KeptChange{{Path: a + "\x00"}}}},
		"twice":           {set: ChangeSet{Changes: []KeptChange{{Path: a}, {Path: a}}}},
		"other contents":  {set: ChangeSet{Changes: []KeptChange{{Path: a, Before: is}}}, before: map[string][]byte{a: []byte("y")}},
		"absent contents": {set: ChangeSet{Changes: []KeptChange{{Path: a}}}, before: map[string][]byte{a: []byte("y")}},
		"bad hash":        {set: ChangeSet{Changes: []KeptChange{{Path: a, After: KeptContent{Exists: true, Hash: "../x"}}}}},
		"bad id":          {set: ChangeSet{ID: "../../x"}},
		"used id":         {set: ChangeSet{ID: "one"}},
		"bad undoes":      {set: ChangeSet{By: By{Undoes: []string{"a/b"}}}},
		"bad temp":        {temps: []string{"x"}},
		"too large":       {set: ChangeSet{By: By{Session: strings.Repeat("x", maxSetFile/2)}}},
	} {
		if _, err := s.Begin(c.set, c.before, c.temps); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	want(t, len(must(s.list("pending"))(t)), 0)
	want(t, len(tree(t, filepath.Join(s.opt.Dir, "tmp"))), 0)
	ok(t, s.Sweep(t.Context()))
	whole(t, s)
}

// Ids are in the order of Begin, also when the clock stands or runs back.
func TestIDs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	d := newMemDisk()
	var got []string
	for i := range 6 {
		s := NewHistory(HistoryOptions{Dir: dir, Now: func() time.Time { return now.Add(-time.Duration(i/2) * time.Hour) }})
		set := d.change(t, s, ChangeSet{}, map[string]*file{d.path("a"): text(fmt.Sprint(i))})
		want(t, set.Time, now.Add(-time.Duration(i/2)*time.Hour))
		got = append(got, set.ID)
	}
	if !slices.IsSorted(got) {
		t.Error(got)
	}
	s := NewHistory(HistoryOptions{Dir: dir})
	want(t, d.change(t, s, ChangeSet{ID: "zzz1"}, map[string]*file{d.path("a"): nil}).ID, "zzz1")
	if _, err := s.Begin(ChangeSet{ID: "a b"}, nil, nil); err == nil {
		t.Error("a bad id is accepted")
	}
}

// The quota holds over thousands of sets, and the newest always stays.
func TestQuota(t *testing.T) {
	t.Parallel()
	const quota, largest = 800 * blockSize, 9 * blockSize
	s, d := NewHistory(HistoryOptions{Dir: t.TempDir(), Quota: quota}), newMemDisk()
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 2000 {
		to := map[string]*file{}
		for range 1 + rng.IntN(3) {
			noise := make([]byte, rng.IntN(2*blockSize-100))
			for i := range noise {
				noise[i] = byte(rng.Uint32())
			}
			to[d.path(fmt.Sprint(rng.IntN(20)))] = text(string(noise))
		}
		if i%50 == 0 { // leaves contents that nobody needs
			ok(t, d.begin(t, s, ChangeSet{}, to).Abort())
		}
		set := d.change(t, s, ChangeSet{}, to)
		if i%100 != 0 {
			continue
		}
		if n := usage(t, s.opt.Dir); n > quota+largest {
			t.Fatalf("%d: %d bytes", i, n)
		}
		want(t, list(t, s, HistoryQuery{Limit: 1})[0].ID, set.ID)
	}
	if n := len(list(t, s, HistoryQuery{})); n < 50 || n > 800 {
		t.Errorf("%d sets are left", n)
	}
	ok(t, s.Sweep(t.Context()))
	whole(t, s)

	// One set that is larger than the quota is kept until the next.
	to := map[string]*file{}
	for i := range 60 {
		noise := make([]byte, 16*blockSize)
		for i := range noise {
			noise[i] = byte(rng.Uint32())
		}
		to[d.path(fmt.Sprint("large", i))] = text(string(noise))
	}
	d.put(to)
	for path := range to {
		to[path] = nil
	}
	large := d.change(t, s, ChangeSet{}, to)
	want(t, ids(list(t, s, HistoryQuery{})), []string{large.ID})
	kept := 0
	for _, c := range large.Changes {
		if c.Before.Kept {
			kept++
		}
	}
	want(t, kept, quota/(16*blockSize)) // no more than the quota of one set
	next := d.change(t, s, ChangeSet{}, map[string]*file{d.path("a"): text("next")})
	want(t, ids(list(t, s, HistoryQuery{})), []string{next.ID})
	ok(t, s.Sweep(t.Context()))
	whole(t, s)
}

// The contents of a change that is under way are not swept.
func TestSweepPending(t *testing.T) {
	t.Parallel()
	s, d := NewHistory(HistoryOptions{Dir: t.TempDir(), Quota: 10}), newMemDisk()
	a, b := d.path("a"), d.path("b")
	d.put(map[string]*file{a: text("a"), b: text("b")})
	p := d.begin(t, s, ChangeSet{}, map[string]*file{a: text("x")})
	for i := range 5 {
		d.change(t, s, ChangeSet{}, map[string]*file{b: text(fmt.Sprint(i))})
	}
	ok(t, s.Sweep(t.Context()))
	want(t, len(list(t, s, HistoryQuery{})), 1)
	want(t, string(must(s.Content(contentHash([]byte("a"))))(t)), "a")
	ok(t, p.Done(nil))
}

// What dead processes left on its way is removed after a while, and a lost or
// damaged ledger is put right.
func TestSweepLitter(t *testing.T) {
	t.Parallel()
	s, d := NewHistory(HistoryOptions{Dir: t.TempDir()}), newMemDisk()
	d.change(t, s, ChangeSet{}, map[string]*file{d.path("a"): text("1")})
	old, young := must(s.temp([]byte("old")))(t), must(s.temp([]byte("young")))(t)
	ok(t, os.Chtimes(old, time.Time{}, time.Now().Add(-2*tempAge)))
	orphan := must(s.prepareParcel(contentHash([]byte("x")), []byte("x")))(t)
	ok(t, s.moveIntoPlace(orphan.temp, s.blobPath(orphan.hash)))
	ok(t, os.WriteFile(filepath.Join(s.opt.Dir, "lock"), []byte("damaged"), 0o600))
	ok(t, s.Sweep(t.Context()))
	if _, err := os.Lstat(old); err == nil {
		t.Error("the old file is there")
	}
	ok(t, os.Remove(young))
	ok(t, s.Sweep(t.Context()))
	whole(t, s)

	// What a set of a later version needs stays.
	data := fmt.Sprintf("{\"v\":2,\"id\":\"zz\",\"needs\":[%q]}\n", orphan.hash)
	orphan = must(s.prepareParcel(orphan.hash, []byte("x")))(t)
	ok(t, s.moveIntoPlace(orphan.temp, s.blobPath(orphan.hash)))
	ok(t, os.WriteFile(s.setPath("zz", false), []byte(data), 0o600))
	ok(t, s.Sweep(t.Context()))
	want(t, string(must(s.Content(orphan.hash))(t)), "x")
}

// Many goroutines of one process change, list and sweep at once.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	s := NewHistory(HistoryOptions{Dir: t.TempDir(), Quota: 60 * blockSize})
	var group sync.WaitGroup
	errs := make(chan error, 100)
	for g := range 4 {
		group.Go(func() {
			path := newMemDisk().path(fmt.Sprint(g))
			for i := range 40 {
				data := fmt.Append(nil, i%5)
				p, err := s.Begin(ChangeSet{Changes: []KeptChange{{Path: path, Before: DescribeContent(data, true, 0o600)}}}, map[string][]byte{path: data}, nil)
				if err == nil {
					err = p.Done(nil)
				}
				if err == nil && i%10 == 0 {
					err = s.Sweep(t.Context())
				}
				if err != nil {
					errs <- err
				}
				for _, err := range s.Sets(t.Context(), HistoryQuery{Limit: 3}) {
					if err != nil {
						errs <- err
					}
				}
			}
		})
	}
	group.Wait()
	close(errs)
	for err := range errs {
		t.Error(err)
	}
	ok(t, s.Sweep(t.Context()))
	whole(t, s)
}

// The pending change of a store in this process is alive to another one.
func TestTwoStores(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, b, d := NewHistory(HistoryOptions{Dir: dir}), NewHistory(HistoryOptions{Dir: dir}), newMemDisk()
	p := d.begin(t, a, ChangeSet{}, map[string]*file{d.path("a"): text("1")})
	want(t, len(must(b.Recover(t.Context(), d.look))(t)), 0)
	d.put(map[string]*file{d.path("a"): text("1")})
	ok(t, p.Done(nil))
	want(t, ids(list(t, b, HistoryQuery{})), []string{p.Set().ID})

	// A file that was cut off before anything happened is forgotten.
	ok(t, os.WriteFile(a.pendingPath("cut"), []byte(`{"v":1,"id":"cu`), 0o600))
	want(t, len(must(b.Recover(t.Context(), d.look))(t)), 0)
	want(t, len(must(b.list("pending"))(t)), 0)
}

// What comes while a sweep looks around is seen before anything is removed.
func TestSweepLate(t *testing.T) {
	t.Parallel()
	s, d := NewHistory(HistoryOptions{Dir: t.TempDir()}), newMemDisk()
	a, b := d.path("a"), d.path("b")
	d.put(map[string]*file{a: text("a"), b: text("b")})
	ok(t, d.begin(t, s, ChangeSet{}, map[string]*file{a: nil}).Abort()) // contents that nobody needs yet
	w := &sweeper{store: s, sets: map[setEntry]*swept{}, blobs: map[digest]int64{}}
	ok(t, w.look(t.Context()))
	d.change(t, s, ChangeSet{}, map[string]*file{a: nil})
	d.begin(t, s, ChangeSet{}, map[string]*file{b: nil})
	ok(t, s.locked(func(l *ledger) error { return w.collectGarbage(t.Context(), l) }))
	want(t, string(must(s.Content(contentHash([]byte("a"))))(t)), "a")
	want(t, string(must(s.Content(contentHash([]byte("b"))))(t)), "b")
}

// Done can be tried again, and what it says then counts.
func TestDoneAgain(t *testing.T) {
	t.Parallel()
	s, d := NewHistory(HistoryOptions{Dir: t.TempDir()}), newMemDisk()
	a := d.path("a")
	p := d.begin(t, s, ChangeSet{}, map[string]*file{a: text("1")})
	sets := filepath.Join(s.opt.Dir, "sets")
	ok(t, os.WriteFile(sets, nil, 0o600)) // in the way
	if err := p.Done(map[string]KeptContent{a: DescribeContent(make([]byte, 12345), true, 0o644)}); err == nil {
		t.Fatal("recorded in no folder")
	}
	ok(t, os.Remove(sets))
	if runtime.GOOS == "windows" { // the file was let go
		want(t, len(must(s.Recover(t.Context(), d.look))(t)), 1)
		return
	}
	three := DescribeContent([]byte("three"), true, 0o644)
	ok(t, p.Done(map[string]KeptContent{a: three}))
	want(t, list(t, s, HistoryQuery{})[0].Changes[0].After, three)
	ok(t, s.Sweep(t.Context()))
	whole(t, s)
}

// An undo that died before it did anything has taken nothing back.
func TestRecoverUndo(t *testing.T) {
	t.Parallel()
	s, d := NewHistory(HistoryOptions{Dir: t.TempDir()}), newMemDisk()
	a := d.path("a")
	set := d.change(t, s, ChangeSet{}, map[string]*file{a: text("1")})
	p := d.begin(t, s, ChangeSet{By: By{Undoes: []string{set.ID}}}, map[string]*file{a: nil})
	p.release() // as its end would
	got := must(s.Recover(t.Context(), d.look))(t)
	want(t, []int{len(got), len(got[0].Missed)}, []int{1, 1})
	want(t, list(t, s, HistoryQuery{}), []ChangeSet{set})
	want(t, d.plan(t, s, set).Items[0].State, UndoRemove)
}
