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

// A bench is a run of some parts.
type bench struct {
	plan  *plan
	dir   string            // for programs and figures, removed at the end
	helve string            // the command that is measured
	peers map[string]string // what ${NAME} stands for, of those looked for already
	built map[string]string // our programs by package
	quick bool
	log   io.Writer
}

// measure runs parts one after the other, and keeps what each has found at
// once. A part that can not be measured is left as it was.
func measure(ctx context.Context, p *plan, j job, log io.Writer) (err error) {
	if _, err := os.Stat("go.mod"); err != nil {
		return errors.New("this is not the root of the module: there is no go.mod")
	}
	dir, err := os.MkdirTemp("", "helve-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	b := &bench{plan: p, dir: dir, peers: map[string]string{}, built: map[string]string{}, quick: j.quick, log: log}
	if b.helve, err = b.build(ctx, "./cmd/helve"); err != nil {
		return err
	}
	minutes := 0.0
	for _, part := range j.parts {
		minutes += part.Minutes
	}
	var failed error
	for i, part := range j.parts {
		fmt.Fprintf(log, "bench: part %d of %d, %s: %s (about %.1f minutes of %.0f that are left)\n", i+1, len(j.parts), part.Name, part.What, part.Minutes, minutes)
		minutes -= part.Minutes
		e, err := b.part(ctx, part)
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("part %s: %w", part.Name, err))
			fmt.Fprintf(log, "bench: part %s: %v\n", part.Name, err)
		}
		if err := keep(p, e, filepath.Join(j.out, bookFile)); err != nil {
			return errors.Join(failed, err)
		}
		if ctx.Err() != nil {
			return errors.Join(failed, ctx.Err())
		}
	}
	return failed
}

// keep puts an entry into the book on disk; none is left out.
func keep(p *plan, e *entry, path string) error {
	if e == nil {
		return nil
	}
	book, err := readBook(path)
	if err != nil {
		return err
	}
	book.put(*e, p)
	return book.write(path)
}

