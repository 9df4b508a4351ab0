package examples_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// What the README begins with, what it does before any path, and the paths, each
// by its heading.
const (
	start = "Two commands"
	ready = "Five ways on"
	check = "./check" // the other one of the two: it runs this test, and is not run by it
)

var paths = []string{
	"Use it in my agent",
	"Script it",
	"Embed it",
	"Run an agent with it",
	"Ask why a command was denied",
}

// The README is followed from a fresh copy, to the end of each path. HELVE_README
// names another page to follow, for one that is being written.
func TestReadme(t *testing.T) {
	name := "../README.md"
	if other := os.Getenv("HELVE_README"); other != "" {
		name = other
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	first := slices.DeleteFunc(steps(page, start), func(s step) bool { return s.script == check })
	if n := len(steps(page, start)); n != 2 || len(first) != 1 {
		t.Fatalf("under %q are %d commands, and not one and %s", start, n, check)
	}
	if info, err := os.Stat(filepath.Join("..", check)); err != nil || info.Mode()&0o111 == 0 {
		t.Errorf("%s can not be run: %v", check, err)
	}
	w := open(t)
	w.follow(t, name, first)
	begin := steps(page, ready)
	w.follow(t, name, begin)
	for _, p := range paths {
		t.Run(p, func(t *testing.T) {
			list := steps(page, p)
			if len(list) == 0 {
				t.Fatalf("there is nothing under the heading %q", p)
			}
			// What is set in a shell is set again for each path.
			w.follow(t, name, append(slices.Clone(begin), list...))
		})
	}
}
