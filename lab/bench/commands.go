package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/lab/internal/proof"
)

// bare is bash by itself.
func (b *bench) bare(line string) *way {
	return &way{name: "bash -c " + line, program: program{argv: []string{b.peers["bash"], "-c", line}}}
}

// spawns measures commands: one that does nothing, behind each wall, and one
// that says a lot.
func spawns(ctx context.Context, b *bench) {
	w := b.world(allowed)
	nothing := map[string]any{"command": "true", "description": "Does nothing"}
	peer := b.bare("true")
	all := []*way{peer}
	for _, level := range b.walls(ctx, w) {
		rt := b.runtime(w, func(o *helve.Options) { o.Shell.Wall.Level, o.DataDir = level, filepath.Join(w.Home, level) })
		all = append(all, ofCall(level, rt, "bash", nothing))
	}
	b.race(ctx, w, b.size(300, 20), all...)
	for _, way := range all[1:] {
		kinds := []string{"p50", "p99"}
		if way.name == "write" {
			kinds = kinds[:1]
		}
		b.compare("spawn."+way.name, way, peer, "", kinds...)
	}
	large := b.bigFile(w)
	args := map[string]any{"command": "cat " + bigName, "description": "Shows a large file"}
	process, inside, cat := b.helveCall("bash", args), ofCall("Runtime.Call", b.runtime(w, nil), "bash", args), b.bare("cat "+bigName)
	process.watched, cat.watched = true, true
	for _, way := range []*way{process, inside, cat} {
		way.check = says(strings.TrimSpace(bigLine(large - 1)))
	}
	b.race(ctx, w, b.size(7, 1), process, inside, cat)
	b.compare("output.process", process, cat, "", "p50", "memory")
	b.compare("output.call", inside, cat, "", "p50")
}

// walls are the levels that this machine can have.
func (b *bench) walls(ctx context.Context, w *proof.World) []string {
	all := []string{"off"}
	for _, level := range []string{"write", "strict"} {
		rt := b.runtime(w, func(o *helve.Options) { o.Shell.Wall.Level, o.DataDir = level, filepath.Join(w.Home, "proof-"+level) })
		state, err := rt.ProveWall(ctx)
		b.must(err)
		if !state.Complete {
			b.say("this machine has no wall of the level %s: %s", level, state.Reason)
			continue
		}
		all = append(all, level)
	}
	return all
}

const bigName = "big.log"

func bigLine(n int) string {
	return fmt.Sprintf("%012d is a line of the large file, as a log may have\n", n)
}

// bigFile makes a large file, all of it written, and returns how many lines it has.
func (b *bench) bigFile(w *proof.World) (lines int) {
	size := b.size(1<<30, 1<<20)
	b.say("a file of %d MiB", size>>20)
	f, err := os.Create(filepath.Join(w.Project, bigName))
	b.must(err)
	out := bufio.NewWriterSize(f, 1<<20)
	for written := 0; written < size; lines++ {
		n, _ := out.WriteString(bigLine(lines)) // Flush says what went wrong
		written += n
	}
	b.must(errors.Join(out.Flush(), f.Sync(), f.Close()))
	return lines
}

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
