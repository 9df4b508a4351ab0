package custom

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/helve-dev/helve/internal/plugins"
	"github.com/helve-dev/helve/internal/script"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/plugin"
	"github.com/helve-dev/helve/tool"
)

// lookPause is how long the state of a folder is cached; trustPause the same for trust, which is
// more expensive to look up.
const (
	lookPause  = 200 * time.Millisecond
	trustPause = 2 * time.Second
)

// A want says what is to be loaded.
type want struct {
	tool string // what may define a tool of that name, and all plugins
	all  bool
	by   *tool.Call // who is asked for permission; nil for no one
	idle bool       // nothing waits for it
}

func (w want) includes(e userFile) bool {
	return w.all || e.starts() || w.tool != "" && e.mayDefine(w.tool)
}

// A fileSource lists the files of a unit.
type fileSource interface {
	// look returns the folder of the files, and the files. It is cheap if nothing has changed.
	look() (root string, all []userFile)
}

// A unit is a config folder, or a plugin that is in none: files that share an engine.
type unit struct {
	set     *Set
	source  fileSource
	project bool
	trusted func() bool
	stamp   func() string // names the act of trusting

	turn  chan struct{}                   // held by who builds and loads
	hooks atomic.Pointer[map[string]bool] // that plugins have; beside mu, which may wait for a disk

	mu       sync.Mutex
	looked   time.Time
	root     string
	scripts  []userFile
	programs []userFile
	asked    time.Time // when trust was last looked up
	ran      bool      // it was trusted once
	denied   string    // why nothing may be run
	build    *build
	engines  [places]*engine
	old      map[*engine]bool  // those that calls still run in
	facts    map[string]*fact  // by file: what was brought; who changes those of plugins calls knowHooks
	marks    map[string]string // by program: what it looked like when it was described
	sides    map[string]*side  // by owner: engines of those who did not want to wait
	left     map[*side]bool    // those that were let go and have not ended
}

// A fact is what became of a file.
type fact struct {
	state   plugin.State
	engine  string
	tools   []script.Tool
	defs    []plugins.ProgramTool // of a program
	hooks   []string
	unknown []string // what a plugin has that nothing calls
	problem string
	notes   []string // what is worth knowing
	refused bool     // permission to run outside was not given
	took    time.Duration
	late    chan struct{} // closed once it is known; nil where it is
}

func newUnit(s *Set, src fileSource, trusted func() bool) *unit {
	return &unit{
		set: s, source: src, trusted: trusted, turn: make(chan struct{}, 1),
		old: map[*engine]bool{}, facts: map[string]*fact{}, marks: map[string]string{},
		sides: map[string]*side{}, left: map[*side]bool{},
	}
}

// see looks at the folder, unless that was done recently.
func (u *unit) see() {
	if time.Since(u.looked) < lookPause {
		return
	}
	root, all := u.source.look()
	u.root, u.scripts, u.programs = root, nil, nil
	for _, e := range all {
		if e.kind == kindProgram {
			u.programs = append(u.programs, e)
		} else {
			u.scripts = append(u.scripts, e)
		}
	}
	u.looked = time.Now()
}

// wants reports whether anything may have to be done to load what is wanted.
func (u *unit) wants(w want) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	recent := time.Since(u.looked) < lookPause
	u.see()
	switch {
	case recent && u.hasAll(w):
		return false
	case slices.ContainsFunc(u.scripts, w.includes), slices.ContainsFunc(u.programs, w.includes):
		return true
	}
	return u.build != nil && !slices.Equal(u.scripts, u.build.entries) || len(u.marks) > len(u.programs) // something was taken away
}

// hasAll reports whether all that is wanted is there.
func (u *unit) hasAll(w want) bool {
	if u.build != nil && !slices.Equal(u.scripts, u.build.entries) || u.denied != "" {
		return false
	}
	lacks := func(e userFile) bool {
		return w.includes(e) && (u.facts[e.name] == nil || u.facts[e.name].late != nil || u.shouldRetry(e, w))
	}
	return !slices.ContainsFunc(u.scripts, lacks) && !slices.ContainsFunc(u.programs, lacks)
}

// shouldRetry reports whether permission for a refused file is to be requested once more: because
// its tool is called by a caller that can be asked.
func (u *unit) shouldRetry(e userFile, w want) bool {
	f := u.facts[e.name]
	return f != nil && f.refused && w.by != nil && e.kind == kindTool && e.mayDefine(w.tool)
}

