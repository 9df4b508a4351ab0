package search

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/helve-dev/helve/internal/leaktest"
	"github.com/helve-dev/helve/internal/regex"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func compile(t rapid.TB, pattern string) *regex.Regexp {
	t.Helper()
	re, err := regex.Compile(pattern, regex.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return re
}

// grep searches, which must work.
func grep(t rapid.TB, g Grep) *Found {
	t.Helper()
	if g.Where.Excludes == "" {
		g.Where.Excludes = os.DevNull
	}
	e := New(EngineOptions{})
	defer e.Close()
	return grepWith(t, e, g)
}

func grepWith(t rapid.TB, e *Engine, g Grep) *Found {
	t.Helper()
	found, err := e.Grep(context.Background(), g)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// print shows an answer: name:number:text, with a sign after what was cut.
func (f *Found) print() (out []string) {
	for _, file := range f.Files {
		for _, l := range file.Lines {
			cut := ""
			if l.Cut {
				cut = "..."
			}
			out = append(out, fmt.Sprintf("%s:%d:%s%s", file.Name, l.Number, l.Text, cut))
		}
	}
	return out
}

// naive is what a search has to come to: all files are read, sorted and cut.
type naive struct {
	g     Grep
	match func(line []byte) bool
}

func (n *naive) search(t rapid.TB) *Found {
	var files []File
	found := &Found{}
	for _, name := range collect(t, n.g.Where) {
		if n.g.Bar != nil && n.g.Bar.Shut(name) {
			found.Skipped.Barred++
			continue
		}
		full := filepath.Join(n.g.Where.Dir, name)
		info, err := os.Stat(full)
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(full)
		if err != nil {
			t.Fatal(err)
		}
		if lines := n.lines(text, &found.Skipped); len(lines) > 0 {
			files = append(files, File{name, info.ModTime(), lines})
		}
	}
	slices.SortFunc(files, func(a, b File) int {
		if c := b.Time.Compare(a.Time); c != 0 && n.g.Order == Newest {
			return c
		}
		return cmp.Compare(a.Name, b.Name)
	})
	for _, f := range files {
		if left := n.g.Limit - found.Lines; n.g.Limit > 0 && len(f.Lines) > left {
			f.Lines, found.More = f.Lines[:left], true
		}
		if len(f.Lines) > 0 {
			found.Files = append(found.Files, f)
			found.Lines += len(f.Lines)
		}
	}
	return found
}

// lines are the lines of a text that match.
func (n *naive) lines(text []byte, skipped *Skipped) (lines []MatchLine) {
	text, ok := bytes.CutPrefix(text, []byte("\xef\xbb\xbf"))
	if !ok && len(text) > 1 && (text[0] == 0xff && text[1] == 0xfe || text[0] == 0xfe && text[1] == 0xff) {
		text = fromWide(text)
	}
	part := func(at int) []byte { return text[:min(at, len(text))] }
	var matching []MatchLine
	split := func(text []byte) {
		matching = nil
		for i, l := range bytes.SplitAfter(text, []byte("\n")) {
			if len(l) == 0 {
				continue
			}
			l = bytes.TrimSuffix(l, []byte("\n"))
			if n.match(l) {
				max := n.g.LineMax
				cut := len(l) > max
				if cut {
					l = cutText(l, max)
				}
				matching = append(matching, MatchLine{i + 1, l, cut})
			}
		}
	}
	nul := bytes.IndexByte(text, 0)
	switch {
	case nul >= 0 && nul < block:
		if split(part(block)); len(matching) > 0 {
			skipped.Binary++
		}
		return nil
	case nul >= 0:
		text = part(nul / block * block)
		text = text[:bytes.LastIndexByte(text, '\n')+1]
	}
	split(text)
	if nul >= 0 && len(matching) > 0 {
		skipped.Binary++ // it is not shown to the end
	}
	return matching
}

func fromWide(text []byte) (out []byte) {
	var units []uint16
	rest := text[2:]
	for ; len(rest) > 1; rest = rest[2:] {
		if text[0] == 0xfe {
			units = append(units, uint16(rest[0])<<8|uint16(rest[1]))
		} else {
			units = append(units, uint16(rest[1])<<8|uint16(rest[0]))
		}
	}
	for _, r := range utf16.Decode(units) {
		out = utf8.AppendRune(out, r)
	}
	if len(rest) > 0 {
		out = utf8.AppendRune(out, utf8.RuneError)
	}
	return out
}

func toWide(text string, big bool) string {
	out := []byte{0xff, 0xfe}
	if big {
		out = []byte{0xfe, 0xff}
	}
	for _, u := range utf16.Encode([]rune(text)) {
		if big {
			out = append(out, byte(u>>8), byte(u))
		} else {
			out = append(out, byte(u), byte(u>>8))
		}
	}
	return string(out)
}

// someText is the contents of a file: lines of which some match, in several
// encodings, and now and then something that is not text.
func someText(t *rapid.T) string {
	line := rapid.SampledFrom([]string{"", "foo", "bar", "foo bar", "  foo\r", "été foo", "\xff\xfefoo", "😀 bar", "fo", strings.Repeat("x", 40) + "foo"})
	text := strings.Join(rapid.SliceOfN(line, 0, 30).Draw(t, "lines"), "\n")
	switch rapid.IntRange(0, 19).Draw(t, "kind") {
	case 0:
		return text + "\x00" + text
	case 1:
		return "\xef\xbb\xbf" + text
	case 2:
		return toWide(text, false)
	case 3:
		return toWide(text, true) + "x"
	case 4: // around the borders of blocks and of the window
		size := rapid.SampledFrom([]int{block, 2 * block, window, window + block}).Draw(t, "size") + rapid.IntRange(-9, 9).Draw(t, "more")
		filler := rapid.SampledFrom([]string{"x", "abc\n", strings.Repeat("y", 1000) + "\n"}).Draw(t, "filler")
		long := strings.Repeat(filler, size/len(filler)+1)[:size]
		if rapid.IntRange(0, 3).Draw(t, "NUL") == 0 {
			return text + long + "\x00" + text
		}
		return text + long + text
	case 5:
		long := text + strings.Repeat("é\n", rapid.IntRange(block/6-20, block/6+20).Draw(t, "wide")) + text
		return toWide(long, rapid.Bool().Draw(t, "big"))
	case 6:
		return text + "\n"
	}
	return text
}

// drawWhere grows a random tree in a new folder, to be searched by random
// options.
func drawWhere(t *rapid.T, base string) Options {
	top, err := os.MkdirTemp(base, "")
	if err != nil {
		t.Fatal(err)
	}
	growTree(t, top)
	return Options{
		Dir: top, Worktree: top, Excludes: os.DevNull,
		Hidden: rapid.Bool().Draw(t, "hidden"),
		Closed: rapid.Bool().Draw(t, "closed"),
		Globs:  rapid.SliceOfN(line(true), 0, 2).Draw(t, "globs"),
	}
}

// TestGrepAgainstNaive compares answers with those of a search that reads
// all, over random trees, orders, limits and bars.
func TestGrepAgainstNaive(t *testing.T) {
	base := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		where := drawWhere(rt, base)
		defer func() { _ = os.RemoveAll(where.Dir) }()
		g := Grep{
			Where:   where,
			Limit:   rapid.SampledFrom([]int{0, 1, 3, 30, 100}).Draw(rt, "limit"),
			Order:   rapid.SampledFrom([]Order{Newest, ByName, First}).Draw(rt, "order"),
			LineMax: rapid.SampledFrom([]int{1, 5, 8 << 10}).Draw(rt, "line"),
		}
		if _, err := parseGlobs(g.Where.Globs); err != nil {
			rt.Skip(err)
		}
		if rapid.Bool().Draw(rt, "bar") {
			g.Bar = &Exclusion{Shut: func(name string) bool { return strings.Contains(name, "b") }}
		}
		fillTree(rt, where.Dir, g.Where)
		pattern := rapid.SampledFrom([]string{"foo", "^foo", "bar$", "o b", "^$", "nothing", "fo+|é"}).Draw(rt, "pattern")
		g.Pattern = compile(rt, pattern)
		n := &naive{g: g, match: regexp.MustCompile(pattern).Match}
		e := New(EngineOptions{Workers: rapid.IntRange(0, 3).Draw(rt, "workers")})
		defer e.Close()
		e.room = rapid.IntRange(0, 3).Draw(rt, "room")
		want, got := n.search(rt), grepWith(rt, e, g)
		if g.Order == First {
			compareAny(rt, n, want, got)
			return
		}
		want.Skipped.Ignored, want.Skipped.Hidden = got.Skipped.Ignored, got.Skipped.Hidden
		if g.Limit > 0 && got.Skipped.Binary < want.Skipped.Binary { // not all were read
			want.Skipped.Binary = got.Skipped.Binary
		}
		if diff := gocmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			rt.Fatalf("globs %q, pattern %q (-want +got):\n%s", g.Where.Globs, pattern, diff)
		}
	})
}

