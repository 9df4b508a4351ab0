package world

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"

	"helve/internal/run"
	"helve/internal/vm"
)

const (
	// longestScript is what a shell takes as one text.
	longestScript = 128<<10 - 1
	// mostWords is how many words braces may come to.
	mostWords = 10_000
)

// A shellScript is a script of Bun.$ under way.
type shellScript struct {
	p      *programs
	by     *asker
	call   context.Context // what goes on after the script ends with it
	text   string          // as it was given, and then as it is run
	base   run.Program
	path   string // where programs are looked for that have no PATH
	cancel context.CancelCauseFunc
	out    bounded
	err    errorOutput
	globs  map[uint][]*syntax.Word // what stands for names of files, by where its command is
}

// shell is proc.shell: a script of Bun.$, with what differs between Bun's
// shell and others done Bun's way.
func (p *programs) shell(ctx context.Context, arg vm.Data) (vm.Data, error) {
	var a struct {
		wanted
		Script string
		Quiet  bool
	}
	by, err := read(ctx, arg, &a)
	if err != nil {
		return vm.Data{}, err
	}
	s := &shellScript{p: p, by: p.asker(by), call: ctx, text: a.Script, base: p.base(by)}
	code, err := s.run(ctx, &a.wanted, arg.Raw)
	if err != nil {
		return vm.Data{}, failure(err)
	}
	out, _ := s.out.take()
	errs, _ := s.err.take()
	if !a.Quiet {
		p.w.tell(by, "info", bytes.NewReader(out))
		p.w.tell(by, "warn", bytes.NewReader(errs))
	}
	return both(map[string]any{"code": code}, out, errs)
}

// errTooMuch says that a script was ended because of what it wrote.
var errTooMuch = errors.New("the script wrote more than is kept of one output")

// run judges the script and runs it.
func (s *shellScript) run(ctx context.Context, a *wanted, input []byte) (int, error) {
	if s.p.w.opt.Shell == nil {
		return 0, errNoPrograms
	}
	file, err := s.parse()
	if err != nil {
		return 0, err
	}
	var vars variables
	vars, s.path = s.p.variables(s.base, a.Env, a.Set)
	s.by.line = vars.before(s.text)
	dir, err := s.p.folder(ctx, s.by, a.Cwd)
	if err != nil {
		if notExisting(err) {
			err = &vm.Failure{Message: "No such file or directory", Code: "ENOENT", Errno: -2, Syscall: "open", Path: a.Cwd}
		}
		return 0, err
	}
	if strings.TrimSpace(s.text) != "" {
		if err := s.p.judge(ctx, s.by, dir); err != nil {
			return 0, err
		}
	}
	stdin, feed, err := pipeOf(input)
	if err != nil {
		return 0, err
	}
	defer feed()
	ctx, s.cancel = context.WithCancelCause(ctx)
	defer s.cancel(nil)
	full := func() { s.cancel(errTooMuch) }
	s.out.max, s.out.full, s.err.max, s.err.full = usualOutput, full, usualOutput, full
	runner, err := interp.New(
		interp.Env(expand.ListEnviron(vars.list()...)), interp.Dir(dir), interp.StdIO(stdin, &s.out, &s.err),
		interp.CallHandler(s.called), interp.OpenHandler(s.open),
		interp.ExecHandlers(func(interp.ExecHandlerFunc) interp.ExecHandlerFunc { return s.execute }),
	)
	if err != nil {
		return 0, err
	}
	return s.outcome(ctx, runner.Run(ctx, file))
}

// notExisting reports whether a failure says that something is not there.
func notExisting(err error) bool {
	var f *vm.Failure
	return errors.As(err, &f) && (f.Code == "ENOENT" || f.Code == "ENOTDIR")
}

