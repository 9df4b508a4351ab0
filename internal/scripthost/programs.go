package scripthost

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/helve-dev/helve/internal/command"
	"github.com/helve-dev/helve/internal/process"
	"github.com/helve-dev/helve/internal/script"
	"github.com/helve-dev/helve/permission"
)

const (
	// mostAlive is how many programs of one engine may run at once.
	mostAlive = 64
	// mostKnown is how many programs a script may hold, including those that ended.
	mostKnown = 256
	// usualOutput bounds what a program may write to one stream that is kept for the script, and
	// mostOutput what the script may raise that to.
	usualOutput, mostOutput = 16 << 20, 64 << 20
	// lastGrace is between the signal for a program whose time is up, or that
	// wrote too much, and its end.
	lastGrace = 2 * time.Second
)

// programs are those that the scripts of one engine have started.
type programs struct {
	w    *Host
	open written

	mu     sync.Mutex
	closed bool
	last   int
	known  map[int]*running      // by the numbers that scripts have
	alive  map[*running]struct{} // those of which something may run, or that hold files
	places int                   // how many of mostAlive are taken
}

// programOps are what scripts ask to have programs run.
func (w *Host) programOps() map[string]operation {
	p := &programs{w: w, known: map[int]*running{}, alive: map[*running]struct{}{}}
	p.open.w = w
	w.onClose(p.close)
	return map[string]operation{
		"proc.run":    p.run,
		"proc.start":  p.start,
		"proc.read":   p.read,
		"proc.write":  p.write,
		"proc.wait":   op(p.wait),
		"proc.kill":   op(p.kill),
		"proc.close":  op(p.closeProgram),
		"proc.which":  op(p.which),
		"proc.signal": op(p.signal),
		"proc.shell":  p.shell,
	}
}

// A wanted is a program as scripts ask for it.
type wanted struct {
	Argv           []string
	Argv0, Cwd     string
	Env            map[string]string
	Set            map[string]*string
	Timeout        float64 // milliseconds
	Kill           string
	Max            *float64
	Stdin          string
	Stdout, Stderr json.RawMessage
}

// base is what all programs of a call have in common.
func (p *programs) base(by *work) process.Program {
	var base process.Program
	if p.w.opt.Programs != nil {
		base = p.w.opt.Programs(by.call)
	}
	base.AsCommands = !base.Walled
	return base
}

// variables are those of a program of the call, and where commands look for
// programs.
func (p *programs) variables(base process.Program, env map[string]string, set map[string]*string) (v variables, path string) {
	var host []string
	if p.w.opt.Shell != nil {
		host = p.w.opt.Shell.Variables()
	}
	for name, value := range base.Set {
		host = append(host, name+"="+value)
	}
	var known map[string]string
	if env != nil && p.w.opt.Variables != nil {
		known = p.w.opt.Variables()
	}
	for _, line := range host {
		if value, ok := strings.CutPrefix(line, "PATH="); ok {
			path = value
		}
	}
	return surroundings(host, known, env, set), path
}

// prepareProgram turns a script's request into a program that may be started, after all permissions
// were given.
func (p *programs) prepareProgram(ctx context.Context, by *asker, a *wanted) (process.Program, error) {
	if len(a.Argv) == 0 || a.Argv[0] == "" || slices.ContainsFunc(append(a.Argv, a.Argv0), func(s string) bool { return strings.ContainsRune(s, 0) }) {
		return process.Program{}, coded("EINVAL")
	}
	if p.w.opt.Shell == nil {
		return process.Program{}, errNoPrograms
	}
	base := p.base(by.work)
	vars, path := p.variables(base, a.Env, a.Set)
	line := commandLine{argv: a.Argv, argv0: a.Argv0}
	named := !strings.ContainsRune(a.Argv[0], '/') && !strings.ContainsRune(a.Argv[0], filepath.Separator)
	if named { // no permission is needed for what is not there
		line.found, line.usual = which(a.Argv[0], a.Cwd, vars.path(path)), which(a.Argv[0], a.Cwd, path)
		if line.found == "" {
			return process.Program{}, notFound()
		}
	} else {
		line.found = a.Argv[0]
		line.usual = line.found
	}
	by.line = vars.prefixLine(line.text())
	dir, err := p.workDir(ctx, by, a.Cwd)
	if err != nil {
		return process.Program{}, err
	}
	if err := p.askCommands(ctx, by, dir); err != nil {
		return process.Program{}, err
	}
	if !named {
		if line.found = which(a.Argv[0], dir, ""); line.found == "" {
			return process.Program{}, notRunnable(a.Argv[0], dir)
		}
	}
	if !vars.whole {
		vars.all["PWD"] = dir
	}
	base.Path, base.Args, base.Argv0, base.Dir, base.Env = line.found, a.Argv[1:], a.Argv[0], dir, vars.list()
	if a.Argv0 != "" {
		base.Argv0 = a.Argv0
	}
	return base, nil
}

