package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"helve/internal/proc"
	"helve/internal/wall"
)

// The words by which a program is started as a helper.
const (
	helperWord = "__helve"
	keeperWord = "keeper"
	wallWord   = "wall"
)

// Helper does what a helper was started for; ok is false where args are of
// another kind, and the program is to go on as itself.
func Helper(args []string) (code int, ok bool) {
	if len(args) < 2 || args[0] != helperWord {
		return 0, false
	}
	switch args[1] {
	case keeperWord:
		return proc.KeeperMain(args[2:]), true
	case wallWord:
		return wall.Main(args[2:]), true
	}
	return 2, true
}

// A Wall says what the kernel keeps commands from.
type Wall struct {
	Level              string // off, write or strict; off when empty
	Optional           bool   // without one, commands run all the same
	Roots              []string
	Protected          []string
	Writable, Readable []string
}

func (w Wall) check() error {
	switch wall.Level(w.Level) {
	case "", wall.Off, wall.Write, wall.Strict:
		return nil
	}
	return fmt.Errorf("the level %q of the wall is not one of off, write, strict", w.Level)
}

// A WallError says that a command did not run because the wall that was asked
// for is not there or does not hold.
type WallError struct {
	State wall.State
	Err   error
}

// Error says what does not hold, and what to do.
func (e *WallError) Error() string {
	why := e.State.Reason
	if broken := e.State.Broken(); len(broken) > 0 {
		names := make([]string, len(broken))
		for i, p := range broken {
			names[i] = p.Text
		}
		why = strings.TrimSpace(why + " It does not hold: " + strings.Join(names, "; ") + ".")
	}
	if why == "" && e.Err != nil {
		why = e.Err.Error()
	}
	return "No command runs here, because the wall that is required can not be built or does not hold. " + why +
		" See 'helve doctor'; the config key wall.required, set to false, lets commands run without it."
}

// Unwrap returns the cause.
func (e *WallError) Unwrap() error { return e.Err }

// A site is where a command runs.
type site struct {
	place   proc.Place
	env     []string
	level   string
	warning string
}

// walls are the walls that stand.
type walls struct {
	mu     sync.Mutex
	proofs map[wallKind]*proof
	built  map[string]*built // by key
}

// A wallKind is what is proven once.
type wallKind struct {
	level    wall.Level
	readOnly bool
}

type proof struct {
	once  sync.Once
	bare  bool
	state wall.State
	err   error
}

// A built wall has a lease on the disk, and a file with its profile where that
// is too long for an argument.
type built struct {
	place proc.Place
	lease *wall.Lease
	file  *os.File
}

// level is the wall that a command is to run behind.
func (r *Room) level(readOnly bool) wall.Level {
	level := wall.Level(r.opt.Wall.Level)
	switch {
	case level != "" && level != wall.Off:
		return level
	case readOnly:
		return wall.Write
	}
	return wall.Off
}

// site says where a command runs: plainly, or behind the wall.
func (r *Room) site(ctx context.Context, cmd Command) (site, error) {
	plain := site{place: proc.Place{Key: "plain", Args: []string{helperWord, keeperWord}}}
	level := r.level(cmd.ReadOnly)
	if level == wall.Off {
		return plain, nil
	}
	wanted := r.opt.Wall.Level != "" && wall.Level(r.opt.Wall.Level) != wall.Off
	proof := r.prove(ctx, wallKind{level, cmd.ReadOnly})
	if proof.err != nil || !proof.state.Complete() {
		if wanted && !r.opt.Wall.Optional {
			return site{}, &WallError{State: proof.state, Err: proof.err}
		}
		if proof.err != nil {
			plain.warning = "There is no wall on this machine, so only the rules limit this command"
			return plain, nil
		}
	}
	profile, err := r.profile(ctx, wallKind{level, cmd.ReadOnly}, cmd.Sieve)
	if err != nil {
		return site{}, err
	}
	profile.Bare = proof.bare
	place, err := r.build(profile)
	if err != nil {
		return site{}, &WallError{State: proof.state, Err: err}
	}
	return site{place: place, env: profile.Env(), level: string(level)}, nil
}