// outcome makes of how the interpreter ended how the script did.
func (s *shellScript) outcome(ctx context.Context, err error) (int, error) {
	if cause := context.Cause(ctx); cause != nil {
		if errors.Is(cause, errTooMuch) {
			return 0, &vm.Failure{
				Message: fmt.Sprintf("The script was ended because it wrote more than %d MiB to one output, or put too much into variables. Let it write to a file.", usualOutput>>20),
				Code:    "ENOBUFS", Syscall: "write",
			}
		}
		return 0, cause
	}
	if status, ok := errors.AsType[interp.ExitStatus](err); ok {
		return int(status), nil
	}
	return 0, err
}

// pipeOf gives bytes as a file to read; nil where there are none. done is to
// be called when nobody reads it any more.
func pipeOf(input []byte) (file io.Reader, done func(), err error) {
	if input == nil {
		return nil, func() {}, nil
	}
	from, to, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	var feeding sync.WaitGroup
	feeding.Go(func() {
		_, _ = to.Write(input) // not all of it needs to be read
		_ = to.Close()
	})
	return from, func() { _ = from.Close(); feeding.Wait() }, nil
}

// open opens a file of the script, which was judged with it. It is asked about
// again: what the words of the script have become is known only now.
func (s *shellScript) open(ctx context.Context, path string, flags int, _ fs.FileMode) (io.ReadWriteCloser, error) {
	hc := interp.HandlerCtx(ctx)
	switch {
	case flags&os.O_WRONLY == 0:
	case path == "/dev/stdout":
		return &through{to: hc.Stdout}, nil
	case path == "/dev/stderr":
		return &through{to: hc.Stderr}, nil
	}
	at := redirect{dir: hc.Dir, name: path, flags: flags}
	f, err := s.p.open.file(ctx, s.by, at)
	if err != nil {
		var no *Refusal
		if errors.As(err, &no) || ctx.Err() != nil {
			return nil, err
		}
		return nil, s.unopened(path, err)
	}
	if f.settle == nil {
		return f.File, nil
	}
	return f, nil
}

// unopened words for the script that a file could not be opened.
func (s *shellScript) unopened(path string, err error) error {
	if told, ok := errors.AsType[*fs.PathError](err); ok {
		err = told.Err
	}
	shown := &fs.PathError{Op: "bun:", Path: inWords(err), Err: errors.New(path)}
	s.err.bare.set(shown.Error())
	return shown
}

// A through is an output that goes where another one goes.
type through struct{ to io.Writer }

// Write writes there.
func (t *through) Write(p []byte) (int, error) { return t.to.Write(p) }

// Read reads nothing.
func (*through) Read([]byte) (int, error) { return 0, io.EOF }

// Close leaves the other one open.
func (*through) Close() error { return nil }

// execute runs one command of the script.
func (s *shellScript) execute(ctx context.Context, args []string) error {
	hc := interp.HandlerCtx(ctx)
	switch args[0] {
	case unknownCommand:
		return notThere(hc, args[1])
	case weighing:
		if hc.LastExitStatus != 0 { // it is to be seen by what comes next
			return interp.ExitStatus(uint8(hc.LastExitStatus))
		}
		return nil
	case saying:
		_, _ = io.WriteString(hc.Stderr, args[1])
		return interp.ExitStatus(1)
	}
	args[0] = strings.TrimPrefix(args[0], asProgram)
	if do := s.ownCommand(args[0]); do != nil {
		if err := s.perform(ctx, do, args); !errors.Is(err, errMachine) {
			return err
		}
	}
	return s.program(ctx, args)
}

// program runs a program of the machine.
func (s *shellScript) program(ctx context.Context, args []string) error {
	hc := interp.HandlerCtx(ctx)
	path := hc.Env.Get("PATH").String()
	if path == "" {
		path = s.path
	}
	if args[0] == "which" {
		return whichAll(hc, args[1:], path)
	}
	program := s.base
	if program.Path = which(args[0], hc.Dir, path); program.Path == "" {
		return notThere(hc, args[0])
	}
	program.Env = []string{}
	for name, variable := range hc.Env.Each {
		if variable.Exported && variable.IsSet() {
			program.Env = append(program.Env, name+"="+variable.String())
		}
	}
	program.Argv0, program.Args, program.Dir = program.Path, args[1:], hc.Dir // Bun tells them where they are
	err := s.await(ctx, program, hc)
	var told *vm.Failure
	if errors.As(err, &told) && told.Syscall == "" { // it is said and the script goes on, except where the rules are against it
		fmt.Fprintf(hc.Stderr, "bun: %s: %s\n", told.Code, args[0])
		return interp.ExitStatus(1)
	}
	return err
}

