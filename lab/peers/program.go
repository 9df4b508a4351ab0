package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/helve-dev/helve/lab/internal/proof"
)

// A program is run to its end, with everything that it starts.
type program struct {
	argv []string
	dir  string
	env  []string
	in   string // what it reads
}

// longest is how long a program may take.
const longest = 5 * time.Minute

// run runs it, and returns the end of what it printed.
func (p program) run(ctx context.Context) (string, error) {
	return p.live(ctx, func(*os.Process) {})
}

// peak runs it and looks, again and again, at how much memory it and all that
// it has started hold. The limit of the process that the system tells at the
// end is of no use: it begins with that of this program.
func (p program) peak(ctx context.Context) (most int64, err error) {
	ended := make(chan struct{})
	var looking sync.WaitGroup
	_, err = p.live(ctx, func(process *os.Process) {
		looking.Go(func() {
			for {
				most = max(most, held(process.Pid))
				select {
				case <-ended:
					return
				case <-time.After(time.Millisecond):
				}
			}
		})
	})
	close(ended)
	looking.Wait()
	return most, err
}

// held is what a process and all below it have in memory now; pages that they
// share count for each. Of the first the most that it ever held counts.
func held(pid int) int64 {
	sum := proof.UsageOf(pid).Peak
	for _, child := range proof.Descendants(pid) {
		sum += proof.UsageOf(child).Resident
	}
	return sum
}

// live runs it, and lets somebody look at it.
func (p program) live(ctx context.Context, look func(*os.Process)) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.argv[0], p.argv[1:]...)
	cmd.Dir, cmd.Env = p.dir, p.env
	if p.in != "" {
		cmd.Stdin = strings.NewReader(p.in)
	}
	var out, log ending
	cmd.Stdout, cmd.Stderr = &out, &log
	cmd.Cancel = func() error { return proof.EndGroup(cmd.Process) }
	cmd.WaitDelay = 5 * time.Second
	proof.OwnGroup(cmd)
	if err := cmd.Start(); err != nil {
		return "", fmt.Errorf("starting %s: %w", filepath.Base(p.argv[0]), err)
	}
	look(cmd.Process)
	if err := cmd.Wait(); err != nil {
		_ = proof.EndGroup(cmd.Process) // what it left behind; mostly there is nothing
		return "", fmt.Errorf("%s: %w: %s %s", filepath.Base(p.argv[0]), err, log.String(), out.String())
	}
	return out.String(), nil
}

// An ending keeps the last of what is written to it.
type ending struct{ text bytes.Buffer }

// endingBytes are what is kept at the least, if there are so many.
const endingBytes = 32 << 10

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
