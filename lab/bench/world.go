package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/lab/internal/proof"
	"github.com/helve-dev/helve/permission"
)

const (
	allowed   = `{"permission": {"*": "allow"}}`
	smallFile = "small.txt" // of 100 bytes, in every world
	smallEnd  = "all of it is read. end."
)

// world makes a folder that programs live in while they are measured, with a
// config of helve's. It is gone at the end of the part.
func (b *bench) world(config string) *proof.World {
	w, err := proof.NewWorld()
	b.must(err)
	b.cleanup(w.Close)
	b.must(w.Write(smallFile, strings.Repeat("all of it is read. ", 5)+"end.\n"))
	b.must(writeConfig(w, "helve/helve.json", config))
	return w
}

// writeConfig writes a file below the user's folder for configs.
func writeConfig(w *proof.World, name, text string) error {
	path := filepath.Join(w.Home, "config", filepath.FromSlash(name))
	return errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600))
}

// dataDir is where helve keeps its records in a world.
func dataDir(w *proof.World) string { return filepath.Join(w.Home, "data", "helve") }

// runtime makes a runtime that may do everything: what is measured is how long
// work takes, and not who has to be asked. It is closed at the end of the part.
func (b *bench) runtime(w *proof.World, change func(*helve.Options)) *helve.Runtime {
	opt := helve.Options{
		Dir: w.Project, Worktree: w.Project, DataDir: dataDir(w), Unattended: true, Unread: true,
		Agents: agent.Specs(agent.SpecOptions{User: permission.Ruleset{{Permission: "*", Pattern: "*", Action: permission.Allow}}}),
		Shell:  helve.Shell{Helper: b.helve},
	}
	if change != nil {
		change(&opt)
	}
	rt, err := helve.Open(opt)
	b.must(err)
	b.cleanup(rt.Close)
	return rt
}

// A program is run to its end, with everything that it starts.
type program struct {
	argv    []string
	in      string // what it reads
	watched bool   // its memory is looked at, which takes some of the processor
}

// A life is what came of a program.
type life struct {
	wall, cpu time.Duration
	memory    float64 // MiB at the most, of it and all that it has started
	out       string  // the end of what it printed
}

// run runs a program in a world.
func run(ctx context.Context, w *proof.World, p program) (v life, err error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	cmd := w.Command(ctx, p.argv...)
	if p.in != "" {
		cmd.Stdin = strings.NewReader(p.in)
	}
	var out, log ending
	cmd.Stdout, cmd.Stderr = &out, &log
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return v, fmt.Errorf("starting %s: %w", filepath.Base(p.argv[0]), err)
	}
	ended := make(chan struct{})
	var looking sync.WaitGroup
	if p.watched {
		looking.Go(func() {
			for {
				v.memory = max(v.memory, held(cmd.Process.Pid))
				select {
				case <-ended:
					return
				case <-time.After(time.Millisecond):
				}
			}
		})
	}
	err = cmd.Wait()
	v.wall = time.Since(began)
	close(ended)
	looking.Wait()
	v.cpu, v.out = cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime(), out.String()
	if err != nil {
		_ = proof.EndGroup(cmd.Process) // what it left behind; mostly there is nothing
		err = fmt.Errorf("%s: %w: %.2000s %.2000s", filepath.Base(p.argv[0]), err, log.String(), out.String())
	}
	return v, err
}

// held is what a process and all below it have in memory, in MiB; pages that
// they share count for each. Of the first the most that it ever held counts: the
// limit that the system tells at the end begins with that of this program.
func held(pid int) float64 {
	sum := proof.UsageOf(pid).Peak
	for _, child := range proof.Descendants(pid) {
		sum += proof.UsageOf(child).Resident
	}
	return proof.MiB(sum)
}

// An ending keeps the last of what is written to it.
type ending struct{ text bytes.Buffer }

const endingBytes = 16 << 20 // that are kept at the least

func (e *ending) Write(p []byte) (int, error) {
	n := len(p)
	p = p[max(0, n-endingBytes):]
	if e.text.Len()+len(p) > 2*endingBytes {
		e.text.Next(e.text.Len() - endingBytes)
	}
	_, _ = e.text.Write(p) // never fails
	return n, nil
}

func (e *ending) String() string { return strings.TrimSpace(e.text.String()) }

// A pipe is a program that goes on running, whose lines are read as they come.
type pipe struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	kill    context.CancelFunc
	reading sync.WaitGroup // who reads or writes besides
}

// open starts a program in a world. Who opens it closes it.
func (b *bench) open(ctx context.Context, w *proof.World, argv ...string) (*pipe, error) {
	ctx, kill := context.WithCancel(ctx)
	p := &pipe{cmd: w.Command(ctx, argv...), kill: kill}
	p.cmd.Stderr = b.log
	in, err := p.cmd.StdinPipe()
	if err != nil {
		kill()
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		kill()
		return nil, errors.Join(fmt.Errorf("starting %s: %w", filepath.Base(argv[0]), err), in.Close())
	}
	p.in, p.out = in, bufio.NewReaderSize(out, 64<<10)
	return p, nil
}

// pid is the id of its process.
func (p *pipe) pid() int { return p.cmd.Process.Pid }

// close ends the program with all that it has started, unless it has ended.
func (p *pipe) close() error {
	p.kill()
	p.reading.Wait()
	_, _ = io.Copy(io.Discard, p.out) // until it is gone
	_ = p.cmd.Wait()                  // it was ended
	return nil
}

// start starts a server and waits until found is content with a line that it
// prints. It is ended at the end of the part, if not before.
func (b *bench) start(ctx context.Context, w *proof.World, found func(line string) bool, argv ...string) *pipe {
	p, err := b.open(ctx, w, argv...)
	b.must(err)
	b.cleanup(p.close)
	ready := make(chan bool, 1)
	p.reading.Go(func() {
		lines, ok := bufio.NewScanner(p.out), false
		for !ok && lines.Scan() {
			ok = found(lines.Text())
		}
		ready <- ok
		_, _ = io.Copy(io.Discard, p.out) // so that it is never held up
	})
	select {
	case ok := <-ready:
		if ok {
			return p
		}
	case <-time.After(30 * time.Second):
	case <-ctx.Done():
	}
	b.must(errors.Join(fmt.Errorf("%s does not say that it is ready", filepath.Base(argv[0])), ctx.Err()))
	return nil
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
		if err := sleepUntil(ctx, time.Now().Add(5*time.Millisecond)); err != nil {
			return err
		}
	}
}

// sleepUntil sleeps until a moment, or until ctx ends, whose error it returns.
func sleepUntil(ctx context.Context, due time.Time) error {
	if rest := time.Until(due); rest > 0 {
		t := time.NewTimer(rest)
		defer t.Stop()
		select {
		case <-ctx.Done():
		case <-t.C:
		}
	}
	return ctx.Err()
}
