// Command bench measures helve and makes the page of figures, docs/benchmarks.md.
//
// What is measured is a list of parts (plan.json): most are functions of this
// program, some are benchmarks and tests of other packages, and one is another
// program. What a part has found is kept as data in docs/benchmarks.json, with
// its date and machine; running a part replaces its own entry and nothing else.
// The page is made from that data, from the figures that are wanted
// (wanted.json) and from a text (page.md): whether a target is met is
// arithmetic, and never written by hand.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/helve-dev/helve/lab/internal/proof"
)

const usage = `usage: bench run [--out FOLDER] [--quick] [PART…]   measure, then make the page
       bench list                                 what can be measured
       bench render                               make the page from docs/benchmarks.json`

// Where the data and what is made of it lie, in the folder of documents.
const (
	docs     = "docs"
	bookFile = "benchmarks.json"
	pageFile = "benchmarks.md"
)

func main() {
	proof.Main("bench", command)
}

func command(ctx context.Context, args []string, out, log io.Writer) error {
	if len(args) == 0 {
		return errors.New(usage)
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
		flags := flag.NewFlagSet("bench run", flag.ContinueOnError)
		flags.SetOutput(log)
		dir := flags.String("out", docs, "keep the figures and the page in this `folder`")
		quick := flags.Bool("quick", false, "a look at whether everything works; the figures are worth nothing, and --out has to say where they go")
		if err := flags.Parse(args[1:]); err != nil {
			return err
		}
		if *quick && filepath.Clean(*dir) == docs {
			return errors.New("figures of a quick run do not belong on the page: give --out")
		}
		parts, err := choose(p, flags.Args())
		if err != nil {
			return err
		}
		return errors.Join(runAll(ctx, p, parts, *dir, *quick, log), renderFiles(p, *dir))
	}
	return errors.New(usage)
}

func list(out io.Writer, p *plan) {
	total := 0.0
	for _, part := range p.Parts {
		fmt.Fprintf(out, "%-16s %5.1f min  %s\n", part.Name, part.Minutes, part.What)
		total += part.Minutes
	}
	fmt.Fprintf(out, "%-16s %5.0f min\n", "all", total)
}

// choose finds the parts of these names; all where there are none.
func choose(p *plan, names []string) (parts []part, err error) {
	for _, name := range names {
		if !slices.ContainsFunc(p.Parts, func(part part) bool { return part.is(name) }) {
			return nil, fmt.Errorf("there is no part %q: see bench list", name)
		}
	}
	for _, part := range p.Parts {
		if len(names) == 0 || slices.ContainsFunc(names, part.is) {
			parts = append(parts, part)
		}
	}
	return parts, nil
}
