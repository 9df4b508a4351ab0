package scripthost

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"github.com/helve-dev/helve/internal/process"
	"github.com/helve-dev/helve/internal/script"
	"io"
	"os"
	"strings"
	"syscall"
)

// A shellArg is the argument of proc.shell.
type shellArg struct {
	wanted
	Script string
	Quiet  bool
}

// shell is proc.shell: a script of Bun.$.
func (p *programs) shell(ctx context.Context, arg script.Data) (script.Data, error) {
	var a shellArg
	by, err := read(ctx, arg, &a)
	if err != nil {
		return script.Data{}, err
	}
	ended, err := p.runScript(ctx, by, &a, arg.Raw)
	if err != nil {
		return script.Data{}, failure(err)
	}
	if !a.Quiet {
		p.w.tell(by, "info", bytes.NewReader(ended.Out))
		p.w.tell(by, "warn", bytes.NewReader(ended.Err))
	}
	return both(map[string]any{"code": ended.Code}, ended.Out, ended.Err)
}

// runScript checks a script and runs it.
func (p *programs) runScript(ctx context.Context, by *work, a *shellArg, input []byte) (ShellOutcome, error) {
	if p.w.opt.Shell == nil {
		return ShellOutcome{}, errNoPrograms
	}
	source, err := ParseShell(a.Script)
	if err != nil {
		return ShellOutcome{}, err
	}
	m := shellMachine{p: p, by: p.asker(by), base: p.base(by)}
	m.launch = func(program process.Program, pipes *plumbing) (*running, error) {
		return p.launch(ctx, m.by.work, program, pipes)
	}
	vars, path := p.variables(m.base, a.Env, a.Set)
	m.by.line = vars.prefixLine(source.Text())
	dir, err := p.workDir(ctx, m.by, a.Cwd)
	if err != nil {
		if notExisting(err) {
			err = &script.Failure{Message: "No such file or directory", Code: "ENOENT", Errno: -2, Syscall: "open", Path: a.Cwd}
		}
		return ShellOutcome{}, err
	}
	if strings.TrimSpace(source.Text()) != "" {
		if err := p.askCommands(ctx, m.by, dir); err != nil {
			return ShellOutcome{}, err
		}
	}
	return source.Run(ctx, m, ShellSetting{Dir: dir, Env: vars.list(), Path: path, Input: input, Files: m.files()})
}

// notExisting reports whether an error means that a file does not exist.
func notExisting(err error) bool {
	var f *script.Failure
	return errors.As(err, &f) && (f.Code == "ENOENT" || f.Code == "ENOTDIR")
}

// A shellMachine is what a script of Bun.$ has of the machine.
type shellMachine struct {
	p    *programs
	by   *asker
	base process.Program
	// launch starts a program, which ends with the call if the script leaves it behind.
	launch func(program process.Program, pipes *plumbing) (*running, error)
}

// Which finds a program as the system does.
func (shellMachine) Which(name, dir, path string) string { return which(name, dir, path) }

// Open asks about a file and opens it.
func (m shellMachine) Open(ctx context.Context, dir, name string, flags int) (io.ReadWriteCloser, error) {
	f, err := m.p.open.file(ctx, m.by, dir, name, flags)
	switch {
	case err != nil:
		return nil, err
	case f.settle == nil:
		return f.File, nil
	}
	return f, nil
}

// Run starts a program and waits for its end.
func (m shellMachine) Run(ctx context.Context, p ShellProgram) (int, error) {
	program := m.base
	program.Path, program.Argv0, program.Args, program.Dir, program.Env = p.Path, p.Path, p.Args, p.Dir, p.Env // Bun tells them where they are
	pipes := &plumbing{input: p.Stdin}
	defer pipes.close()
	out, err := outletTo(p.Stdout, pipes, &pipes.out)
	if err != nil {
		return 0, err
	}
	var errs *os.File
	if p.Stderr == p.Stdout {
		pipes.err = pipes.out
	} else if errs, err = outletTo(p.Stderr, pipes, &pipes.err); err != nil {
		closeAll(out)
		return 0, err
	}
	r, err := m.launch(program, pipes)
	if err != nil {
		closeAll(out, errs)
		return 0, err
	}
	readStreams(ctx, outputStream{out, p.Stdout}, outputStream{errs, p.Stderr})
	select {
	case <-r.process.Done():
	case <-ctx.Done():
		r.end()
		return 0, ctx.Err()
	}
	status := r.process.Status()
	switch {
	case status.Err != nil:
		return 0, fmt.Errorf("how a program ended is not known: %w", status.Err)
	case status.Signal != 0:
		return 128 + int(status.Signal), nil
	}
	return status.Code, nil
}

// outletTo returns the output file of a program for a writer. If the writer is not a system file,
// back is a pipe that is copied to it.
func outletTo(to io.Writer, pipes *plumbing, end **os.File) (back *os.File, err error) {
	switch f := to.(type) {
	case *os.File:
		*end = f
		return nil, nil
	case *outFile:
		*end = f.File
		return nil, nil
	}
	back, *end, err = os.Pipe()
	if err == nil {
		pipes.theirs = append(pipes.theirs, *end)
	}
	return back, err
}

// Trouble words an error as the system does, and reports whether it was a refusal of the rules.
func (shellMachine) Trouble(err error) (words string, refused bool) {
	var no *Refusal
	return inWords(err), errors.As(err, &no)
}

// inWords words an error as the system does.
func inWords(err error) string {
	var told *script.Failure
	if errors.As(err, &told) {
		return told.Message
	}
	switch errnoName(err) {
	case "ENOENT":
		return "No such file or directory"
	case "EEXIST":
		return "File exists"
	case "ENOTDIR":
		return "Not a directory"
	case "EISDIR":
		return "Is a directory"
	case "ENOTEMPTY":
		return "Directory not empty"
	case "EACCES":
		return "Permission denied"
	case "EPERM":
		return "Operation not permitted"
	case "EINVAL":
		return "Invalid argument"
	case "ELOOP":
		return "Too many levels of symbolic links"
	case "ENAMETOOLONG":
		return "File name too long"
	}
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return errno.Error()
	}
	return err.Error()
}
