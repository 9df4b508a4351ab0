//go:build unix

package search

import (
	"context"
	"github.com/helve-dev/helve/internal/regex"
	"go/build"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// benchTree is the sources of Go, or the tree that HELVE_SEARCH_TREE names.
func benchTree(b *testing.B) Options {
	dir := os.Getenv("HELVE_SEARCH_TREE")
	if dir == "" {
		dir = build.Default.GOROOT
	}
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		b.Skip("no tree to search: ", err)
	}
	return Options{Dir: dir, Exact: true, Hidden: true, Closed: true, Worktree: dir, Excludes: os.DevNull}
}

// BenchmarkKept searches a tree that is kept, without and with an index.
func BenchmarkKept(b *testing.B) {
	where := benchTree(b)
	for _, way := range []struct {
		name string
		opt  EngineOptions
	}{
		{"fresh", EngineOptions{}},
		{"tree", EngineOptions{Keep: true, Memory: -1}},
		{"index", EngineOptions{Keep: true}},
	} {
		e := New(way.opt)
		warm := func() {
			for range 3 {
				if _, err := e.Glob(context.Background(), Glob{Where: where, Limit: 1}); err != nil {
					b.Fatal(err)
				}
				if e.keeper != nil {
					e.keeper.work.Wait()
				}
			}
		}
		warm()
		for _, query := range []struct{ name, pattern string }{
			{"identifier", "ServeHTTP"},
			{"functions", `func \w+\(`},
			{"todo", "TODO|FIXME"},
			{"rare", "runtime_pollWait"},
			{"folded", "(?i)deprecated"},
			{"class", `[A-Z]{3,}_\d+`},
			{"absent", "zzqqxxnomatch"},
		} {
			re, err := regex.Compile(query.pattern, regex.Options{})
			if err != nil {
				b.Fatal(err)
			}
			b.Run(way.name+"/"+query.name, func(b *testing.B) {
				for b.Loop() {
					if _, err := e.Grep(context.Background(), Grep{Where: where, Pattern: re, Limit: 100}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		b.Run(way.name+"/glob", func(b *testing.B) {
			where := where
			where.Globs = []string{"**/*.go"}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := e.Glob(context.Background(), Glob{Where: where, Limit: 100}); err != nil {
					b.Fatal(err)
				}
			}
		})
		e.Close()
	}
}

// BenchmarkPlant makes a tree.
func BenchmarkPlant(b *testing.B) {
	where := benchTree(b)
	var before, after runtime.MemStats
	for b.Loop() {
		runtime.GC()
		runtime.ReadMemStats(&before)
		t, err := plant(context.Background(), where, true)
		if err != nil {
			b.Fatal(err)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(len(t.newest)), "files")
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(len(t.newest)), "heapB/file")
		t.close()
	}
}
