//go:build linux

// Command soak lets a helve server live through half an hour of everything at
// once, and compares what it holds before and after.
//
// The server is `helve serve` in a process of its own, with a model, MCP
// servers, a language server, tools and a plugin. Workers come by HTTP, MCP,
// `helve call`, prompts and the stream of events. Meanwhile things break:
// processes are killed, connections cut, files deleted, models fail.
//
// Before and after, the server rests. Goroutines, descriptors, processes, files
// and memory have to be what they were; every call has to have had one answer,
// and the store has to hold the same.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/client"
	"github.com/helve-dev/helve/internal/cli"
	"github.com/helve-dev/helve/internal/lspclient/lsptest"
	"github.com/helve-dev/helve/internal/modeltest"
	"github.com/helve-dev/helve/lab/internal/proof"
)

// The first argument says what this program is started as, beside the soak.
const (
	wordServer = "soaked-server" // helve serve, with a probe in it
	wordHelve  = "soaked-helve"  // the command
	wordThings = "things-server" // an MCP server
)

func main() {
	helve.RunHelper()
	lsptest.Main()
	modeltest.Child()
	proof.Main("soak", run)
}

func run(ctx context.Context, args []string, out, log io.Writer) error {
	word := ""
	if len(args) > 0 {
		word = args[0]
	}
	switch word {
	case wordServer:
		os.Exit(serveWithProbe(ctx, args[1:]))
	case wordHelve:
		os.Exit(helveCommand(ctx, args[1:], os.Stdin))
	case wordThings:
		return serveThings(ctx)
	}
	s, err := parse(args)
	if err != nil {
		return err
	}
	return s.soak(ctx, out, log)
}

func helveCommand(ctx context.Context, args []string, in io.Reader) int {
	dir, _ := os.Getwd()       // where it is not known, relative paths fail by themselves
	self, _ := os.Executable() // where it is not known, commands run without a keeper
	return cli.Main(ctx, cli.Env{
		Args: args, Stdin: in, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, Dir: dir, Self: self,
	})
}

// longRest is longer than anything stays in the server that is not needed any
// more: keepers of commands stay for five minutes.
const longRest = 5*time.Minute + 30*time.Second

type settings struct {
	length, warm time.Duration // of the load before and after the first snapshot
	rest         time.Duration // before each snapshot
	quick        bool
	seed         uint64
	figures      string
}

func parse(args []string) (*settings, error) {
	s := &settings{}
	flags := flag.NewFlagSet("soak", flag.ContinueOnError)
	minutes := flags.Float64("minutes", 30, "how long the load goes on, after the first snapshot")
	flags.StringVar(&s.figures, "figures", "", "a file for the figures")
	flags.BoolVar(&s.quick, "quick", false, "a short one, to see that everything works: the figures mean nothing")
	flags.Uint64Var(&s.seed, "seed", uint64(time.Now().UnixNano()), "where chance begins")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if flags.NArg() > 0 || *minutes <= 0 {
		return nil, errors.New("usage: soak [--minutes N] [--figures FILE] [--quick] [--seed N]")
	}
	s.length = time.Duration(*minutes * float64(time.Minute))
	// What the server remembers of sessions and files is bounded; the load has to
	// fill it before the first snapshot, or the second finds more.
	s.warm, s.rest = max(s.length/5, 15*time.Second), longRest
	if s.quick {
		s.length, s.warm, s.rest = 8*time.Second, 5*time.Second, 2*time.Second
	} else if s.length < 10*time.Minute {
		s.rest = 10 * time.Second
	}
	return s, nil
}

// soak puts load on a server to warm it up, takes a snapshot at rest, and does
// both again.
func (s *settings) soak(ctx context.Context, out, log io.Writer) error {
	w, err := newWorld(s)
	if err != nil {
		return err
	}
	began := time.Now()
	say := func(format string, args ...any) {
		fmt.Fprintf(log, "%6.1fs %s\n", time.Since(began).Seconds(), fmt.Sprintf(format, args...))
	}
	var at [2]snapshot
	for i, long := range []time.Duration{s.warm, s.length} {
		say("seed %d, load for %s", s.seed, long)
		if err = w.load(ctx, i+1, long); err == nil {
			at[i], err = w.resting(ctx, at[:i])
		}
		if err != nil {
			return errors.Join(err, w.lastWords(), w.close())
		}
		say("at rest: %s", at[i])
	}
	r := &report{world: w, before: at[0], after: at[1]}
	err = errors.Join(r.examine(), w.close())
	if s.figures != "" {
		text, bad := json.Marshal(r.figures())
		err = errors.Join(err, bad, os.WriteFile(s.figures, text, 0o644))
	}
	r.print(out)
	if err == nil && len(r.failures) > 0 {
		err = errors.New("not everything came back: see what FAILED")
	}
	return err
}