// A loadKey marks the contexts of what files do while they are loaded, which cannot wait for the
// unit to be loaded.
type loadKey struct{ unit *unit }

func (u *unit) loading(ctx context.Context) bool { return ctx.Value(loadKey{u}) != nil }

// alone runs f in the background while no other goroutine builds or loads. A caller that waits for
// it may give up.
func (u *unit) alone(ctx context.Context, f func(ctx context.Context)) error {
	select {
	case u.turn <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-u.set.life.Done():
		return errClosed
	}
	done := make(chan struct{})
	if !u.set.goes(func() {
		defer func() { <-u.turn; close(done) }()
		f(context.WithValue(u.set.life, loadKey{u}, true))
	}) {
		<-u.turn
		return errClosed
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-u.set.life.Done():
		return errClosed
	}
}

// load loads what is wanted. It continues when its callers have given up.
func (u *unit) load(ctx context.Context, w want) {
	call := ctx
	err := u.alone(ctx, func(ctx context.Context) {
		if w.by != nil {
			ctx = context.WithValue(ctx, askKey{}, func(req permission.Request) error { return w.by.Ask(call, req) })
		}
		if u.bring(ctx, w) && ctx.Err() == nil {
			u.set.syncTools()
		}
	})
	if err != nil {
		u.set.log.Debug("nobody waits for what is loaded", "error", err)
		return
	}
	if !w.idle {
		u.waitLate(call, w)
	}
}

// bring builds what has changed, and loads what is wanted and missing.
func (u *unit) bring(ctx context.Context, w want) (changed bool) {
	u.mu.Lock()
	u.see()
	root, scripts, programs, built := u.root, u.scripts, u.programs, u.build
	now := built == nil || u.news(w)
	u.mu.Unlock()
	if w.idle && u.still(w) {
		return false
	}
	if !u.allowed(now) {
		return u.unload()
	}
	switch {
	case built == nil && !slices.ContainsFunc(scripts, w.includes):
	case built == nil || !built.isCurrent(root, scripts):
		made, ok := u.rebuild(ctx, root, scripts)
		if !ok {
			return u.unload()
		}
		u.renew(ctx, made, w)
		u.set.syncTools() // programs may take long
		changed = true
	default:
		changed = u.extend(ctx, built, w)
	}
	return u.describePrograms(ctx, programs, w) || changed
}

// allowed asks whether the folder is trusted, now or not long ago.
func (u *unit) allowed(now bool) bool {
	if u.trusted == nil {
		return true
	}
	u.mu.Lock()
	recent := time.Since(u.asked) < trustPause
	denied := u.denied != ""
	u.mu.Unlock()
	if recent && (denied || !now) {
		return !denied
	}
	ok := u.trusted()
	u.mu.Lock()
	defer u.mu.Unlock()
	u.asked = time.Now()
	switch {
	case ok:
		u.denied, u.ran = "", true
	case u.ran:
		u.denied = u.root + " has changed since it was trusted: look at it and run 'helve trust'"
	default:
		u.denied = u.root + " is not trusted: look at it and run 'helve trust'"
	}
	return ok
}

// unload lets go of everything.
func (u *unit) unload() (changed bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	changed = len(u.facts) > 0 || u.build != nil
	u.build, u.facts, u.marks = nil, map[string]*fact{}, map[string]string{}
	u.knowHooks()
	for at := range u.engines {
		u.swap(place(at), nil)
	}
	return changed
}

// rebuild makes a program of the files there are now. It reports false if they may not be run.
func (u *unit) rebuild(ctx context.Context, root string, entries []userFile) (*build, bool) {
	if !u.allowed(true) {
		return nil, false
	}
	made := newBuild(ctx, u, root, entries)
	if !u.allowed(true) { // what was read is what was trusted
		return nil, false
	}
	if file := u.drifted(made); file != "" {
		u.mu.Lock()
		u.denied = file + " is not what it was when the folder was trusted: look at it and run 'helve trust " + u.root + "'"
		u.mu.Unlock()
		return nil, false
	}
	return made, true
}

