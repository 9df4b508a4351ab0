// Command bench makes the page of figures, docs/benchmarks.md.
//
// What is measured is a list of parts (plan.json), each by a program of ours or
// by benchmarks of the go command. What a part has found is kept as data in
// docs/benchmarks.json, with its date and machine; running a part replaces its
// own entry and nothing else. The page is made from that data, from the figures
// that are wanted (wanted.json) and from a text (page.md): whether a target is
// met is arithmetic, and never written by hand.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/helve-dev/helve/lab/internal/proof"
)

const usage = `usage: bench run [--skip PART,…] [--out FOLDER] [--quick] [PART…]   measure, then make the page
       bench list                                                 what can be measured
       bench render                                               make the page from docs/benchmarks.json`

// Where the data and what is made of it lie, in the folder of documents.
const (
	docs     = "docs"
	bookFile = "benchmarks.json"
	pageFile = "benchmarks.md"
	plotsDir = "plots"
)

func main() {
	proof.Main("bench", command)
}

func command(ctx context.Context, args []string, out, log io.Writer) error {
	if len(args) == 0 {
		return errors.New(usage)
	}
	if args[0] == "large" { // a part of the plan that is measured here
		return measureLarge(ctx, args[1:], out, log)
	}
	p, err := loadPlan()
	if err != nil {
		return err
	}
	switch {
	case args[0] == "list" && len(args) == 1:
		list(out, p)
		return nil
	case args[0] == "render" && len(args) == 1:
		return renderFiles(p, docs)
	case args[0] == "run":
		j, err := choose(p, args[1:], log)
		if err != nil {
			return err
		}
		return errors.Join(measure(ctx, p, j, log), renderFiles(p, j.out), tellShort(p, j.out, log))
	}
	return errors.New(usage)
}

// tellShort names the figures that miss their target and say not why: somebody
// has to find out, and write it into wanted.json.
func tellShort(p *plan, dir string, log io.Writer) error {
	b, err := readBook(filepath.Join(dir, bookFile))
	if err != nil {
		return err
	}
	b.beside(p)
	for _, w := range p.Wanted {
		if f, _ := b.find(w.ID); w.verdict(f) == short && w.Short == "" {
			fmt.Fprintf(log, "bench: %s misses its target, and wanted.json does not say why\n", w.ID)
		}
	}
	return nil
}

func list(out io.Writer, p *plan) {
	total := 0.0
	for _, part := range p.Parts {
		fmt.Fprintf(out, "%-16s %5.1f min  %s\n", part.Name, part.Minutes, part.What)
		total += part.Minutes
	}
	fmt.Fprintf(out, "%-16s %5.0f min\n", "all", total)
}

// A job is which parts are to run, and the folder that what they find goes to.
type job struct {
	parts []part
	out   string
	quick bool
}

// choose finds the parts that the arguments name; all where there are none.
func choose(p *plan, args []string, log io.Writer) (j job, err error) {
	flags := flag.NewFlagSet("bench run", flag.ContinueOnError)
	flags.SetOutput(log)
	skip := flags.String("skip", "", "leave these `parts` out, by commas")
	flags.StringVar(&j.out, "out", docs, "keep the figures and the page in this `folder`")
	flags.BoolVar(&j.quick, "quick", false, "a look at whether everything works; the figures are worth nothing, and --out has to say where they go")
	if err := flags.Parse(args); err != nil {
		return j, err
	}
	if j.quick && filepath.Clean(j.out) == docs {
		return j, errors.New("figures of a quick run do not belong on the page: give --out")
	}
	without := strings.FieldsFunc(*skip, func(r rune) bool { return r == ',' })
	for _, name := range slices.Concat(flags.Args(), without) {
		if !slices.ContainsFunc(p.Parts, func(part part) bool { return part.is(name) }) {
			return j, fmt.Errorf("there is no part %q: see bench list", name)
		}
	}
	for _, part := range p.Parts {
		named := flags.NArg() == 0 || slices.ContainsFunc(flags.Args(), part.is)
		if named && !slices.ContainsFunc(without, part.is) {
			j.parts = append(j.parts, part)
		}
	}
	return j, nil
}
