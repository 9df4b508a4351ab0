//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/helve-dev/helve/lab/internal/proof"
)

// keeperWords are in the command line of those who look after commands.
const keeperWords = "__helve keeper"

// errNobody says that there was nothing to break just now.
var errNobody = errors.New("nobody was there")

// A breaker makes faults, one after the other.
type breaker struct {
	*world
	rand    *rand.Rand
	version int // of the tool and the plugin
}

func newBreaker(w *world, round int) *breaker {
	return &breaker{world: w, rand: rand.New(rand.NewPCG(w.s.seed, 1000+uint64(round))), version: round * 1_000_000}
}

type fault struct {
	name string
	do   func(*breaker, context.Context) error
}

func faults() []fault {
	kill := func(word string, most int) func(*breaker, context.Context) error {
		return func(b *breaker, _ context.Context) error {
			if b.killChildren(word, 1+b.rand.IntN(most)) == 0 {
				return errNobody
			}
			return nil
		}
	}
	return []fault{
		{"kill an MCP server", kill(wordThings, 2)},
		{"kill a language server", kill("fake-language-server", 2)},
		{"kill what a command has started", kill("sleep", 2)},
		{"kill a shell", kill("bash", 2)},
		{"kill a keeper", kill(keeperWords, 1)},
		{"restart the model", func(b *breaker, ctx context.Context) error {
			b.endModel()
			sleep(ctx, 300*time.Millisecond)
			return b.startModel()
		}},
		{"delete files", func(b *breaker, ctx context.Context) error {
			files, err := filepath.Glob(filepath.Join(b.Project, "workers", "*", "*"))
			if err != nil || len(files) == 0 {
				return errors.Join(err, errNobody)
			}
			for range 3 {
				_ = os.Remove(files[b.rand.IntN(len(files))]) // it may have gone by itself
			}
			_ = os.Remove(filepath.Join(b.Project, sharedName(b.rand.IntN(shared))))
			sleep(ctx, 200*time.Millisecond)
			return b.replaceFiles()
		}},
		{"replace files", func(b *breaker, _ context.Context) error { return b.replaceFiles() }},
		{"change a tool", func(b *breaker, _ context.Context) error { return b.change("tool/lines.ts") }},
		{"break a tool", func(b *breaker, ctx context.Context) error {
			if err := b.configure("tool/lines.ts", "export default tool({"); err != nil {
				return err
			}
			sleep(ctx, 500*time.Millisecond)
			return b.change("tool/lines.ts")
		}},
		{"change a plugin", func(b *breaker, _ context.Context) error { return b.change("plugin/watch.ts") }},
	}
}

// work makes faults until the load ends, all kinds in turn, shuffled anew each
// time.
func (b *breaker) work(ctx context.Context, ends time.Time) {
	all := faults()
	pause := 1500 * time.Millisecond
	if b.s.quick {
		pause = 150 * time.Millisecond
	}
	for {
		for _, at := range b.rand.Perm(len(all)) {
			sleep(ctx, pause/2+time.Duration(b.rand.Int64N(int64(pause))))
			if ctx.Err() != nil || time.Now().After(ends) {
				return
			}
			b.fault(all[at].name, all[at].do(b, ctx))
		}
	}
}

// killChildren kills processes below the server whose command line holds a word.
func (w *world) killChildren(word string, most int) (n int) {
	for _, pid := range proof.Descendants(w.subject.cmd.Process.Pid) {
		if n < most && strings.Contains(commandLine(pid), word) && syscall.Kill(pid, syscall.SIGKILL) == nil {
			n++
		}
	}
	return n
}

// replaceFiles puts other files in the place of those that everybody changes,
// as git and editors do.
func (b *breaker) replaceFiles() (err error) {
	half := filepath.Join(b.Root, "replaced")
	for i := range shared {
		err = errors.Join(err, os.WriteFile(half, []byte(sharedText(i)), 0o644), os.Rename(half, filepath.Join(b.Project, sharedName(i))))
	}
	return err
}

// change makes another version of a file of the configuration.
func (b *breaker) change(name string) error {
	b.version++
	return b.configure(name, fmt.Sprintf("\n// version %d\n", b.version))
}

// mend makes everything whole that was broken.
func (b *breaker) mend() error {
	return errors.Join(b.change("tool/lines.ts"), b.change("plugin/watch.ts"), b.replaceFiles())
}
