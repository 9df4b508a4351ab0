//go:build linux

package search

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
)

// manyRules is an ignore file that has as many rules as one may have.
func manyRules(mark string) string {
	var b strings.Builder
	for i := range maxRules {
		fmt.Fprintf(&b, "%s%d\n", mark, i)
	}
	return b.String()
}

// deafTree makes a tree without watches.
func deafTree(t *testing.T, top string) *fileTree {
	t.Helper()
	tr, err := plant(t.Context(), Options{Dir: top, Exact: true, Worktree: top, Excludes: os.DevNull, Hidden: true}, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tr.close)
	return tr
}

func heap() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// allocated is how many bytes some work allocates.
func allocated(work func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	work()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestEqualIgnoreFiles keeps one text once, and one rule once.
func TestEqualIgnoreFiles(t *testing.T) {
	top := t.TempDir()
	for i := range 40 {
		writeFile(t, filepath.Join(top, fmt.Sprint(i), ".ignore"), strings.Repeat("?\n", 2000))
	}
	tr := deafTree(t, top)
	live, count := map[*rules]bool{}, 0
	for r := range tr.allRules() {
		live[r] = true
		count += len(r.list)
	}
	if len(tr.levels) != 40 || len(live) != 1 || count != 40 {
		t.Errorf("%d levels with %d sets of rules, %d rules", len(tr.levels), len(live), count)
	}
}

// TestManyIgnoreFiles bounds the memory of ignore files side by side, in a
// tree that is kept and in a walk.
func TestManyIgnoreFiles(t *testing.T) {
	top := t.TempDir()
	const folders = 14
	for i := range folders {
		dir := filepath.Join(top, fmt.Sprint(i))
		writeFile(t, filepath.Join(dir, ".ignore"), manyRules(string(rune('a'+i))))
		writeFile(t, filepath.Join(dir, "f"), "")
	}
	before := heap()
	tr := deafTree(t, top)
	grown := heap() - before
	cost := tr.scope.stock.cost
	if grown > maxStock+maxStock/2 || cost < maxStock || cost > maxStock+maxStock/4 {
		t.Errorf("%d MB more, %d MB said", grown>>20, cost>>20)
	}
	if cost < grown*2/3 {
		t.Errorf("%d bytes are said to be %d", grown, cost)
	}
	if n := len(tr.failed); n == 0 || n >= folders-2 {
		t.Errorf("%d of %d files were not read", n, folders)
	}
	runtime.KeepAlive(tr)
	var skipped Skipped
	names := collect(t, Options{Dir: top, Worktree: top, Skipped: &skipped})
	if len(names) != folders || skipped.Failed != len(tr.failed) || !errors.Is(skipped.Err, errTooMuch) {
		t.Errorf("%d names, %+v", len(names), skipped)
	}
}

// TestChangedIgnoreFile reads an ignore file again and again. What it was
// before does not count any more.
func TestChangedIgnoreFile(t *testing.T) {
	top := t.TempDir()
	writeFile(t, filepath.Join(top, ".ignore"), "a\n")
	tr := deafTree(t, top)
	root, err := openExact(top)
	if err != nil {
		t.Fatal(err)
	}
	defer root.close()
	for i := range 14 {
		mark := string(rune('a' + i))
		writeFile(t, filepath.Join(top, ".ignore"), manyRules(mark))
		if err := tr.update(t.Context(), root); err != nil {
			t.Fatal(err)
		}
		l := tr.levelOf(0)
		if len(tr.failed) > 0 || l == nil || l.files[plainFile].match(new(machine), []byte(mark+"7"), 0, false) != ignored {
			t.Fatalf("%d: %v", i, tr.failed)
		}
	}
}

// TestCostlyRules bounds what rules cost for each name.
func TestCostlyRules(t *testing.T) {
	t.Parallel()
	costly := func(mark string) string {
		var b strings.Builder
		for i := range 250 {
			fmt.Fprintf(&b, "%s%d%s[b]\n", mark, i, strings.Repeat("*a", 60))
		}
		return b.String()
	}
	r := parseRules(costly("*"))
	if r.work > maxFileWork+2*maxGlob || len(r.list) < 50 || !r.cut {
		t.Errorf("%d rules cost %d, cut %v", len(r.list), r.work, r.cut)
	}
	if r := parseRules(manyRules("") + "# no rule\n\n"); len(r.list) != maxRules || r.cut {
		t.Errorf("%d rules, cut %v", len(r.list), r.cut)
	}
	if r := parseRules(manyRules("") + "x\n"); len(r.list) != maxRules || !r.cut {
		t.Errorf("%d rules, cut %v", len(r.list), r.cut)
	}
	top, dir := t.TempDir(), ""
	for range 3 {
		for _, name := range []string{".ignore", ".rgignore"} {
			writeFile(t, filepath.Join(top, dir, name), costly(dir+name))
		}
		dir = filepath.Join(dir, "d")
	}
	w := &walker{}
	defer w.close()
	if err := w.open(t.Context(), Options{Dir: top, Worktree: top, Excludes: os.DevNull, Hidden: true}); err != nil {
		t.Fatal(err)
	}
	most := 0
	err := w.run(t.Context(), func(string, error) bool {
		work := 0
		for l := w.stack[len(w.stack)-1].level; l != nil; l = l.up {
			for _, r := range l.files {
				if r != nil {
					work += r.work
				}
			}
		}
		most = max(most, work)
		return true
	})
	if err != nil || most == 0 || most > maxWork || !errors.Is(w.skipped.Err, errTooMuch) {
		t.Errorf("rules for one name cost %d, %v, %+v", most, err, w.skipped)
	}
}

// TestHopelessName runs no program for a name that cannot match.
func TestHopelessName(t *testing.T) {
	t.Parallel()
	name := bytes.Repeat([]byte("a"), 250)
	for _, text := range []string{
		strings.Repeat("*a", 2040) + "*[ab]", // longer than the name
		strings.Repeat("*a", 100) + "*[b]",   // ends in another way
		strings.Repeat("*a", 100) + "*bc*",   // has something else in it
	} {
		g, err := compileGlob(text, gitDialect)
		if err != nil {
			t.Fatal(err)
		}
		var m machine
		if g.match(&m, name, 0) || m.steps > 0 {
			t.Errorf("%.20s…%s took %d steps", text, text[len(text)-5:], m.steps)
		}
	}
}

// TestGlobsThatNameMuch bounds what it takes to find out what globs name and
// lead to.
func TestGlobsThatNameMuch(t *testing.T) {
	choices := strings.Repeat("{a,b}", 6)
	for _, glob := range []string{
		choices + strings.Repeat("x/", 2000),
		choices + strings.Repeat("{a}", 1300),
		strings.Repeat("x/", 2000) + "*",
	} {
		var n *namer
		var err error
		size := allocated(func() {
			n, err = newNamer(Options{Closed: true, Globs: []string{glob}})
			globRoots([]string{glob})
		})
		if err != nil || len(n.globs) > 0 || size > 64<<20 {
			t.Errorf("%.40s: %d globs, %d bytes, %v", glob, len(n.globs), size, err)
		}
	}
	many := make([]string, maxLeads+1)
	for i := range many {
		many[i] = fmt.Sprintf("d%d/*", i)
	}
	if n := len(globRoots(many)); n != 0 {
		t.Errorf("%d folders to go to", n)
	}
	if n := len(globRoots(many[1:])); n != maxLeads {
		t.Errorf("%d folders to go to, not %d", n, maxLeads)
	}
}

func TestTooManyGlobs(t *testing.T) {
	t.Parallel()
	for _, globs := range [][]string{
		make([]string, maxGlobs+1),
		{strings.Repeat("a", maxGlob), strings.Repeat("#", maxGlobText)},
	} {
		if _, err := parseGlobs(globs); !errors.Is(err, ErrGlob) || !errors.Is(err, errTooManyGlobs) {
			t.Errorf("%d globs: %v", len(globs), err)
		}
	}
}

// A fading context is done after it was looked at some times.
type fading struct {
	context.Context
	left atomic.Int64
}

func (f *fading) Err() error {
	if f.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// TestCancelBetweenEntries stops at the next entry, not at the next folder.
func TestCancelBetweenEntries(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	const files = 300
	for i := range files {
		writeFile(t, filepath.Join(top, fmt.Sprint(i)), "")
	}
	opt := Options{Dir: top, Exact: true, Worktree: top, Excludes: os.DevNull}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	names := 0
	var last error
	for _, err := range Files(ctx, opt) {
		if last = err; err == nil {
			names++
		}
		cancel()
	}
	if names != 1 || !errors.Is(last, context.Canceled) {
		t.Errorf("%d names, then %v", names, last)
	}
	fades := &fading{Context: t.Context()}
	fades.left.Store(100)
	s, root, err := openScope(fades, opt)
	if err != nil {
		t.Fatal(err)
	}
	defer root.close()
	tr := newTree(top, s.scope)
	g := &gardener{t: tr, surveyor: s, root: root, todo: []uint32{0}, left: math.MaxInt}
	if err := g.walk(ctx); !errors.Is(err, context.Canceled) || len(tr.leaves) > 100 {
		t.Errorf("%d files, then %v", len(tr.leaves), err)
	}
}

// TestCancelWithinAName stops a program that takes long.
func TestCancelWithinAName(t *testing.T) {
	t.Parallel()
	g, err := compileGlob(strings.Repeat("*a", 200)+"*a", gitDialect)
	if err != nil {
		t.Fatal(err)
	}
	name := bytes.Repeat([]byte("a"), 2000)
	var m machine
	if !g.match(&m, name, 0) {
		t.Fatal("no match")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	m = machine{ctx: ctx}
	for range 2 {
		if g.match(&m, name, 0) || m.steps > 2*maxSteps {
			t.Errorf("it went on for %d steps", m.steps)
		}
	}
}

// TestDeepTreeIsNotKept keeps no tree in which the way to a folder is long.
func TestDeepTreeIsNotKept(t *testing.T) {
	t.Parallel()
	opt := Options{Exact: true, Excludes: os.DevNull}
	for depth, want := range map[int]error{maxDepth - 1: nil, maxDepth + 1: errDeep} {
		opt.Dir = deepTree(t, depth)
		opt.Worktree = opt.Dir
		tr, err := plant(t.Context(), opt, false)
		if !errors.Is(err, want) {
			t.Errorf("%d folders: %v, not %v", depth, err, want)
		}
		if err == nil {
			tr.close()
		}
	}
}
