package search

import (
	"bytes"
	"go/build"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// FuzzText searches a file of any bytes, after some that bring it to where
// blocks and windows end, and compares with a plain reading.
func FuzzText(f *testing.F) {
	f.Add([]byte("foo\nbar\n\nfoo"), 0, true)
	f.Add([]byte("\xef\xbb\xbffoo\n"), 0, false)
	f.Add([]byte("\xff\xfef\x00o\x00o\x00\n\x00\xd8"), 0, false)
	f.Add([]byte("foo\n\x00foo\n"), block-6, true)
	f.Add([]byte("foo\nfoo\x00"), 2*block-5, true)
	f.Add([]byte("foo\nfoo"), window-2, false)
	dir := f.TempDir()
	open, err := openFolder(dir)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(open.close)
	var stop atomic.Bool
	re := compile(f, "fo+|^$")
	f.Fuzz(func(t *testing.T, text []byte, pad int, lines bool) {
		if pad < 0 || pad > window+2*block {
			return
		}
		filler := "x"
		if lines {
			filler = "some words\n"
		}
		if pad > 0 {
			text = append([]byte(strings.Repeat(filler, pad/len(filler)+1)[:pad]), text...)
		}
		if err := os.WriteFile(filepath.Join(dir, "file"), text, 0o600); err != nil {
			t.Fatal(err)
		}
		s := &searcher{buffers: &buffers{}, match: re.Matcher(&stop), stop: &stop, keep: 100}
		file, st, err := open.openFile("file")
		if err != nil {
			t.Fatal(err)
		}
		defer file.close()
		got, binary, err := s.search(file, st.size)
		if err != nil {
			t.Fatal(err)
		}
		n := &naive{g: Grep{LineMax: 100}, match: func(line []byte) bool { return len(line) == 0 || bytes.Contains(line, []byte("fo")) }}
		var skipped Skipped
		want := n.lines(text, &skipped)
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" || binary != (skipped.Binary > 0) {
			t.Errorf("binary %t (-want +got):\n%s", binary, diff)
		}
	})
}

func TestCutText(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text string
		size int
		want string
	}{
		{"abcdef", 3, "abc"},
		{"abé", 3, "ab"},
		{"abéc", 4, "abé"},
		{"a😀b", 4, "a"},
		{"a😀b", 5, "a😀"},
		{"a\xf0\x9fbcd", 3, "a\xf0\x9f"},
		{"\x80\x80\x80\x80\x80\x80", 5, "\x80\x80\x80\x80\x80"},
		{"éé", 1, ""},
	} {
		if got := string(cutText([]byte(test.text), test.size)); got != test.want {
			t.Errorf("%q at %d: %q", test.text, test.size, got)
		}
	}
}

// BenchmarkGrep searches Go's own source, of which nothing is known.
func BenchmarkGrep(b *testing.B) {
	top := filepath.Join(build.Default.GOROOT, "src")
	if _, err := os.Stat(top); err != nil {
		b.Skip("Go's source is not here")
	}
	for _, test := range []struct {
		name, pattern string
		order         Order
	}{
		{"none", "zzqqxxnomatch", Newest},
		{"rare", "runtime_pollWait", Newest},
		{"identifier", "ServeHTTP", Newest},
		{"frequent", `func \w+\(`, Newest},
		{"class", `[A-Z]{3,}_\d+`, Newest},
		{"first", `func \w+\(`, First},
	} {
		b.Run(test.name, func(b *testing.B) {
			e := New(EngineOptions{})
			defer e.Close()
			re := compile(b, test.pattern)
			b.ReportAllocs()
			for b.Loop() {
				g := Grep{Where: Options{Dir: top, Worktree: top, Hidden: true, Closed: true}, Pattern: re, Limit: 100, Order: test.order}
				if _, err := e.Grep(b.Context(), g); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkGlob searches Go's own source for names.
func BenchmarkGlob(b *testing.B) {
	top := filepath.Join(build.Default.GOROOT, "src")
	if _, err := os.Stat(top); err != nil {
		b.Skip("Go's source is not here")
	}
	e := New(EngineOptions{})
	defer e.Close()
	b.ReportAllocs()
	for b.Loop() {
		opt := Options{Dir: top, Worktree: top, Hidden: true, Closed: true, Globs: []string{"**/*_test.go"}}
		if _, err := e.Glob(b.Context(), Glob{Where: opt, Limit: 100}); err != nil {
			b.Fatal(err)
		}
	}
}
