package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/helve-dev/helve/lab/internal/proof"
)

// large measures a few large things, each by a whole process of helve.
func large(ctx context.Context, b *bench) {
	w := b.world(allowed)
	b.manyReads(ctx, w)
	b.muchOutput(ctx, w)
	b.wideFolder(ctx, w)
}

// manyReads gives reads to one process, all at once.
func (b *bench) manyReads(ctx context.Context, w *proof.World) {
	count := b.size(20_000, 200)
	b.say("%d reads", count)
	var in strings.Builder
	for i := range count {
		fmt.Fprintf(&in, `{"id":"%d","tool":"read","args":{"filePath":%q}}`+"\n", i, smallFile)
	}
	v, err := run(ctx, w, program{argv: []string{b.helve, "call", "--jsonl"}, in: in.String()})
	b.must(err)
	done := strings.Count(v.out, `"status":"completed"`)
	b.hold(done == count, "%d of %d reads were answered", done, count)
	b.add("large.jsonl", v.wall.Seconds(), "s", number(float64(count))+" reads")
}

// muchOutput has a command say far more than anybody keeps.
func (b *bench) muchOutput(ctx context.Context, w *proof.World) {
	size := b.size(10_000_000_000, 10_000_000)
	b.say("%d bytes of output", size)
	v, err := run(ctx, w, program{argv: []string{b.helve, "call", "bash", fmt.Sprintf("command=yes | head -c %d", size), "description=much"}, watched: true})
	b.must(err)
	note := words(float64(size)/1e6, "MB") + " of output"
	b.add("large.output", v.wall.Seconds(), "s", note)
	b.add("large.output.memory", v.memory, "MiB", note)
}

// wideFolder searches a folder of very many files, of which one in a thousand
// has what is looked for.
func (b *bench) wideFolder(ctx context.Context, w *proof.World) {
	count := b.size(1_000_000, 2000)
	b.say("a folder of %d files", count)
	dir := filepath.Join(w.Project, "many")
	b.must(os.Mkdir(dir, 0o755))
	for i := range count {
		text := "nothing to see\n"
		if i%1000 == 7 {
			text = "the needle is here\n"
		}
		b.must(errors.Join(os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%d.txt", i)), []byte(text), 0o600), ctx.Err()))
	}
	ours := &way{name: "helve", program: program{argv: []string{b.helve, "call", "grep", "pattern=the needle", "path=many"}, watched: true}}
	theirs := &way{name: proof.Version(b.peers["rg"], "--version"), program: program{argv: []string{b.peers["rg"], "-n", "--no-heading", "the needle", "many"}, watched: true}}
	theirs.check = func(said string) error {
		if lines := strings.Count(said, "the needle"); lines != count/1000 {
			return fmt.Errorf("%d lines were found", lines)
		}
		return nil
	}
	ours.check = says("the needle is here")
	b.race(ctx, w, 1, ours, theirs)
	note := number(float64(count)) + " files"
	b.beside("large.folder", "s", median(ours.walls)/1e3, theirs.name, median(theirs.walls)/1e3, note)
	b.beside("large.folder.memory", "MiB", ours.memory, theirs.name, theirs.memory, note)
}
