// Command bench-search measures the search tools beside ripgrep, in the flows
// that coding agents drive it by. It makes three trees once, then runs every
// query with every contender in interleaved rounds, and compares CPU time and
// wall time within each round, so that a busy machine disturbs all alike.
//
// Every contender runs in a process of its own, started from this program, so
// that neither memory nor background work of one is billed to another.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/helve-dev/helve/lab/internal/proof"
)

// settings are what the command line says.
type settings struct {
	trees      string
	names      []string // of the trees
	only       string   // part of a query's name
	contenders []string // empty is all
	rounds     int      // 0 is by tree
	quick      bool
	memory     bool
	seed       uint64
	rg         [2]string         // ripgrep 13 and 15; "" is none
	versions   map[string]string // what each of these says of itself
	helve      string            // the built command; "" is none
	commands   commandLines
	drive      string
	jsonFile   string
	figures    string
}

func main() {
	if err := run(os.Args[1:], os.Stdout, os.Stderr); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "bench-search:", err)
		}
		os.Exit(1)
	}
}

func run(args []string, out, log io.Writer) error {
	if len(args) == 2 && args[0] == "serve" {
		return serve(args[1], os.Stdin, out)
	}
	s, err := parse(args, log)
	if err != nil {
		return err
	}
	var reports []*report
	for _, name := range s.names {
		t, err := openTree(s, name, log)
		if err != nil {
			return fmt.Errorf("making the tree %s: %w", name, err)
		}
		r, err := measure(s, t, log)
		if err != nil {
			return fmt.Errorf("measuring the tree %s: %w", name, err)
		}
		r.markdown(out)
		reports = append(reports, r)
	}
	verdicts := judge(reports)
	goalTable(out, verdicts)
	if err := figures(s, reports, verdicts).WriteFile(s.figures); err != nil {
		return err
	}
	if s.jsonFile == "" {
		return nil
	}
	text, err := json.MarshalIndent(struct {
		Trees []*report
		Goals []verdict
	}{reports, verdicts}, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(s.jsonFile, append(text, '\n'), 0o644)
}

func parse(args []string, log io.Writer) (*settings, error) {
	s := &settings{versions: map[string]string{}}
	f := flag.NewFlagSet("bench-search", flag.ContinueOnError)
	f.SetOutput(log)
	f.StringVar(&s.trees, "trees", "", "keep the trees in this `folder`; helve-bench in the user's cache folder if empty")
	names := f.String("tree", "small,medium,huge", "measure these `trees`")
	f.StringVar(&s.only, "query", "", "only queries whose name holds this `text`")
	contenders := f.String("contender", "", "only these `contenders`, by commas; the one compared with always runs")
	f.IntVar(&s.rounds, "rounds", 0, "this `number` of rounds; by default 21, 9 and 5 for the three trees")
	f.BoolVar(&s.quick, "quick", false, "three rounds, and no look at memory")
	f.Uint64Var(&s.seed, "seed", 1, "the `number` that the trees are made from")
	f.StringVar(&s.rg[0], "rg13", "rg", "the `path` of an older ripgrep; empty for none")
	f.StringVar(&s.rg[1], "rg15", os.Getenv("HELVE_RG15"), "the `path` of ripgrep 15; $HELVE_RG15 by default")
	f.StringVar(&s.helve, "helve", "", "the `path` of the built command, which also is a contender")
	f.StringVar(&s.commands.Grep, "grep-command", "{helve} grep --newest --limit=100 --glob={include} {pattern} {dir}", "how the command is called for grep; an argument without its value is left out")
	f.StringVar(&s.commands.Glob, "glob-command", "{helve} glob --newest --limit=100 {pattern} {dir}", "the same for glob")
	f.StringVar(&s.commands.List, "list-command", "{helve} call list path={dir}", "the same for list")
	f.StringVar(&s.drive, "drive", driveCall, "how calls are made: call, the road without its record; disk, with records on `disk`; engine, the search alone")
	f.StringVar(&s.jsonFile, "json", "", "also write everything to this `file`")
	f.StringVar(&s.figures, "figures", "", "also write the figures to this `file`, a JSON object a line")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	if f.NArg() > 0 {
		return nil, fmt.Errorf("%q is not an option", f.Arg(0))
	}
	if !slices.Contains([]string{driveCall, driveDisk, driveEngine}, s.drive) {
		return nil, fmt.Errorf("--drive %s is not one of call, disk, engine", s.drive)
	}
	s.names = strings.Split(*names, ",")
	if *contenders != "" {
		s.contenders = strings.Split(*contenders, ",")
	}
	s.memory = !s.quick
	if s.quick && s.rounds == 0 {
		s.rounds = 3
	}
	return s, s.find(log)
}

// find makes sure of the programs and of the folder for the trees.
func (s *settings) find(log io.Writer) error {
	for i, name := range s.rg {
		if name == "" {
			continue
		}
		path, err := exec.LookPath(name)
		if err != nil {
			fmt.Fprintf(log, "no %s: %v\n", name, err)
		}
		s.rg[i] = path
		if path != "" {
			s.versions[path] = proof.Version(path, "--version")
		}
	}
	if s.rg[0] == "" && s.rg[1] == "" {
		return errors.New("there is no ripgrep to compare with: see --rg13 and --rg15")
	}
	if s.helve != "" {
		path, err := filepath.Abs(s.helve)
		if err != nil {
			return err
		}
		s.helve = path
	}
	if s.trees == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return fmt.Errorf("no folder for the trees: %w", err)
		}
		s.trees = filepath.Join(cache, "helve-bench")
	}
	path, err := filepath.Abs(s.trees)
	s.trees = path
	return err
}

// wants reports whether a contender was asked for.
func (s *settings) wants(name string) bool {
	return len(s.contenders) == 0 || slices.Contains(s.contenders, name)
}