// part measures one. There is an entry and an error when a program found that
// something does not hold: then the page has to say so.
func (b *bench) part(ctx context.Context, p part) (*entry, error) {
	for _, name := range p.Needs {
		if err := b.bring(ctx, name); err != nil {
			return nil, fmt.Errorf("left as it was, for want of %s: %w", name, err)
		}
	}
	ctx, stop := context.WithTimeout(ctx, max(20*time.Minute, time.Duration(4*p.Minutes*float64(time.Minute))))
	defer stop()
	e := &entry{Name: p.Name, Date: time.Now().UTC().Format("2006-01-02 15:04"), Machine: proof.Machine()}
	e.Load[0] = proof.Busy()
	began := time.Now()
	var failed error
	for _, s := range p.Steps {
		figures, err := b.step(ctx, s)
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
func (b *bench) bring(ctx context.Context, name string) error {
	if _, ok := b.peers[name]; ok {
		return nil
	}
	p := b.plan.Peers[name]
	path := ""
	if len(p.Script) > 0 {
		cmd := exec.CommandContext(ctx, p.Script[0], p.Script[1:]...)
		cmd.Stderr = b.log
		out, err := cmd.Output()
		if err != nil {
			return err
		}
		path = strings.TrimSpace(string(out))
	} else {
		found, err := b.installed(ctx, p)
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
		b.peers[name+".version"] = strings.TrimSpace(strings.TrimPrefix(version, p.Strip))
	}
	b.peers[name] = path
	return nil
}

// installed finds a program of the system, and has Debian bring it where it may.
func (b *bench) installed(ctx context.Context, p peer) (string, error) {
	path, err := exec.LookPath(p.Program)
	apt, none := exec.LookPath("apt-get")
	if err == nil || none != nil || p.Package == "" || os.Getuid() != 0 {
		return path, err
	}
	fmt.Fprintf(b.log, "bench: installing %s\n", p.Package)
	cmd := exec.CommandContext(ctx, apt, "install", "-y", "-qq", "--no-install-recommends", p.Package)
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("apt-get can not bring %s: %w: %s", p.Package, err, tail(out))
	}
	return exec.LookPath(p.Program)
}

// fill puts in what ${NAME} stands for.
func (b *bench) fill(text string) string {
	return os.Expand(text, func(name string) string {
		switch name {
		case "helve":
			return b.helve
		case "cache":
			dir, _ := os.UserCacheDir() // a path that is not there tells what is wrong
			return dir
		}
		if value, ok := b.peers[name]; ok {
			return value
		}
		return "${" + name + "}"
	})
}

// step runs one program and gives the figures that came of it.
func (b *bench) step(ctx context.Context, s step) ([]proof.Figure, error) {
	if s.Program != "" {
		return b.ours(ctx, s)
	}
	if s.Check != nil {
		return b.check(ctx, s)
	}
	argv := []string{"go", "test", "-count=1", "-timeout=0", "-run", "^$", "-bench", s.Bench}
	if s.Test != "" {
		argv = []string{"go", "test", "-count=1", "-timeout=0", "-v", "-run", s.Test}
	}
	argv = append(argv, s.Args...)
	if b.quick && s.Test == "" {
		argv = append(argv, "-benchtime=3x", "-count=1")
	}
	argv = append(argv, s.Package)
	text, err := b.execute(ctx, s, argv)
	if err != nil {
		return nil, err
	}
	return b.take(s, text)
}

// check runs a command that tests many packages.
func (b *bench) check(ctx context.Context, s step) ([]proof.Figure, error) {
	argv := s.Check
	if b.quick {
		argv = slices.Concat(argv, s.Quick)
	}
	began := time.Now()
	text, err := b.execute(ctx, s, argv)
	return packageTimes(text, time.Since(began)), err
}

// take makes figures out of what the go command has printed.
func (b *bench) take(s step, text []byte) (figures []proof.Figure, err error) {
	all, err := readBench(text)
	if err != nil {
		return nil, err
	}
	for _, t := range s.Takes {
		t.Peer = b.fill(t.Peer)
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
func (b *bench) ours(ctx context.Context, s step) ([]proof.Figure, error) {
	program, err := b.build(ctx, s.Program)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(b.dir, "figures")
	if err := os.RemoveAll(file); err != nil {
		return nil, err
	}
	argv := []string{program}
	args := s.Args
	if b.quick {
		args = slices.Concat(s.Args, s.Quick)
	}
	for _, arg := range args {
		argv = append(argv, b.fill(arg))
	}
	_, failed := b.execute(ctx, s, append(argv, "--figures", file))
	figures, err := proof.ReadFile(file)
	if err != nil && failed == nil {
		failed = err
	}
	return figures, failed
}

// build makes a program as it is released.
func (b *bench) build(ctx context.Context, pkg string) (string, error) {
	if path, ok := b.built[pkg]; ok {
		return path, nil
	}
	path := filepath.Join(b.dir, filepath.Base(pkg))
	module := "."
	if rest, ok := strings.CutPrefix(pkg, "./lab/"); ok {
		module, pkg = "lab", "./"+rest
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-C", module, "-trimpath", "-ldflags", "-s -w", "-o", path, pkg)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building %s: %w\n%s", pkg, err, tail(out))
	}
	b.built[pkg] = path
	return path, nil
}

// execute runs a program to its end, with all that it starts, and gives what it
// printed. What it says on the way is shown.
func (b *bench) execute(ctx context.Context, s step, argv []string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	proof.OwnGroup(cmd)
	cmd.Cancel = func() error { return proof.EndGroup(cmd.Process) }
	cmd.WaitDelay = 5 * time.Second
	cmd.Env = os.Environ()
	for name, value := range s.Env {
		cmd.Env = append(cmd.Env, name+"="+b.fill(value))
	}
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, io.MultiWriter(&said, b.log)
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
