package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"
)

// keeperWords are in the command line of those who look after commands.
const keeperWords = "__helve keeper"

// errNobody says that there was nothing to break just now.
var errNobody = errors.New("nobody was there")

// A breaker makes faults, one after the other.
type breaker struct {
	*house
	rand    *rand.Rand
	version int
}

// A breakage is a kind of fault.
type breakage struct {
	name string
	do   func(*breaker, context.Context) error
}

func breakages() []breakage {
	return []breakage{
		{"kill an MCP server", kill(wordThings)},
		{"kill a language server", kill("fake-language-server")},
		{"kill what a command has started", kill("sleep")},
		{"kill a shell", kill("bash")},
		{"kill a keeper", (*breaker).killKeeper},
		{"restart the model", (*breaker).restartModel},
		{"fill the small disk", (*breaker).fillBox},
		{"fill the disk of records", (*breaker).fillData},
		{"a read-only disk", (*breaker).lockBox},
		{"delete files", (*breaker).deleteFiles},
		{"replace files", (*breaker).replaceFiles},
		{"change a tool", (*breaker).changeTool},
		{"break a tool", (*breaker).breakTool},
		{"change a plugin", (*breaker).changePlugin},
	}
}

// work makes faults until the load ends: each kind once, if somebody comes by
// whom it can befall, then by chance.
func (b *breaker) work(ctx context.Context, ends time.Time) {
	all := breakages()
	first := b.rand.Perm(len(all))
	pause := 1500 * time.Millisecond
	if b.s.quick {
		pause = 150 * time.Millisecond
	}
	for {
		sleep(ctx, pause/2+time.Duration(b.rand.Int64N(int64(pause))))
		if ctx.Err() != nil || time.Now().After(ends) {
			for _, at := range first {
				b.count.fault(all[at].name, errNobody)
			}
			return
		}
		at, chosen := b.rand.IntN(len(all)), false
		if len(first) > 0 {
			at, first, chosen = first[0], first[1:], true
		}
		err := all[at].do(b, ctx)
		switch {
		case !errors.Is(err, errNobody):
			b.count.fault(all[at].name, err)
		case chosen:
			first = append(first, at) // later
		}
	}
}

// kill kills one or two processes below the server.
func kill(word string) func(*breaker, context.Context) error {
	return func(b *breaker, _ context.Context) error {
		if b.killChildren(word, 1+b.rand.IntN(2)) == 0 {
			return errNobody
		}
		return nil
	}
}

// killKeeper kills a process that looks after others: a child of the server's
// that is the helper of commands.
func (b *breaker) killKeeper(context.Context) error {
	if b.killChildren(keeperWords, 1) == 0 {
		return errNobody
	}
	return nil
}

func (b *breaker) restartModel(ctx context.Context) error {
	b.endModel()
	sleep(ctx, 300*time.Millisecond)
	return b.startModel()
}

// fillBox leaves no room on the small disk for a while.
func (b *breaker) fillBox(ctx context.Context) error {
	if !b.s.mounts {
		return errors.ErrUnsupported
	}
	return b.fill(ctx, b.box(), boxSize, 0)
}

// fillData leaves no room for records for a while.
func (b *breaker) fillData(ctx context.Context) error {
	if !b.s.mounts {
		return errors.ErrUnsupported
	}
	b.count.filled(+1)
	defer b.count.filled(-1)
	err := b.fill(ctx, b.data(), dataSize, dataSpare)
	sleep(ctx, time.Second) // for answers that are on their way
	return err
}

func (b *breaker) fill(ctx context.Context, dir string, size, spare int64) error {
	used, err := held(dir)
	if err != nil {
		return err
	}
	if err := resize(dir, max(used+spare, 4096)); err != nil {
		return err
	}
	sleep(ctx, time.Second)
	return resize(dir, size)
}

// lockBox makes the small disk read-only for a while, as soon as nobody writes.
func (b *breaker) lockBox(ctx context.Context) error {
	if !b.s.mounts {
		return errors.ErrUnsupported
	}
	var err error
	for range 20 {
		if err = readOnly(b.box(), true); err == nil {
			break
		}
		sleep(ctx, 20*time.Millisecond)
	}
	if err != nil {
		return err
	}
	sleep(ctx, time.Second)
	return readOnly(b.box(), false)
}

// deleteFiles takes away what hands are at work on; some of it comes back.
func (b *breaker) deleteFiles(ctx context.Context) error {
	files, err := filepath.Glob(filepath.Join(b.Project, "hands", "*", "*"))
	if err != nil || len(files) == 0 {
		return errors.Join(err, errNobody)
	}
	for range 3 {
		_ = os.Remove(files[b.rand.IntN(len(files))]) // it may have gone by itself
	}
	name := sharedName(b.rand.IntN(shared))
	if err := os.Remove(filepath.Join(b.Project, name)); err != nil && !os.IsNotExist(err) {
		return err
	}
	sleep(ctx, 200*time.Millisecond)
	return b.replaceFiles(ctx)
}

// replaceFiles puts other files in the place of those that everybody changes,
// as git and editors do.
func (b *breaker) replaceFiles(context.Context) error {
	for i := range shared {
		half := filepath.Join(b.Root, "replaced")
		if err := os.WriteFile(half, []byte(sharedText(i)), 0o644); err != nil {
			return err
		}
		if err := os.Rename(half, filepath.Join(b.Project, sharedName(i))); err != nil {
			return err
		}
	}
	return nil
}

func (b *breaker) changeTool(context.Context) error {
	b.version++
	return b.configure("tool/lines.ts", toolText(b.version), 0o644)
}

// breakTool leaves a tool with a mistake for a moment.
func (b *breaker) breakTool(ctx context.Context) error {
	if err := b.configure("tool/lines.ts", "export default tool({", 0o644); err != nil {
		return err
	}
	sleep(ctx, 500*time.Millisecond)
	return b.changeTool(ctx)
}

func (b *breaker) changePlugin(context.Context) error {
	b.version++
	return b.configure("plugin/watch.ts", pluginText(b.version), 0o644)
}

// newBreaker makes a breaker whose chance is its own.
func newBreaker(h *house, round int) *breaker {
	return &breaker{house: h, rand: rand.New(rand.NewPCG(h.s.seed, 1000+uint64(round))), version: round * 1_000_000}
}

// mended says whether everything that was broken is whole again.
func (b *breaker) mended(ctx context.Context) error {
	for _, err := range []error{b.changeTool(ctx), b.changePlugin(ctx), b.replaceFiles(ctx)} {
		if err != nil {
			return fmt.Errorf("mending: %w", err)
		}
	}
	return nil
}
