package main

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

//go:embed table.yml
var tableText []byte

// A table is all that is promised, and all that stands behind it.
type table struct {
	Chapters []chapter
}

// A chapter is a part of the page.
type chapter struct {
	Name   string // for the command line
	Title  string
	Intro  string
	Counts bool // its rows are promises; those of others are more tests
	Rows   []row
}

// A row is a promise.
type row struct {
	ID      string
	Promise string
	Kept    []string // files and folders of those who keep it
	Tests   []check
	Data    []string // files with a case a line that these tests read
	Says    string   // a pattern: what such lines of the tests' logs say is shown
	Limits  string   // what is not promised
}

// A check is some tests of a package. A line of the table has the folder of the
// package and then the tests, each a pattern for a whole name, with one for
// names of its parts behind a slash where not all of them count.
type check struct {
	Package string
	Tests   []string
}

// UnmarshalYAML reads such a line.
func (c *check) UnmarshalYAML(n *yaml.Node) error {
	words := strings.Fields(n.Value)
	if len(words) < 2 {
		return fmt.Errorf("line %d: want a package and its tests, have %q", n.Line, n.Value)
	}
	c.Package, c.Tests = words[0], words[1:]
	for _, w := range c.Tests {
		name, part, _ := strings.Cut(w, "/")
		if _, err := regexp.Compile(name); err != nil {
			return fmt.Errorf("line %d: %w", n.Line, err)
		}
		if _, err := regexp.Compile(part); err != nil {
			return fmt.Errorf("line %d: %w", n.Line, err)
		}
	}
	return nil
}

// whole is a pattern that matches the whole name of a test.
func whole(name string) *regexp.Regexp { return regexp.MustCompile("^(?:" + name + ")$") }

func readTable() (*table, error) {
	dec := yaml.NewDecoder(bytes.NewReader(tableText))
	dec.KnownFields(true)
	t := new(table)
	if err := dec.Decode(t); err != nil {
		return nil, fmt.Errorf("table.yml: %w", err)
	}
	ids := map[string]bool{}
	for _, c := range t.Chapters {
		for _, r := range c.Rows {
			if r.ID == "" || r.Promise == "" || ids[r.ID] {
				return nil, errors.New("table.yml: a row without a promise, or two of one id: " + r.ID)
			}
			ids[r.ID] = true
		}
	}
	return t, nil
}

// some is the table with only the rows and chapters of some names.
func (t *table) some(names []string) *table {
	out := new(table)
	for _, c := range t.Chapters {
		if !slices.Contains(names, c.Name) {
			c.Rows = slices.DeleteFunc(slices.Clone(c.Rows), func(r row) bool { return !slices.Contains(names, r.ID) })
		}
		if len(c.Rows) > 0 {
			out.Chapters = append(out.Chapters, c)
		}
	}
	return out
}

// rows gives all rows of all chapters to yield.
func (t *table) rows(yield func(row) bool) {
	for _, c := range t.Chapters {
		for _, r := range c.Rows {
			if !yield(r) {
				return
			}
		}
	}
}

// packages are the folders of all packages with tests in the table, each once.
func (t *table) packages() []string {
	var all []string
	for r := range t.rows {
		for _, k := range r.Tests {
			all = append(all, k.Package)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// pattern is what to give to go test so that the tests of a package run that the
// table names.
func (t *table) pattern(pkg string) string {
	var all []string
	for r := range t.rows {
		for _, k := range r.Tests {
			for _, w := range k.Tests {
				if name, _, _ := strings.Cut(w, "/"); k.Package == pkg {
					all = append(all, name)
				}
			}
		}
	}
	slices.Sort(all)
	return "^(" + strings.Join(slices.Compact(all), "|") + ")$"
}
