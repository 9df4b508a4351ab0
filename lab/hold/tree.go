package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/helve-dev/helve"
)

// A grove is commands that are cancelled, and how long what they started lived
// on.
type grove struct {
	d        *desk
	rt       *helve.Runtime
	mark     string // of this run, in the names of processes
	mu       sync.Mutex
	gone     []time.Duration // from cancelling to the end of the last process
	returned []time.Duration // from cancelling to the end of the call
	left     int             // commands of which something was left
}

// kinds is how many processes a command of a grove starts, beside itself.
const kinds = 5

// text is a command that starts processes which try to get away: in the
// background, in a session of their own, with no parent, without an
// environment and deaf to signals. Each has a name of its own.
func (g *grove) text(n int) string {
	name := func(k int) string { return fmt.Sprintf("%s-%d-%d", g.mark, n, k) }
	return strings.Join([]string{
		fmt.Sprintf("bash -c 'exec -a %s sleep 997' &", name(0)),
		fmt.Sprintf("setsid bash -c 'exec -a %s sleep 997' &", name(1)),
		fmt.Sprintf("(setsid bash -c '(exec -a %s sleep 997) & exit' &)", name(2)),
		fmt.Sprintf("env -i setsid bash -c 'trap \"\" TERM INT HUP; (exec -a %s sleep 997) & exit'", name(3)),
		fmt.Sprintf("(setsid bash -c 'trap \"\" TERM; (setsid bash -c \"exec -a %s sleep 997\" </dev/null >/dev/null 2>&1 &) ; exit' &)", name(4)),
		"sleep 997",
	}, "\n")
}

// living are the processes of a command that there are.
func (g *grove) living(n int) (all []int) {
	begin := fmt.Appendf(nil, "%s-%d-", g.mark, n)
	names, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range names {
		text, _ := os.ReadFile(name) // nothing where it has just ended
		if !bytes.HasPrefix(text, begin) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name))); err == nil {
			all = append(all, pid)
		}
	}
	return all
}

// tree cancels commands again and again.
func tree(ctx context.Context, d *desk) (err error) {
	if _, err := os.Stat("/proc/self/cmdline"); err != nil {
		return fmt.Errorf("processes can not be looked for here: %w", err)
	}
	p, err := d.place(`{}`)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	levels, err := d.levels(ctx, p)
	if err != nil {
		return err
	}
	for _, level := range levels {
		count := d.size(1000, 8)
		if level != "off" {
			count = d.size(100, 4) // there the kernel helps
		}
		d.say("tree: %d commands, wall %s", count, level)
		if err := d.grow(ctx, p, level, count); err != nil {
			return fmt.Errorf("wall %s: %w", level, err)
		}
	}
	return nil
}

// grow cancels commands of one level of the wall, a few at a time.
func (d *desk) grow(ctx context.Context, p place, level string, count int) (err error) {
	g := &grove{d: d, mark: fmt.Sprintf("hold%d%s", os.Getpid(), level)}
	if g.rt, err = p.runtime(d, level); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.rt.Close()) }()
	var next atomic.Int64
	err = joined(ctx, 4, func(ctx context.Context, _ int) error {
		for n := int(next.Add(1)); n <= count; n = int(next.Add(1)) {
			if err := g.cancel(ctx, n); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	note := fmt.Sprintf("%d commands with %d processes each that try to get away, wall: %s", count, kinds, level)
	d.times("tree."+level+".gone", g.gone, "from cancelling until all are gone: "+note)
	d.times("tree."+level+".returned", g.returned, "from cancelling until the call has ended: "+note)
	d.figure("tree."+level+".left", float64(g.left), "", "commands of which something was left: "+note)
	return nil
}

// cancel runs a command, cancels it when all of its processes are there, and
// waits for their end.
func (g *grove) cancel(ctx context.Context, n int) error {
	running, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	var end error
	var back time.Time
	go func() {
		defer close(ended)
		_, end = command(running, g.rt, fmt.Sprint("tree-", n%50), g.text(n))
		back = time.Now()
	}()
	there := 0
	err := until(ctx, time.Minute, func() (bool, error) {
		select {
		case <-ended:
			return false, fmt.Errorf("it has ended by itself: %w", end)
		default:
		}
		there = len(g.living(n))
		return there == kinds, nil
	})
	began := time.Now()
	cancel()
	if err != nil {
		<-ended
		return fmt.Errorf("command %d, with %d processes of %d: %w", n, there, kinds, err)
	}
	late := until(ctx, 10*time.Second, func() (bool, error) { return len(g.living(n)) == 0, nil })
	took := time.Since(began)
	select {
	case <-ended:
	case <-time.After(time.Minute):
		return fmt.Errorf("the call of command %d does not end", n)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	g.d.hold(end != nil, "command %d was cancelled, and its call has not failed", n)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.gone, g.returned = append(g.gone, took), append(g.returned, back.Sub(began))
	if late != nil {
		g.left++
		g.fell(n)
	}
	return nil
}

// fell ends what is left of a command, and says so.
func (g *grove) fell(n int) {
	left := g.living(n)
	g.d.hold(false, "10 s after command %d was cancelled these processes are left: %v", n, left)
	for _, pid := range left {
		if p, err := os.FindProcess(pid); err == nil {
			_ = p.Kill() // it would stay for long
		}
	}
}
