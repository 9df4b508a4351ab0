package search

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

// searchNames searches for names, which must work.
func searchNames(t rapid.TB, g Glob) *Names {
	t.Helper()
	if g.Where.Excludes == "" {
		g.Where.Excludes = os.DevNull
	}
	names, err := New(EngineOptions{}).Glob(context.Background(), g)
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// TestGlobAgainstNaive compares answers with those of a search that looks at
// all files.
func TestGlobAgainstNaive(t *testing.T) {
	base := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		where := drawWhere(rt, base)
		defer func() { _ = os.RemoveAll(where.Dir) }()
		g := Glob{
			Where: where,
			Limit: rapid.SampledFrom([]int{0, 1, 3, 10}).Draw(rt, "limit"),
			Order: rapid.SampledFrom([]Order{Newest, ByName, First}).Draw(rt, "order"),
		}
		if _, err := parseGlobs(g.Where.Globs); err != nil {
			rt.Skip(err)
		}
		var all []Name
		for _, name := range collect(rt, g.Where) {
			full := filepath.Join(where.Dir, name)
			when := time.Unix(1e9+int64(rapid.IntRange(0, 9).Draw(rt, "time")), 5)
			if err := os.Chtimes(full, when, when); err != nil {
				rt.Fatal(err)
			}
			all = append(all, Name{name, when})
		}
		slices.SortFunc(all, func(a, b Name) int {
			if c := b.Time.Compare(a.Time); c != 0 && g.Order == Newest {
				return c
			}
			return strings.Compare(a.Name, b.Name)
		})
		want := &Names{Files: all}
		if g.Limit > 0 && len(all) > g.Limit {
			want.Files, want.More = all[:g.Limit], true
		}
		got := searchNames(rt, g)
		if g.Order == First {
			for _, n := range got.Files {
				if !slices.Contains(all, n) {
					rt.Errorf("%q should not be there", n.Name)
				}
			}
			if got.More != want.More || len(got.Files) != len(want.Files) {
				rt.Fatalf("%d names, more %t; not %d, %t", len(got.Files), got.More, len(want.Files), want.More)
			}
			return
		}
		got.Skipped = Skipped{}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			rt.Fatalf("globs %q (-want +got):\n%s", g.Where.Globs, diff)
		}
	})
}

// TestClosed has globs that open ignored folders, and globs that do not.
func TestClosed(t *testing.T) {
	t.Parallel()
	top := grow(t, `
-- .ignore --
build/
*.gen.go
-- a.go --
-- a.gen.go --
-- build/b.go --
-- build/deep/c.go --
-- sub/build/d.go --
-- sub/e.go --
`)
	for _, test := range []struct{ globs, want string }{
		{"*", ".ignore a.gen.go a.go sub/e.go"},
		{"**/*", ".ignore a.gen.go a.go sub/e.go"},
		{"*.go", "a.gen.go a.go sub/e.go"},
		{"build/**", "build/b.go build/deep/c.go"},
		{"build/*.go", "build/b.go"},
		{"build", ""},
		{"build *.go", "a.gen.go a.go build/b.go build/deep/c.go sub/build/d.go sub/e.go"},
		{"**/build/**", "build/b.go build/deep/c.go sub/build/d.go"},
		{"{x,sub/build}/*", "sub/build/d.go"},
		{"b*/**", "build/b.go build/deep/c.go"},
		{"?????/**", ""},
		{"*/build/**", "sub/build/d.go"},
		{"build/** !build", ""},
		{"!build", ".ignore a.go sub/e.go"},
	} {
		opt := Options{Dir: top, Worktree: top, Hidden: true, Closed: true, Globs: strings.Fields(test.globs)}
		var names []string
		for _, n := range searchNames(t, Glob{Where: opt, Order: ByName}).Files {
			names = append(names, n.Name)
		}
		want := strings.Fields(test.want)
		if diff := cmp.Diff(want, names, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.globs, diff)
		}
		if diff := cmp.Diff(want, collect(t, opt), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s, walked in order (-want +got):\n%s", test.globs, diff)
		}
	}
}

