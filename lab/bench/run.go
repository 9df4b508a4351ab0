package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/helve-dev/helve/lab/internal/proof"
)

// A runner runs parts.
type runner struct {
	plan  *plan
	dir   string            // for programs and figures, removed at the end
	helve string            // the command that is measured
	peers map[string]string // what ${NAME} stands for, of those looked for already
	quick bool
	log   io.Writer
}

// runAll runs parts one after the other, and keeps what each has found at once
// in the book of a folder. A part that cannot be measured is left as it was.
func runAll(ctx context.Context, p *plan, parts []part, out string, quick bool, log io.Writer) (err error) {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "helve-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	r := &runner{plan: p, dir: dir, peers: map[string]string{}, quick: quick, log: log}
	if r.helve, err = r.build(ctx, ".", "./cmd/helve"); err != nil {
		return err
	}
	var failed error
	for i, part := range parts {
		fmt.Fprintf(log, "bench: part %d of %d, %s: %s (about %.1f minutes)\n", i+1, len(parts), part.Name, part.What, part.Minutes)
		e, err := r.part(ctx, part)
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("part %s: %w", part.Name, err))
			fmt.Fprintf(log, "bench: part %s: %v\n", part.Name, err)
		}
		if ctx.Err() != nil {
			return errors.Join(failed, ctx.Err())
		}
		if len(e.Figures) == 0 {
			continue // it is left as it was
		}
		for _, f := range e.Figures {
			fmt.Fprintf(log, "  %s: %s", f.ID, words(f.Value, f.Unit))
			if f.Peer != "" {
				fmt.Fprintf(log, "; %s: %s", f.Peer, words(f.PeerValue, f.Unit))
			}
			fmt.Fprintln(log)
		}
		path := filepath.Join(out, bookFile)
		book, err := readBook(path)
		if err == nil {
			book.put(e, p)
			err = book.write(path)
		}
		if err != nil {
			return errors.Join(failed, err)
		}
	}
	return failed
}

// part measures one. There are figures and an error where something does not
// hold: then the page has to say so.
func (r *runner) part(ctx context.Context, p part) (entry, error) {
	e := entry{Name: p.Name, Date: time.Now().UTC().Format("2006-01-02 15:04"), Machine: proof.Machine()}
	for _, name := range p.Needs {
		if err := r.bring(ctx, name); err != nil {
			return e, fmt.Errorf("left as it was, for want of %s: %w", name, err)
		}
	}
	ctx, stop := context.WithTimeout(ctx, max(20*time.Minute, time.Duration(4*p.Minutes*float64(time.Minute))))
	defer stop()
	e.Load[0] = proof.Busy()
	began := time.Now()
	var failed error
	if measure := measurements()[p.Name]; measure != nil {
		debug.FreeOSMemory() // what the part before has left
		b := &bench{helve: r.helve, peers: r.peers, quick: r.quick, log: r.log}
		failed = b.measure(ctx, measure)
		e.Figures = b.figures
	}
	for _, s := range p.Steps {
		figures, err := r.step(ctx, s)
		failed = errors.Join(failed, err)
		e.Figures = append(e.Figures, figures...)
	}
	for i := range e.Figures { // six digits are more than were measured
		f := &e.Figures[i]
		for _, x := range []*float64{&f.Value, &f.PeerValue} {
			if short, err := strconv.ParseFloat(strconv.FormatFloat(*x, 'g', 6, 64), 64); err == nil {
				*x = short
			}
		}
	}
	e.Seconds = time.Since(began).Round(time.Second).Seconds()
	e.Load[1] = proof.Busy()
	if failed != nil {
		e.Failed = failed.Error()
	}
	return e, failed
}

