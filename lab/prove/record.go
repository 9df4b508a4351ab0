package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/helve-dev/helve/lab/internal/proof"
)

// A record is what came of a run.
type record struct {
	Date    string               `json:"date"`
	Machine string               `json:"machine"`
	Minutes int                  `json:"minutes"`
	Race    bool                 `json:"race"`
	Long    bool                 `json:"long"`
	Lacking []string             `json:"lacking,omitempty"` // what the machine does not have, and what that leaves out
	Rows    map[string][]finding `json:"rows"`              // by the id of the row, in the order of its checks
	Ran     map[string]ran       `json:"packages"`
	Data    map[string]int       `json:"data"` // lines of files with a case a line
	Conform []string             `json:"conformance,omitempty"`
	Soak    *soak                `json:"soak,omitempty"`
}

// A soak is the last one that was measured.
type soak struct {
	Name    string         `json:"name"`
	Date    string         `json:"date,omitempty"`
	Failed  string         `json:"failed,omitempty"` // what did not hold
	Figures []proof.Figure `json:"figures"`
}

// ran is what was run of a package.
type ran struct {
	Tests   int     `json:"tests"` // functions
	Cases   int     `json:"cases"` // that passed
	Seconds float64 `json:"seconds"`
	Again   bool    `json:"again,omitempty"` // because something failed the first time
}

// record runs the tests of a table.
func (s *settings) record(ctx context.Context, t *table) (*record, error) {
	r := &record{Date: today(), Machine: proof.Machine(), Race: s.race, Long: s.long,
		Rows: map[string][]finding{}, Ran: map[string]ran{}, Data: map[string]int{}}
	if err := s.fill(ctx, t, r); err != nil {
		return nil, err
	}
	return r, nil
}

func today() string { return time.Now().UTC().Format(time.DateOnly) }

// recordAgain runs what is due since the last run, and puts what comes of it in
// place of what was there.
func (s *settings) recordAgain(ctx context.Context, t *table) (*record, error) {
	r, err := readRecord(filepath.Join(s.root, recordFile))
	if err != nil {
		return nil, err
	}
	s.race, s.long = r.Race, r.Long
	r.Date, r.Machine = today(), proof.Machine()
	if err := s.fill(ctx, t, r); err != nil {
		return nil, err
	}
	return r, nil
}

// due are the packages with tests that failed, that were not run, or that the
// table did not want before. What is no answer to the table is dropped.
func (r *record) due(t *table) (packages []string) {
	rows := map[string][]finding{}
	for row := range t.rows {
		rows[row.ID] = make([]finding, len(row.Tests))
		for i, k := range row.Tests {
			if had := r.Rows[row.ID]; i < len(had) && had[i].answers(k) {
				rows[row.ID][i] = had[i]
			}
			if !rows[row.ID][i].settled() {
				packages = append(packages, k.Package)
			}
		}
	}
	r.Rows = rows
	wanted := t.packages()
	maps.DeleteFunc(r.Ran, func(pkg string, _ ran) bool { return !slices.Contains(wanted, pkg) })
	slices.Sort(packages)
	return slices.Compact(packages)
}

// pattern is what to give to go test so that the tests of a package run that
// are due, and whether one of them failed before.
func (r *record) pattern(t *table, pkg string) (pattern string, again bool) {
	var all []string
	for row := range t.rows {
		for i, k := range row.Tests {
			if f := r.Rows[row.ID][i]; k.Package == pkg && !f.settled() {
				again = again || f.Result == failed
				for _, w := range k.Tests {
					name, _, _ := strings.Cut(w, "/")
					all = append(all, name)
				}
			}
		}
	}
	slices.Sort(all)
	return "^(" + strings.Join(slices.Compact(all), "|") + ")$", again
}

// take notes what came of the tests of a package that were due.
func (r *record) take(t *table, pkg string, o outcomes) {
	for row := range t.rows {
		for i, k := range row.Tests {
			if k.Package == pkg && !r.Rows[row.ID][i].settled() {
				r.Rows[row.ID][i] = o.find(k, row.Says)
			}
		}
	}
}

