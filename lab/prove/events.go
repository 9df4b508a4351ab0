package main

import (
	"bufio"
	"encoding/json"
	"io"
	"regexp"
	"strings"
)

// An outcome is what came of a test, or of a part of one.
type outcome struct {
	result  string // "passed", "failed", "skipped", or empty where it did not end
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
	all, other := outcomes{}, []string(nil)
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		var e struct {
			Action, Test, Output string
			Elapsed              float64
		}
		switch {
		case len(line) == 0:
		case json.Unmarshal(line, &e) != nil:
			other = append(other, strings.TrimRight(string(line), "\n"))
		case e.Action == "build-output":
			other = append(other, strings.TrimRight(e.Output, "\n"))
		default:
			all.take(e.Action, e.Test, e.Elapsed)
			if m := logged.FindStringSubmatch(e.Output); m != nil {
				o := all.of(e.Test)
				o.logs = append(o.logs, m[1])
			}
		}
		if err != nil {
			return all, other
		}
	}
}

// take notes what became of a test.
func (o outcomes) take(action, name string, elapsed float64) {
	one := o.of(name)
	switch action {
	case "run": // names of parts may have slashes of their own
		for at := strings.LastIndexByte(name, '/'); at > 0; at = strings.LastIndexByte(name[:at], '/') {
			if parent := o[name[:at]]; parent != nil {
				parent.parts++
				break
			}
		}
	case "pass":
		one.result, one.seconds = "passed", elapsed
	case "fail":
		one.result, one.seconds = "failed", elapsed
	case "skip":
		one.result, one.seconds = "skipped", elapsed
	}
}

// why is the last that a test has logged, which is why it was skipped.
func (o *outcome) why() string {
	if len(o.logs) == 0 {
		return "it does not say why"
	}
	return o.logs[len(o.logs)-1]
}
