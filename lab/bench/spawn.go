package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

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