// renew makes engines for a program and loads into them what was loaded before, and what is wanted.
func (u *unit) renew(ctx context.Context, made *build, w want) {
	u.mu.Lock()
	some := u.wantedFiles(made, w)
	u.mu.Unlock()
	facts := map[string]*fact{}
	var engines [places]*engine
	for at := range engines {
		engines[at] = made.raise(ctx, place(at), some, facts)
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, e := range u.programs {
		if f := u.facts[e.name]; f != nil {
			facts[e.name] = f
		}
	}
	u.build, u.facts, made.first = made, facts, false
	u.knowHooks()
	for at, e := range engines {
		u.swap(place(at), e)
	}
}

// wantedFiles are the files of a program that are wanted or were loaded before.
func (u *unit) wantedFiles(b *build, w want) (some []userFile) {
	for _, e := range b.entries {
		if w.includes(e) || u.facts[e.name] != nil {
			some = append(some, e)
		}
	}
	return some
}

// extend loads into the engines what is wanted and missing.
func (u *unit) extend(ctx context.Context, b *build, w want) (changed bool) {
	for at := range places {
		u.mu.Lock()
		e := u.engines[at]
		var missing []userFile
		for _, en := range b.entries {
			if w.includes(en) && (u.facts[en.name] == nil || u.shouldRetry(en, w)) && b.locationOf(en) == at {
				missing = append(missing, en)
			}
		}
		some := u.wantedFiles(b, w)
		u.mu.Unlock()
		if len(missing) == 0 {
			continue
		}
		changed = true
		facts := map[string]*fact{}
		if !e.extend(ctx, missing, facts) {
			clear(facts)
			other := b.raise(ctx, at, some, facts)
			u.mu.Lock()
			u.swap(at, other)
			u.mu.Unlock()
		}
		u.mu.Lock()
		maps.Copy(u.facts, facts)
		u.knowHooks()
		u.mu.Unlock()
	}
	return changed
}

// swap replaces an engine. The old one ends after the calls that are in it.
func (u *unit) swap(at place, e *engine) {
	last := u.engines[at]
	u.engines[at] = e
	if at == within {
		for _, s := range u.sides {
			u.dropSide(s)
		}
	}
	if last == nil || last == e {
		return
	}
	u.old[last] = true
	u.set.ending.Add(1)
	if last.users == 0 {
		u.closeEngine(last)
	}
}

// closeEngine ends an unused engine.
func (u *unit) closeEngine(e *engine) {
	if u.set.goes(e.retire) { // otherwise close ends it
		delete(u.old, e)
	}
}

// acquire returns an engine that the caller must release. A lost engine is replaced.
func (u *unit) acquire(ctx context.Context, at place) (*engine, error) {
	for range 2 {
		if e := u.workingEngine(at); e != nil {
			return e, nil
		}
		if u.loading(ctx) {
			break
		}
		err := u.alone(ctx, func(ctx context.Context) {
			u.mu.Lock()
			b, e := u.build, u.engines[at]
			u.mu.Unlock()
			if b != nil && (e == nil || e.lost.Load()) {
				u.renew(ctx, b, want{})
				u.set.syncTools()
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return nil, errNoEngine
}

var errNoEngine = errors.New("its engine could not be started; 'helve plugins' shows why")

// workingEngine gives an engine, if there is one that works.
func (u *unit) workingEngine(at place) *engine {
	u.mu.Lock()
	defer u.mu.Unlock()
	e := u.engines[at]
	if e == nil || e.lost.Load() {
		return nil
	}
	e.users++
	return e
}

func (u *unit) release(e *engine) {
	u.mu.Lock()
	defer u.mu.Unlock()
	e.users--
	if e.users == 0 && u.old[e] {
		u.closeEngine(e)
	}
}

// close ends all engines of the unit.
func (u *unit) close() error {
	u.mu.Lock()
	all := slices.AppendSeq(slices.Concat(u.engines[:], u.closeSides()), maps.Keys(u.old))
	u.engines, u.build = [places]*engine{}, nil
	u.mu.Unlock()
	var errs []error
	for _, e := range all {
		if e != nil {
			errs = append(errs, e.shutDown())
		}
	}
	return errors.Join(errs...)
}

// path is where a file of the unit is.
func (u *unit) path(root string, e userFile) string {
	if e.name == "" {
		return e.label
	}
	return filepath.Join(root, filepath.FromSlash(e.name))
}
