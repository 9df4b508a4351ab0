package process

import (
	"context"
	"fmt"
	"github.com/helve-dev/helve/internal/sandbox"
	"os"
	"slices"
	"strings"
)

// A Program is a program that runs beside the calls, such as an MCP server.
type Program struct {
	Path   string // looked up in PATH when it has no separator
	Args   []string
	Dir    string
	Set    map[string]string // variables it gets beside those that commands get
	Stderr *os.File          // takes what it prints there; nil is with the rest
	Walled bool              // it runs in the sandbox, or not at all
	Sieve  PathFilter        // which files may be read, for the sandbox
	// Readable lists files that may also be read in the sandbox, even in a folder that is private
	// there, such as /tmp.
	Readable []string

	Argv0 string   // its argv[0]; Path when empty
	Env   []string // all its variables, in place of those that commands get and of Set; nil for those
	// Input is what it reads instead of a pipe; it stays open.
	Input *os.File
	// Silent says that it gets only the end of its standard input if it has no Input.
	Silent bool
	// AsCommands runs the program where commands run: in the sandbox if there is one for them or if
	// it is ReadOnly, and without restrictions otherwise.
	AsCommands bool
	ReadOnly   bool // the worktree must not be changed, as far as there is a sandbox
	Locked     bool // and where there is no sandbox, nothing is run
}

// Start starts a program with a pipe to its standard input, unless p says otherwise. The program
// gets the variables that commands get, so secrets only if given by name. It ends at the latest
// with the executor.
func (r *Executor) Start(ctx context.Context, p Program, out *os.File) (*Process, error) {
	site, err := r.beside(ctx, p)
	if err != nil {
		return nil, err
	}
	return r.runner.Start(ctx, Command{
		Path: p.Path, Name: p.Argv0, Args: p.Args, Dir: p.Dir, Env: append(r.programEnv(p), site.env...),
		Place: site.place, Stdin: p.Input == nil && !p.Silent, Input: p.Input, Stderr: p.Stderr,
	}, out)
}

// programEnv returns the variables of a program, without those of the sandbox.
func (r *Executor) programEnv(p Program) []string {
	if p.Env != nil {
		return slices.Clone(p.Env)
	}
	env := r.opt.Env.withVars(p.Set)
	vars, _ := env.Build(os.Environ())
	if env.Set["SSH_AUTH_SOCK"] == "" { // it signs in as the person wherever the person can
		vars = slices.DeleteFunc(vars, func(v string) bool { return strings.HasPrefix(v, "SSH_AUTH_SOCK=") })
	}
	return append(vars, "PWD="+p.Dir)
}

// Variables are those that commands get, NAME=value and sorted, for who
// changes some of them and gives a [Program] all.
func (r *Executor) Variables() []string {
	vars, _ := r.opt.Env.Build(os.Environ())
	return vars
}

// beside returns where a program runs: without restrictions, unless it asks for the sandbox or to
// run where commands do.
func (r *Executor) beside(ctx context.Context, p Program) (site, error) {
	switch {
	case p.AsCommands && !p.Walled:
		return r.site(ctx, ShellCommand{ReadOnly: p.ReadOnly, Locked: p.Locked, Sieve: p.Sieve})
	case !p.Walled:
		return plainSite(), nil
	}
	level := r.level(false)
	if level == sandbox.Off {
		level = sandbox.Write
	}
	s, err := r.behind(ctx, wallKind{level, p.ReadOnly}, p.Sieve, p.Readable...)
	if err == nil && s.warning != "" {
		err = fmt.Errorf("%s is to run behind the wall: %s", p.Path, s.warning)
	}
	return s, err
}