// workDir is where a program runs, asked about as a file is, and there.
func (p *programs) workDir(ctx context.Context, by *asker, cwd string) (string, error) {
	path, err := p.w.opt.Files.ResolveFolder(ctx, by, p.homeDir(by.work), cwd)
	if err != nil {
		return "", system(err)
	}
	info, err := os.Stat(path.Real())
	switch {
	case err != nil:
		return "", system(err)
	case !info.IsDir():
		return "", coded("ENOTDIR")
	}
	return path.Real(), nil
}

// homeDir returns the folder of the call that the script works for.
func (p *programs) homeDir(by *work) string {
	if by.call.Dir != "" {
		return by.call.Dir
	}
	return p.w.opt.Dir
}

// askCommands asks everything that has to be asked before the command line may run.
func (p *programs) askCommands(ctx context.Context, by *asker, dir string) error {
	err := command.ReadLineIn(p.w.opt.Files, command.Location{Dir: p.homeDir(by.work), Cwd: dir}, by.line).Ask(ctx, by)
	if errors.Is(err, command.ErrNoCommand) {
		return coded("EINVAL")
	}
	return err
}

// An asker asks on behalf of a program, nothing twice. The folder that scripts
// have for themselves needs no asking.
type asker struct {
	*work
	own  func(pattern string) bool // what a request names lies in that folder
	line string

	mu      sync.Mutex
	granted map[[2]string]bool // by permission and pattern
}

func (p *programs) asker(by *work) *asker {
	from := p.w.opt.Files.Worktree
	if from == "" {
		from = p.homeDir(by)
	}
	own := func(pattern string) bool {
		name := strings.TrimSuffix(pattern, "/*")
		if filepath.Clean(name) != name {
			return false
		}
		if !filepath.IsAbs(name) {
			name = filepath.Join(from, name)
		}
		return p.w.temp.contains(name)
	}
	return &asker{work: by, own: own, granted: map[[2]string]bool{}}
}

// Ask asks for permission, and shows the command line.
func (a *asker) Ask(ctx context.Context, reqs ...permission.Request) error {
	var open []permission.Request
	for _, req := range reqs {
		switch req.Permission {
		case "external_directory", "read", "edit":
			req.Patterns = slices.DeleteFunc(slices.Clone(req.Patterns), func(pattern string) bool {
				a.mu.Lock()
				defer a.mu.Unlock()
				return a.granted[[2]string{req.Permission, pattern}] || a.own(pattern)
			})
			if len(req.Patterns) == 0 {
				continue
			}
		}
		open = append(open, req)
	}
	if len(open) == 0 {
		return nil
	}
	if err := a.work.Ask(ctx, saying(open, "command", a.line)...); err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, req := range open {
		for _, pattern := range req.Patterns {
			a.granted[[2]string{req.Permission, pattern}] = true
		}
	}
	return nil
}

// coded is a refusal of the system, as the modules want it: they make the text.
func coded(code string) error { return &script.Failure{Message: code, Code: code} }

// notFound is the error for a program that does not exist.
func notFound() error { return &script.Failure{Message: "not found", Code: "ENOENT", Syscall: "which"} }

// notRunnable says why a name cannot be run: there is no such file, or it is not a program.
func notRunnable(name, dir string) error {
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	if _, err := os.Stat(name); errnoName(err) != "" {
		return coded(errnoName(err))
	}
	return coded("EACCES")
}

// system words an error as the system does.
func system(err error) error {
	var no *Refusal
	if err == nil || errors.As(err, &no) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if code := errnoName(err); code != "" {
		return &script.Failure{Message: err.Error(), Code: code}
	}
	return err
}

