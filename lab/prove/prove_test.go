package main

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

const root = "../.."

func load(t *testing.T) *table {
	t.Helper()
	all, err := readTable()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// All that was promised is there, and nothing else counts as a
// promise.
func TestAllPromises(t *testing.T) {
	var want, got []string
	for letter, last := range map[string]int{"P": 19, "D": 20, "R": 8} {
		for i := range last {
			want = append(want, letter+strconv.Itoa(i+1))
		}
	}
	for _, c := range load(t).Chapters {
		if c.Counts {
			for _, r := range c.Rows {
				got = append(got, r.ID)
				if len(r.Tests) == 0 {
					t.Errorf("%s has no test", r.ID)
				}
				if len(r.Kept) == 0 {
					t.Errorf("%s does not say where it is kept", r.ID)
				}
			}
		}
	}
	if diff := cmp.Diff(want, got, cmpopts.SortSlices(strings.Compare)); diff != "" {
		t.Error(diff)
	}
}

// Every name in the table is that of something that is there: a test that is
// renamed or removed shows here.
func TestNamesAreThere(t *testing.T) {
	all := load(t)
	have, err := findTests(root, all.packages())
	if err != nil {
		t.Fatal(err)
	}
	for r := range all.rows {
		for _, k := range r.Tests {
			for _, pattern := range k.Tests {
				if len(have.named(k.Package, pattern)) == 0 {
					t.Errorf("%s: there is no test %s in %s", r.ID, pattern, k.Package)
				}
			}
		}
		for _, name := range slices.Concat(r.Kept, r.Data) {
			if _, err := os.Stat(filepath.Join(root, name)); err != nil {
				t.Errorf("%s: %v", r.ID, err)
			}
		}
	}
}

// No fuzz target of the repository is left out.
func TestAllFuzzTargets(t *testing.T) {
	listed := map[string]bool{}
	for _, pkg := range load(t).some([]string{"fuzz"}).packages() {
		listed[pkg] = true
	}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git") {
			return fs.SkipDir
		}
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		names, err := functions(path)
		pkg, _ := filepath.Rel(root, filepath.Dir(path))
		for _, name := range names {
			if strings.HasPrefix(name, "Fuzz") && !listed[filepath.ToSlash(pkg)] {
				t.Errorf("%s of %s is in no row", name, pkg)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// The page is what the last run makes of it.
func TestPageIsCurrent(t *testing.T) {
	all := load(t)
	r, err := readRecord(filepath.Join(root, recordFile))
	if err != nil {
		t.Fatal(err)
	}
	have, err := findTests(root, all.packages())
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, pageFile))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(page(all, r, have), string(text)); diff != "" {
		t.Errorf("docs/promises.md is not what lab/prove makes of docs/promises.json; make prove-page\n%.2000s", diff)
	}
	for _, link := range regexp.MustCompile(`\]\((\.\./)?([^)#]+)\)`).FindAllStringSubmatch(string(text), -1) {
		name := link[2]
		if link[1] == "" {
			name = "docs/" + name
		}
		if _, err := os.Stat(filepath.Join(root, name)); err != nil {
			t.Errorf("a link leads nowhere: %v", err)
		}
	}
	for _, word := range []string{"/tmp/", "/root/", "/home/", "/work/"} {
		if strings.Contains(string(text), word) {
			t.Errorf("the page has a path of the machine in it: %s", word)
		}
	}
}

// A run of tests as go test tells it: parts, parts with slashes in their names,
// skips, a failure and one that did not end.
const told = `{"Action":"start","Package":"p"}
{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"run","Package":"p","Test":"TestA/one"}
{"Action":"output","Package":"p","Test":"TestA/one","Output":"    a_test.go:7: 12 lines  are odd\n"}
{"Action":"pass","Package":"p","Test":"TestA/one","Elapsed":0.1}
{"Action":"run","Package":"p","Test":"TestA/two/x=1"}
{"Action":"output","Package":"p","Test":"TestA/two/x=1","Output":"    a_test.go:9: there is no wall\n"}
{"Action":"skip","Package":"p","Test":"TestA/two/x=1","Elapsed":0}
{"Action":"pass","Package":"p","Test":"TestA","Elapsed":0.24}
{"Action":"run","Package":"p","Test":"TestB"}
{"Action":"output","Package":"p","Test":"TestB","Output":"    b_test.go:1: not here\n"}
{"Action":"skip","Package":"p","Test":"TestB","Elapsed":0}
{"Action":"run","Package":"p","Test":"TestC"}
{"Action":"fail","Package":"p","Test":"TestC","Elapsed":1}
{"Action":"run","Package":"p","Test":"TestD"}
a word of the compiler
{"Action":"fail","Package":"p","Elapsed":2}
`

func TestFindings(t *testing.T) {
	o, other := readEvents(strings.NewReader(told))
	if diff := cmp.Diff([]string{"a word of the compiler"}, other); diff != "" {
		t.Error(diff)
	}
	wall, here := leftOut{Why: "there is no wall", Cases: 1}, leftOut{Why: "not here", Whole: []string{"TestB"}, Cases: 1}
	for _, c := range []struct {
		tests string
		want  finding
	}{
		{"TestA", finding{Result: passed, Cases: 1, Seconds: 0.2, Skipped: []leftOut{wall}, Says: []string{"12 lines are odd"}}},
		{"TestA/^one$", finding{Result: passed, Cases: 1, Seconds: 0.1, Says: []string{"12 lines are odd"}}},
		{"TestA/two", finding{Result: skipped, Skipped: []leftOut{wall}, Says: []string{"12 lines are odd"}}},
		{"TestA/three", finding{Result: failed, Failed: []string{"TestA/three (there is no such test)"}, Says: []string{"12 lines are odd"}}},
		{"TestB", finding{Result: skipped, Skipped: []leftOut{here}}},
		{"TestA TestB", finding{Result: passed, Cases: 1, Seconds: 0.2, Skipped: []leftOut{here, wall}, Says: []string{"12 lines are odd"}}},
		{"TestC", finding{Result: failed, Seconds: 1, Failed: []string{"TestC"}}},
		{"TestD", finding{Result: failed, Failed: []string{"TestD (it did not end)"}}},
		{"TestE", finding{Result: failed, Failed: []string{"TestE (there is no such test)"}}},
	} {
		c.want.Package, c.want.Tests = "p", strings.Fields(c.tests)
		if diff := cmp.Diff(c.want, o.find(check{"p", c.want.Tests}, "lines .* odd")); diff != "" {
			t.Errorf("%s: %s", c.tests, diff)
		}
	}
	if tests, cases := o.total(); tests != 4 || cases != 1 {
		t.Errorf("%d tests and %d cases", tests, cases)
	}
}

// What only the package fails at, as a process that was left, fails all of it.
func TestPackageFails(t *testing.T) {
	o, _ := readEvents(strings.NewReader(`{"Action":"run","Test":"TestA"}
{"Action":"pass","Test":"TestA"}
{"Action":"fail"}
`))
	if f := o.find(check{"p", []string{"TestA"}}, ""); f.Result != failed {
		t.Errorf("%+v", f)
	}
	o, _ = readEvents(strings.NewReader(`{"Action":"fail"}`))
	if f := o.find(check{"p", []string{"TestA"}}, ""); f.Result != failed || !strings.Contains(f.Failed[0], "could not be built") {
		t.Errorf("%+v", f)
	}
}

// The words of the page are true: what failed, was skipped, was not run or has
// no test is said to be so, also where the table has changed since the run.
func TestWords(t *testing.T) {
	one := check{"p", []string{"TestA"}}
	whole := []leftOut{{Why: "no|wall", Whole: []string{"TestA"}, Cases: 1}}
	of := func(result string, left []leftOut) finding {
		return finding{Package: "p", Tests: one.Tests, Result: result, Cases: 2, Skipped: left}
	}
	for _, c := range []struct {
		name     string
		tests    []check
		findings []finding
		word     string
		cell     string
	}{
		{"passed", []check{one}, []finding{of(passed, nil)}, passed, "passed; 2 cases, 0 s"},
		{"a part", []check{one}, []finding{of(passed, []leftOut{{Why: "x", Cases: 3}})}, passed, "passed; 2 cases, 0 s, 3 skipped"},
		{"some", []check{one, one}, []finding{of(passed, nil), of(skipped, whole)}, partly, "**passed but for tests that were skipped**; 4 cases, 0 s, 1 skipped<br>`TestA` skipped: no\\|wall"},
		{"skipped", []check{one}, []finding{of(skipped, whole)}, skipped, "**skipped**; 2 cases, 0 s, 1 skipped<br>`TestA` skipped: no\\|wall"},
		{"failed", []check{one, one}, []finding{of(passed, nil), of(failed, nil)}, failed, "**failed**; 4 cases, 0 s"},
		{"not run", []check{one}, nil, "not run", "**not run**"},
		{"changed since", []check{{"p", []string{"TestB"}}}, []finding{of(passed, nil)}, "not run", "**not run**"},
		{"no test", nil, nil, "no test", "**no test**"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &record{Rows: map[string][]finding{"X": c.findings}}
			line := row{ID: "X", Promise: "It holds.", Tests: c.tests}
			if got := r.word(line); got != c.word {
				t.Errorf("got %q", got)
			}
			if diff := cmp.Diff(c.cell, r.cell(line)); diff != "" {
				t.Error(diff)
			}
			all := &table{Chapters: []chapter{{Title: "T", Counts: true, Rows: []row{{ID: "X", Promise: "It holds.", Tests: c.tests}}}}}
			if got := r.summary(all); !strings.Contains(got, "1 promises: 1 "+c.word+".") {
				t.Errorf("the summary is %s", got)
			}
			if bad := r.bad(); (bad != nil) != (c.word == failed) {
				t.Errorf("bad: %v", bad)
			}
		})
	}
}

