package process

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// ErrClosed says that the Runner accepts no more commands.
var ErrClosed = errors.New("runner: closed")

// ErrKeeper is wrapped by the error of a command whose supervisor could not be started or was lost.
// When a supervisor is lost, its commands are killed.
var ErrKeeper = errors.New("keeper")

const (
	defaultMark = "HELVE_CALL"
	defaultIdle = 5 * time.Minute
	killLimit   = 3 * time.Second // for which a tree is killed again and again
)

// A SupervisorSpec is where commands run: without restrictions, or in a sandbox. Places with equal
// keys share a supervisor, so equal keys must mean equal places.
type SupervisorSpec struct {
	Key  string
	Args []string // the arguments with which the helper becomes a supervisor there
	Env  []string // of the supervisor; commands have their own. They can read it, so nil means empty

	// Attr is for starting the helper, as in new namespaces; nil is plain.
	Attr *syscall.SysProcAttr
	// Files are open in the helper from descriptor 4 on, for what runs before [KeeperMain];
	// commands do not get them.
	Files []*os.File
	// Wall requires the sandbox: where no supervisor can run, Start fails.
	Wall bool
}

// RunnerOptions configure a Runner.
type RunnerOptions struct {
	// Helper is a program that calls [KeeperMain] when it is started with the
	// arguments of a Place. Without one, or on another system than Linux,
	// commands run directly.
	Helper string
	// Mark names the variable that marks the environment of commands;
	// HELVE_CALL when empty.
	Mark string
	// Idle is how long a supervisor without a command stays; 5 minutes when zero.
	Idle time.Duration
}

// A Runner starts commands. It is safe for concurrent use.
type Runner struct {
	opts   RunnerOptions
	id     string // makes the marks of this runner its own
	serial atomic.Uint64

	patience time.Duration // how long to wait for a reply of the supervisor

	mu     sync.Mutex
	closed bool
	null   *os.File
	live   map[*Process]bool // those that run directly
	keepers
}

// A Command is what to run, and where.
type Command struct {
	Path  string   // looked up in PATH when it has no separator
	Args  []string // without the program itself
	Env   []string // nil is the environment of this program
	Dir   string   // "" is the folder of this program
	Place SupervisorSpec

	// Name is the command's argv[0]; Path when empty.
	Name string

	// Stdin gives the command a pipe, see [Process.Stdin]. Otherwise it reads
	// Input, or where that is nil nothing but the end.
	Stdin bool
	// Input is left open, as what the command prints to is.
	Input *os.File
	// Stderr takes what it prints there; nil is with the rest.
	Stderr *os.File

	// Detached lets what the command leaves running outlive the Runner: it runs
	// directly, and only [Process.End] ends what it has started.
	Detached bool
}

// NewRunner returns a Runner. Nothing is started before the first command.
func NewRunner(o RunnerOptions) *Runner {
	if o.Mark == "" {
		o.Mark = defaultMark
	}
	if o.Idle == 0 {
		o.Idle = defaultIdle
	}
	id := make([]byte, 8)
	rand.Read(id) // does not fail
	return &Runner{opts: o, id: hex.EncodeToString(id), live: map[*Process]bool{}, patience: 2 * killLimit}
}

// A spawn is a prepared command: what a supervisor or the system is asked to start.
type spawn struct {
	path  string
	argv  []string
	env   []string
	dir   string
	mark  string // NAME=value, also in env
	files [3]*os.File
}

// Start starts a command that prints to out. Start leaves out open; whoever
// waits for its end has to close it. The context bounds the starting only:
// once started, the command runs until it is done or [Process.End] is called.
// An error is one of the system, so errors.Is(err, fs.ErrNotExist) tells about
// a missing program or folder, or ErrKeeper.
func (r *Runner) Start(ctx context.Context, c Command, out *os.File) (*Process, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s, err := r.newSpawn(c, out)
	if err != nil {
		return nil, err
	}
	p := &Process{done: make(chan struct{}), mark: s.mark}
	if c.Stdin {
		in, w, err := os.Pipe()
		if err != nil {
			return nil, fmt.Errorf("start %s: %w", c.Path, err)
		}
		defer in.Close()
		s.files[0], p.stdin = in, w
	}
	if keeping && r.opts.Helper != "" && !c.Detached {
		err = r.startKept(ctx, c.Place, s, p)
	} else if c.Place.Wall {
		err = fmt.Errorf("%w: none to hold the wall", ErrKeeper)
	} else {
		err = r.startDirect(s, p)
	}
	if err != nil {
		if p.stdin != nil {
			p.stdin.Close()
		}
		return nil, fmt.Errorf("start %s: %w", c.Path, err)
	}
	return p, nil
}

// newSpawn resolves and completes a command.
func (r *Runner) newSpawn(c Command, out *os.File) (*spawn, error) {
	path := c.Path
	if !strings.ContainsRune(path, os.PathSeparator) {
		found, err := exec.LookPath(path)
		if err != nil {
			return nil, fmt.Errorf("start %s: %w", c.Path, err)
		}
		path = found
	}
	null, err := r.devNull()
	if err != nil {
		return nil, err
	}
	s := &spawn{path: path, argv: append([]string{cmp.Or(c.Name, c.Path)}, c.Args...), dir: c.Dir}
	if s.dir == "" {
		if s.dir, err = os.Getwd(); err != nil {
			return nil, fmt.Errorf("start %s: %w", c.Path, err)
		}
	}
	owner := r.id
	if c.Detached {
		owner = "detached-" + owner // so that Close does not find what it left
	}
	s.mark = r.opts.Mark + "=" + owner + "." + strconv.FormatUint(r.serial.Add(1), 10)
	env := c.Env
	if env == nil {
		env = os.Environ()
	}
	s.env = make([]string, 0, len(env)+1)
	for _, e := range env {
		if !strings.HasPrefix(e, r.opts.Mark+"=") {
			s.env = append(s.env, e)
		}
	}
	s.env = append(s.env, s.mark)
	s.files = [3]*os.File{null, out, out}
	if c.Input != nil {
		s.files[0] = c.Input
	}
	if c.Stderr != nil {
		s.files[2] = c.Stderr
	}
	return s, nil
}

// devNull is the standard input of commands that have none, opened once.
func (r *Runner) devNull() (*os.File, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, ErrClosed
	}
	if r.null == nil {
		f, err := os.Open(os.DevNull)
		if err != nil {
			return nil, fmt.Errorf("runner: %w", err)
		}
		r.null = f
	}
	return r.null, nil
}

// Close ends all commands of the Runner, even those that ignore signals, and its supervisors, and
// waits for that. No command can be started afterwards.
func (r *Runner) Close() error {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return nil
	}
	r.closed = true
	null := r.null
	live := make([]*Process, 0, len(r.live))
	for p := range r.live {
		live = append(live, p)
	}
	r.mu.Unlock()
	errs := make(chan error, len(live)+1)
	for _, p := range live {
		go func() {
			err := p.Stop(0)
			if err != nil {
				err = fmt.Errorf("close runner: %w", err)
			}
			errs <- err
		}()
	}
	go func() { errs <- r.closeKeepers() }()
	var all error
	for range len(live) + 1 {
		all = errors.Join(all, <-errs)
	}
	if !keeping || r.opts.Helper == "" {
		r.closeLeft()
	}
	if null != nil {
		all = errors.Join(all, null.Close())
	}
	return all
}
