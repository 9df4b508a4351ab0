package process

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/helve-dev/helve/internal/disk"
	"github.com/helve-dev/helve/internal/sandbox"
)

// The words by which a program is started as a helper.
const (
	helperWord = "__helve"
	keeperWord = "keeper"
	wallWord   = "wall"
)

// HelperMain does what a helper was started for; ok is false where args are of
// another kind, and the program is to go on as itself.
func HelperMain(args []string) (code int, ok bool) {
	if len(args) < 2 || args[0] != helperWord {
		return 0, false
	}
	switch args[1] {
	case keeperWord:
		return KeeperMain(), true
	case wallWord:
		return sandbox.Main(args[2:]), true
	}
	return 2, true
}

// A SandboxOptions says what the kernel keeps commands from.
type SandboxOptions struct {
	Level              string // off, write or strict; off when empty
	Optional           bool   // without one, commands run all the same
	Roots              []string
	Protected          []string
	Hidden             []string // unreadable at every level: the runtime's own records
	Writable, Readable []string
}

func (w SandboxOptions) check() error {
	switch sandbox.Level(w.Level) {
	case "", sandbox.Off, sandbox.Write, sandbox.Strict:
		return nil
	}
	return fmt.Errorf("the level %q of the wall is not one of off, write, strict", w.Level)
}

// A SandboxError reports that a command did not run because the required sandbox is missing or
// incomplete.
type SandboxError struct {
	State sandbox.State
	Err   error
}

// Error says what does not hold, and what to do.
func (e *SandboxError) Error() string {
	why := e.State.Reason
	if broken := broken(e.State); broken != "" {
		why = strings.TrimSpace(why + " It does not hold: " + broken + ".")
	}
	if why == "" && e.Err != nil {
		why = e.Err.Error()
	}
	return "No command runs here, because the wall that is required can not be built or does not hold. " + why +
		" See 'helve doctor'; the config key wall.required, set to false, lets commands run without it."
}

// Unwrap returns the cause.
func (e *SandboxError) Unwrap() error { return e.Err }

// broken lists what a sandbox fails to prevent.
func broken(state sandbox.State) string {
	var names []string
	for _, p := range state.Broken() {
		names = append(names, p.Text)
	}
	return strings.Join(names, "; ")
}

// A site is where a command runs.
type site struct {
	place   SupervisorSpec
	env     []string
	level   string
	warning string
}

const (
	// proveLimit bounds the test of a sandbox, which takes a moment.
	proveLimit = 30 * time.Second
	// mostBuilt is how many sandboxes are remembered, each for a set of files that may not be read.
	mostBuilt = 8
)

// walls are the sandboxes in use.
type walls struct {
	swept   sync.Once
	limit   time.Duration  // of a proof; proveLimit when 0
	proving sync.WaitGroup // proofs under way

	mu     sync.Mutex
	closed bool
	proofs map[wallKind]*proof
	lease  *sandbox.Lease    // what all of them need on the disk: the same
	built  map[string]*built // by key
	uses   int
}

// A wallKind is what is proven once.
type wallKind struct {
	level    sandbox.Level
	readOnly bool
}

// A proof is under way until done is closed; the rest is set by then.
type proof struct {
	done   chan struct{}
	cancel context.CancelFunc
	bare   bool
	state  sandbox.State
	err    error
	passes bool // the error may be over another time
}

// shortfall says what the sandbox lacks; "" when it is complete.
func (p *proof) shortfall() string {
	switch {
	case p.err != nil && p.passes:
		return fmt.Sprintf("The wall could not be tried this time (%v), so only the rules limit this command", p.err)
	case p.err != nil:
		return "There is no wall on this machine, so only the rules limit this command"
	case !p.state.Complete():
		return "The wall around this command is not whole on this machine. It does not hold: " + broken(p.state)
	}
	return ""
}

// A built is a sandbox with a file for its profile, if that is too long for an argument.
type built struct {
	place SupervisorSpec
	file  *os.File
	used  int
}

// level returns the sandbox level for a command.
func (r *Executor) level(readOnly bool) sandbox.Level {
	level := sandbox.Level(r.opt.Wall.Level)
	switch {
	case level != "" && level != sandbox.Off:
		return level
	case readOnly:
		return sandbox.Write
	}
	return sandbox.Off
}

// plainSite returns where commands without a sandbox run.
func plainSite() site {
	return site{place: SupervisorSpec{Key: "plain", Args: []string{helperWord, keeperWord}}}
}

