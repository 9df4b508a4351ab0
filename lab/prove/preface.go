package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// preface tells a stranger what the page is, and how to see for himself.
func preface(t *table, r *record) string {
	first := t.Chapters[0].Rows[0]
	k := first.Tests[0]
	how := "without the race detector, with which `./check` runs all tests of the repository"
	if r.Race {
		how = "with the race detector"
	}
	if r.Long {
		how += ", with the long variants of the tests that kill processes"
	}
	for _, pkg := range slices.Sorted(maps.Keys(r.Ran)) {
		if r.Ran[pkg].Again {
			how += ", `" + pkg + "` a second time because something failed the first time"
		}
	}
	return fmt.Sprintf(`This page is written by a program: `+"`make prove`"+` runs the tests that are named here and writes down what came of them, good or bad. It
took %s, %s. A promise without a test says so, and what a promise does not hold is beside it.
What is written in [rough-edges.md](rough-edges.md) holds too.

To see one line for yourself, either of

`+"```"+`
go test -count=1 -run '^(%s)$' ./%s
make bin/lab/prove && bin/lab/prove run --only %s
`+"```"+`

A case is a test that passed, or each of its parts where it has parts; many a test of no parts goes through a table or a random search
of thousands. The same test may stand behind several promises. The promises and their tests are data, in
[table.yml](../lab/prove/table.yml); a test fails where one of them names a test that is not there, or where this page is not what
the program makes of its last run.

`, many(r.Minutes, "minute"), how, strings.Join(k.Tests, "|"), k.Package, first.ID)
}
