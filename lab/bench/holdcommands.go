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

	"golang.org/x/sync/errgroup"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/lab/internal/proof"
)

// sh runs a command line by the tool bash and returns what it printed.
func sh(ctx context.Context, rt *helve.Runtime, session, text string) (string, error) {
	return call(ctx, rt, session, "bash", map[string]any{"command": text, "description": "Says something"})
}

// walled makes a runtime with a level of the wall.
func (b *bench) walled(w *proof.World, level string) *helve.Runtime {
	return b.runtime(w, func(o *helve.Options) { o.Shell.Wall.Level = level })
}

// holdBash runs commands: many at once, as many a second as can be had, and more
// than there is room for.
func holdBash(ctx context.Context, b *bench) {
	w := b.world(allowed)
	for _, level := range b.walls(ctx, w) {
		rt := b.walled(w, level)
		_, err := sh(ctx, rt, "first", "true") // what stays is started once
		b.must(err)
		if level == "off" {
			b.atOnce(ctx, rt, w)
		}
		const hands = 16
		last, began := b.lasting(15*time.Second, time.Second/2), time.Now()
		var done atomic.Int64
		group, running := errgroup.WithContext(ctx)
		for hand := range hands {
			group.Go(func() error {
				for time.Since(began) < last && running.Err() == nil {
					said, err := sh(running, rt, fmt.Sprint("rate-", hand), "echo hello")
					if err != nil {
						return err
					}
					b.hold(strings.Contains(said, "hello"), "a command printed %q", said)
					done.Add(1)
				}
				return running.Err()
			})
		}
		b.must(group.Wait())
		b.add("hold.bash."+level+".rate", float64(done.Load())/time.Since(began).Seconds(), "a second",
			fmt.Sprintf("\"echo hello\" by %d callers of a runtime, each with its record, wall: %s", hands, level))
	}
	b.queue(ctx, w)
}

// atOnce has commands wait for each other: none goes on before all are there.
func (b *bench) atOnce(ctx context.Context, rt *helve.Runtime, w *proof.World) {
	count := b.size(200, 20)
	up := filepath.Join(w.Project, "up")
	b.must(os.Mkdir(up, 0o755))
	began := time.Now()
	group, running := errgroup.WithContext(ctx)
	for i := range count {
		group.Go(func() error {
			said, err := sh(running, rt, fmt.Sprint("once-", i), fmt.Sprintf(": > up/%d; until [ -e gate ]; do sleep 0.1; done; echo number %d", i, i))
			return errors.Join(err, says(fmt.Sprint("number ", i))(said))
		})
	}
	there := 0
	b.must(until(running, 2*time.Minute, func() (bool, error) {
		files, err := os.ReadDir(up)
		there = len(files)
		return there == count, err
	}))
	took := time.Since(began)
	b.must(errors.Join(w.Write("gate", ""), group.Wait()))
	b.add("hold.bash.off.at-once", float64(there), "", fmt.Sprintf("commands at work at the same time, after %.1f s", took.Seconds()))
}

// queue gives a process of the command more commands than can be at work, all at
// once, and none is to be refused.
func (b *bench) queue(ctx context.Context, w *proof.World) {
	count, good := b.size(5000, 300), 0
	began := time.Now()
	b.must(b.calls(ctx, w, count, func(i int) string {
		return fmt.Sprintf(`{"id":"%d","session":"q%d","tool":"bash","args":{"command":"echo number %d","description":"Says its number"}}`, i, i%100, i)
	}, func(_ *pipe, m message) bool {
		if m.Event != nil {
			return true
		}
		ok := m.Status == "completed" && strings.Contains(m.Output, "number "+m.ID+"\n")
		if b.hold(ok, "a command in the queue was answered %+v", m); ok {
			good++
		}
		return true
	}))
	b.add("hold.bash.queue.process", float64(good), "", fmt.Sprintf("of %d commands given at once to a process of the command: run, in %.1f s", count, time.Since(began).Seconds()))
}

