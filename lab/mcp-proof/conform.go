package main

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/helve-dev/helve/lab/internal/proof"
)

// baselineText lists the scenarios that are known to fail, each with why. The
// suite reads the same file.
//
//go:embed baseline.yml
var baselineText string

// A baseline tells why a scenario is expected to fail.
type baseline map[string]string

// readBaseline reads the entries of one side, "server" or "client". The reason
// of an entry is the comment above it, or above the group that it is in.
func readBaseline(text, side string) baseline {
	b := baseline{}
	in, reason, listed := "", "", false
	for row := range strings.Lines(text) {
		row = strings.TrimSpace(row)
		switch {
		case strings.HasSuffix(row, ":"):
			in, reason, listed = strings.TrimSuffix(row, ":"), "", false
		case strings.HasPrefix(row, "#"):
			if listed {
				reason, listed = "", false
			}
			reason = strings.TrimSpace(reason + " " + strings.TrimSpace(strings.TrimPrefix(row, "#")))
		case strings.HasPrefix(row, "- "):
			listed = true
			if in == side {
				b[strings.TrimSpace(strings.TrimPrefix(row, "- "))] = reason
			}
		}
	}
	return b
}

// A scenario is what came of one scenario of the suite.
type scenario struct {
	Name           string
	Passed, Failed int // checks; a warning counts as failed
	Warned         int
	Why            string // the first thing that was wrong
	Expected       string // why it is known to fail
}

func (s scenario) ok() bool { return s.Failed == 0 && s.Warned == 0 }

// surprising reports whether the outcome is not the one of the baseline.
func (s scenario) surprising() bool { return s.ok() == (s.Expected != "") }

// A suiteRun is one run of the suite: which side is tested, what is run, and
// what the suite has to know for it.
type suiteRun struct {
	side string
	pick []string // the arguments that choose scenarios
	args []string
}

// start runs the suite and reads the scenarios that names finds in its output.
func (r suiteRun) start(ctx context.Context, t *toolbox, names func(out string) []string) (all []scenario, err error) {
	argv, err := t.script("@modelcontextprotocol/conformance", "dist/index.js")
	if err != nil {
		return nil, err
	}
	w, err := newWorld()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	results := filepath.Join(w.root, "results")
	argv = slices.Concat(argv, []string{r.side, "--output-dir", results}, r.pick, r.args)
	end, err := child{argv: argv, dir: w.project, env: w.env(t.node), limit: 2 * time.Minute}.run(ctx)
	if err != nil {
		return nil, err
	}
	for _, name := range names(end.out) {
		s, err := readScenario(results, r.side, name)
		if err != nil {
			s = scenario{Name: name, Failed: 1, Why: err.Error()}
		}
		all = append(all, s)
	}
	if end.late || len(all) == 0 {
		return nil, fmt.Errorf("the suite %s", end.why())
	}
	return all, nil
}

// runSuite runs all scenarios of a side, and compares with the baseline. Those
// for clients run all at once, and some are about time: one that fails against
// expectation is run again by itself, and that counts.
func runSuite(ctx context.Context, t *toolbox, side string, args ...string) ([]scenario, error) {
	all, err := suiteRun{side, []string{"--suite", "all"}, args}.start(ctx, t, scenarioNames)
	if err != nil {
		return nil, err
	}
	known := readBaseline(baselineText, side)
	for i := range all {
		s := &all[i]
		s.Expected = known[s.Name]
		delete(known, s.Name)
		if s.ok() || !s.surprising() {
			continue
		}
		again, err := suiteRun{side, []string{"--scenario", s.Name}, args}.start(ctx, t, func(string) []string { return []string{s.Name} })
		if err != nil {
			return nil, err
		}
		if again[0].ok() {
			again[0].Why = "failed once among all others, and passes by itself: " + s.Why
		}
		*s = again[0]
	}
	for name := range known {
		all = append(all, scenario{Name: name, Why: "the suite has no such scenario any more: take it out of the baseline", Failed: 1})
	}
	return all, nil
}

// scenarioNames reads from the suite's summary what was run.
func scenarioNames(out string) (names []string) {
	_, summary, _ := strings.Cut(out, "SUMMARY ===")
	for row := range strings.Lines(summary) {
		mark, rest, ok := strings.Cut(strings.TrimSpace(row), " ")
		if !ok || mark != "✓" && mark != "✗" {
			continue
		}
		name, _, ok := strings.Cut(rest, ": ")
		if ok {
			names = append(names, name)
		}
	}
	return names
}

// readScenario reads the checks of one scenario.
func readScenario(results, side, name string) (scenario, error) {
	s := scenario{Name: name}
	pattern := name + "-20*"
	if side == "server" {
		pattern = "server-" + pattern
	}
	found, err := filepath.Glob(filepath.Join(results, filepath.FromSlash(pattern), "checks.json"))
	if err != nil || len(found) == 0 {
		return s, fmt.Errorf("there are no results (%v)", err)
	}
	text, err := os.ReadFile(found[len(found)-1])
	if err != nil {
		return s, err
	}
	var checks []struct {
		Status       string `json:"status"`
		Description  string `json:"description"`
		ErrorMessage string `json:"errorMessage"`
	}
	if err := json.Unmarshal(text, &checks); err != nil {
		return s, err
	}
	for _, c := range checks {
		switch c.Status {
		case "SUCCESS":
			s.Passed++
			continue
		case "FAILURE":
			s.Failed++
		case "WARNING":
			s.Warned++
		default:
			continue
		}
		if s.Why == "" {
			if s.Why = c.ErrorMessage; s.Why == "" {
				s.Why = c.Description
			}
		}
	}
	return s, nil
}

// conformServer runs the suite for servers against the fixtures, which a
// process of their own serves.
func conformServer(ctx context.Context, t *toolbox, log io.Writer) (all []scenario, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	w, err := newWorld()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	cmd := exec.CommandContext(ctx, self, "serve-fixtures")
	cmd.Dir, cmd.Env = w.project, w.env("")
	cmd.WaitDelay = 2 * time.Second
	proof.OwnGroup(cmd)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	defer func() {
		stop()
		_ = cmd.Wait() // it was ended
		_ = proof.EndGroup(cmd.Process)
	}()
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("starting the fixtures: %w", err)
	}
	fmt.Fprintln(log, "conformance: the suite for servers")
	return runSuite(ctx, t, "server", "--url", strings.TrimSpace(url))
}

// conformClient runs the suite for clients against this program.
func conformClient(ctx context.Context, t *toolbox, log io.Writer) ([]scenario, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if bytes.ContainsAny([]byte(self), " '\"") {
		return nil, fmt.Errorf("the suite can not start a program in %s", filepath.Dir(self))
	}
	fmt.Fprintln(log, "conformance: the suite for clients")
	return runSuite(ctx, t, "client", "--command", self+" conformance-client")
}
