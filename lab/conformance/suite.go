package main

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/helve-dev/helve/lab/internal/proof"
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

// A scenario is what came of one scenario of the suite.
type scenario struct {
	name           string
	passed, failed int    // checks; a warning counts as failed
	why            string // the first thing that was wrong
}

// suite runs all scenarios of a side, and compares with the baseline. Those for
// clients run all at once, and some are about time: one that fails against
// expectation is run again by itself, and that counts.
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
	w, err := newWorld()
	if err != nil {
		return s.broken(err)
	}
	defer func() { _ = w.Close() }() // a temporary folder
	subject := []string{"--command", self + " client"}
	if side == "server" {
		url, stop, err := serveFixtures(w.Project)
		if err != nil {
			return s.broken(err)
		}
		defer func() { _ = stop() }() // nothing was written that is to stay
		subject = []string{"--url", url}
	}
	all, err := runSuite(ctx, p, w, side, append(subject, "--suite", "all")...)
	if err != nil {
		return s.broken(err)
	}
	passed, checks := 0, 0
	var rows [][]string
	for _, c := range all {
		expected, isKnown := known[c.name]
		delete(known, c.name)
		why := cmp.Or(expected, c.why)
		if c.failed > 0 && !isKnown {
			again, err := runSuite(ctx, p, w, side, append(subject, "--scenario", c.name)...)
			if err == nil && len(again) == 1 && again[0].failed == 0 {
				c = again[0]
				why = "failed once among all others, and passes by itself: " + why
			} else {
				why = "**unexpected:** " + why
				s.fail("%s: %s", c.name, why)
			}
		}
		if c.failed == 0 && isKnown {
			why = "it is in the baseline, and passes"
			s.fail("%s: %s", c.name, why)
		}
		if checks += c.passed; c.failed == 0 {
			passed++
		}
		rows = append(rows, []string{"`" + c.name + "`", tick(c.failed == 0), fmt.Sprintf("%d of %d", c.passed, c.passed+c.failed), why})
	}
	for _, name := range slices.Sorted(maps.Keys(known)) {
		s.fail("%s: the suite has no such scenario any more: take it out of the baseline", name)
	}
	s.text = fmt.Sprintf("%d of %d scenarios pass, with %d checks.\n\n", passed, len(all), checks)
	s.head("scenario", "passes", "checks", "why not")
	for _, row := range rows {
		s.row(row...)
	}
	return s
}

// runSuite runs scenarios, and reads what came of them.
func runSuite(ctx context.Context, p *programs, w *proof.World, side string, args ...string) (all []scenario, err error) {
	argv, err := p.script("@modelcontextprotocol/conformance/dist/index.js")
	if err != nil {
		return nil, err
	}
	results, err := os.MkdirTemp(w.Root, "results")
	if err != nil {
		return nil, err
	}
	// It ends with an error where a scenario fails.
	out, ended := runProgram(ctx, w, 2*time.Minute, p.env(w), slices.Concat(argv, []string{side, "--output-dir", results}, args)...)
	for _, name := range scenarioNames(out, args) {
		s, err := readScenario(results, side, name)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("the suite ran nothing: %w", ended)
	}
	return all, nil
}

// scenarioNames reads from the suite's summary what was run, in its order; one
// that is run by itself has none.
func scenarioNames(out string, args []string) (names []string) {
	if at := slices.Index(args, "--scenario"); at >= 0 {
		return args[at+1 : at+2]
	}
	_, summary, _ := strings.Cut(out, "SUMMARY ===")
	for _, m := range regexp.MustCompile(`(?m)^\s*[✓✗] (\S+): `).FindAllStringSubmatch(summary, -1) {
		names = append(names, m[1])
	}
	return names
}

// readScenario reads the checks of one scenario.
func readScenario(results, side, name string) (scenario, error) {
	s := scenario{name: name}
	pattern := name + "-20*"
	if side == "server" {
		pattern = "server-" + pattern
	}
	found, err := filepath.Glob(filepath.Join(results, filepath.FromSlash(pattern), "checks.json"))
	if err != nil || len(found) == 0 {
		return scenario{name: name, failed: 1, why: "there are no results"}, err
	}
	text, err := os.ReadFile(found[len(found)-1])
	if err != nil {
		return s, err
	}
	var checks []struct{ Status, Description, ErrorMessage string }
	if err := json.Unmarshal(text, &checks); err != nil {
		return s, fmt.Errorf("%s: %w", name, err)
	}
	for _, c := range checks {
		switch c.Status {
		case "SUCCESS":
			s.passed++
		case "FAILURE", "WARNING":
			s.failed++
			s.why = cmp.Or(s.why, c.ErrorMessage, c.Description)
		}
	}
	return s, nil
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