// kinds is how many processes a command of holdTree starts, beside itself.
const kinds = 5

// escaping is a command that starts processes which try to get away: in the
// background, in a session of their own, with no parent, without an environment
// and deaf to signals. Each has a name of its own, which begins with mark.
func escaping(mark string) string {
	return strings.NewReplacer("NAME", "exec -a "+mark).Replace(strings.Join([]string{
		`bash -c 'NAME0 sleep 997' &`,
		`setsid bash -c 'NAME1 sleep 997' &`,
		`(setsid bash -c '(NAME2 sleep 997) & exit' &)`,
		`env -i setsid bash -c 'trap "" TERM INT HUP; (NAME3 sleep 997) & exit'`,
		`(setsid bash -c 'trap "" TERM; (setsid bash -c "NAME4 sleep 997" </dev/null >/dev/null 2>&1 &) ; exit' &)`,
		"sleep 997",
	}, "\n"))
}

// named are the processes whose name begins with mark.
func named(mark string) (all []int) {
	names, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range names {
		text, _ := os.ReadFile(name) // nothing where it has just ended
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name))); err == nil && bytes.HasPrefix(text, []byte(mark)) {
			all = append(all, pid)
		}
	}
	return all
}

// holdTree cancels commands again and again, and looks how long what they have
// started lives on.
func holdTree(ctx context.Context, b *bench) {
	w := b.world(allowed)
	for _, level := range b.walls(ctx, w) {
		if level == "write" {
			continue // the kernel helps there as it does with strict
		}
		count := b.size(1000, 8)
		if level != "off" {
			count = b.size(100, 4)
		}
		b.say("%d commands, wall %s", count, level)
		rt := b.walled(w, level)
		var mu sync.Mutex
		var gone []float64
		left := 0
		group, running := errgroup.WithContext(ctx)
		group.SetLimit(4)
		for n := range count {
			group.Go(func() error {
				mark := fmt.Sprintf("bench%d%s-%d-", os.Getpid(), level, n)
				took, err := cancelled(running, rt, mark)
				remain := named(mark)
				b.hold(len(remain) == 0, "10 s after command %d was cancelled these processes are left: %v", n, remain)
				for _, pid := range remain {
					if p, err := os.FindProcess(pid); err == nil {
						_ = p.Kill() // it would stay for long
					}
				}
				mu.Lock()
				defer mu.Unlock()
				if gone = append(gone, millis(took)); len(remain) > 0 {
					left++
				}
				return err
			})
		}
		b.must(group.Wait())
		note := fmt.Sprintf("%d commands with %d processes each that try to get away, wall: %s", count, kinds, level)
		b.add("hold.tree."+level+".gone.max", quantile(gone, 1), "ms", "from cancelling until all are gone: "+note)
		b.add("hold.tree."+level+".left", float64(left), "", "commands of which something was left: "+note)
	}
}

// cancelled runs a command, cancels it when all of its processes are there, and
// waits for their end, 10 s at the most.
func cancelled(ctx context.Context, rt *helve.Runtime, mark string) (time.Duration, error) {
	running, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		_, err := sh(running, rt, "tree", escaping(mark))
		ended <- err
	}()
	there := 0
	err := until(ctx, time.Minute, func() (bool, error) {
		there = len(named(mark))
		if len(ended) > 0 {
			return false, fmt.Errorf("it has ended by itself: %w", <-ended)
		}
		return there == kinds, nil
	})
	began := time.Now()
	cancel()
	if err != nil {
		return 0, fmt.Errorf("%d processes of %d: %w", there, kinds, err)
	}
	_ = until(ctx, 10*time.Second, func() (bool, error) { return len(named(mark)) == 0, nil }) // the caller looks again
	took := time.Since(began)
	select {
	case err = <-ended:
	case <-time.After(time.Minute):
		return took, errors.New("the call of a cancelled command does not end")
	}
	if err == nil {
		return took, errors.New("the call of a cancelled command has not failed")
	}
	return took, ctx.Err()
}