// site returns where a command runs: without restrictions, or in the sandbox.
func (r *Executor) site(ctx context.Context, cmd ShellCommand) (site, error) {
	r.wall.swept.Do(r.sweepWalls)
	level := r.level(cmd.ReadOnly)
	if level == sandbox.Off {
		return plainSite(), nil
	}
	s, err := r.behind(ctx, wallKind{level, cmd.ReadOnly}, cmd.Sieve)
	if err == nil && cmd.Locked && s.warning != "" {
		err = fmt.Errorf("nothing may be changed now, and commands can not be kept from it here: %s", s.warning)
	}
	return s, err
}

// behind returns the place inside a sandbox. If the sandbox is incomplete and the config does not
// require a complete one, the place comes with a warning.
func (r *Executor) behind(ctx context.Context, kind wallKind, s PathFilter, readable ...string) (site, error) {
	wanted := r.opt.Wall.Level != "" && sandbox.Level(r.opt.Wall.Level) != sandbox.Off
	proof, err := r.prove(ctx, kind)
	if err != nil {
		return site{}, err
	}
	warning := proof.shortfall()
	if warning != "" && wanted && !r.opt.Wall.Optional {
		return site{}, &SandboxError{State: proof.state, Err: proof.err}
	}
	if proof.err != nil {
		plain := plainSite()
		plain.warning = warning
		return plain, nil
	}
	profile, err := r.profile(ctx, kind, s)
	if err != nil {
		return site{}, err
	}
	profile.Bare = proof.bare
	profile.Readable = append(profile.Readable, readable...)
	place, err := r.build(profile)
	if errors.Is(err, ErrClosed) {
		return site{}, err
	}
	if err != nil {
		return site{}, &SandboxError{State: proof.state, Err: err}
	}
	return site{place: place, env: profile.Env(), level: string(kind.level), warning: warning}, nil
}

// sweepWalls removes what sandboxes of killed processes left in the worktree. A failure does not
// keep commands from running.
func (r *Executor) sweepWalls() {
	if err := sandbox.Sweep(r.opt.Wall.Protected); err != nil && r.opt.Logger != nil {
		r.opt.Logger.Warn("what a wall has left could not be removed", "error", err)
	}
}

// profile says what is let through for a command.
func (r *Executor) profile(ctx context.Context, kind wallKind, s PathFilter) (sandbox.Profile, error) {
	home, _ := os.UserHomeDir() // without one there are no toolchains in it
	p := sandbox.Profile{
		Level: kind.level, ReadOnly: kind.readOnly, Roots: r.opt.Wall.Roots,
		Writable: expandPaths(r.opt.Wall.Writable, home), Readable: append(expandPaths(r.opt.Wall.Readable, home), r.opt.Helper),
		Cache: filepath.Join(r.opt.Private("wall"), "cache", r.cacheName(kind)), Home: home, Keep: []int{3}, Fallback: true,
		Death:  int(syscall.SIGTERM), // as supervisors get elsewhere
		Owners: slices.ContainsFunc(r.opt.Wall.Roots, ofAnother),
	}
	var err error
	if p.Masks, err = r.masks.Find(ctx, p.Roots, s); err != nil {
		return p, fmt.Errorf("finding what may not be read: %w", err)
	}
	for _, path := range r.opt.Wall.Hidden {
		if _, err := os.Lstat(path); err == nil {
			p.Masks = append(p.Masks, path)
		}
	}
	for _, path := range r.opt.Wall.Protected { // elsewhere nothing can be written anyway
		if slices.ContainsFunc(slices.Concat(p.Roots, p.Writable), func(dir string) bool { return disk.Within(dir, path) }) {
			p.Protected = append(p.Protected, path)
		}
	}
	if slices.ContainsFunc(p.Protected, func(path string) bool { return disk.Within(path, p.Cache) }) {
		p.Cache = "" // the records lie in the worktree, and nothing is to be written there
		return p.Check()
	}
	if err := os.MkdirAll(p.Cache, 0o700); err != nil {
		return p, fmt.Errorf("making the folder for caches: %w", err)
	}
	return p.Check()
}

// cacheName names the caches of a project: what one puts there is not run by
// another, nor is what an agent puts there that may change nothing.
func (r *Executor) cacheName(kind wallKind) string {
	h := sha256.Sum256([]byte(strings.Join(r.opt.Wall.Roots, "\x00")))
	name := hex.EncodeToString(h[:8])
	if kind.readOnly {
		name += "-read-only"
	}
	return name
}

