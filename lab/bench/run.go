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
// in the book of a folder. A part that can not be measured is left as it was.
func runAll(ctx context.Context, p *plan, parts []part, out string, quick bool, log io.Writer) (err error) {
	if _, err := os.Stat("go.mod"); err != nil {
		return errors.New("this is not the root of the module: there is no go.mod")
	}
	dir, err := os.MkdirTemp("", "helve-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	r := &runner{plan: p, dir: dir, peers: map[string]string{}, quick: quick, log: log}
	if r.helve, err = r.build(ctx, "./cmd/helve"); err != nil {
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
		if e != nil {
			for _, f := range e.Figures {
				fmt.Fprintf(log, "  %s: %s, %s\n", f.ID, words(f.Value, f.Unit), f.Note)
			}
			book, err := readBook(filepath.Join(out, bookFile))
			if err != nil {
				return errors.Join(failed, err)
			}
			book.put(*e, p)
			if err := book.write(filepath.Join(out, bookFile)); err != nil {
				return errors.Join(failed, err)
			}
		}
		if ctx.Err() != nil {
			return errors.Join(failed, ctx.Err())
		}
	}
	return failed
}

// part measures one. There is an entry and an error when a program found that
// something does not hold: then the page has to say so.
func (r *runner) part(ctx context.Context, p part) (*entry, error) {
	for _, name := range p.Needs {
		if err := r.bring(ctx, name); err != nil {
			return nil, fmt.Errorf("left as it was, for want of %s: %w", name, err)
		}
	}
	ctx, stop := context.WithTimeout(ctx, max(20*time.Minute, time.Duration(4*p.Minutes*float64(time.Minute))))
	defer stop()
	e := &entry{Name: p.Name, Date: time.Now().UTC().Format("2006-01-02 15:04"), Machine: proof.Machine()}
	e.Load[0] = proof.Busy()
	began := time.Now()
	var failed error
	if measure := measurements()[p.Name]; measure != nil {
		b := &bench{helve: r.helve, peers: r.peers, quick: r.quick, log: r.log}
		if b.self, failed = os.Executable(); failed == nil {
			failed = b.measure(ctx, measure)
		}
		if e.Figures = b.figures; failed != nil && len(e.Figures) == 0 {
			return nil, fmt.Errorf("left as it was: %w", failed)
		}
	}
	for _, s := range p.Steps {
		figures, err := r.step(ctx, s)
		if err != nil && len(figures) == 0 {
			return nil, fmt.Errorf("left as it was: %w", err)
		}
		failed = errors.Join(failed, err)
		e.Figures = append(e.Figures, figures...)
	}
	for i := range e.Figures {
		e.Figures[i].Value, e.Figures[i].PeerValue = shortened(e.Figures[i].Value), shortened(e.Figures[i].PeerValue)
	}
	e.Seconds = float64(time.Since(began).Round(time.Second)) / float64(time.Second)
	e.Load[1] = proof.Busy()
	e.Versions = versionsOf(e.Figures)
	if failed != nil {
		e.Failed = failed.Error()
	}
	return e, failed
}

// shortened leaves six digits of a number, which are more than were measured.
func shortened(x float64) float64 {
	short, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 6, 64), 64)
	if err != nil {
		return x
	}
	return short
}

// bring finds a peer, or fetches it.
func (r *runner) bring(ctx context.Context, name string) error {
	if _, ok := r.peers[name]; ok {
		return nil
	}
	p := r.plan.Peers[name]
	path := ""
	if len(p.Script) > 0 {
		cmd := exec.CommandContext(ctx, p.Script[0], p.Script[1:]...)
		cmd.Stderr = r.log
		out, err := cmd.Output()
		if err != nil {
			return err
		}
		path = strings.TrimSpace(string(out))
	} else {
		found, err := r.installed(ctx, p)
		if err != nil {
			return err
		}
		path = found
	}
	if p.Version != nil {
		version := proof.Version(append([]string{path}, p.Version...)...)
		if version == "" {
			return errors.New("it does not tell its version")
		}
		r.peers[name+".version"] = strings.TrimSpace(strings.TrimPrefix(version, p.Strip))
	}
	r.peers[name] = path
	return nil
}

// installed finds a program of the system, and has Debian bring it where it may.
func (r *runner) installed(ctx context.Context, p peer) (string, error) {
	path, err := exec.LookPath(p.Program)
	apt, none := exec.LookPath("apt-get")
	if err == nil || none != nil || p.Package == "" || os.Getuid() != 0 {
		return path, err
	}
	fmt.Fprintf(r.log, "bench: installing %s\n", p.Package)
	cmd := exec.CommandContext(ctx, apt, "install", "-y", "-qq", "--no-install-recommends", p.Package)
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("apt-get can not bring %s: %w: %s", p.Package, err, tail(out))
	}
	return exec.LookPath(p.Program)
}