// bring finds a peer, or fetches it.
func (r *runner) bring(ctx context.Context, name string) (err error) {
	p, path := r.plan.Peers[name], ""
	switch {
	case r.peers[name] != "":
		return nil
	case len(p.Script) > 0:
		cmd := exec.CommandContext(ctx, p.Script[0], p.Script[1:]...)
		cmd.Stderr = r.log
		var out []byte
		out, err = cmd.Output()
		path = strings.TrimSpace(string(out))
	default:
		path, err = exec.LookPath(p.Program)
	}
	if err != nil {
		return err
	}
	if p.Version != nil {
		version := proof.Version(append([]string{path}, p.Version...)...)
		r.peers[name+".version"] = strings.TrimSpace(strings.TrimPrefix(version, p.Strip))
	}
	r.peers[name] = path
	return nil
}

// fill puts in what ${NAME} stands for.
func (r *runner) fill(text string) string {
	return os.Expand(text, func(name string) string {
		if name == "helve" {
			return r.helve
		}
		return r.peers[name]
	})
}

// step runs the go command, or a program of ours that writes its figures itself,
// and gives the figures that came of it. Where such a program fails with figures
// written, something that it checked does not hold.
func (r *runner) step(ctx context.Context, s step) (figures []proof.Figure, err error) {
	argv := []string{"go", "test", "-count=1", "-timeout=0", "-run", "^$", "-bench", s.Bench}
	file := filepath.Join(r.dir, "figures")
	switch {
	case s.Program != "":
		program, err := r.build(ctx, "lab", "./"+strings.TrimPrefix(s.Program, "./lab/"))
		if err != nil {
			return nil, err
		}
		argv = append([]string{program, "--figures", file}, s.Args...)
		if r.quick {
			argv = append(argv, "--quick")
		}
	case s.Test != "":
		argv = slices.Concat([]string{"go", "test", "-count=1", "-timeout=0", "-v", "-run", s.Test}, s.Args, []string{s.Package})
	default:
		argv = append(argv, s.Args...)
		if r.quick {
			argv = append(argv, "-benchtime=3x", "-count=1")
		}
		argv = append(argv, s.Package)
	}
	for i := range argv {
		argv[i] = r.fill(argv[i])
	}
	text, failed := r.execute(ctx, s, argv)
	if s.Program != "" {
		text, err := os.ReadFile(file)
		if err == nil {
			err = strictly(text, &figures)
		}
		return figures, errors.Join(failed, err)
	}
	all, err := readBench(text)
	if err = errors.Join(failed, err); err != nil {
		return nil, err
	}
	for _, t := range s.Takes {
		t.Peer = r.fill(t.Peer)
		f, err := all.figure(t)
		if s.Test != "" {
			f, err = fromLine(text, t)
		}
		if err != nil {
			return nil, fmt.Errorf("%w\n%s", err, tail(text))
		}
		figures = append(figures, f)
	}
	return figures, nil
}

// build makes a program of a module as it is released.
func (r *runner) build(ctx context.Context, module, pkg string) (string, error) {
	path := filepath.Join(r.dir, filepath.Base(pkg))
	cmd := exec.CommandContext(ctx, "go", "build", "-C", module, "-trimpath", "-ldflags", "-s -w", "-o", path, pkg)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("building %s: %w\n%s", pkg, err, tail(out))
	}
	return path, err
}

// execute runs a program to its end, with all that it starts, and gives what it
// printed. What it says on the way is shown.
func (r *runner) execute(ctx context.Context, s step, argv []string) ([]byte, error) {
	cmd := proof.Command(ctx, argv...)
	cmd.Env = os.Environ()
	for name, value := range s.Env {
		cmd.Env = append(cmd.Env, name+"="+r.fill(value))
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, r.log
	err := cmd.Run()
	if err != nil {
		err = fmt.Errorf("%s: %w\n%s", filepath.Base(argv[0]), err, tail(out.Bytes()))
	}
	return out.Bytes(), err
}

// tail is what to say of a failure: the lines of what was printed that say so,
// or else the last ones.
func tail(text []byte) string {
	lines := slices.Collect(strings.Lines(strings.TrimSpace(string(text))))
	if bad := slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return !strings.Contains(line, "FAIL") }); len(bad) > 0 {
		return strings.Join(bad[:min(len(bad), 12)], "")
	}
	return strings.Join(lines[max(0, len(lines)-12):], "")
}
