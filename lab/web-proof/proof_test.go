package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSamples(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.txtar"), "words\n-- one.html --\n$[repeat 3]<b>$[end]x$[hex 0a]\n-- one.md --\nx\n-- two.html --\n<p>y\n")
	got, err := samples(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := []sample{{name: "a/one", html: "<b><b><b>x\n\n"}, {name: "a/two", html: "<p>y\n"}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(sample{})); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
	for _, bad := range []string{"$[repeat x]a$[end]", "$[repeat 2]a", "$[hex zz]", "$[what 1]", "$[repeat 2]$[hex z]$[end]"} {
		if _, err := expand(bad); err == nil {
			t.Errorf("%s: no error", bad)
		}
	}
	if _, err := samples(t.TempDir()); err == nil {
		t.Error("an empty folder: no error")
	}
}

func TestRecordings(t *testing.T) {
	file := filepath.Join(t.TempDir(), "r.json")
	page := `"http":[{"text":"<b>x</b>","headers":{"Content-Type":"text/html; charset=utf-8"}}]`
	write(t, file, `[
		{"name":"a",`+page+`,"expected":{"calls":[{"status":"completed","input":{"format":"markdown"},"output":"**x**"}]}},
		{"name":"text",`+page+`,"expected":{"calls":[{"status":"completed","input":{"format":"text"},"output":"x"}]}},
		{"name":"failed",`+page+`,"expected":{"calls":[{"status":"error","input":{"format":"markdown"}}]}},
		{"name":"long",`+page+`,"expected":{"calls":[{"status":"completed","input":{"format":"markdown"},"output":{"sha":"0"}}]}},
		{"name":"none","http":[],"expected":{"calls":[]}}]`)
	got, err := recordings(file)
	if err != nil {
		t.Fatal(err)
	}
	want := []sample{{name: "recorded/a", html: "<b>x</b>", recorded: "**x**"}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(sample{})); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

// TestComparison compares a page with what another converter could have made
// of it: what is the same counts, what is known is not told, the rest is.
func TestComparison(t *testing.T) {
	known, err := readKnown("# a comment\n\na/* link because\nb/x * never seen\n")
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	c := &comparison{out: &out, counts: map[string]*count{}, known: known}
	html := `<h1>T</h1><p><a href="/ours">l</a><img src="i.png" alt="i"></p><table><tr><td>A</td><td>B</td></tr></table>`
	theirs := made{Markdown: "# T\n\n[l](/theirs)", Cells: []string{"A", "B", "C"}}
	if err := c.page(t.Context(), sample{name: "a/p", html: html}, theirs); err != nil {
		t.Fatal(err)
	}
	if err := c.page(t.Context(), sample{name: "a/q", html: "x"}, made{Error: "too deep"}); err != nil {
		t.Fatal(err)
	}
	want := map[string]*count{
		"heading": {theirs: 1, ours: 1, same: 1},
		"link":    {theirs: 1, ours: 1, known: 2},
		"image":   {ours: 1, open: 1},
		"cell":    {theirs: 3, ours: 2, same: 2, open: 1},
	}
	if diff := cmp.Diff(want, c.counts, cmp.AllowUnexported(count{})); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
	if err := c.report(2); err == nil {
		t.Error("unexplained differences are no error")
	}
	for _, part := range []string{"only helve image", "only turndown cell: \"C\"", "turndown failed: too deep", "seen no more: b/x"} {
		if !strings.Contains(out.String(), part) {
			t.Errorf("the report lacks %q:\n%s", part, &out)
		}
	}
	if _, err := readKnown("a link\n"); err == nil {
		t.Error("an exception without a reason is no error")
	}
}

func TestKnown(t *testing.T) {
	known, err := readKnown(knownText)
	if err != nil || len(known) == 0 {
		t.Errorf("%d known differences: %v", len(known), err)
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{nil, {"structure"}, {"what", t.TempDir()}, {"structure", t.TempDir(), "--pages", t.TempDir()}} {
		if err := run(context.Background(), args, os.Stderr, os.Stderr); err == nil {
			t.Errorf("%q: no error", args)
		}
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
