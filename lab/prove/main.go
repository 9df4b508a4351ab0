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
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/helve-dev/helve/lab/internal/proof"
)

const usage = `usage: prove run [--only IDS | --again] [--race] [--long] [--soak FILE]
       prove render
it is run in the root of the repository`

const (
	recordFile = "docs/promises.json"
	pageFile   = "docs/promises.md"
)

// settings are what the command line says.
type settings struct {
	root  string // of the repository
	only  string // ids of rows and names of chapters, with commas between them
	again bool   // only the packages in which something failed or that were not run
	race  bool
	long  bool   // more kills and rounds than usual
	soak  string // figures of a soak, instead of those in docs/benchmarks.json
	out   io.Writer
	log   io.Writer
}

func main() {
	proof.Main("prove", run)
}

func run(ctx context.Context, args []string, out, log io.Writer) error {
	if len(args) == 0 {
		return errors.New(usage)
	}
	s := &settings{root: ".", out: out, log: log}
	flags := flag.NewFlagSet("prove "+args[0], flag.ContinueOnError)
	flags.SetOutput(log)
	if args[0] == "run" {
		flags.StringVar(&s.only, "only", "", "ids of rows (D7) and names of chapters (faults), with commas between them; the results are printed, and no file is written")
		flags.BoolVar(&s.again, "again", false, "only the packages in which something failed last time, or that were not run; the page says which had a second chance")
		flags.BoolVar(&s.race, "race", false, "with the race detector, as ./check has it")
		flags.BoolVar(&s.long, "long", false, "with thousands of kills instead of hundreds; it takes far longer")
		flags.StringVar(&s.soak, "soak", "", "a file of figures of a soak, instead of those in docs/benchmarks.json")
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
	switch args[0] {
	case "run":
		return s.prove(ctx, t)
	case "render":
		return s.render(t)
	}
	return errors.New(usage)
}

// prove runs the tests, keeps what came of them, and writes the page.
func (s *settings) prove(ctx context.Context, t *table) error {
	if s.only != "" {
		return s.proveSome(ctx, t.some(strings.Split(s.only, ",")))
	}
	record := s.record
	if s.again {
		record = s.recordAgain
	}
	r, err := record(ctx, t)
	if err != nil {
		return err
	}
	if err := r.write(filepath.Join(s.root, recordFile)); err != nil {
		return err
	}
	return errors.Join(s.render(t), r.bad(), ctx.Err())
}

// proveSome runs the tests of some rows and prints what came of them.
func (s *settings) proveSome(ctx context.Context, t *table) error {
	if len(t.Chapters) == 0 {
		return fmt.Errorf("nothing in the table is called %s", s.only)
	}
	r, err := s.record(ctx, t)
	if err != nil {
		return err
	}
	for row := range t.rows {
		fmt.Fprintf(s.out, "%s: %s\n  %s\n", row.ID, row.Promise, r.word(row))
		for _, f := range r.Rows[row.ID] {
			fmt.Fprintf(s.out, "  %s\n", f)
		}
	}
	return r.bad()
}

// render writes the page from what was kept.
func (s *settings) render(t *table) error {
	r, err := readRecord(filepath.Join(s.root, recordFile))
	if err != nil {
		return err
	}
	tests, err := findTests(s.root, t.packages())
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(s.root, pageFile), []byte(page(t, r, tests)), 0o644)
}
