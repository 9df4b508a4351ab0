package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/helve-dev/helve/lab/internal/proof"
)

// A change is one of some files, of which every so many lines one is changed.
type change struct {
	id                  string
	files, lines, every int
}

func (c change) name(file int) string { return fmt.Sprintf("part_%d/file_%d.txt", file%10, file) }

func (c change) line(file, n int) string {
	return fmt.Sprintf("%05d is a line of file %d to be patched", n, file)
}

// text is a file before, or after.
func (c change) text(file int, after bool) string {
	var s strings.Builder
	for n := range c.lines {
		s.WriteString(c.line(file, n))
		if after && n%c.every == c.every/2 {
			s.WriteString(", and it was")
		}
		s.WriteByte('\n')
	}
	return s.String()
}

// patch is the change, with what stands above a file and above each hunk.
func (c change) patch(above func(name string) string, hunk func(first int) string) string {
	var s strings.Builder
	for file := range c.files {
		s.WriteString(above(c.name(file)))
		for n := c.every / 2; n < c.lines; n += c.every {
			s.WriteString(hunk(n-2) + "\n")
			for at := n - 3; at <= n+3; at++ {
				if at == n {
					fmt.Fprintf(&s, "-%s\n+%s, and it was\n", c.line(file, n), c.line(file, n))
				} else {
					fmt.Fprintf(&s, " %s\n", c.line(file, at))
				}
			}
		}
	}
	return s.String()
}

// reset puts the files back, all the way to the disk, so that nobody has to wait
// for that later.
func (c change) reset(w *proof.World) error {
	for file := range c.files {
		if err := w.Write(c.name(file), c.text(file, false)); err != nil {
			return err
		}
	}
	return exec.Command("sync").Run()
}

// check makes sure of the files.
func (c change) check(w *proof.World) error {
	for file := range c.files {
		text, err := os.ReadFile(filepath.Join(w.Project, filepath.FromSlash(c.name(file))))
		if err != nil {
			return err
		}
		if string(text) != c.text(file, true) {
			return fmt.Errorf("%s is not as it should be", c.name(file))
		}
	}
	return nil
}

// patches measures changing many files, and one in many places, beside GNU patch.
func patches(ctx context.Context, b *bench) {
	hunks := b.size(1000, 10)
	for _, c := range []change{{"patch.files", b.size(200, 3), 200, 66}, {"patch.hunks", 1, hunks * 20, 20}} {
		w := b.world(`{"permission": {"*": "allow"}, "edit": {"unread": true}}`)
		ours := "*** Begin Patch\n" + c.patch(func(name string) string { return "*** Update File: " + name + "\n" }, func(int) string { return "@@" }) + "*** End Patch\n"
		unified := c.patch(func(name string) string { return fmt.Sprintf("--- a/%s\n+++ b/%s\n", name, name) }, func(first int) string { return fmt.Sprintf("@@ -%d,7 +%d,7 @@", first, first) })
		process := b.helveCall("apply_patch", map[string]any{"patchText": ours})
		inside := ofCall("Runtime.Call", b.runtime(w, nil), "apply_patch", map[string]any{"patchText": ours})
		peer := &way{name: proof.Version(b.peers["patch"], "--version") + " -p1", program: program{argv: []string{b.peers["patch"], "-p1", "-s"}, in: unified, watched: true}}
		for _, way := range []*way{process, inside, peer} {
			way.ready = func() error { return c.reset(w) }
			way.check = func(string) error { return c.check(w) }
		}
		b.race(ctx, w, b.size(15, 1), process, inside, peer)
		const note = "helve writes to the disk, all or none, and can undo it; patch does not."
		kinds := []string{"p50"}
		if c.id == "patch.files" {
			kinds = []string{"p50", "cpu", "memory"}
		}
		b.compare(c.id+".process", process, peer, note, kinds...)
		b.compare(c.id+".call", inside, peer, note, "p50")
	}
}