// expandPaths replaces ~ by the home folder, and drops what does not exist: the sandbox cannot open
// a missing folder.
func expandPaths(paths []string, home string) (out []string) {
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

// prove measures, once for each kind, what the sandbox prevents. It fails if the caller gives up or
// the executor is closed.
func (r *Executor) prove(ctx context.Context, kind wallKind) (*proof, error) {
	p, err := r.proof(ctx, kind)
	if err != nil {
		return nil, err
	}
	select {
	case <-p.done:
		return p, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// proof returns the proof of a kind, and starts it if there is none. It continues without the
// caller, since others may wait for it too.
func (r *Executor) proof(ctx context.Context, kind wallKind) (*proof, error) {
	w := &r.wall
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil, ErrClosed
	}
	if p := w.proofs[kind]; p != nil {
		return p, nil
	}
	if w.proofs == nil {
		w.proofs = map[wallKind]*proof{}
	}
	limit := w.limit
	if limit == 0 {
		limit = proveLimit
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	p := &proof{done: make(chan struct{}), cancel: cancel}
	w.proofs[kind] = p
	w.proving.Go(func() {
		defer close(p.done)
		defer cancel()
		r.proveWall(ctx, kind, p)
		if p.passes {
			w.mu.Lock()
			defer w.mu.Unlock()
			delete(w.proofs, kind) // for another try
		}
	})
	return p, nil
}

// proveWall measures what the sandbox prevents.
func (r *Executor) proveWall(ctx context.Context, kind wallKind, p *proof) {
	if r.opt.Helper == "" {
		p.err = errors.New("this program has no helper to stand behind the wall: see Shell.Helper")
		return
	}
	profile, err := r.profile(ctx, kind, PathFilter{})
	if err != nil {
		p.err, p.passes = err, true
		return
	}
	h := sandbox.Helper{Path: r.opt.Helper, Args: []string{helperWord, wallWord}}
	profile, p.state, p.err = sandbox.Prove(ctx, h, profile)
	p.bare = profile.Bare
	p.passes = p.err != nil && (ctx.Err() != nil || sandbox.Transient(p.err))
}

// Prove measures what the sandbox of commands prevents on this machine.
func (r *Executor) Prove(ctx context.Context) (sandbox.State, error) {
	level := r.level(false)
	if level == sandbox.Off {
		return sandbox.State{Level: sandbox.Off}, nil
	}
	p, err := r.prove(ctx, wallKind{level: level})
	if err != nil {
		return sandbox.State{Level: level}, err
	}
	return p.state, p.err
}

// build returns the place inside a sandbox, building it unless it exists.
func (r *Executor) build(p sandbox.Profile) (SupervisorSpec, error) {
	w := &r.wall
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return SupervisorSpec{}, ErrClosed
	}
	if err := w.prepareLease(p); err != nil { // before the key: it makes what is missing
		return SupervisorSpec{}, err
	}
	key := p.Key()
	w.uses++
	if b := w.built[key]; b != nil {
		b.used = w.uses
		return b.place, nil
	}
	arg, file, err := p.Pass(4)
	if err != nil {
		return SupervisorSpec{}, err
	}
	b := &built{file: file, used: w.uses, place: SupervisorSpec{
		Key: key, Attr: p.Attr(), Wall: true,
		Args: []string{helperWord, wallWord, arg, "exec", "/proc/self/exe", helperWord, keeperWord},
	}}
	if file != nil {
		b.place.Files = []*os.File{file}
	}
	if w.built == nil {
		w.built = map[string]*built{}
	}
	w.built[key] = b
	return b.place, w.evictOldest()
}

// prepareLease creates on the disk what a sandbox needs.
func (w *walls) prepareLease(p sandbox.Profile) (err error) {
	if w.lease != nil {
		return w.lease.Keep(p)
	}
	w.lease, err = p.Prepare()
	return err
}

// evictOldest drops the least recently used sandbox, if there are too many. What runs in it goes
// on; the next command builds it again.
func (w *walls) evictOldest() error {
	if len(w.built) <= mostBuilt {
		return nil
	}
	oldest := ""
	for key, b := range w.built {
		if oldest == "" || b.used < w.built[oldest].used {
			oldest = key
		}
	}
	b := w.built[oldest]
	delete(w.built, oldest)
	return b.close()
}

func (b *built) close() error {
	if b.file == nil {
		return nil
	}
	return b.file.Close()
}

// release removes the sandboxes, after nothing runs in them any more.
func (w *walls) release() error {
	w.mu.Lock()
	w.closed = true
	for _, p := range w.proofs {
		p.cancel()
	}
	w.mu.Unlock()
	w.proving.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	var errs []error
	for _, b := range w.built {
		errs = append(errs, b.close())
	}
	if w.lease != nil {
		_, err := w.lease.Release()
		errs = append(errs, err)
	}
	w.built, w.lease = nil, nil
	return errors.Join(errs...)
}

// Lacks says what this system lacks for a sandbox; "" for nothing.
func (r *Executor) Lacks() string {
	if r.opt.Helper == "" {
		return "this program has no helper to stand behind it"
	}
	return strings.Join(sandbox.Available().Missing, " ")
}
