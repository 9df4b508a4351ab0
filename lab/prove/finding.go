package main

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
)

const (
	passed  = "passed"
	failed  = "failed"
	skipped = "skipped"
)

// A finding is what came of the tests of a check.
type finding struct {
	Package string    `json:"package"`
	Tests   []string  `json:"tests"`  // as the table has them
	Result  string    `json:"result"` // failed if one has, skipped if all were
	Count   int       `json:"count"`  // functions that ran
	Cases   int       `json:"cases"`  // their parts that passed and have no parts, or the functions themselves
	Seconds float64   `json:"seconds"`
	Failed  []string  `json:"failed,omitempty"` // names, and why there is no result where there is none
	Skipped []leftOut `json:"skipped,omitempty"`
	Says    []string  `json:"says,omitempty"` // lines of the logs that the table wants to be shown
}

// leftOut are tests that were skipped for one reason.
type leftOut struct {
	Why   string   `json:"why"`
	Whole []string `json:"whole,omitempty"` // functions of which nothing was run
	Cases int      `json:"cases"`
}

// answers reports whether a finding is about a check as the table has it now.
func (f finding) answers(k check) bool {
	return f.Package == k.Package && slices.Equal(f.Tests, k.Tests)
}

// settled reports whether there is a result that need not be tried again.
func (f finding) settled() bool { return f.Result == passed || f.Result == skipped }

// String is the finding in a line, for a terminal.
func (f finding) String() string {
	line := fmt.Sprintf("%-7s ./%s %s: %s, %.1f s", f.Result, f.Package, strings.Join(f.Tests, " "), many(f.Cases, "case"), f.Seconds)
	for _, name := range f.Failed {
		line += "\n          failed: " + name
	}
	for _, s := range f.Skipped {
		line += fmt.Sprintf("\n          skipped: %s: %s", many(s.Cases, "case"), s.Why)
	}
	return line
}

// tenths is a number with one digit behind the point.
func tenths(n float64) float64 { return math.Round(n*10) / 10 }

// many is a number of things in words.
func many(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// find is what came of a check.
func (o outcomes) find(k check, says string) finding {
	f := finding{Package: k.Package, Tests: k.Tests}
	left := map[string]*leftOut{}
	for _, pattern := range k.Tests {
		o.findOne(&f, pattern, left)
	}
	for _, why := range slices.Sorted(maps.Keys(left)) {
		f.Skipped = append(f.Skipped, *left[why])
	}
	if says != "" {
		f.Says = o.said(k, regexp.MustCompile(says))
	}
	// What only the package can say, as that something was left running.
	if o.of("").result == failed && !o.anyFailed() {
		f.Failed = append(f.Failed, "the package, after its tests")
	}
	switch {
	case len(f.Failed) > 0:
		f.Result = failed
	case f.Cases == 0:
		f.Result = skipped
	default:
		f.Result = passed
	}
	f.Seconds = tenths(f.Seconds)
	return f
}

// findOne adds what came of the tests of one pattern.
func (o outcomes) findOne(f *finding, pattern string, left map[string]*leftOut) {
	names := o.matching(pattern)
	inParts := strings.Contains(pattern, "/")
	for _, full := range names {
		one, inner := o[full], strings.Contains(full, "/")
		if !inner {
			f.Count++
		}
		if inner == inParts && (!inner || one.parts == 0) {
			f.Seconds += one.seconds
		}
		f.add(full, one, left)
	}
	switch {
	case len(names) == 0 && len(o) == 1:
		f.Failed = append(f.Failed, pattern+" (the package could not be built)")
	case len(names) == 0:
		f.Failed = append(f.Failed, pattern+" (there is no such test)")
	case inParts:
		f.Count++
	}
}

// matching are the full names of the tests that a pattern of the table means,
// and of all their parts, or only of those parts that it means.
func (o outcomes) matching(pattern string) (names []string) {
	name, part, inParts := strings.Cut(pattern, "/")
	want, wantPart := whole(name), regexp.MustCompile(part)
	for _, full := range slices.Sorted(maps.Keys(o)) {
		top, rest, inner := strings.Cut(full, "/")
		if full != "" && want.MatchString(top) && (!inParts || inner && wantPart.MatchString(rest)) {
			names = append(names, full)
		}
	}
	return names
}

// add adds what came of one test or part.
func (f *finding) add(full string, one *outcome, left map[string]*leftOut) {
	switch {
	case one.result == "":
		f.Failed = append(f.Failed, full+" (it did not end)")
	case one.result == failed:
		f.Failed = append(f.Failed, full)
	case one.parts > 0: // its parts are counted
	case one.result == passed:
		f.Cases++
	default:
		s := cmp.Or(left[one.why()], &leftOut{Why: one.why()})
		left[s.Why] = s
		s.Cases++
		if !strings.Contains(full, "/") {
			s.Whole = append(s.Whole, full)
		}
	}
}

// said are the lines that tests of a check have logged and that a pattern
// matches.
func (o outcomes) said(k check, like *regexp.Regexp) (lines []string) {
	for _, full := range slices.Sorted(maps.Keys(o)) {
		top, _, _ := strings.Cut(full, "/")
		wanted := func(pattern string) bool {
			name, _, _ := strings.Cut(pattern, "/")
			return full != "" && whole(name).MatchString(top)
		}
		if !slices.ContainsFunc(k.Tests, wanted) {
			continue
		}
		for _, line := range o[full].logs {
			if like.MatchString(line) {
				lines = append(lines, strings.Join(strings.Fields(line), " "))
			}
		}
	}
	return lines
}

// total is how many functions were run, and how many cases of them passed.
func (o outcomes) total() (tests, cases int) {
	for name, one := range o {
		if name != "" && !strings.Contains(name, "/") {
			tests++
		}
		if name != "" && one.parts == 0 && one.result == passed {
			cases++
		}
	}
	return tests, cases
}

// anyFailed reports whether a test has failed or did not end.
func (o outcomes) anyFailed() bool {
	for name, one := range o {
		if name != "" && (one.result == failed || one.result == "") {
			return true
		}
	}
	return false
}
