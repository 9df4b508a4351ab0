package process

import (
	"context"
	"fmt"
	"github.com/helve-dev/helve/internal/sandbox"
	"os"
	"slices"
	"strings"
)

// A Program goes on beside the calls, such as one that offers tools.
type Program struct {
	Path   string // looked up in PATH when it has no separator
	Args   []string
	Dir    string
	Set    map[string]string // variables it gets beside those that commands get
	Stderr *os.File          // takes what it prints there; nil is with the rest
	Walled bool              // it runs behind the wall, or not at all
	Sieve  PathFilter        // what may be read, for the wall
	// Readable may be read behind the wall too, also where it lies in a folder that is private there, such as /tmp.
	Readable []string

	Argv0 string   // what it is told that it is called; Path when empty
	Env   []string // all its variables, in place of those that commands get and of Set; nil for those
	// Input is what it reads instead of a pipe; it stays open.
	Input *os.File
	// Silent says that it reads nothing but the end where it has no Input.
	Silent bool
	// AsCommands says that it runs where commands run: behind the wall if
	// there is one for them, or if it is ReadOnly, and plainly elsewhere.
	AsCommands bool
	ReadOnly   bool // the worktree is not to be changed, as far as there is a wall
	Locked     bool // and where there is none, nothing is run
}

// Start starts a program with a pipe to its standard input, unless it says
// otherwise. It gets the variables that commands get, and so no secret that was
// not given to it by name. It ends with the room at the latest.
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

// programEnv are the variables of a program, but for those of the wall.
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

// beside says where a program runs: plainly, unless it asks for the wall or to
// be where commands are.
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