// profile says what is let through for a command.
func (r *Room) profile(ctx context.Context, kind wallKind, s Sieve) (wall.Profile, error) {
	home, _ := os.UserHomeDir() // without one there are no toolchains in it
	p := wall.Profile{
		Level: kind.level, ReadOnly: kind.readOnly, Roots: r.opt.Wall.Roots, Protected: r.opt.Wall.Protected,
		Writable: expand(r.opt.Wall.Writable, home), Readable: append(expand(r.opt.Wall.Readable, home), r.opt.Helper),
		Cache: filepath.Join(r.opt.Private("wall"), "cache"), Home: home, Keep: []int{3}, Fallback: true,
		Owners: slices.ContainsFunc(r.opt.Wall.Roots, ofAnother),
	}
	for _, root := range p.Roots {
		masks, err := r.masks.Find(ctx, root, s)
		if err != nil {
			return p, fmt.Errorf("finding what may not be read: %w", err)
		}
		p.Masks = append(p.Masks, masks...)
	}
	if slices.ContainsFunc(p.Protected, func(path string) bool { return within(p.Cache, path) }) {
		p.Cache = "" // the records lie in the worktree, and nothing is to be written there
		return p.Check()
	}
	if err := os.MkdirAll(p.Cache, 0o700); err != nil {
		return p, fmt.Errorf("making the folder for caches: %w", err)
	}
	return p.Check()
}

func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// expand puts the home folder for ~, and leaves out what does not exist: a
// folder that is not there can not be opened to anybody.
func expand(paths []string, home string) (out []string) {
	for _, p := range paths {
		if rest, ok := strings.CutPrefix(p, "~/"); ok && home != "" {
			p = filepath.Join(home, rest)
		}
		if _, err := os.Stat(p); err == nil && filepath.IsAbs(p) {
			out = append(out, p)
		}
	}
	return out
}

// prove tries, once for each kind, what the wall holds.
func (r *Room) prove(ctx context.Context, kind wallKind) *proof {
	r.wall.mu.Lock()
	if r.wall.proofs == nil {
		r.wall.proofs, r.wall.built = map[wallKind]*proof{}, map[string]*built{}
	}
	p := r.wall.proofs[kind]
	if p == nil {
		p = &proof{}
		r.wall.proofs[kind] = p
	}
	r.wall.mu.Unlock()
	p.once.Do(func() {
		if r.opt.Helper == "" {
			p.err = errors.New("this program has no helper to stand behind the wall: see Shell.Helper")
			return
		}
		profile, err := r.profile(context.WithoutCancel(ctx), kind, Sieve{})
		if err != nil {
			p.err = err
			return
		}
		h := wall.Helper{Path: r.opt.Helper, Args: []string{helperWord, wallWord}}
		profile, p.state, p.err = wall.Prove(context.WithoutCancel(ctx), h, profile)
		p.bare = profile.Bare
	})
	return p
}

// Prove says what the wall of commands holds here, as measured.
func (r *Room) Prove(ctx context.Context) (wall.State, error) {
	level := r.level(false)
	if level == wall.Off {
		return wall.State{Level: wall.Off}, nil
	}
	p := r.prove(ctx, wallKind{level: level})
	return p.state, p.err
}

// build makes the place behind a wall, or finds the one that stands.
func (r *Room) build(p wall.Profile) (proc.Place, error) {
	lease, err := p.Prepare() // before the key: it makes what is missing
	if err != nil {
		return proc.Place{}, err
	}
	key := p.Key()
	r.wall.mu.Lock()
	defer r.wall.mu.Unlock()
	if b := r.wall.built[key]; b != nil {
		_, err := lease.Release() // the one that stands has its own
		return b.place, err
	}
	arg, file, err := p.Pass(4)
	if err != nil {
		_, again := lease.Release()
		return proc.Place{}, errors.Join(err, again)
	}
	b := &built{lease: lease, file: file, place: proc.Place{
		Key: key, Attr: p.Attr(), Wall: true,
		Args: []string{helperWord, wallWord, arg, "exec", "/proc/self/exe", helperWord, keeperWord},
	}}
	if file != nil {
		b.place.Files = []*os.File{file}
	}
	r.wall.built[key] = b
	return b.place, nil
}

// release takes the walls down, when nothing runs behind them any more.
func (w *walls) release() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	var errs []error
	for _, b := range w.built {
		_, err := b.lease.Release()
		errs = append(errs, err)
		if b.file != nil {
			errs = append(errs, b.file.Close())
		}
	}
	w.built = nil
	return errors.Join(errs...)
}

// Lacks says what is missing here for a wall; "" for nothing.
func (r *Room) Lacks() string {
	if r.opt.Helper == "" {
		return "this program has no helper to stand behind it"
	}
	return strings.Join(wall.Available().Missing, " ")
}