// fillTree gives the files of a tree contents and times, some of them equal.
func fillTree(t *rapid.T, top string, opt Options) {
	opt.Ignored, opt.Hidden, opt.Globs = true, true, nil
	for _, name := range collect(t, opt) {
		full := filepath.Join(top, name)
		if !strings.HasSuffix(name, "ignore") && !strings.HasSuffix(name, "exclude") {
			writeFile(t, full, someText(t))
		}
		when := time.Unix(1e9+int64(rapid.IntRange(0, 9).Draw(t, "time")), 5)
		if err := os.Chtimes(full, when, when); err != nil {
			t.Fatal(err)
		}
	}
}

// compareAny checks an answer whose order is not fixed: as many lines as are
// to be, each of them one that matches.
func compareAny(t rapid.TB, n *naive, want, got *Found) {
	limit := n.g.Limit
	n.g.Limit, n.g.Order = 0, ByName
	all := map[string]bool{}
	for _, l := range n.search(t).print() {
		all[l] = true
	}
	if want.Lines != got.Lines || want.More != got.More {
		t.Fatalf("%d lines of %d, more %t; not %d, %t", got.Lines, limit, got.More, want.Lines, want.More)
	}
	seen := map[string]bool{}
	for _, l := range got.print() {
		if !all[l] || seen[l] {
			t.Fatalf("%q should not be there", l)
		}
		seen[l] = true
	}
}