// launch starts a program that was asked about, if there is a place for one
// more. It ends with ctx, with all that it has started.
func (p *programs) launch(ctx context.Context, by *work, program process.Program, pipes *plumbing) (*running, error) {
	if err := p.take(); err != nil {
		return nil, err
	}
	program.Input, program.Silent, program.Stderr = pipes.input, !pipes.feeds, pipes.err
	process, err := p.w.opt.Shell.Start(ctx, program, pipes.out)
	if err != nil {
		p.release()
		return nil, unstarted(err)
	}
	r := &running{
		p: p, process: process, out: newReader(pipes.outBack), err: newReader(pipes.errBack), after: pipes.later,
		writing: make(chan struct{}, 1), gone: make(chan struct{}), quiet: make(chan struct{}),
	}
	r.logPipes(by, pipes.told)
	if pipes.feeds && pipes.bytes != nil {
		r.feed(pipes.bytes)
	}
	pipes.outBack, pipes.errBack, pipes.told, pipes.later = nil, nil, nil, nil // they are its own now
	pipes.started()
	err = p.addProgram(r, pipes.known)
	r.hook(ctx)
	go r.waitEnd()
	if err != nil {
		r.end()
		return nil, err
	}
	return r, nil
}

// errNoMore is the error for a script whose engine is being closed.
var errNoMore = errors.New("this engine starts no more programs: it is being closed")

// errNoPrograms is the error if programs cannot run here.
var errNoPrograms = errors.New("programs can not be started here")

// unstarted words why a program could not be started.
func unstarted(err error) error {
	var walled *process.SandboxError
	switch {
	case errors.As(err, &walled):
		return &Refusal{Err: err}
	case errors.Is(err, process.ErrClosed):
		return errNoMore
	case errors.Is(err, syscall.ENOEXEC):
		return coded("ENOEXEC")
	case errors.Is(err, fs.ErrNotExist): // what its first line names is not there
		return coded("ENOENT")
	}
	return system(err)
}

// take takes a place for a program.
func (p *programs) take() error {
	err := p.tryTake()
	var full *script.Failure
	if errors.As(err, &full) && p.removeEnded() {
		err = p.tryTake()
	}
	return err
}

func (p *programs) tryTake() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
		return errNoMore
	case p.places >= mostAlive:
		return &script.Failure{
			Message: fmt.Sprintf("%d programs of this engine are running, which is as many as there may be. Wait for one to end, or end one.", mostAlive),
			Code:    "EAGAIN", Syscall: "spawn",
		}
	}
	p.places++
	return nil
}

// removeEnded finds programs of which something went on after them, and has ended
// since. It reports whether there was one.
func (p *programs) removeEnded() (found bool) {
	p.mu.Lock()
	all := slices.Collect(maps.Keys(p.alive))
	p.mu.Unlock()
	for _, r := range all {
		if !r.isOver() {
			continue
		}
		if left, err := r.process.Survivors(); err == nil && len(left) == 0 {
			r.cleanUp()
			found = true
		}
	}
	return found
}

func (p *programs) release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.places--
}

// addProgram registers a program, and gives it a number if scripts are to know it.
func (p *programs) addProgram(r *running, known bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.alive[r] = struct{}{}
	if p.closed {
		return errNoMore
	}
	if !known {
		return nil
	}
	if len(p.known) >= mostKnown {
		p.shed()
	}
	if len(p.known) >= mostKnown {
		return coded("EMFILE")
	}
	p.last++
	p.known[p.last] = r
	r.id = p.last
	return nil
}

// shed forgets the oldest of the programs that have ended and of which nothing
// is left to be read.
func (p *programs) shed() {
	oldest := 0
	for id, r := range p.known {
		if r.settled.Load() && !r.out.left() && !r.err.left() && (oldest == 0 || id < oldest) {
			oldest = id
		}
	}
	if oldest != 0 {
		p.known[oldest].unhook()
		delete(p.known, oldest)
	}
}

// find is the program of a number.
func (p *programs) find(id int) (*running, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r := p.known[id]; r != nil {
		return r, nil
	}
	return nil, &script.Failure{Message: "no such program", Code: "ESRCH"}
}

// close ends all programs, and waits for that.
func (p *programs) close() error {
	p.mu.Lock()
	p.closed = true
	all := slices.Concat(slices.Collect(maps.Keys(p.alive)), slices.Collect(maps.Values(p.known)))
	p.mu.Unlock()
	var wait sync.WaitGroup
	for _, r := range all {
		wait.Go(r.end)
	}
	wait.Wait()
	return nil
}
