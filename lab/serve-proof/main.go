// Command serve-proof measures helve's HTTP server under load, over real
// connections, with the server in a process of its own: a thousand subscribers
// of the stream of events, and thousands of small calls a second. The calls are
// also put to OpenCode's server, on the same machine and in the same run.
//
// Progress goes to stderr and a report in Markdown to stdout. Nothing of it
// leaves the machine.
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
	"time"

	"github.com/helve-dev/helve/lab/internal/proof"
)

const usage = `usage: serve-proof PART [--helve PATH] [--opencode PATH] [--figures FILE] [flags]
parts: events, calls, all`

// settings are what the command line says.
type settings struct {
	helve    string // the command that serves calls
	opencode string // none when empty
	self     string // this program, which serves events

	subscribers int
	events      int // a second
	listening   time.Duration
	burst       int // events while a subscriber does not read

	rate    int // calls a second
	calling time.Duration

	figures string // a file for them
	sheet   proof.Sheet
	log     io.Writer
}

func main() {
	proof.Main("serve-proof", run)
}

func run(ctx context.Context, args []string, out, log io.Writer) error {
	if len(args) == 0 {
		return errors.New(usage)
	}
	if args[0] == "server" && len(args) == 3 { // what the events are measured with
		return serve(ctx, out, args[1], args[2])
	}
	s, err := parse(args[0], args[1:], log)
	if err != nil {
		return err
	}
	var parts []func(context.Context, *settings) (string, error)
	switch args[0] {
	case "events":
		parts = append(parts, proveEvents)
	case "calls":
		parts = append(parts, proveCalls)
	case "all":
		parts = append(parts, proveEvents, proveCalls)
	default:
		return errors.New(usage)
	}
	var text strings.Builder
	before := proof.Busy()
	for _, part := range parts {
		made, failed := part(ctx, s)
		text.WriteString(made)
		if err = failed; err != nil {
			break
		}
	}
	made := fmt.Sprintf("%s The machine's load was %s before and %s after.\n\n%s", proof.Machine(), before, proof.Busy(), text.String())
	if err == nil && strings.Contains(made, "FAILED") {
		err = errors.New("not everything held: see what FAILED")
	}
	_, failed := io.WriteString(out, made)
	return errors.Join(err, failed, s.sheet.WriteFile(s.figures))
}

func parse(name string, args []string, log io.Writer) (*settings, error) {
	s := &settings{log: log}
	flags := flag.NewFlagSet("serve-proof "+name, flag.ContinueOnError)
	flags.SetOutput(log)
	flags.StringVar(&s.helve, "helve", filepath.Join("bin", "helve"), "the helve command")
	flags.StringVar(&s.opencode, "opencode", "", "OpenCode's program, as .ci/opencode prints it; without it helve is measured alone")
	flags.StringVar(&s.figures, "figures", "", "also write the figures to this file, a JSON object a line")
	flags.IntVar(&s.subscribers, "subscribers", 1000, "subscribers of events")
	flags.IntVar(&s.events, "events", 100, "events a second")
	flags.DurationVar(&s.listening, "listening", 30*time.Second, "how long they listen")
	flags.IntVar(&s.burst, "burst", 100_000, "events while a subscriber does not read; more than the server keeps")
	flags.IntVar(&s.rate, "rate", 2000, "calls a second")
	flags.DurationVar(&s.calling, "calling", time.Minute, "how long calls are made")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if flags.NArg() > 0 {
		return nil, errors.New(usage)
	}
	if s.subscribers < 1 || s.events < 1 || s.rate < 1 || s.listening <= 0 || s.calling <= 0 {
		return nil, errors.New("the numbers have to be more than 0")
	}
	var err error
	if s.self, err = os.Executable(); err != nil {
		return nil, err
	}
	if s.helve, err = filepath.Abs(s.helve); err != nil {
		return nil, err
	}
	if s.opencode != "" {
		s.opencode, err = filepath.Abs(s.opencode)
	}
	return s, err
}
