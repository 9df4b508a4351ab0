// Command hold measures the figures that helve has to hold: how fast it
// decides, how much waits and runs at once, what is left after kills, and how
// long restarts and ends take. Each part works with the real thing: processes
// of the helve command, or a runtime with its store on disk.
//
// A part fails when something is not right: a record that is lost, a read that
// is torn, a process that is left over. How long things take makes no part
// fail; that is for the reader of the figures. Progress goes to stderr and a
// report in Markdown to stdout. Nothing of it leaves the machine.
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
	"sync"
	"time"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/lab/internal/proof"
)

// A part measures one of the figures.
type part struct {
	name    string
	what    string // in a line, for people
	measure func(context.Context, *desk) error
}

func parts() []part {
	return []part{
		{"decision", "What may a command do: the time until the rules have an answer", decision},
		{"sessions", "Sessions at work and in the store: the memory of the process", sessions},
		{"waiting", "Requests that wait for a person, all at once, answered in any order", waiting},
		{"reads", "Small reads at a rate, over HTTP", reads},
		{"bash", "Commands at once, a second, and in a queue", bash},
		{"wall", "What the wall adds to starting a command", wall},
		{"edits", "Many callers of several processes edit one file", edits},
		{"kills", "Processes that are killed while they record calls", kills},
		{"durable", "Writing a file so that it survives a power failure", durable},
		{"restart", "Ready again after a kill, with a large store", restart},
		{"tree", "What a cancelled command has started is gone", tree},
	}
}

// settings are what the command line says.
type settings struct {
	helve   string // the command that is measured
	figures string
	quick   bool
	minutes float64
}

// A desk is where a part works: what it may use, and where it puts what it finds.
type desk struct {
	settings
	self   string // this program
	log    io.Writer
	sheet  proof.Sheet
	mu     sync.Mutex
	failed []string
}

// size is how much of something there is to be.
func (d *desk) size(full, quick int) int {
	if d.quick {
		return quick
	}
	return full
}

// figure adds a figure. note says what it is of.
func (d *desk) figure(id string, value float64, unit, note string) {
	d.sheet.Add(proof.Figure{ID: "hold." + id, Value: value, Unit: unit, Note: note})
}

// times adds the middle, the slow end and the slowest of a list.
func (d *desk) times(id string, list []time.Duration, note string) {
	d.figure(id+".p50", proof.Millis(proof.Quantile(list, 0.5)), "ms", note)
	d.figure(id+".p99", proof.Millis(proof.Quantile(list, 0.99)), "ms", note)
	d.figure(id+".max", proof.Millis(proof.Quantile(list, 1)), "ms", note)
}

// hold notes a condition that has to be so, whatever the time it takes.
func (d *desk) hold(ok bool, format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !ok && len(d.failed) < 100 { // what comes after these says nothing new
		d.failed = append(d.failed, fmt.Sprintf(format, args...))
	}
}

func (d *desk) say(format string, args ...any) { fmt.Fprintf(d.log, "hold: "+format+"\n", args...) }

func main() {
	helve.RunHelper()
	proof.Main("hold", run)
}

func run(ctx context.Context, args []string, out, log io.Writer) error {
	if len(args) == 5 && args[0] == "prompts" { // what the sessions are measured with
		return prompts(ctx, args[1:], out)
	}
	d, chosen, err := parse(args, log)
	if err != nil {
		return err
	}
	var report strings.Builder
	fmt.Fprintf(&report, "%s.\n", proof.Machine())
	for _, p := range chosen {
		before, began, first, bad := proof.Busy(), time.Now(), len(d.sheet.Figures()), len(d.failed)
		d.say("%s", p.name)
		if err := p.measure(ctx, d); err != nil {
			d.hold(false, "it could not be measured to the end: %v", err)
		}
		fmt.Fprintf(&report, "\n## %s\n\n%s. It took %.0f s; the machine's load was %s before and %s after.\n\n",
			p.name, p.what, time.Since(began).Seconds(), before, proof.Busy())
		table(&report, d.sheet.Figures()[first:])
		for _, f := range d.failed[bad:] {
			fmt.Fprintf(&report, "- FAILED: %s\n", strings.ReplaceAll(f, "\n", " "))
		}
		if ctx.Err() != nil {
			break
		}
	}
	if len(d.failed) > 0 {
		err = fmt.Errorf("not everything held, see what FAILED: %s", d.failed[0])
	}
	_, written := io.WriteString(out, report.String())
	return errors.Join(err, ctx.Err(), written, d.sheet.WriteFile(d.figures))
}

// table writes figures for people.
func table(out io.Writer, figures []proof.Figure) {
	if len(figures) == 0 {
		return
	}
	fmt.Fprintln(out, "| figure | value | of what |")
	fmt.Fprintln(out, "|---|---|---|")
	for _, f := range figures {
		value := fmt.Sprintf("%.2f", f.Value)
		if f.Value == float64(int64(f.Value)) {
			value = fmt.Sprintf("%.0f", f.Value)
		}
		fmt.Fprintf(out, "| %s | %s | %s |\n", f.ID, strings.TrimSpace(value+" "+f.Unit), f.Note)
	}
	fmt.Fprintln(out)
}

func usage() string {
	names := make([]string, 0, len(parts()))
	for _, p := range parts() {
		names = append(names, p.name)
	}
	return "usage: hold PART… [--helve PATH] [--figures FILE] [--quick] [--minutes N]\nparts: " + strings.Join(names, ", ") + ", all"
}

// parse reads the command line: names of parts and flags, in any order.
func parse(args []string, log io.Writer) (*desk, []part, error) {
	d := &desk{log: log}
	flags := flag.NewFlagSet("hold", flag.ContinueOnError)
	flags.SetOutput(log)
	flags.Usage = func() { fmt.Fprintln(log, usage()); flags.PrintDefaults() }
	flags.StringVar(&d.helve, "helve", filepath.Join("bin", "helve"), "the helve command")
	flags.StringVar(&d.figures, "figures", "", "write the figures to this file, a JSON object a line")
	flags.BoolVar(&d.quick, "quick", false, "all sizes so small that it takes seconds: to see that it works")
	flags.Float64Var(&d.minutes, "minutes", 10, "how long reads are made")
	var names []string
	for {
		if err := flags.Parse(args); err != nil {
			return nil, nil, err
		}
		if flags.NArg() == 0 {
			break
		}
		names, args = append(names, flags.Arg(0)), flags.Args()[1:]
	}
	chosen, err := choose(names)
	if err != nil {
		return nil, nil, err
	}
	if d.minutes <= 0 {
		return nil, nil, errors.New("--minutes has to be more than 0")
	}
	if d.helve, err = filepath.Abs(d.helve); err != nil {
		return nil, nil, err
	}
	if _, err := os.Stat(d.helve); err != nil {
		return nil, nil, fmt.Errorf("the helve command is not there; make it, or give --helve: %w", err)
	}
	d.self, err = os.Executable()
	return d, chosen, err
}

// choose finds the parts of the names, in their usual order.
func choose(names []string) (chosen []part, err error) {
	for _, p := range parts() {
		if slices.Contains(names, p.name) || slices.Contains(names, "all") {
			chosen = append(chosen, p)
		}
	}
	for _, name := range names {
		known := slices.ContainsFunc(parts(), func(p part) bool { return p.name == name })
		if !known && name != "all" {
			return nil, fmt.Errorf("there is no part %q\n%s", name, usage())
		}
	}
	if len(chosen) == 0 {
		return nil, errors.New(usage())
	}
	return chosen, nil
}