func TestLeads(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ globs, want string }{
		{"src/x/**/*.go", "src/x"},
		{"src/x/y.go", "src/x"},
		{"src/*.go lib/**", "src lib"},
		{"{src,lib/a}/x*", "src lib/a"},
		{"src/{a,b}.go", "src src"},
		{"src/a*/b !x", "src"},
		{"*.go src/*", ""},
		{"/a.go", ""},
		{"!src/x", ""},
		{"**/src/*", ""},
		{"a{b,c}d/e", "abd acd"},
	} {
		if diff := cmp.Diff(strings.Fields(test.want), globRoots(strings.Fields(test.globs)), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.globs, diff)
		}
	}
	for name, want := range map[string]bool{"src": true, "src/x": true, "src/x/y": true, "srcs": false, "s": false, "src/xy": false, "lib": false} {
		if got := leadsTo([]byte(name), []string{"src/x"}); got != want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// TestOneFile searches a file by its name, whatever rules say of it.
func TestOneFile(t *testing.T) {
	t.Parallel()
	top := grow(t, "-- .ignore --\nsub\n-- sub/a --\none\nfoo\n-- sub/bin --\n-- shut --\nfoo\n")
	writeFile(t, filepath.Join(top, "sub", "bin"), "foo\x00")
	if err := os.Symlink("sub", filepath.Join(top, "link")); err != nil {
		t.Skip("there are no links here")
	}
	bar := &Exclusion{Shut: func(name string) bool { return name == "shut" }}
	g := Grep{Where: Options{Dir: top, Globs: []string{"*.go"}}, Pattern: compile(t, "foo"), Limit: 5, Bar: bar}
	for _, test := range []struct {
		name string
		want string
		left Skipped
	}{
		{"sub/a", "[sub/a:2:foo]", Skipped{}},
		{"sub/bin", "[]", Skipped{Binary: 1}},
		{"shut", "[]", Skipped{Barred: 1}},
	} {
		g.File = test.name
		found := grep(t, g)
		if got := fmt.Sprint(found.print()); got != test.want || found.Skipped != test.left {
			t.Errorf("%s: %s %+v", test.name, got, found.Skipped)
		}
	}
	for _, name := range []string{"none", "sub", "link/a", "../x", "/x", "sub/../shut", "."} {
		g.File = name
		if found, err := New(EngineOptions{}).Grep(t.Context(), g); err == nil {
			t.Errorf("%s: %v", name, found.print())
		}
	}
}

func TestEngineErrors(t *testing.T) {
	t.Parallel()
	top := grow(t, "-- file --\nfoo\n")
	reason := errors.New("enough")
	canceled, cancel := context.WithCancelCause(context.Background())
	cancel(reason)
	closed := New(EngineOptions{})
	closed.Close()
	for _, test := range []struct {
		name   string
		engine *Engine
		ctx    context.Context
		opt    Options
		want   error
	}{
		{"missing", New(EngineOptions{}), t.Context(), Options{Dir: filepath.Join(top, "none")}, fs.ErrNotExist},
		{"file", New(EngineOptions{}), t.Context(), Options{Dir: filepath.Join(top, "file")}, nil},
		{"glob", New(EngineOptions{}), t.Context(), Options{Dir: top, Globs: []string{"{a"}}, ErrGlob},
		{"closed glob", New(EngineOptions{}), t.Context(), Options{Dir: top, Globs: []string{"{a"}, Closed: true}, ErrGlob},
		{"canceled", New(EngineOptions{}), canceled, Options{Dir: top}, reason},
		{"closed", closed, t.Context(), Options{Dir: top}, errClosed},
	} {
		_, err := test.engine.Grep(test.ctx, Grep{Where: test.opt, Pattern: compile(t, "foo")})
		_, err2 := test.engine.Glob(test.ctx, Glob{Where: test.opt})
		for _, err := range []error{err, err2} {
			if err == nil || test.want != nil && !errors.Is(err, test.want) {
				t.Errorf("%s: %v", test.name, err)
			}
		}
	}
}

// slow is a tree whose files each take a while, or wait for a signal.
func slow(t *testing.T, wait func(name string)) Grep {
	top := t.TempDir()
	for i := range 300 {
		writeFile(t, filepath.Join(top, fmt.Sprint("d", i%20), fmt.Sprint(i)), "foo\n")
	}
	bar := &Exclusion{Shut: func(name string) bool { wait(name); return false }}
	return Grep{Where: Options{Dir: top, Excludes: os.DevNull}, Pattern: compile(t, "foo"), Bar: bar}
}

// TestBudget has a search end when its time is over.
func TestBudget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := slow(t, func(string) { time.Sleep(time.Second) })
		g.Budget = 3500 * time.Millisecond
		found, err := New(EngineOptions{}).Grep(t.Context(), g)
		if err != nil || !found.Late || found.Lines == 0 || found.Lines == 300 {
			t.Errorf("%+v, %v", found, err)
		}
		time.Sleep(time.Minute) // those that sleep wake up and end
	})
}