// load lets workers work and breaks things for some time.
func (w *world) load(ctx context.Context, round int, long time.Duration) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-ctx.Done():
		case <-w.subject.exited:
			cancel(w.subject.failed)
		}
	}()
	all, err := pools()
	if err != nil {
		return err
	}
	ends := time.Now().Add(long)
	var working sync.WaitGroup
	defer working.Wait()
	for n, pool := range all {
		first := make(chan action, len(pool.actions)) // what is done at least once
		for _, a := range pool.actions {
			first <- a
		}
		for i := range pool.workers {
			k, err := newWorker(w, round*100+n*10+i)
			if err != nil {
				return err
			}
			working.Go(func() { k.work(ctx, pool.actions, first, ends) })
		}
	}
	b := newBreaker(w, round)
	working.Go(func() { b.work(ctx, ends) })
	working.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := b.mend(); err != nil {
		return fmt.Errorf("mending: %w", err)
	}
	return w.quiesce(ctx)
}

// quiesce ends what was begun, and uses everything once that is started when it
// is needed, so that both snapshots see it.
func (w *world) quiesce(ctx context.Context) error {
	api, err := client.New(w.subject.url, w.subject.token)
	if err != nil {
		return err
	}
	defer api.Close()
	jobs, err := api.ListJobs(ctx, client.ListJobsQuery{})
	if err != nil {
		return err
	}
	for _, j := range jobs.Jobs {
		if j.State == "running" {
			if _, err := api.StopJob(ctx, j.ID); err != nil && problem(err) == nil {
				return err
			}
		}
	}
	if w.s.rest < longRest {
		w.killChildren(keeperWords, 1000) // they would stay for longer than the rest
	}
	// What killed commands leave, the next one removes that needs the same.
	if out, err := w.command(ctx, "call", "sulk", "how=wait").CombinedOutput(); err != nil {
		return fmt.Errorf("helve call does not work after the load: %w: %s", err, out)
	}
	w.endModel() // and with it connections that are kept for the next prompt
	if err := w.startModel(); err != nil {
		return err
	}
	for _, r := range []client.CallRequest{
		{Tool: "read", Input: input{"filePath": "src/d1/f1.go"}}, {Tool: "grep", Input: input{"pattern": "needle-1"}},
		{Tool: "lines", Input: input{"path": "src/d1/f1.go"}}, {Tool: "shout", Input: input{"text": "x"}},
		{Tool: "things_echo", Input: input{"text": "x"}}, {Tool: "bash", Input: shell("echo x")},
		{Tool: "bash", Agent: "plan", Input: shell("echo x")}, {Tool: "write", Input: input{"filePath": "settled.foo", "content": "def settled\n"}},
	} {
		r.Session = "ses_settle"
		for range 20 { // it has to succeed, if not at once
			if _, err = api.Call(ctx, r); err == nil || ctx.Err() != nil {
				break
			}
			sleep(ctx, time.Second)
		}
		if err != nil {
			return fmt.Errorf("%s does not work after the load: %w", r.Tool, err)
		}
	}
	if !w.s.quick { // memory is not compared in a quick one
		if err := fillStream(ctx, api); err != nil {
			return err
		}
	}
	return api.EndSession(ctx, "ses_settle")
}

// fillStream makes more events than the server keeps, so that it keeps as much
// in both snapshots.
func fillStream(ctx context.Context, api *client.Client) error {
	const kept = 72 << 20 // bytes, more than the server does
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	heard := 0
	var calling sync.WaitGroup
	defer calling.Wait()
	defer cancel() // before it waits
	for e, err := range api.Events(ctx, client.EventQuery{}) {
		if ctx.Err() != nil || heard > kept {
			break
		}
		if err != nil {
			return fmt.Errorf("filling the stream of events: %w", err)
		}
		for i := 0; heard == 0 && i < 4; i++ { // the stream is open
			calling.Go(func() {
				for ctx.Err() == nil {
					_, _ = api.Call(ctx, client.CallRequest{Tool: "read", Session: "ses_settle", Input: input{"filePath": "large.txt"}}) // events tell
				}
			})
		}
		heard += 1 + len(e.Properties)
	}
	return nil
}

// sleep lets time pass, or the context end.
func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
