package main

import (
	"cmp"
	_ "embed"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
)

//go:embed preface.md
var prefaceText string

// page is docs/promises.md.
func page(t *table, r *record, all tests) string {
	var b strings.Builder
	b.WriteString("# Promises\n\n" + r.summary(t) + "\n\n" + r.preface(t))
	for _, c := range t.Chapters {
		fmt.Fprintf(&b, "## %s\n\n", c.Title)
		if c.Intro != "" {
			b.WriteString(strings.TrimSpace(c.Intro) + "\n\n")
		}
		what := "what is tried"
		if c.Counts {
			what = "what we promise"
		}
		fmt.Fprintf(&b, "| | %s | last result | what it does not hold | tests |\n|---|---|---|---|---|\n", what)
		for _, row := range c.Rows {
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", row.ID, row.sentence(), r.cell(row), cell(row.Limits), row.links(all))
		}
		b.WriteString("\n")
	}
	b.WriteString("## Measured elsewhere\n\n- **MCP as others understand it**, by `make mcp-proof`: [conformance.md](conformance.md).\n" +
		"- **A soak**, a long mixed load with faults in it, by `make soak`: [benchmarks.md](benchmarks.md).\n\n")
	b.WriteString(r.leftOut())
	return b.String()
}

// summary is what a reader in a hurry reads.
func (r *record) summary(t *table) string {
	words := map[string]int{}
	promises, more := 0, 0
	for _, c := range t.Chapters {
		for _, row := range c.Rows {
			if !c.Counts {
				more++
				continue
			}
			promises++
			words[r.word(row)]++
		}
	}
	var parts []string
	for _, w := range []string{passed, partly, skipped, failed, "not run", "no test"} {
		if words[w] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", words[w], w))
		}
	}
	tests, cases := 0, 0
	for _, one := range r.Ran {
		tests, cases = tests+one.Tests, cases+one.Cases
	}
	return fmt.Sprintf("**%d promises: %s.** With the %d rows of further tests below, %s with %s that passed stand behind them.\nRun on %s, on this machine: %s.",
		promises, strings.Join(parts, ", "), more, many(tests, "test"), many(cases, "case"), r.Date, r.Machine)
}

// preface tells a stranger what the page is, and how to see for himself.
func (r *record) preface(t *table) string {
	first := t.Chapters[0].Rows[0]
	k := first.Tests[0]
	how := "without the race detector, with which `./check` runs all tests of the repository"
	if r.Long {
		how += ", with the long variants of the tests that kill processes"
	}
	return fmt.Sprintf(prefaceText, many(r.Minutes, "minute"), how, strings.Join(k.Tests, "|"), k.Package, first.ID)
}

// partly is a word for what became of a row.
const partly = "passed but for tests that were skipped"

// word is what became of a row.
func (r *record) word(row row) string {
	findings := r.Rows[row.ID]
	switch {
	case len(row.Tests) == 0:
		return "no test"
	case len(findings) != len(row.Tests):
		return "not run"
	}
	ran, left := false, false
	for i, f := range findings {
		if !f.answers(row.Tests[i]) {
			return "not run" // the table has changed since
		}
		if f.Result == failed {
			return failed
		}
		ran = ran || f.Result == passed
		left = left || slices.ContainsFunc(f.Skipped, func(s leftOut) bool { return len(s.Whole) > 0 })
	}
	switch {
	case !ran:
		return skipped
	case left:
		return partly
	}
	return passed
}

// cell is what came of a row, for its place in the table.
func (r *record) cell(row row) string {
	word := r.word(row)
	if word == "no test" || word == "not run" {
		return "**" + word + "**"
	}
	var cases, left int
	var seconds float64
	var notes []string
	for _, f := range r.Rows[row.ID] {
		cases += f.Cases
		seconds += f.Seconds
		for _, name := range f.Failed {
			notes = append(notes, "`"+name+"` failed")
		}
		for _, s := range f.Skipped {
			left += s.Cases
			if len(s.Whole) > 0 {
				notes = append(notes, fmt.Sprintf("`%s` skipped: %s", strings.Join(s.Whole, "`, `"), s.Why))
			}
		}
		notes = append(notes, f.Says...)
	}
	for _, name := range row.Data {
		notes = append(notes, fmt.Sprintf("%s in [%s](../%s)", many(r.Data[name], "line"), name[strings.LastIndexByte(name, '/')+1:], name))
	}
	if word != passed {
		word = "**" + word + "**"
	}
	out := fmt.Sprintf("%s; %s, %.0f s", word, many(cases, "case"), math.Ceil(seconds))
	if left > 0 {
		out += fmt.Sprintf(", %d skipped", left)
	}
	for _, n := range notes {
		out += "<br>" + n
	}
	return cell(out)
}

// sentence is the promise, and where it is kept.
func (row row) sentence() string {
	out := cell(row.Promise)
	for i, k := range row.Kept {
		sign := ", "
		if i == 0 {
			sign = " Kept in "
		}
		out += sign + fmt.Sprintf("[`%s`](../%s)", k, k)
	}
	if len(row.Kept) > 0 {
		out += "."
	}
	return out
}

// links are the tests of a row, each with a way to its file.
func (row row) links(all tests) string {
	if len(row.Tests) == 0 {
		return "–"
	}
	var lines []string
	for _, k := range row.Tests {
		var names []string
		for _, pattern := range k.Tests {
			to := "../" + k.Package
			if have := all.named(k.Package, pattern); len(have) == 1 {
				to = "../" + all[k.Package][have[0]]
			}
			names = append(names, fmt.Sprintf("[%s](%s)", cell(pattern), to))
		}
		lines = append(lines, fmt.Sprintf("`%s`: %s", k.Package, strings.Join(names, ", ")))
	}
	return strings.Join(lines, "<br>")
}

// cell is a text that can stand in a table.
func cell(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	return regexp.MustCompile(`\\?\|`).ReplaceAllString(text, `\|`)
}

// leftOut lists what was skipped, each reason once for a package, with the
// fewest tests that it is known of.
func (r *record) leftOut() string {
	type place struct {
		pkg, why string
		cases    int
	}
	of := map[place][]string{}
	for _, findings := range r.Rows {
		for _, f := range findings {
			for _, s := range f.Skipped {
				p := place{f.Package, s.Why, s.Cases}
				if had := of[p]; had == nil || cmp.Or(cmp.Compare(len(f.Tests), len(had)), slices.Compare(f.Tests, had)) < 0 {
					of[p] = f.Tests
				}
			}
		}
	}
	if len(of) == 0 && len(r.Lacking) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("## What was skipped, and why\n\n")
	for _, l := range r.Lacking {
		fmt.Fprintf(&b, "- The machine lacks %s.\n", l)
	}
	if len(r.Lacking) > 0 {
		b.WriteString("\n")
	}
	b.WriteString("| package | tests | cases | why |\n|---|---|---|---|\n")
	order := func(a, b place) int {
		return cmp.Or(cmp.Compare(a.pkg, b.pkg), cmp.Compare(a.why, b.why), cmp.Compare(a.cases, b.cases))
	}
	for _, p := range slices.SortedFunc(maps.Keys(of), order) {
		fmt.Fprintf(&b, "| `%s` | %s | %d | %s |\n", p.pkg, cell(strings.Join(of[p], ", ")), p.cases, cell(p.why))
	}
	return b.String()
}

// many is a number of things in words.
func many(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}