// TestStuck has an answer although nothing moves any more, as with a disk that
// has died.
func TestStuck(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		free := make(chan struct{})
		g := slow(t, func(name string) {
			if strings.HasSuffix(name, "7") {
				<-free
			}
		})
		g.Budget = time.Second
		found, err := New(EngineOptions{}).Grep(t.Context(), g)
		if err != nil || !found.Late {
			t.Errorf("%+v, %v", found, err)
		}
		g.Budget = 0
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, fs.ErrClosed)
		defer cancel()
		if _, err := New(EngineOptions{}).Grep(ctx, g); err != fs.ErrClosed {
			t.Error(err)
		}
		close(free)
		synctest.Wait()
	})
}

// TestReport has a search say how far it is.
func TestReport(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := slow(t, func(string) { time.Sleep(100 * time.Millisecond) })
		var reports []Progress
		var times []time.Duration
		start := time.Now()
		g.Report = func(p Progress) {
			reports = append(reports, p)
			times = append(times, time.Since(start))
		}
		found, err := New(EngineOptions{Workers: 1}).Grep(t.Context(), g)
		if err != nil || found.Lines != 300 {
			t.Fatalf("%+v, %v", found, err)
		}
		if len(reports) < 100 || times[0] != firstReport || times[1] != firstReport+nextReport {
			t.Fatalf("%d reports, at %v", len(reports), times)
		}
		lines := 0
		for i, p := range reports {
			lines += len(p.Last)
			if i > 0 && (p.Files < reports[i-1].Files || p.Lines < reports[i-1].Lines) || len(p.Last) > maxRecent {
				t.Errorf("report %d: %+v", i, p)
			}
		}
		if last := reports[len(reports)-1]; lines != last.Lines {
			t.Errorf("%d lines were shown of %d", lines, last.Lines)
		}
	})
}

// TestCancelSearch ends a search from within: nobody stays behind.
func TestCancelSearch(t *testing.T) {
	before := goleak.IgnoreCurrent()
	ctx, cancel := context.WithCancelCause(context.Background())
	var once sync.Once
	g := slow(t, func(string) { once.Do(func() { cancel(fs.ErrClosed) }) })
	if found, err := New(EngineOptions{}).Grep(ctx, g); err != fs.ErrClosed {
		t.Errorf("%v, %v", found, err)
	}
	goleak.VerifyNone(t, before)
}

// TestPanic has what a bar does wrong come to whoever asked.
func TestPanic(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	g := slow(t, func(name string) {
		if asked.Add(1) == 100 {
			panic("wrong")
		}
	})
	defer func() {
		if value := fmt.Sprint(recover()); !strings.Contains(value, "wrong") {
			t.Error(value)
		}
	}()
	_, err := New(EngineOptions{}).Grep(t.Context(), g)
	t.Error(err)
}

// TestManyAtOnce searches with one engine from several goroutines.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	g := slow(t, func(string) {})
	e := New(EngineOptions{})
	defer e.Close()
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			g := g
			g.Order, g.Limit = Order(i%3), i*20
			found, err := e.Grep(context.Background(), g)
			if want := min(300, max(i*20, 300*(1-min(i, 1)))); err != nil || found.Lines != want {
				t.Errorf("%+v, %v", found, err)
			}
		})
	}
	all.Wait()
}

// TestWideSearch searches a folder of many files.
func TestWideSearch(t *testing.T) {
	t.Parallel()
	count := 50_000
	if testing.Short() {
		count = 5_000
	}
	top := t.TempDir()
	var first string
	for i := range count {
		name := filepath.Join(top, fmt.Sprintf("%06d", i))
		if i%10_000 == 0 { // names of one file cost less than files
			writeFile(t, name, "foo\n")
			first = name
		} else if err := os.Link(first, name); err != nil {
			t.Fatal(err)
		}
	}
	for _, limit := range []int{0, 100} {
		want := count
		if limit > 0 {
			want = limit
		}
		for order := range ByName + 1 {
			found := grep(t, Grep{Where: Options{Dir: top, Worktree: top}, Pattern: compile(t, "foo"), Order: order, Limit: limit})
			if found.Lines != want || found.More != (limit > 0) {
				t.Errorf("order %d: %d lines, more %t", order, found.Lines, found.More)
			}
		}
	}
}
