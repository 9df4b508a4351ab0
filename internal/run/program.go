package run

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"helve/internal/proc"
	"helve/internal/wall"
)

// A Program goes on beside the calls, such as one that offers tools.
type Program struct {
	Path   string // looked up in PATH when it has no separator
	Args   []string
	Dir    string
	Set    map[string]string // variables it gets beside those that commands get
	Stderr *os.File          // takes what it prints there; nil is with the rest
	Walled bool              // it runs behind the wall, or not at all
	Sieve  Sieve             // what may be read, for the wall
}

// Start starts a program with a pipe to its standard input. It gets the
// variables that commands get, and so no secret that was not given to it by
// name. It ends with the room at the latest.
func (r *Room) Start(ctx context.Context, p Program, out *os.File) (*proc.Process, error) {
	site, err := r.beside(ctx, p)
	if err != nil {
		return nil, err
	}
	env := r.opt.Env
	env.Set = map[string]string{}
	for _, set := range []map[string]string{r.opt.Env.Set, p.Set} {
		for name, value := range set {
			env.Set[name] = value
		}
	}
	vars, _ := env.Build(os.Environ())
	if env.Set["SSH_AUTH_SOCK"] == "" { // it signs in as the person wherever the person can
		vars = slices.DeleteFunc(vars, func(v string) bool { return strings.HasPrefix(v, "SSH_AUTH_SOCK=") })
	}
	return r.runner.Start(ctx, proc.Command{
		Path: p.Path, Args: p.Args, Dir: p.Dir, Env: append(append(vars, "PWD="+p.Dir), site.env...),
		Place: site.place, Stdin: true, Stderr: p.Stderr,
	}, out)
}

// beside says where a program runs: plainly, unless it asks for the wall.
// Commands may be kept behind it all the same.
func (r *Room) beside(ctx context.Context, p Program) (site, error) {
	if !p.Walled {
		return plainSite(), nil
	}
	level := r.level(false)
	if level == wall.Off {
		level = wall.Write
	}
	s, err := r.behind(ctx, wallKind{level: level}, p.Sieve)
	if err == nil && s.warning != "" {
		err = fmt.Errorf("%s is to run behind the wall: %s", p.Path, s.warning)
	}
	return s, err
}
