package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/lab/internal/proof"
	"github.com/helve-dev/helve/permission"
)

const (
	smallFile = "small.txt"
	smallEnd  = "all of it is read. end."
)

// A place is a closed world for a part, with a small file to read in it.
type place struct{ *proof.World }

// place makes a place with a configuration of helve's.
func (d *desk) place(config string) (place, error) {
	w, err := proof.NewWorld()
	if err != nil {
		return place{}, err
	}
	p := place{w}
	err = w.Write(smallFile, strings.Repeat("all of it is read. ", 5)+"end.\n") // 100 bytes
	dir := filepath.Join(w.Home, "config", "helve")
	err = errors.Join(err, os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, "helve.json"), []byte(config), 0o600))
	if err != nil {
		return place{}, errors.Join(err, w.Close())
	}
	return p, nil
}

// data is where helve keeps its records.
func (p place) data() string { return filepath.Join(p.Home, "data", "helve") }

// runtime makes a runtime that records on disk and has the helve command as
// its helper. Everything is allowed but what the rules say.
func (p place) runtime(d *desk, wall string, rules ...permission.Rule) (*helve.Runtime, error) {
	all := append(permission.Ruleset{{Permission: "*", Pattern: "*", Action: permission.Allow}}, rules...)
	return helve.New(helve.Options{
		Dir: p.Project, Worktree: p.Project, DataDir: p.data(),
		Agents: helve.Agents(helve.AgentOptions{DataDir: p.data(), Worktree: p.Project, User: all}),
		Shell:  helve.Shell{Helper: d.helve, Wall: helve.Wall{Level: wall}},
	})
}

// serve starts helve's server.
func (p place) serve(ctx context.Context, d *desk) (at proof.Server, child *proof.Child, err error) {
	return p.Serve(ctx, d.helve, "serve", "--addr", "127.0.0.1:0", "--json")
}

// A program is a process with its input and output at hand, which is ended
// with its context.
type program struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
	end context.CancelFunc
}

// open starts a program in the project. What it says to people goes where the
// desk's words go.
func (p place) open(ctx context.Context, d *desk, argv ...string) (*program, error) {
	ctx, end := context.WithCancel(ctx)
	r := &program{cmd: exec.CommandContext(ctx, argv[0], argv[1:]...), end: end}
	r.cmd.Dir, r.cmd.Env = p.Project, p.Env()
	r.cmd.WaitDelay = 2 * time.Second
	r.cmd.Cancel = func() error { return proof.EndGroup(r.cmd.Process) }
	r.cmd.Stderr = d.log
	proof.OwnGroup(r.cmd)
	in, err := r.cmd.StdinPipe()
	if err != nil {
		end()
		return nil, err
	}
	out, err := r.cmd.StdoutPipe()
	if err == nil {
		err = r.cmd.Start()
	}
	if err != nil {
		end()
		return nil, errors.Join(fmt.Errorf("starting %s: %w", filepath.Base(argv[0]), err), in.Close())
	}
	r.in, r.out = in, bufio.NewReaderSize(out, 64<<10)
	return r, nil
}

// Close ends the program, unless it has ended, with all that it has started.
func (r *program) Close() {
	r.end()
	_, _ = io.Copy(io.Discard, r.out) // until it is gone
	_ = r.cmd.Wait()                  // it was ended
}

// leave lets the program come to its own end, and returns how that was.
func (r *program) leave() error {
	defer r.end()
	err := r.in.Close()
	_, copied := io.Copy(io.Discard, r.out)
	return errors.Join(err, copied, r.cmd.Wait())
}

// until waits for a condition, which it looks at again and again.
func until(ctx context.Context, patience time.Duration, done func() (bool, error)) error {
	for limit := time.Now().Add(patience); ; {
		if ok, err := done(); ok || err != nil {
			return err
		}
		if time.Now().After(limit) {
			return fmt.Errorf("it has not come in %s", patience)
		}
		if err := proof.Until(ctx, time.Now().Add(5*time.Millisecond)); err != nil {
			return err
		}
	}
}

// joined runs work in so many hands, and returns the first error. The others
// are told to stop by their context.
func joined(ctx context.Context, hands int, work func(ctx context.Context, hand int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ended := make(chan error, hands)
	for i := range hands {
		go func() { ended <- work(ctx, i) }()
	}
	var first error
	for range hands {
		if err := <-ended; err != nil && first == nil {
			first = err
			cancel(err)
		}
	}
	return first
}

// resident is the memory of a process now, in MiB.
func (d *desk) resident(pid int) float64 { return proof.MiB(proof.UsageOf(pid).Resident) }
