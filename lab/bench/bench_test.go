package main

import (
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/helve-dev/helve/lab/internal/proof"
)

const benchLines = `goos: linux
BenchmarkStart/version-7         	     100	   3512345 ns/op	         3.500 median-ms
BenchmarkStart/version-7         	     100	   3612345 ns/op	         3.700 median-ms
BenchmarkStart/version-7         	     100	   3712345 ns/op	         3.600 median-ms
BenchmarkCommit/sync=true-7      	     100	    640000 ns/op
BenchmarkCommit/plain/sync=true-7	     100	    320000 ns/op
BenchmarkDecision/plain/1K-7     	     100	    700000 ns/op	       690.0 p50-µs
BenchmarkDecision/quote/1K-7     	     100	    900000 ns/op	       900.0 p50-µs
BenchmarkEdit/10240KB-7          	      10	 283000000 ns/op	 98000000 B/op	     100 allocs/op
BenchmarkOutput/taken-7          	       3	1000000000 ns/op	 542.50 MB/s
BenchmarkFiles-7                 	      60	  14.0 ours-%
PASS
`

func TestFiguresOfBenchmarks(t *testing.T) {
	procs := "-" + strconv.Itoa(runtime.GOMAXPROCS(0)) + "$1"
	all, err := readBench(regexp.MustCompile(`-7( *\t)`).ReplaceAll([]byte(benchLines), []byte(procs)))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		take
		want proof.Figure
	}{
		{take{Unit: "ms", From: "Start/version", Metric: "median-ms"}, proof.Figure{Value: 3.6}},
		{take{Unit: "ms", From: "Commit/sync=true", Peer: "plainly", PeerFrom: "Commit/plain/sync=true"}, proof.Figure{Value: 0.64, Peer: "plainly", PeerValue: 0.32}},
		{take{Unit: "ms", From: "Decision/*/1K", Metric: "p50-µs"}, proof.Figure{Value: 0.9}},
		{take{Unit: "MB", From: "Edit/10240KB", Metric: "B/op"}, proof.Figure{Value: 98}},
		{take{Unit: "%", From: "Files", Metric: "ours-%"}, proof.Figure{Value: 14}},
		{take{Unit: "MB a second", From: "Output/taken", Metric: "MB/s"}, proof.Figure{Value: 542.5}},
	} {
		c.want.Unit = c.Unit
		if got, err := all.figure(c.take); err != nil || got != c.want {
			t.Errorf("%+v:\n%+v\n%+v, %v", c.take, got, c.want, err)
		}
	}
	for _, bad := range []take{
		{Unit: "ms", From: "Nobody"}, {Unit: "ms", From: "Start/version", Metric: "nothing"}, {Unit: "MiB", From: "Start/version"},
		{Unit: "ms", From: "Start/version", Peer: "x", PeerFrom: "Nobody"},
	} {
		if got, err := all.figure(bad); err == nil {
			t.Errorf("%+v makes %+v", bad, got)
		}
	}
	text := []byte("x_test.go:1: after 100000 handshakes: heap 2236 KiB\n--- PASS: TestA/one (0.1s)\n--- PASS: TestA/two (0.1s)\n")
	if f, err := fromLine(text, take{Unit: "KiB", Line: `heap (\d+) KiB`}); err != nil || f.Value != 2236 {
		t.Error(f, err)
	}
	if f, err := fromLine(text, take{Line: "PASS: TestA/", Count: true}); err != nil || f.Value != 2 {
		t.Error(f, err)
	}
	if f, err := fromLine(text, take{Line: `heaps (\d+)`}); err == nil {
		t.Error(f)
	}
}

func TestWords(t *testing.T) {
	for _, c := range []struct {
		value float64
		unit  string
		want  string
	}{
		{3.512, "ms", "3.51 ms"}, {17000, "ms", "17 s"}, {0.0451, "ms", "45.1 µs"}, {0.64, "ms", "0.64 ms"}, {84, "ns", "84 ns"}, {0, "ms", "0 ms"},
		{120000, "", "120,000"}, {1234567, "", "1,234,567"}, {1041.4, "MiB", "1,041 MiB"}, {5, "%", "5 %"}, {-3, "", "-3"}, {-123456, "", "-123,456"}, {0.0123, "times", "0.012 times"},
	} {
		if got := words(c.value, c.unit); got != c.want {
			t.Errorf("%v %s: %s, not %s", c.value, c.unit, got, c.want)
		}
	}
}