// fill runs the tests that are due and notes what came of them, and all that is
// not told by tests.
func (s *settings) fill(ctx context.Context, t *table, r *record) error {
	began := time.Now()
	var env []string
	env, r.Lacking = s.kit(ctx)
	due := r.due(t)
	for i, pkg := range due {
		fmt.Fprintf(s.log, "prove: %d of %d: %s", i+1, len(due), pkg)
		from := time.Now()
		pattern, again := r.pattern(t, pkg)
		o, err := s.test(ctx, pkg, pattern, env)
		if ctx.Err() != nil {
			fmt.Fprintf(s.log, ": interrupted; --again goes on from here\n")
			break // what was not run is shown as that
		}
		if err != nil {
			return err
		}
		r.take(t, pkg, o)
		// Of a package of which only a part was due, the larger number is nearer to all of it.
		tests, cases := o.total()
		had := r.Ran[pkg]
		one := ran{max(had.Tests, tests), max(had.Cases, cases), tenths(had.Seconds + time.Since(from).Seconds()), had.Again || again}
		r.Ran[pkg] = one
		fmt.Fprintf(s.log, ": %s, %.0f s\n", o.of("").result, time.Since(from).Seconds())
	}
	r.Minutes += int(time.Since(began).Minutes() + 0.5)
	r.Conform = conformance(context.WithoutCancel(ctx), s.root)
	var err error
	if r.Soak, err = s.soaked(); err != nil {
		return err
	}
	return r.count(s.root, t)
}

// test runs tests of one package.
func (s *settings) test(ctx context.Context, pkg, pattern string, env []string) (outcomes, error) {
	dir := s.root
	if rest, ok := strings.CutPrefix(pkg, "lab/"); ok { // a module of its own
		dir, pkg = filepath.Join(dir, "lab"), rest
	}
	args := []string{"test", "-json", "-count=1", "-timeout", "60m", "-run", pattern}
	if s.race {
		args = append(args, "-race")
	}
	cmd := exec.CommandContext(ctx, "go", append(args, "./"+pkg)...)
	cmd.Dir, cmd.Env = dir, env
	cmd.WaitDelay = 5 * time.Second
	proof.OwnGroup(cmd)
	cmd.Cancel = func() error { return proof.EndGroup(cmd.Process) }
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
		fmt.Fprintf(s.log, "\n    %s", line)
	}
	return all, nil
}

// count counts the lines of the files with cases.
func (r *record) count(root string, t *table) error {
	r.Data = map[string]int{}
	for row := range t.rows {
		for _, name := range row.Data {
			text, err := os.ReadFile(filepath.Join(root, name))
			if err != nil {
				return err
			}
			r.Data[name] = bytes.Count(text, []byte("\n"))
		}
	}
	return nil
}

// conformance is what docs/conformance.md says of the suite, and since when.
func conformance(ctx context.Context, root string) (lines []string) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "conformance.md"))
	if err != nil {
		return nil
	}
	for _, m := range regexp.MustCompile(`(?m)^## (Conformance suite .*)\n\n(\d+ of \d+ scenarios pass.*)$`).FindAllStringSubmatch(string(text), -1) {
		lines = append(lines, m[1]+": "+strings.TrimSuffix(m[2], "."))
	}
	cmd := exec.CommandContext(ctx, "git", "log", "-1", "--format=%cs", "--", "docs/conformance.md")
	cmd.Dir = root
	if out, err := cmd.Output(); err == nil && len(bytes.TrimSpace(out)) > 0 {
		lines = append(lines, "as of "+string(bytes.TrimSpace(out)))
	}
	return lines
}

// soaked is the last soak, nil where there was none.
func (s *settings) soaked() (*soak, error) {
	if s.soak != "" {
		figures, err := proof.ReadFile(s.soak)
		return &soak{Name: "soak", Figures: figures}, err
	}
	text, err := os.ReadFile(filepath.Join(s.root, "docs", "benchmarks.json"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	var all struct{ Parts []*soak }
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		return nil, fmt.Errorf("docs/benchmarks.json: %w", err)
	}
	for _, p := range all.Parts {
		if p.Name == "soak" {
			return p, nil
		}
	}
	return nil, nil
}

// bad is an error that names the rows with a test that failed, or nil.
func (r *record) bad() error {
	var ids []string
	for id, all := range r.Rows {
		if slices.ContainsFunc(all, func(f finding) bool { return f.Result == failed }) {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	slices.Sort(ids)
	return errors.New("tests have failed: " + strings.Join(ids, ", "))
}

func (r *record) write(path string) error {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(r); err != nil {
		return err
	}
	return os.WriteFile(path, out.Bytes(), 0o644)
}

func readRecord(path string) (*record, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	r := new(record)
	if err := dec.Decode(r); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}
