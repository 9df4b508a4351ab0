package search

import (
	"bytes"
	"go/build"
	"hash/maphash"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// binaries are the files of a tree that hold a NUL byte. How much of them
// ripgrep searches is not the same from run to run.
func binaries(t *testing.T, dir string) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	buf := make([]byte, 1<<20)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		for {
			n, err := io.ReadFull(f, buf)
			if bytes.IndexByte(buf[:n], 0) >= 0 {
				name, err := filepath.Rel(dir, path)
				found[filepath.ToSlash(name)] = true
				return err
			}
			if err == io.EOF || err == io.ErrUnexpectedEOF {
				return nil
			} else if err != nil {
				return err
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// sourceDir is Go's own source.
func sourceDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(filepath.Join(build.Default.GOROOT, "src"))
	if err != nil {
		t.Skipf("Go's source is not here: %v", err)
	}
	return dir
}

// TestVersusSource compares what is found in Go's source: every pattern, every
// line. With the race detector only some of the patterns are.
func TestVersusSource(t *testing.T) {
	if testing.Short() {
		t.Skip("takes too long for -short")
	}
	dir := sourceDir(t)
	binary := binaries(t, dir)
	all := engines(t)
	a := asked{Options: Options{Dir: dir, Exact: true, Hidden: true, Closed: true, Excludes: os.DevNull}, limit: 1000}
	ours, seed := once[map[string]foliage]{}, maphash.MakeSeed()
	isBinary := func(name string, _ foliage) bool { return binary[name] }
	rivals(t, func(t *testing.T, rg rival) {
		names := rg.names(t, a)
		if len(names) < 5000 {
			t.Fatalf("only %d files in %s", len(names), dir)
		}
		for how, e := range all {
			if d := differ(names, ourNames(t, e, a)); d != "" {
				t.Errorf("files, %s:\n%s", how, d)
			}
		}
		for i, p := range patternCases(t) {
			// All lines of all files say no more than those of the zoo do.
			if !p.reads(rg) || raceDetector && i%6 != 0 || slices.Contains([]string{"()", ".", "^", "^.*$", "[^x]+$", "a**", "e"}, p.text) {
				continue
			}
			a := a
			a.pattern = p.text
			own := ours.get(p.text, func() map[string]foliage { return ourLeaves(t, all["nothing kept"], a, seed) })
			theirs := rg.leaves(t, a, seed)
			maps.DeleteFunc(own, isBinary)
			maps.DeleteFunc(theirs, isBinary)
			if d := differLeaves(theirs, own); d != "" {
				t.Errorf("%q:\n%s", p.text, d)
			}
		}
	})
}

// TestVersusSourceKept compares answers from what is kept with those from
// nothing, on Go's source: nobody else is needed for that.
func TestVersusSourceKept(t *testing.T) {
	if testing.Short() {
		t.Skip("takes too long for -short")
	}
	all := engines(t)
	a := asked{Options: Options{Dir: sourceDir(t), Exact: true, Hidden: true, Closed: true, Excludes: os.DevNull}, limit: 1000}
	for _, pattern := range []string{`ServeHTTP`, `TODO|FIXME`, `(?i)deprecated`, `[A-Z]{3,}_\d+`, `^import \($`, `naïve|façade`, `runtime_pollWait`, `zzqqxxnomatch`} {
		a.pattern = pattern
		seed := maphash.MakeSeed()
		want := ourLeaves(t, all["nothing kept"], a, seed)
		for how, e := range all {
			if d := differLeaves(want, ourLeaves(t, e, a, seed)); d != "" {
				t.Errorf("%q, %s (for ripgrep read nothing kept):\n%s", pattern, how, d)
			}
		}
	}
}