// fill puts in what ${NAME} stands for.
func (r *runner) fill(text string) string {
	return os.Expand(text, func(name string) string {
		switch name {
		case "helve":
			return r.helve
		case "cache":
			dir, _ := os.UserCacheDir() // a path that is not there tells what is wrong
			return dir
		}
		if value, ok := r.peers[name]; ok {
			return value
		}
		return "${" + name + "}"
	})
}

// step runs one program and gives the figures that came of it.
func (r *runner) step(ctx context.Context, s step) ([]proof.Figure, error) {
	if s.Program != "" {
		return r.ours(ctx, s)
	}
	argv := []string{"go", "test", "-count=1", "-timeout=0", "-run", "^$", "-bench", s.Bench}
	if s.Test != "" {
		argv = []string{"go", "test", "-count=1", "-timeout=0", "-v", "-run", s.Test}
	}
	argv = append(argv, s.Args...)
	if r.quick && s.Test == "" {
		argv = append(argv, "-benchtime=3x", "-count=1")
	}
	argv = append(argv, s.Package)
	text, err := r.execute(ctx, s, argv)
	if err != nil {
		return nil, err
	}
	return r.take(s, text)
}

// take makes figures out of what the go command has printed.
func (r *runner) take(s step, text []byte) (figures []proof.Figure, err error) {
	all, err := readBench(text)
	if err != nil {
		return nil, err
	}
	for _, t := range s.Takes {
		t.Peer = r.fill(t.Peer)
		var f proof.Figure
		if s.Test != "" {
			f, err = fromLine(text, t)
		} else {
			f, err = all.figure(t)
		}
		if err != nil {
			return nil, fmt.Errorf("%w\n%s", err, tail(text))
		}
		figures = append(figures, f)
	}
	return figures, nil
}

// ours runs a program of ours that writes its figures itself. Where it fails
// with figures written, something that it checked does not hold.
func (r *runner) ours(ctx context.Context, s step) ([]proof.Figure, error) {
	program, err := r.build(ctx, s.Program)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(r.dir, "figures")
	if err := os.RemoveAll(file); err != nil {
		return nil, err
	}
	argv := []string{program}
	args := s.Args
	if r.quick {
		args = slices.Concat(s.Args, s.Quick)
	}
	for _, arg := range args {
		argv = append(argv, r.fill(arg))
	}
	_, failed := r.execute(ctx, s, append(argv, "--figures", file))
	figures, err := proof.ReadFile(file)
	if err != nil && failed == nil {
		failed = err
	}
	return figures, failed
}

// build makes a program as it is released.
func (r *runner) build(ctx context.Context, pkg string) (string, error) {
	path := filepath.Join(r.dir, filepath.Base(pkg))
	module := "."
	if rest, ok := strings.CutPrefix(pkg, "./lab/"); ok {
		module, pkg = "lab", "./"+rest
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-C", module, "-trimpath", "-ldflags", "-s -w", "-o", path, pkg)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building %s: %w\n%s", pkg, err, tail(out))
	}
	return path, nil
}

// execute runs a program to its end, with all that it starts, and gives what it
// printed. What it says on the way is shown.
func (r *runner) execute(ctx context.Context, s step, argv []string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	proof.OwnGroup(cmd)
	cmd.Cancel = func() error { return proof.EndGroup(cmd.Process) }
	cmd.WaitDelay = 5 * time.Second
	cmd.Env = os.Environ()
	for name, value := range s.Env {
		cmd.Env = append(cmd.Env, name+"="+r.fill(value))
	}
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, io.MultiWriter(&said, r.log)
	err := cmd.Run()
	if err != nil {
		err = fmt.Errorf("%s: %w\n%s", filepath.Base(argv[0]), err, complaint(out.String()+"\n"+said.String()))
	}
	return out.Bytes(), err
}

// complaint is what a program that failed has said of it: the lines that say
// so, or else the last ones.
func complaint(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if strings.Contains(line, "FAIL") {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return tail([]byte(text))
	}
	return strings.Join(lines[:min(len(lines), 12)], "")
}

// tail is the end of what a program has printed, for what to say of a failure.
func tail(text []byte) string {
	lines := slices.Collect(strings.Lines(strings.TrimSpace(string(text))))
	return strings.Join(lines[max(0, len(lines)-12):], "")
}
