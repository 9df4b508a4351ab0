package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/lab/internal/proof"
)

// A job for patch: some files, of which every so many lines one is changed.
type job struct {
	id, title           string
	files, lines, every int
}

// changed reports whether a line, counted from 0, is changed.
func (j job) changed(n int) bool { return n%j.every == j.every/2 }

func (j job) name(file int) string { return fmt.Sprintf("part_%d/file_%d.txt", file%10, file) }

func line(file, n int) string {
	return fmt.Sprintf("%05d is a line of file %d to be patched", n, file)
}

// text is a file before, or after.
func (j job) text(file int, after bool) string {
	var b strings.Builder
	for n := range j.lines {
		b.WriteString(line(file, n))
		if after && j.changed(n) {
			b.WriteString(", and it was")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// hunks writes the changes of a file; head is what stands above each, by the
// number of its first line.
func (j job) hunks(b *strings.Builder, file int, head func(first int) string) {
	for n := range j.lines {
		if !j.changed(n) {
			continue
		}
		b.WriteString(head(n-3) + "\n")
		for at := n - 3; at <= n+3; at++ {
			if at == n {
				fmt.Fprintf(b, "-%s\n+%s, and it was\n", line(file, n), line(file, n))
			} else {
				fmt.Fprintf(b, " %s\n", line(file, at))
			}
		}
	}
}

// unified is the change as patch takes it.
func (j job) unified() string {
	var b strings.Builder
	for file := range j.files {
		fmt.Fprintf(&b, "--- a/%s\n+++ b/%s\n", j.name(file), j.name(file))
		j.hunks(&b, file, func(first int) string { return fmt.Sprintf("@@ -%d,7 +%d,7 @@", first+1, first+1) })
	}
	return b.String()
}

// ours is the change as apply_patch takes it.
func (j job) ours() string {
	var b strings.Builder
	b.WriteString("*** Begin Patch\n")
	for file := range j.files {
		fmt.Fprintf(&b, "*** Update File: %s\n", j.name(file))
		j.hunks(&b, file, func(int) string { return "@@" })
	}
	b.WriteString("*** End Patch\n")
	return b.String()
}

// reset puts the files back, all the way to the disk, so that nobody has to
// wait for that later.
func (j job) reset(w *proof.World) error {
	for file := range j.files {
		if err := w.Write(j.name(file), j.text(file, false)); err != nil {
			return err
		}
	}
	_ = exec.Command("sync").Run() // where there is none, it has to do without
	return nil
}

// check makes sure of the files.
func (j job) check(w *proof.World) error {
	for file := range j.files {
		text, err := os.ReadFile(filepath.Join(w.Project, filepath.FromSlash(j.name(file))))
		if err != nil {
			return err
		}
		if string(text) != j.text(file, true) {
			return fmt.Errorf("%s is not as it should be", j.name(file))
		}
	}
	return nil
}

// patches measures changing many files, and one in many places.
func (s *settings) patches(ctx context.Context) error {
	jobs := []job{
		{"patch.files", fmt.Sprintf("A patch of %d files of 9 KB", s.sizes.files), s.sizes.files, 200, 66},
		{"patch.hunks", fmt.Sprintf("A patch of one file with %d hunks", s.sizes.hunks), 1, s.sizes.hunks * 20, 20},
	}
	for _, j := range jobs {
		if err := s.patch(ctx, j); err != nil {
			return fmt.Errorf("%s: %w", j.title, err)
		}
	}
	fmt.Fprintln(s.out, "helve writes every file whole and to the disk, all or none, keeps what was there and can put it back. patch does none of it.")
	fmt.Fprintln(s.out)
	return nil
}

func (s *settings) patch(ctx context.Context, j job) (err error) {
	w, err := proof.NewWorld()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	args := map[string]any{"patchText": j.ours()}
	command, err := s.command(w, "apply_patch", args)
	if err := errors.Join(err, permit(w)); err != nil {
		return err
	}
	whole, err := s.newRuntime(w, filepath.Join(w.Home, "records"), nil)
	if err != nil {
		return err
	}
	call := ofCall("Runtime.Call apply_patch", whole, "apply_patch", args)
	defer func() { err = errors.Join(err, call.close()) }()
	unrecorded, err := s.newRuntime(w, "", func(o *helve.Options) { o.Unrecorded = true })
	if err != nil {
		return err
	}
	bare := ofCall("Runtime.Call apply_patch, no records", unrecorded, "apply_patch", args)
	defer func() { err = errors.Join(err, bare.close()) }()
	process := ofProgram("helve call apply_patch", command)
	all := []*way{process, call, bare}
	var peer *way
	if path, err := exec.LookPath("patch"); err != nil {
		s.missing("patch", err.Error())
	} else {
		peer = ofProgram(proof.Version(path, "--version")+" -p1", program{argv: []string{path, "-p1", "-s"}, dir: w.Project, env: w.Env(), in: j.unified()})
		all = append(all, peer)
	}
	for _, way := range []*way{process, call, bare} {
		way.note = "helve writes to the disk, all or none, and can undo it; patch does not."
	}
	for _, way := range all {
		way.ready = func() error { return j.reset(w) }
		way.check = func(string) error { return j.check(w) }
	}
	fmt.Fprintf(s.log, "patch: %s, %d goes\n", j.title, s.sizes.edits)
	if err := s.race(ctx, s.sizes.edits, all); err != nil {
		return err
	}
	s.table(j.title, all)
	s.add(j.id+".process", process, peer)
	s.add(j.id+".call", call, peer)
	s.add(j.id+".bare", bare, peer)
	return nil
}