func notThere(hc interp.HandlerContext, name string) error {
	fmt.Fprintf(hc.Stderr, "bun: command not found: %s\n", name)
	return interp.ExitStatus(1)
}

func whichAll(hc interp.HandlerContext, names []string, path string) error {
	missing := len(names) == 0
	if missing {
		fmt.Fprintln(hc.Stdout)
	}
	for _, name := range names {
		if found := which(name, hc.Dir, path); found != "" {
			fmt.Fprintln(hc.Stdout, found)
		} else {
			missing = true
			fmt.Fprintf(hc.Stdout, "which: %s not found\n", name)
		}
	}
	if missing {
		return interp.ExitStatus(1)
	}
	return nil
}

// await starts a program of the script and waits for its end.
func (s *shellScript) await(ctx context.Context, program run.Program, hc interp.HandlerContext) error {
	pipes := &plumbing{}
	defer pipes.close()
	if in, ok := hc.Stdin.(*os.File); ok && in != nil {
		pipes.input = in
	}
	out, err := s.outlet(hc.Stdout, pipes, &pipes.out)
	if err != nil {
		return err
	}
	errs := out
	if hc.Stderr == hc.Stdout {
		pipes.err, errs = pipes.out, nil
	} else if errs, err = s.outlet(hc.Stderr, pipes, &pipes.err); err != nil {
		closeAll(out)
		return err
	}
	r, err := s.p.launch(s.call, s.by.work, program, pipes)
	if err != nil {
		closeAll(out, errs)
		return err
	}
	gather(ctx, stream{out, s.limited(hc.Stdout)}, stream{errs, s.limited(hc.Stderr)})
	select {
	case <-r.process.Done():
	case <-ctx.Done():
		r.end()
		return ctx.Err()
	}
	status := r.process.Status()
	switch {
	case status.Err != nil:
		return fmt.Errorf("how a program ended is not known: %w", status.Err)
	case status.Signal != 0:
		return interp.ExitStatus(uint8(128 + int(status.Signal)))
	case status.Code != 0:
		return interp.ExitStatus(uint8(status.Code))
	}
	return nil
}

// outlet is what a program of the script writes to. Where that is no file of
// the system, back is a pipe that is read for it.
func (s *shellScript) outlet(to io.Writer, pipes *plumbing, end **os.File) (back *os.File, err error) {
	switch f := to.(type) {
	case *os.File:
		*end = f
		return nil, nil
	case *outFile:
		*end = f.File
		return nil, nil
	case *through:
		return s.outlet(f.to, pipes, end)
	}
	back, *end, err = os.Pipe()
	if err == nil {
		pipes.theirs = append(pipes.theirs, *end)
	}
	return back, err
}

// limited bounds what goes to where nobody else counts, as into a variable.
func (s *shellScript) limited(to io.Writer) io.Writer {
	if t, ok := to.(*through); ok {
		return s.limited(t.to)
	}
	if to == io.Writer(&s.out) || to == io.Writer(&s.err) {
		return to
	}
	return &counted{to: to, left: usualOutput, full: func() { s.cancel(errTooMuch) }}
}

// A counted writer passes on so much, and then calls full.
type counted struct {
	to   io.Writer
	left int
	full func()
}

// Write passes on what still may be.
func (c *counted) Write(p []byte) (int, error) {
	if c.left -= len(p); c.left < 0 {
		c.full()
		return 0, errTooMuch
	}
	return c.to.Write(p)
}