func sampleBook() *book {
	return &book{Parts: []entry{
		{Name: "two", Date: "2026-01-02 03:04", Machine: "a machine", Load: [2]string{"0.1", "1.2"}, Seconds: 61, Note: "A note.", Figures: []proof.Figure{
			{ID: "two.fast", Value: 2, Unit: "ms", Peer: "peer 1.2", PeerValue: 8, Note: "a < b"}, {ID: "two.lone", Value: 3, Unit: "ms"},
		}},
		{Name: "one", Date: "2026-01-02", Machine: "another", Failed: "not\nall", Figures: []proof.Figure{{ID: "one.slow", Value: 9, Unit: "ms", Peer: "peer 1.2", PeerValue: 3}}},
	}}
}

func TestBookKeeps(t *testing.T) {
	path := filepath.Join(t.TempDir(), "b.json")
	if err := sampleBook().write(path); err != nil {
		t.Fatal(err)
	}
	got, err := readBook(path)
	if err != nil || !reflect.DeepEqual(got, sampleBook()) {
		t.Fatalf("%+v, %v", got, err)
	}
	if empty, err := readBook(path + "x"); err != nil || len(empty.Parts) != 0 {
		t.Error(empty, err)
	}
	got.put(entry{Name: "one", Date: "now"}, &plan{Parts: []part{{Name: "one"}, {Name: "two"}, {Name: "three"}}})
	if len(got.Parts) != 2 || got.Parts[0].Date != "now" || got.Parts[1].Name != "two" || len(got.Parts[1].Figures) != 2 {
		t.Errorf("%+v", got)
	}
}

func TestPage(t *testing.T) {
	limit := func(x float64) *float64 { return &x }
	s := &page{book: sampleBook(), used: map[string]bool{}, plan: &plan{
		Parts: []part{{Name: "one"}, {Name: "two"}, {Name: "three"}},
		Wanted: []wanted{
			{ID: "two.fast", What: "fast", Table: "x", Judge: "ahead", Least: limit(3), From: "us"},
			{ID: "one.slow", What: "slow", Table: "x", Most: limit(5), From: "us", Short: "It is slow."},
			{ID: "one.slow", What: "share", Table: "x", Most: limit(3), Judge: "share", From: "us"},
			{ID: "three.none", What: "none", Table: "x", Unit: "s", Most: limit(2), From: "us"},
		},
	}}
	table, err := s.table("x")
	want := "| what | helve | beside | times ahead | target |  | note |\n|---|---|---|---|---|---|---|\n" +
		"| fast | 2 ms | 8 ms, peer 1.2 | 4.0 | at least 3 times ahead | met | a < b |\n" +
		"| slow | 9 ms | 3 ms, peer 1.2 | 0.33 | at most 5 ms | **short** |  |\n" +
		"| share | 9 ms | 3 ms, peer 1.2 | 0.33 | at most 3 times the other's | met |  |\n" +
		"| none | not measured | – | – | at most 2 s |  |  |\n\n- **Short:** slow. It is slow.\n"
	if err != nil || table != want {
		t.Errorf("%s\n%s, %v", table, want, err)
	}
	if _, err := s.table("y"); err == nil {
		t.Error("there is a table that nobody wants")
	}
	for name, want := range map[string]string{
		"two":   "measured 2026-01-02 03:04, in 61 s, load 0.1 before and 1.2 after. A note.",
		"one":   "measured 2026-01-02 on another. **Something did not hold:** not all",
		"three": "not measured yet.",
	} {
		if line, err := s.part(name); err != nil || line != "`make bench PART="+name+"`: "+want {
			t.Errorf("%s, %v", line, err)
		}
	}
	if got := s.counts(); got != "- Us: 2 of 4 met, 1 short, 1 not measured yet." {
		t.Error(got)
	}
}

