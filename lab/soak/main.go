// Command soak lets a helve server live through half an hour of everything at
// once, and looks whether it is the same afterwards.
//
// The server is `helve serve` as the command runs it, in a process of its own,
// with a model, MCP servers, a language server, tools and a plugin of a user's
// own. Workers come through all doors: HTTP, MCP, `helve call`, prompts, the
// stream of events. Meanwhile things break: processes are killed, connections
// cut, disks full, files taken away, models out of order.
//
// Before and after, the server is left alone for a moment. What it holds then is
// compared: goroutines, descriptors, processes, files, memory. Every call has to
// have had one answer, and the store has to hold the same.
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
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/internal/cli"
	"github.com/helve-dev/helve/internal/lsp/lsptest"
	"github.com/helve-dev/helve/internal/modeltest"
)

// What this program can be started as, beside the soak itself.
const (
	wordServer = "soaked-server" // the server, with a probe in it
	wordHelve  = "soaked-helve"  // the command, where none is named
	wordThings = "things-server" // an MCP server
	wordInside = "soak-inside"   // the soak, where it may mount
)

// settings are what the command line says.
type settings struct {
	length  time.Duration
	warm    time.Duration // of load before the first look
	rest    time.Duration // at least, before each look
	every   time.Duration // between samples
	quick   bool
	seed    uint64
	helve   []string // the command that makes calls
	self    string
	figures string
	samples string
	keep    string // where the server's log and its goroutines are left
	mounts  bool   // whether folders can be made full and read-only by mounts
	log     io.Writer
}

// longRest is longer than anything stays in the server that is not needed any
// more: keepers of commands stay for five minutes.
const longRest = 5*time.Minute + 30*time.Second

func main() {
	helve.RunHelper()
	lsptest.Main()
	modeltest.Child()
	os.Exit(start(os.Args[1:]))
}

// start is whatever the first word says.
func start(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	word := ""
	if len(args) > 0 {
		word = args[0]
	}
	var err error
	switch word {
	case wordServer:
		return serveWithProbe(ctx, args[1:])
	case wordHelve:
		return helveCommand(ctx, args[1:], os.Stdin, os.Stdout)
	case wordThings:
		err = serveThings(ctx)
	case wordInside:
		err = run(untilAlone(ctx), args[1:], true)
	default:
		err = runInside(ctx, args)
	}
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 2
	case err != nil:
		fmt.Fprintln(os.Stderr, "soak:", err)
		return 1
	}
	return 0
}

// untilAlone also ends with whoever has started this process.
func untilAlone(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // it ends with the other side
		cancel(errors.New("who started this has gone"))
	}()
	return ctx
}

// helveCommand is the command helve.
func helveCommand(ctx context.Context, args []string, in io.Reader, out io.Writer) int {
	dir, _ := os.Getwd()       // where it is not known, relative paths fail by themselves
	self, _ := os.Executable() // where it is not known, commands run without a keeper
	return cli.Main(ctx, cli.Env{
		Args: args, Stdin: in, Stdout: out, Stderr: os.Stderr, Getenv: os.Getenv, Dir: dir, Self: self,
	})
}

// parse reads the command line.
func parse(args []string, log io.Writer) (*settings, error) {
	s := &settings{log: log}
	flags := flag.NewFlagSet("soak", flag.ContinueOnError)
	flags.SetOutput(log)
	minutes := flags.Float64("minutes", 30, "how long the load goes on, after the first look")
	program := flags.String("helve", "", "the helve command that makes calls beside the server; this program itself when empty")
	flags.StringVar(&s.figures, "figures", "", "a file for the figures")
	flags.StringVar(&s.samples, "samples", "", "a file for the samples, as CSV")
	flags.StringVar(&s.keep, "keep", "", "a folder for the server's log, its goroutines and its memory, whose profile takes some itself")
	flags.BoolVar(&s.quick, "quick", false, "a short one, to see that everything works: the figures mean nothing")
	flags.Uint64Var(&s.seed, "seed", uint64(time.Now().UnixNano()), "what chance begins with")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if flags.NArg() > 0 || *minutes <= 0 {
		return nil, errors.New("usage: soak [--minutes N] [--helve PATH] [--figures FILE] [--samples FILE] [--keep FOLDER] [--quick] [--seed N]")
	}
	s.length = time.Duration(*minutes * float64(time.Minute))
	// What the server remembers of sessions and files is bounded; the load has to
	// fill it before the first look, or the second finds more.
	s.warm, s.rest, s.every = max(s.length/5, 15*time.Second), longRest, 5*time.Second
	if s.quick {
		s.length, s.warm, s.rest, s.every = 8*time.Second, 5*time.Second, 2*time.Second, time.Second
	} else if s.length < 10*time.Minute {
		s.rest = 10 * time.Second
	}
	var err error
	if s.self, err = os.Executable(); err != nil {
		return nil, err
	}
	s.helve = []string{s.self, wordHelve}
	if *program != "" {
		if *program, err = filepath.Abs(*program); err != nil {
			return nil, err
		}
		s.helve = []string{*program}
	}
	return s, nil
}
