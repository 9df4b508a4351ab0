package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/helve-dev/helve/lab/internal/proof"
)

const (
	passed  = "passed"
	failed  = "failed"
	skipped = "skipped"
)

// tests are the test functions of packages: by the folder of the package and
// the name, the file that has it.
type tests map[string]map[string]string

// findTests reads the test files of packages, those for other systems too.
func findTests(root string, packages []string) (tests, error) {
	all := tests{}
	for _, pkg := range packages {
		all[pkg] = map[string]string{}
		files, err := filepath.Glob(filepath.Join(root, pkg, "*_test.go"))
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			names, err := functions(file)
			if err != nil {
				return nil, err
			}
			for _, name := range names {
				all[pkg][name] = filepath.ToSlash(filepath.Join(pkg, filepath.Base(file)))
			}
		}
	}
	return all, nil
}

// functions are the names of the tests, fuzz targets and examples in a file.
func functions(file string) (names []string, err error) {
	text, err := os.ReadFile(file)
	for _, m := range regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Example)\w*)\(`).FindAllSubmatch(text, -1) {
		if name := string(m[1]); name != "TestMain" {
			names = append(names, name)
		}
	}
	return names, err
}

// named are the functions of a package that a pattern of the table means.
func (t tests) named(pkg, pattern string) (names []string) {
	name, _, _ := strings.Cut(pattern, "/")
	for _, have := range slices.Sorted(maps.Keys(t[pkg])) {
		if whole(name).MatchString(have) {
			names = append(names, have)
		}
	}
	return names
}

// runTests runs tests of one package.
func runTests(ctx context.Context, root, pkg, pattern string, env []string, log io.Writer) (outcomes, error) {
	if rest, ok := strings.CutPrefix(pkg, "lab/"); ok { // a module of its own
		root, pkg = filepath.Join(root, "lab"), rest
	}
	cmd := proof.Command(ctx, "go", "test", "-json", "-count=1", "-timeout", "60m", "-run", pattern, "./"+pkg)
	cmd.Dir, cmd.Env = root, env
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	exit, isExit := errors.AsType[*exec.ExitError](err)
	if err != nil && !isExit {
		return nil, err
	}
	all, other := readEvents(bytes.NewReader(out))
	if all.of("").result == "" { // it was not even built
		all.of("").result = failed
		if isExit {
			other = append(other, string(exit.Stderr))
		}
	}
	for _, line := range other {
		fmt.Fprintf(log, "\n    %s", line)
	}
	return all, nil
}

// An outcome is what came of a test, or of a part of one.
type outcome struct {
	result  string // empty where it did not end
	seconds float64
	logs    []string // what it has logged, without the place in the source
	parts   int      // how many tests it has run itself
}

// outcomes are those of a package, by the full name of the test. The package
// itself is there with the empty name.
type outcomes map[string]*outcome

// of is the outcome of a test, made where there is none yet.
func (o outcomes) of(name string) *outcome {
	if o[name] == nil {
		o[name] = new(outcome)
	}
	return o[name]
}

// readEvents reads what go test -json prints about one package. Lines that are
// no events, as the ones of a compiler, come back as they are.
func readEvents(r io.Reader) (outcomes, []string) {
	logged := regexp.MustCompile(`^\s+\S+_test\.go:\d+: (.*)\n$`)
	results := map[string]string{"pass": passed, "fail": failed, "skip": skipped}
	all, other := outcomes{}, []string(nil)
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var e struct {
			Action, Test, Output string
			Elapsed              float64
		}
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			other = append(other, lines.Text())
			continue
		}
		if e.Action == "build-output" {
			other = append(other, strings.TrimRight(e.Output, "\n"))
			continue
		}
		one := all.of(e.Test)
		if result := results[e.Action]; result != "" {
			one.result, one.seconds = result, e.Elapsed
		}
		if m := logged.FindStringSubmatch(e.Output); m != nil {
			one.logs = append(one.logs, m[1])
		}
		if e.Action == "run" { // names of parts may have slashes of their own
			for at := strings.LastIndexByte(e.Test, '/'); at > 0; at = strings.LastIndexByte(e.Test[:at], '/') {
				if parent := all[e.Test[:at]]; parent != nil {
					parent.parts++
					break
				}
			}
		}
	}
	return all, other
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

// A finding is what came of the tests of a check.
type finding struct {
	Package string    `json:"package"`
	Tests   []string  `json:"tests"`  // as the table has them
	Result  string    `json:"result"` // failed if one has, skipped if all were
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

// find is what came of a check.
func (o outcomes) find(k check, says string) finding {
	f := finding{Package: k.Package, Tests: k.Tests}
	left := map[string]*leftOut{}
	for _, pattern := range k.Tests {
		names := o.matching(pattern)
		inParts := strings.Contains(pattern, "/")
		for _, full := range names {
			one, inner := o[full], strings.Contains(full, "/")
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
		}
	}
	for _, why := range slices.Sorted(maps.Keys(left)) {
		f.Skipped = append(f.Skipped, *left[why])
	}
	if says != "" {
		f.Says = o.said(k, regexp.MustCompile(says))
	}
	// What only the package can say, as that something was left running.
	blamed := false
	for name, one := range o {
		blamed = blamed || name != "" && (one.result == failed || one.result == "")
	}
	if o.of("").result == failed && !blamed {
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
		why := "it does not say why"
		if len(one.logs) > 0 {
			why = one.logs[len(one.logs)-1]
		}
		if left[why] == nil {
			left[why] = &leftOut{Why: why}
		}
		left[why].Cases++
		if !strings.Contains(full, "/") {
			left[why].Whole = append(left[why].Whole, full)
		}
	}
}

// said are the lines that tests of a check have logged and that a pattern
// matches.
func (o outcomes) said(k check, like *regexp.Regexp) (lines []string) {
	var names []string
	for _, pattern := range k.Tests {
		name, _, _ := strings.Cut(pattern, "/")
		names = append(names, o.matching(name)...)
	}
	slices.Sort(names)
	for _, full := range slices.Compact(names) {
		for _, line := range o[full].logs {
			if like.MatchString(line) {
				lines = append(lines, strings.Join(strings.Fields(line), " "))
			}
		}
	}
	return lines
}

// tenths is a number with one digit behind the point.
func tenths(n float64) float64 { return math.Round(n*10) / 10 }
