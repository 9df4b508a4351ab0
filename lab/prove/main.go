// Command prove runs the tests that stand behind what helve promises and writes
// docs/promises.md: every promise, how it is kept, which tests would fail if it
// were not, what came of them last, and what is not promised.
//
// The promises are data, in table.yml. A run writes docs/promises.json, and the
// page is made from these two and nothing else, so that a test can tell whether
// the page is true. What failed is on the page like what passed, and the command
// then exits with 1.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/helve-dev/helve/lab/internal/proof"
)

const (
	usage      = "usage: prove run [--only IDS] [--long], or prove render, in the root of the repository"
	recordFile = "docs/promises.json"
	pageFile   = "docs/promises.md"
)

func main() { proof.Main("prove", run) }

func run(ctx context.Context, args []string, out, log io.Writer) error {
	if len(args) == 0 || args[0] != "run" && args[0] != "render" {
		return errors.New(usage)
	}
	flags := flag.NewFlagSet("prove "+args[0], flag.ContinueOnError)
	flags.SetOutput(log)
	only, long := new(string), new(bool)
	if args[0] == "run" {
		only = flags.String("only", "", "ids of rows (D7) and names of chapters (faults), with commas between them: only the packages of their tests, whose results are printed too; the others stay as they are")
		long = flags.Bool("long", false, "with thousands of kills instead of hundreds; it takes far longer")
	}
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	if _, err := os.Stat("go.mod"); err != nil || flags.NArg() > 0 {
		return errors.New(usage)
	}
	t, err := readTable()
	if err != nil {
		return err
	}
	if args[0] == "render" {
		return render(t)
	}
	r, some := &record{Ran: map[string]ran{}}, t
	if *only != "" {
		some = t.some(strings.Split(*only, ","))
		if r, err = readRecord(recordFile); err != nil {
			return err
		}
	}
	r.Long = *long
	if err := r.fill(ctx, t, some.packages(), log); err != nil {
		return err
	}
	if *only != "" {
		for row := range some.rows {
			fmt.Fprintf(out, "%s: %s\n  %s\n", row.ID, row.Promise, r.word(row))
			for _, f := range r.Rows[row.ID] {
				fmt.Fprintf(out, "  %s ./%s %s: %s, %.1f s %s\n", f.Result, f.Package, strings.Join(f.Tests, " "), many(f.Cases, "case"), f.Seconds, strings.Join(f.Failed, ", "))
			}
		}
	}
	if err := r.write(recordFile); err != nil {
		return err
	}
	return errors.Join(render(t), r.bad(), ctx.Err())
}

// render writes the page from what was kept.
func render(t *table) error {
	r, err := readRecord(recordFile)
	if err != nil {
		return err
	}
	tests, err := findTests(".", t.packages())
	if err != nil {
		return err
	}
	return os.WriteFile(pageFile, []byte(page(t, r, tests)), 0o644)
}

// A record is what came of a run.
type record struct {
	Date    string               `json:"date"`
	Machine string               `json:"machine"`
	Minutes int                  `json:"minutes"`
	Long    bool                 `json:"long"`
	Lacking []string             `json:"lacking,omitempty"` // what the machine does not have, and what that leaves out
	Rows    map[string][]finding `json:"rows"`              // by the id of the row, in the order of its checks
	Ran     map[string]ran       `json:"packages"`
	Data    map[string]int       `json:"data"` // lines of files with a case a line
}

// ran is what was run of a package.
type ran struct {
	Tests   int     `json:"tests"` // functions
	Cases   int     `json:"cases"` // that passed
	Seconds float64 `json:"seconds"`
}

