package main

import (
	"io"
	"path/filepath"
	"strings"
	"testing"
)

// TestMeasure runs parts of a plan of its own: what goes well is kept, what does
// not hold is kept and says so, and what can not be measured is left as it was.
func TestMeasure(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the command")
	}
	t.Chdir(filepath.Join("..", ".."))
	dir := t.TempDir()
	one := func(name string, needs []string, args ...string) part {
		return part{Name: name, Needs: needs, Steps: []step{{Program: "./lab/bench/testdata/measured", Args: args}}}
	}
	p := &plan{Peers: map[string]peer{"nobody": {Program: "no-such-program-anywhere"}, "sh": {Program: "sh"}}, Parts: []part{
		one("good", []string{"sh"}, "--value", "3"), one("broken", nil, "--value", "4", "--fail"), one("gone", nil, "--fail"), one("lonely", []string{"nobody"}, "--value", "5"),
	}}
	old := &book{Parts: []entry{{Name: "gone", Date: "then"}, {Name: "lonely", Date: "then"}}}
	if err := old.write(filepath.Join(dir, bookFile)); err != nil {
		t.Fatal(err)
	}
	err := measure(t.Context(), p, job{parts: p.Parts, out: dir}, io.Discard)
	for _, want := range []string{"part broken: ", "FAILED: something", "part gone: left as it was", "part lonely: left as it was, for want of nobody"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the failures are %v, without %q", err, want)
		}
	}
	b, err := readBook(filepath.Join(dir, bookFile))
	if err != nil || len(b.Parts) != 4 {
		t.Fatalf("%+v, %v", b, err)
	}
	good, broken := b.Parts[0], b.Parts[1]
	if good.Failed != "" || len(good.Figures) != 1 || good.Figures[0].Value != 3 || good.Machine == "" || len(good.Date) != len("2026-01-02 03:04") || len(good.Versions) != 1 {
		t.Errorf("%+v", good)
	}
	if !strings.Contains(broken.Failed, "FAILED: something") || len(broken.Figures) != 1 {
		t.Errorf("%+v", broken)
	}
	if b.Parts[2].Date != "then" || b.Parts[3].Date != "then" {
		t.Errorf("%+v", b.Parts[2:])
	}
}

func TestFill(t *testing.T) {
	b := &bench{helve: "/bin/helve", peers: map[string]string{"bun": "/b/bun", "bun.version": "1.4"}}
	if got := b.fill("${helve} Bun ${bun.version} at ${bun}, ${other}"); got != "/bin/helve Bun 1.4 at /b/bun, ${other}" {
		t.Error(got)
	}
}
