// Command peers measures helve beside what people would use instead: a bare
// program, GNU patch, tail, bash by itself, and OpenCode as an agent. Both do
// the same work on the same files, in turns and in one run, and what came of it
// is compared. A peer that is not installed is named, and helve measured alone.
//
// Searches beside ripgrep are measured by bench-search, MCP by mcp-proof, the
// HTTP server by bench, pages by web-proof.
//
// Progress goes to stderr and a report in Markdown to stdout. Nothing of it
// leaves the machine.
//
// The figures, by id. Each row stands for ids that end in .p50 and .p99 (ms; the
// latter from 20 goes on), .cpu (ms of the processor, with that of all programs
// that were started, in the middle) and, where it says so, .memory (MiB at the
// most, all processes together). Of a missing peer, the first id of a line is
// there without it, and those after "also" are not.
//
//	start.version   memory  helve version, beside opencode --version; also start.version.node (node -e 0), start.version.true (no memory)
//	start.call      memory  helve call read, beside opencode --version; also start.call.node, start.call.true
//	agent.run       memory  a whole helve run, beside opencode run
//	agent.step              from the model's answer to the next request, .p50 and .p99 alone; also agent.step.read, .grep, .glob, .edit, .bash, .p50 alone
//	patch.files.process  memory  200 files by helve call apply_patch, beside patch -p1
//	patch.files.call             the same by Runtime.Call
//	patch.files.bare             the same without records on disk
//	patch.hunks.process, .call, .bare  the same with 1,000 hunks of one file
//	tail.process    memory  the last ten lines of 1 GB by helve call read, beside tail -n +N; also tail.process.end (tail -n 10)
//	tail.call               the same by Runtime.Call; also tail.call.end
//	spawn.off, spawn.write, spawn.strict   bash true by Runtime.Call and three walls, beside bash -c true
//	output.call             1 GB of output by Runtime.Call, beside bash -c cat
//	output.process  memory  the same by helve call bash
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/helve-dev/helve/lab/internal/proof"
)

const usage = `usage: peers PART… [--helve PATH] [--opencode PATH] [--figures FILE] [--quick]
parts: start, agent, patch, tail, spawn, all`

// settings are what the command line says, and where the figures go.
type settings struct {
	helve    string
	opencode string // none when empty
	figures  string
	sizes    sizes
	sheet    proof.Sheet
	out, log io.Writer
}

// sizes are how much is measured.
type sizes struct {
	starts int   // of every program
	runs   int   // of every agent
	rounds int   // of the five tools in one run
	edits  int   // goes of every patch
	files  int   // of the patch of many files
	hunks  int   // of the patch of one file
	big    int64 // bytes of the large file
	bigs   int   // goes with it
	spawns int   // commands
	weighs int   // goes of which only the memory counts
}

func whole() sizes { return sizes{50, 9, 8, 15, 200, 1000, 1 << 30, 7, 300, 3} }
func quick() sizes { return sizes{5, 2, 2, 3, 20, 100, 64 << 20, 3, 20, 1} }

func main() {
	proof.Main("peers", run)
}

func run(ctx context.Context, args []string, out, log io.Writer) error {
	s, names, err := parse(args, out, log)
	if err != nil {
		return err
	}
	return s.measure(ctx, names)
}

// A part is one comparison, or some that belong together.
type part struct {
	name string
	do   func(*settings, context.Context) error
}

func parts() []part {
	return []part{
		{"start", (*settings).starts}, {"agent", (*settings).agents}, {"patch", (*settings).patches},
		{"tail", (*settings).tails}, {"spawn", (*settings).spawns},
	}
}

// measure measures the parts and writes the figures of those that went well.
func (s *settings) measure(ctx context.Context, names []string) (err error) {
	before := proof.Busy()
	for _, p := range parts() {
		if !slices.Contains(names, p.name) && !slices.Contains(names, "all") {
			continue
		}
		if failed := p.do(s, ctx); failed != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", p.name, failed))
		}
	}
	_, failed := fmt.Fprintf(s.out, "%s The machine's load was %s before and %s after.\n", proof.Machine(), before, proof.Busy())
	return errors.Join(err, failed, s.sheet.WriteFile(s.figures))
}

func parse(args []string, out, log io.Writer) (*settings, []string, error) {
	s := &settings{sizes: whole(), out: out, log: log}
	var names []string
	for len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		names, args = append(names, args[0]), args[1:]
	}
	known := []string{"all"}
	for _, p := range parts() {
		known = append(known, p.name)
	}
	if len(names) == 0 || slices.ContainsFunc(names, func(n string) bool { return !slices.Contains(known, n) }) {
		return nil, nil, errors.New(usage)
	}
	flags := flag.NewFlagSet("peers", flag.ContinueOnError)
	flags.SetOutput(log)
	flags.StringVar(&s.helve, "helve", filepath.Join("bin", "helve"), "the helve command")
	flags.StringVar(&s.opencode, "opencode", "", "OpenCode's program, as .ci/opencode prints it; without it helve is measured alone")
	flags.StringVar(&s.figures, "figures", "", "also write the figures to this file, a JSON object a line")
	look := flags.Bool("quick", false, "a look: small counts, and figures that are worth little")
	if err := flags.Parse(args); err != nil {
		return nil, nil, err
	}
	if flags.NArg() > 0 {
		return nil, nil, errors.New(usage)
	}
	if *look {
		s.sizes = quick()
	}
	var err error
	if s.helve, err = filepath.Abs(s.helve); err == nil && s.opencode != "" {
		s.opencode, err = filepath.Abs(s.opencode)
	}
	if err == nil {
		_, err = os.Stat(s.helve)
	}
	return s, names, err
}
