package scripthost

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"

	"github.com/helve-dev/helve/internal/script"
	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"
)

// A bunshellRunning is a running script.
type bunshellRunning struct {
	script  *ShellScript
	machine ShellMachine
	set     ShellSetting
	cancel  context.CancelCauseFunc
	out     output
	err     errorOutput
}

// errTooMuch says that a script was ended because its output was too large.
var errTooMuch = errors.New("the script wrote more than is kept of one output")

// Run runs the script, which must have been checked.
func (s *ShellScript) Run(ctx context.Context, m ShellMachine, set ShellSetting) (ShellOutcome, error) {
	stdin, feed, err := pipeOf(set.Input)
	if err != nil {
		return ShellOutcome{}, err
	}
	defer feed()
	r := &bunshellRunning{script: s, machine: m, set: set}
	ctx, r.cancel = context.WithCancelCause(ctx)
	defer r.cancel(nil)
	r.out.full = func() { r.cancel(errTooMuch) }
	r.err.full = r.out.full
	runner, err := interp.New(
		interp.Env(expand.ListEnviron(set.Env...)), interp.Dir(set.Dir), interp.StdIO(stdin, &r.out, &r.err),
		interp.CallHandler(r.called), interp.OpenHandler(r.open),
		interp.ExecHandlers(func(interp.ExecHandlerFunc) interp.ExecHandlerFunc { return r.execute }),
	)
	if err != nil {
		return ShellOutcome{}, err
	}
	code, err := bunshellOutcome(ctx, runner.Run(ctx, s.file))
	if err != nil {
		return ShellOutcome{}, err
	}
	return ShellOutcome{Code: code, Out: r.out.takeBytes(), Err: r.err.takeBytes()}, nil
}

// bunshellOutcome converts the interpreter's result into the exit code and error of the script.
func bunshellOutcome(ctx context.Context, err error) (int, error) {
	if cause := context.Cause(ctx); cause != nil {
		if errors.Is(cause, errTooMuch) {
			return 0, &script.Failure{
				Message: fmt.Sprintf("The script was ended because it wrote more than %d MiB to one output, or put too much into variables. Let it write to a file.", mostKept>>20),
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

// pipeOf returns bytes as a file to read; nil if there are none. done must be called when reading
// has ended.
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

// open opens a file of the script, which was checked with it. Permission is requested again,
// because the expanded name is known only now.
func (r *bunshellRunning) open(ctx context.Context, path string, flags int, _ fs.FileMode) (io.ReadWriteCloser, error) {
	hc := interp.HandlerCtx(ctx)
	switch {
	case flags&os.O_WRONLY == 0:
	case path == "/dev/stdout":
		return &through{to: hc.Stdout}, nil
	case path == "/dev/stderr":
		return &through{to: hc.Stderr}, nil
	}
	f, err := r.machine.Open(ctx, hc.Dir, path, flags)
	if err != nil {
		if _, refused := r.machine.Trouble(err); refused || ctx.Err() != nil {
			return nil, err
		}
		return nil, r.unopened(path, err)
	}
	return f, nil
}

// unopened words for the script that a file could not be opened.
func (r *bunshellRunning) unopened(path string, err error) error {
	if told, ok := errors.AsType[*fs.PathError](err); ok {
		err = told.Err
	}
	words, _ := r.machine.Trouble(err)
	shown := &fs.PathError{Op: "bun:", Path: words, Err: errors.New(path)}
	r.err.bare.set(shown.Error())
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
func (r *bunshellRunning) execute(ctx context.Context, args []string) error {
	hc := interp.HandlerCtx(ctx)
	switch args[0] {
	case unknownCommand:
		return notThere(hc, args[1])
	case weighing:
		if hc.LastExitStatus != 0 { // it is to be seen by what comes next
			return interp.ExitStatus(uint8(hc.LastExitStatus))
		}
		return nil
	case bunshellSaying:
		_, _ = io.WriteString(hc.Stderr, args[1])
		return interp.ExitStatus(1)
	}
	args[0] = strings.TrimPrefix(args[0], asProgram)
	if do := r.ownCommand(args[0]); do != nil {
		if err := r.perform(ctx, do, args); !errors.Is(err, errMachine) {
			return err
		}
	}
	return r.program(ctx, args)
}

// program runs a program of the machine.
func (r *bunshellRunning) program(ctx context.Context, args []string) error {
	hc := interp.HandlerCtx(ctx)
	path := hc.Env.Get("PATH").String()
	if path == "" {
		path = r.set.Path
	}
	if args[0] == "which" {
		return r.whichAll(hc, args[1:], path)
	}
	p := ShellProgram{Path: r.machine.Which(args[0], hc.Dir, path), Args: args[1:], Env: []string{}, Dir: hc.Dir, Stdout: r.sink(hc.Stdout)}
	if p.Path == "" {
		return notThere(hc, args[0])
	}
	for name, variable := range hc.Env.Each {
		if variable.Exported && variable.IsSet() {
			p.Env = append(p.Env, name+"="+variable.String())
		}
	}
	if in, ok := hc.Stdin.(*os.File); ok {
		p.Stdin = in
	}
	if p.Stderr = p.Stdout; hc.Stderr != hc.Stdout {
		p.Stderr = r.sink(hc.Stderr)
	}
	code, err := r.machine.Run(ctx, p)
	var told *script.Failure
	switch {
	case errors.As(err, &told) && told.Syscall == "": // it is said and the script goes on, except where the rules are against it
		fmt.Fprintf(hc.Stderr, "bun: %s: %s\n", told.Code, args[0])
		return interp.ExitStatus(1)
	case err == nil && code != 0:
		return interp.ExitStatus(uint8(code))
	}
	return err
}

func notThere(hc interp.HandlerContext, name string) error {
	fmt.Fprintf(hc.Stderr, "bun: command not found: %s\n", name)
	return interp.ExitStatus(1)
}

func (r *bunshellRunning) whichAll(hc interp.HandlerContext, names []string, path string) error {
	missing := len(names) == 0
	if missing {
		fmt.Fprintln(hc.Stdout)
	}
	for _, name := range names {
		if found := r.machine.Which(name, hc.Dir, path); found != "" {
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

// sink is what a program writes to: a file as it is, and all else bounded.
func (r *bunshellRunning) sink(to io.Writer) io.Writer {
	switch to := to.(type) {
	case *through:
		return r.sink(to.to)
	case interface{ Fd() uintptr }:
		return to.(io.Writer)
	}
	return r.limited(to)
}

// limited bounds output whose size is not counted elsewhere, such as that into a variable.
func (r *bunshellRunning) limited(to io.Writer) io.Writer {
	if t, ok := to.(*through); ok {
		return r.limited(t.to)
	}
	if to == io.Writer(&r.out) || to == io.Writer(&r.err) {
		return to
	}
	return &counted{to: to, left: mostKept, full: r.out.full}
}
