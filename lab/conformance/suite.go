package main

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// baselineText lists the scenarios that are known to fail, each with why. The
// suite reads the same form.
//
//go:embed baseline.yml
var baselineText []byte

// baseline tells why scenarios of a side, "server" or "client", are expected to
// fail: by the comment above the scenario, or above the group that it is in.
func baseline(text []byte, side string) (map[string]string, error) {
	var sides map[string]yaml.Node
	if err := yaml.Unmarshal(text, &sides); err != nil {
		return nil, err
	}
	known, why := map[string]string{}, ""
	for _, n := range sides[side].Content {
		why = cmp.Or(strings.Join(strings.Fields(strings.ReplaceAll(n.HeadComment, "#", "")), " "), why)
		known[n.Value] = why
	}
	return known, nil
}

// suite runs all scenarios of a side. The suite itself compares them with the
// baseline. Some are about time, so what is unexpected gets a second chance.
func suite(ctx context.Context, p *programs, side string) section {
	s := section{title: fmt.Sprintf("Conformance suite %s, %ss", p.version("@modelcontextprotocol/conformance"), side)}
	known, err := baseline(baselineText, side)
	if err != nil {
		return s.broken(err)
	}
	self, err := os.Executable()
	if err != nil {
		return s.broken(err)
	}
	argv, err := p.script("@modelcontextprotocol/conformance/dist/index.js")
	if err != nil {
		return s.broken(err)
	}
	w, err := newWorld()
	if err != nil {
		return s.broken(err)
	}
	defer func() { _ = w.Close() }() // a temporary folder
	expected := filepath.Join(w.Root, "baseline.yml")
	if err := os.WriteFile(expected, baselineText, 0o600); err != nil {
		return s.broken(err)
	}
	argv = append(argv, side, "--suite", "all", "--expected-failures", expected, "--output-dir", filepath.Join(w.Root, "results"))
	if side == "server" {
		url, stop, err := serveFixtures(w.Project)
		if err != nil {
			return s.broken(err)
		}
		defer func() { _ = stop() }() // nothing was written that is to stay
		argv = append(argv, "--url", url)
	} else {
		argv = append(argv, "--command", self+" client")
	}
	out, err := runProgram(ctx, w, 2*time.Minute, p.env(w), argv...)
	if err != nil {
		out, err = runProgram(ctx, w, 2*time.Minute, p.env(w), argv...)
	}
	all := readSummary(out)
	if len(all) == 0 {
		return s.broken(fmt.Errorf("the suite ran nothing: %w", err))
	}
	if err != nil {
		s.fail("%v", err)
	}
	passed, checks := 0, 0
	for _, c := range all {
		if checks += c.passed; c.passes() {
			passed++
		}
	}
	s.text = fmt.Sprintf("%d of %d scenarios pass, with %d checks.\n\n", passed, len(all), checks)
	s.head("scenario", "passes", "checks", "why not")
	for _, c := range all {
		why := known[c.name]
		if !c.passes() {
			why = cmp.Or(why, "**unexpected**")
		}
		s.row("`"+c.name+"`", tick(c.passes()), fmt.Sprintf("%d of %d", c.passed, c.passed+c.failed), why)
	}
	return s
}

// A scenario is what came of one scenario of the suite.
type scenario struct {
	name           string
	passed, failed int // checks; a warning counts as failed, where the suite tells of it
}

func (s scenario) passes() bool { return s.failed == 0 && s.passed > 0 }

// readSummary reads what came of all scenarios from what the suite prints.
func readSummary(out string) (all []scenario) {
	for _, m := range regexp.MustCompile(`(?m)^\s*[✓✗] (\S+): (\d+) passed, (\d+) failed(?:, (\d+) warnings)?`).FindAllStringSubmatch(out, -1) {
		passed, _ := strconv.Atoi(m[2]) // they are digits, or nothing
		failed, _ := strconv.Atoi(m[3])
		warned, _ := strconv.Atoi(m[4])
		all = append(all, scenario{m[1], passed, failed + warned})
	}
	return all
}

// inspect lists and calls tools of helve with the inspector's command line.
func inspect(ctx context.Context, p *programs, helve string) section {
	s := section{title: "Inspector " + p.version("@modelcontextprotocol/inspector")}
	argv, err := p.script("@modelcontextprotocol/inspector/clients/launcher/build/index.js")
	if err != nil {
		return s.broken(err)
	}
	w, err := newWorld()
	if err != nil {
		return s.broken(err)
	}
	defer func() { _ = w.Close() }() // a temporary folder
	s.head("command", "works")
	for _, c := range []struct {
		name, want string
		denied     bool // the inspector ends with an error when a tool does
		args       []string
	}{
		{"tools/list", `"name": "read"`, false, []string{"tools/list"}},
		{"tools/call read", "the first line", false, []string{"tools/call", "--tool-name", "read", "--tool-arg", "filePath=" + filepath.Join(w.Project, "note.txt")}},
		{"tools/call bash, denied", "rm *", true, []string{"tools/call", "--tool-name", "bash", "--tool-arg", "command=rm -rf keep", "--tool-arg", "description=no"}},
	} {
		out, err := runProgram(ctx, w, 40*time.Second, p.env(w), slices.Concat(argv, []string{"--cli", helve, "mcp", "--method"}, c.args)...)
		ok := (err != nil) == c.denied && json.Valid([]byte(out)) && strings.Contains(out, c.want)
		s.row("`"+c.name+"`", tick(ok))
		if !ok {
			s.fail("%s: %s %v", c.name, out, err)
		}
	}
	return s
}