// What go test is given is each test once, without the parts.
func TestPattern(t *testing.T) {
	all := &table{Chapters: []chapter{{Rows: []row{
		{ID: "A", Tests: []check{{"p", []string{"TestB", "TestA/x"}}, {"q", []string{"TestC"}}}},
		{ID: "B", Tests: []check{{"p", []string{"TestA/y"}}, {"new", []string{"TestD"}}}},
	}}}}
	if got := all.pattern("p"); got != "^(TestA|TestB)$" {
		t.Errorf("got %s", got)
	}
	if got := all.some([]string{"A"}).packages(); !slices.Equal(got, []string{"p", "q"}) {
		t.Errorf("got %q", got)
	}
}

// Real tests, run by the real command: some of this package.
func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("starts go test")
	}
	o, err := runTests(t.Context(), root, "lab/prove", "^TestPattern$", os.Environ(), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if f := o.find(check{"lab/prove", []string{"TestPattern"}}, ""); f.Result != passed || f.Cases != 1 {
		t.Errorf("%+v", f)
	}
	if f := o.find(check{"lab/prove", []string{"TestWords"}}, ""); f.Result != failed {
		t.Errorf("a test that was not run: %+v", f)
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{{}, {"dance"}, {"run", "now"}, {"render", "--only", "D1"}} {
		if err := run(t.Context(), args, io.Discard, io.Discard); err == nil {
			t.Errorf("%q was taken", args)
		}
	}
}