// fill runs the tests of a table in some packages and notes what came of them.
// What was known of others stays, if the table has them still.
func (r *record) fill(ctx context.Context, t *table, packages []string, log io.Writer) error {
	began := time.Now()
	r.Date, r.Machine, r.Data = began.UTC().Format(time.DateOnly), proof.Machine(), map[string]int{}
	env := r.environment(ctx, log)
	rows := map[string][]finding{}
	for row := range t.rows {
		rows[row.ID] = make([]finding, len(row.Tests))
		for i, k := range row.Tests {
			if had := r.Rows[row.ID]; i < len(had) && had[i].answers(k) {
				rows[row.ID][i] = had[i]
			}
		}
	}
	r.Rows = rows
	maps.DeleteFunc(r.Ran, func(pkg string, _ ran) bool { return !slices.Contains(t.packages(), pkg) })
	for i, pkg := range packages {
		fmt.Fprintf(log, "prove: %d of %d: %s", i+1, len(packages), pkg)
		from := time.Now()
		o, err := runTests(ctx, ".", pkg, t.pattern(pkg), env, log)
		if ctx.Err() != nil {
			break // what was not run is shown as that
		}
		if err != nil {
			return err
		}
		tests, cases := o.total()
		r.Ran[pkg] = ran{tests, cases, tenths(time.Since(from).Seconds())}
		for row := range t.rows {
			for i, k := range row.Tests {
				if k.Package == pkg {
					r.Rows[row.ID][i] = o.find(k, row.Says)
				}
			}
		}
		fmt.Fprintf(log, ": %s, %.0f s\n", o.of("").result, time.Since(from).Seconds())
	}
	r.Minutes += int(time.Since(began).Minutes() + 0.5)
	for row := range t.rows {
		for _, name := range row.Data {
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			r.Data[name] = bytes.Count(text, []byte("\n"))
		}
	}
	return nil
}

// environment is that of the tests, with the programs that they are held
// against, which scripts of ours bring. ./check brings the same.
func (r *record) environment(ctx context.Context, log io.Writer) []string {
	env := os.Environ()
	r.Lacking = nil
	for _, p := range [][3]string{
		{"HELVE_RG15", ".ci/ripgrep15", "ripgrep 15: patterns and lines against it"},
		{"HELVE_BUN", ".ci/bun", "Bun: scripts against it"},
		{"HELVE_AXE", ".ci/axe", "axe-core: whether everybody can use the console"},
		{"HELVE_TSC", ".ci/typescript", "the TypeScript compiler: the types of the TypeScript client"},
		{"HELVE_MCP_SDK", ".ci/mcp-sdk", "MCP's SDK for Node: a client written with it"},
		{"HELVE_LANGUAGE_SERVERS", ".ci/language-servers", "language servers: what they find in broken code"},
	} {
		if os.Getenv(p[0]) != "" {
			continue
		}
		fmt.Fprintf(log, "prove: %s\n", p[1])
		out, err := exec.CommandContext(ctx, "sh", p[1]).Output()
		where := string(bytes.TrimSpace(out))
		if err != nil || where == "" {
			r.Lacking = append(r.Lacking, p[2])
			continue
		}
		env = append(env, p[0]+"="+where)
		if p[0] == "HELVE_BUN" { // zod lies beside it
			env = append(env, "HELVE_ZOD="+filepath.Join(filepath.Dir(filepath.Dir(where)), "zod"))
		}
	}
	for p := range strings.FieldsSeq("strace git rg tmux clangd node python3") {
		if _, err := exec.LookPath(p); err != nil {
			r.Lacking = append(r.Lacking, p+": tests that need it")
		}
	}
	if r.Long {
		env = append(env, "HELVE_LONG=10", "HELVE_STORE_KILLS=2000", "HELVE_KILLS=2000")
	}
	return env
}

// bad is an error that names the rows with a test that failed, or nil.
func (r *record) bad() error {
	var ids []string
	for _, id := range slices.Sorted(maps.Keys(r.Rows)) {
		if slices.ContainsFunc(r.Rows[id], func(f finding) bool { return f.Result == failed }) {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	return errors.New("tests have failed: " + strings.Join(ids, ", "))
}

func (r *record) write(path string) error {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	return errors.Join(enc.Encode(r), os.WriteFile(path, out.Bytes(), 0o644))
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