// What is checked in is what the data makes: every figure of it stands on the
// page, and one that misses its target says why. Every figure that is wanted has
// its place.
func TestCheckedIn(t *testing.T) {
	p, err := loadPlan()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join("..", "..", docs)
	b, err := readBook(filepath.Join(dir, bookFile))
	if err != nil {
		t.Fatal(err)
	}
	text, used, err := render(p, b)
	if err != nil {
		t.Fatal(err)
	}
	old, err := os.ReadFile(filepath.Join(dir, pageFile))
	if err != nil || string(old) != text {
		t.Errorf("docs/%s is not what its data makes: run make bench-page: %v", pageFile, err)
	}
	for _, e := range b.Parts {
		for _, f := range e.Figures {
			if w := p.wantedOf(f.ID); !used[f.ID] || w.Part != "" && w.Part != e.Name || w.Unit != "" && w.Unit != f.Unit {
				t.Errorf("%s in %q was measured by %s, and is wanted otherwise or not at all: %+v", f.ID, f.Unit, e.Name, w)
			}
		}
	}
	for _, w := range p.Wanted {
		if f := b.find(w.ID); w.verdict(f) == short && w.Short == "" {
			t.Errorf("%s misses its target, and wanted.json does not say why", w.ID)
		}
		if !used[w.ID] || w.What == "" || w.Table != "" && !strings.Contains(text, "| "+w.What+" |") || w.targeted() && strings.HasPrefix(w.What, "the same") {
			t.Errorf("%s (%q) is not on the page, or cannot be understood by itself", w.ID, w.What)
		}
	}
	if at := regexp.MustCompile(`[^\n]\n#|\{\{|\$\{|<no value>|%!`).FindString(text); at != "" {
		t.Errorf("the page holds %q", at)
	}
}

// What the plan names is there, and each part can be measured.
func TestPlan(t *testing.T) {
	p, err := loadPlan()
	if err != nil {
		t.Fatal(err)
	}
	parts := map[string]bool{}
	for _, part := range p.Parts {
		if parts[part.Name] || (measurements()[part.Name] == nil) == (len(part.Steps) == 0) {
			t.Errorf("part %s is there twice, or has neither steps nor a function, or both", part.Name)
		}
		parts[part.Name] = true
		for _, s := range part.Steps {
			if info, err := os.Stat(filepath.Join("..", "..", s.Program+s.Package)); err != nil || !info.IsDir() || s.Program == "" && len(s.Takes) == 0 {
				t.Errorf("part %s: there is no package %s%s, or nothing is taken of it", part.Name, s.Program, s.Package)
			}
			if s.Program == "" && !hasFunction(t, s) {
				t.Errorf("part %s: %s has no %s%s", part.Name, s.Package, s.Bench, s.Test)
			}
			for _, take := range s.Takes {
				if _, err := regexp.Compile(take.Line); err != nil {
					t.Errorf("%s: %v", take.ID, err)
				}
			}
			for _, m := range regexp.MustCompile(`\$\{([a-z0-9-]+)`).FindAllStringSubmatch(strings.Join(s.Args, " "), -1) {
				if m[1] != "helve" && !slices.Contains(part.Needs, m[1]) {
					t.Errorf("part %s uses %s and does not need it", part.Name, m[1])
				}
			}
		}
		for _, need := range part.Needs {
			peer, ok := p.Peers[need]
			if _, err := os.Stat(filepath.Join("..", "..", strings.Join(peer.Script[:min(len(peer.Script), 1)], ""))); err != nil || !ok {
				t.Errorf("part %s needs %s, and nobody says how that comes: %v", part.Name, need, err)
			}
		}
	}
	for _, w := range p.Wanted {
		if !parts[w.Part] || w.targeted() && w.From == "" {
			t.Errorf("the figure %s is of a part %q that there is not, or has a target of nobody", w.ID, w.Part)
		}
	}
}

// hasFunction reports whether a package has a benchmark or test that a step means.
func hasFunction(t *testing.T, s step) bool {
	t.Helper()
	name, _, _ := strings.Cut(s.Bench, "/")
	like := regexp.MustCompile(name + s.Test)
	files, err := filepath.Glob(filepath.Join("..", "..", s.Package, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(files, func(file string) bool {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found := regexp.MustCompile(`(?m)^func ((?:Benchmark|Test)\w+)\(`).FindAllSubmatch(text, -1)
		return slices.ContainsFunc(found, func(m [][]byte) bool { return like.Match(m[1]) })
	})
}

func TestChoose(t *testing.T) {
	p := &plan{Parts: []part{{Name: "one"}, {Name: "hold-a"}, {Name: "hold-b"}, {Name: "two"}}}
	for _, c := range [][2]string{
		{"", "one hold-a hold-b two"}, {"two one", "one two"}, {"hold", "hold-a hold-b"}, {"hold-b", "hold-b"}, {"three", "none"},
	} {
		var names []string
		parts, err := choose(p, strings.Fields(c[0]))
		for _, part := range parts {
			names = append(names, part.Name)
		}
		if got := strings.Join(names, " "); got != c[1] && (err == nil || c[1] != "none") {
			t.Errorf("%q chooses %q, not %q: %v", c[0], got, c[1], err)
		}
	}
	if err := command(t.Context(), []string{"run", "--quick", "start"}, io.Discard, io.Discard); err == nil {
		t.Error("figures of a quick run go onto the page")
	}
}
