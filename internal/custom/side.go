package custom

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/helve-dev/helve/internal/script"
	"github.com/helve-dev/helve/tool"
)

// callPatience is how long calls wait for those of others until they get an engine of their own,
// callLimit how long in all if they cannot have one. maxSides is how many such engines a unit has,
// and sideIdle how long an unused one is kept.
const (
	callPatience = 2 * time.Second
	callLimit    = 30 * time.Second
	maxSides     = 4
	sideIdle     = 30 * time.Second
)

// A side is an engine for the calls of one owner, beside that of the unit, where calls of another
// owner have not ended. It has tools of files only: plugins are not started twice.
type side struct {
	unit  *unit
	who   string
	build *build
	turn  chan struct{} // held by who makes the engine or loads a file
	files map[string]bool

	// guarded by the unit
	engine  *engine // nil until it is made
	users   int
	timer   *time.Timer // ends it when it was idle for some time
	dropped bool
}

// A detourKey marks the contexts of calls that have waited long enough for an engine; its value is
// their owner.
type detourKey struct{ engine *engine }

// A fork runs calls in an engine, or in the side engine of their owner if they have waited long
// enough.
type fork struct {
	runner
	engine *engine
}

func (f fork) Execute(ctx context.Context, c script.ToolCall) (script.Outcome, error) {
	who, late := ctx.Value(detourKey{f.engine}).(string)
	if !late {
		defer f.engine.busy.add(c)()
		return f.runner.Execute(ctx, c)
	}
	u := f.engine.unit
	if c.Tool == "" { // of a file
		if s := u.side(f.engine.build, who); s != nil {
			defer u.leaveSide(s)
			return s.execute(ctx, c)
		}
	}
	return f.wait(ctx, who, c)
}

// wait runs a call that can have no other engine when the calls of others have ended.
func (f fork) wait(ctx context.Context, who string, c script.ToolCall) (script.Outcome, error) {
	limited, cancel := context.WithTimeoutCause(ctx, callLimit-callPatience, errBusy)
	defer cancel()
	_, leave, err := f.engine.gate.waitTurn(limited, who)
	switch {
	case err != nil && ctx.Err() != nil:
		return script.Outcome{}, context.Cause(ctx)
	case err != nil:
		return script.Outcome{}, tool.Fail("script-busy", "The tool was not called: a call of another session in the same engine has not ended within %v (%s). Call it again later, or end the other call.",
			callLimit, f.engine.busy.names())
	}
	defer leave()
	defer f.engine.busy.add(c)()
	return f.runner.Execute(f.engine.gate.markContext(ctx), c)
}

// An elsewhere is an error of a side engine, which says nothing about the unit's engine.
type elsewhere struct{ error }

func (e *elsewhere) Unwrap() error { return e.error }

// side returns an engine for an owner, to be released by leaveSide; nil if there are too many.
func (u *unit) side(b *build, who string) *side {
	u.mu.Lock()
	defer u.mu.Unlock()
	s := u.sides[who]
	if s != nil && (s.build != b || s.engine != nil && s.engine.lost.Load()) {
		u.dropSide(s)
		s = nil
	}
	if s == nil {
		if len(u.sides) >= maxSides && !u.dropIdle() {
			return nil
		}
		s = &side{unit: u, who: who, build: b, turn: make(chan struct{}, 1), files: map[string]bool{}}
		u.sides[who] = s
	}
	s.users++
	if s.timer != nil {
		s.timer.Stop()
	}
	return s
}

func (u *unit) leaveSide(s *side) {
	u.mu.Lock()
	defer u.mu.Unlock()
	s.users--
	switch {
	case s.users > 0:
	case s.dropped:
		u.endSide(s)
	default:
		s.timer = time.AfterFunc(sideIdle, func() {
			u.mu.Lock()
			defer u.mu.Unlock()
			if s.users == 0 {
				u.dropSide(s)
			}
		})
	}
}

// dropIdle closes an unused side engine to make space.
func (u *unit) dropIdle() bool {
	for _, s := range u.sides {
		if s.users == 0 {
			u.dropSide(s)
			return true
		}
	}
	return false
}

// dropSide removes a side engine; it ends after the calls that are in it.
func (u *unit) dropSide(s *side) {
	if s.dropped {
		return
	}
	s.dropped = true
	delete(u.sides, s.who)
	u.left[s] = true
	if s.timer != nil {
		s.timer.Stop()
	}
	if s.users == 0 {
		u.endSide(s)
	}
}

// endSide ends the engine of a removed side.
func (u *unit) endSide(s *side) {
	if s.engine == nil {
		delete(u.left, s)
		return
	}
	u.set.ending.Add(1)
	if u.set.goes(s.engine.retire) { // otherwise close ends it
		delete(u.left, s)
	}
}

// closeSides removes all side engines and returns them for closing.
func (u *unit) closeSides() (all []*engine) {
	for _, s := range slices.AppendSeq(slices.Collect(maps.Values(u.sides)), maps.Keys(u.left)) {
		s.dropped = true
		if s.timer != nil {
			s.timer.Stop()
		}
		if s.engine != nil {
			all = append(all, s.engine)
		}
	}
	u.sides, u.left = map[string]*side{}, map[*side]bool{}
	return all
}

// execute runs a call in the side engine.
func (s *side) execute(ctx context.Context, c script.ToolCall) (script.Outcome, error) {
	e, err := s.loadFile(ctx, c.File)
	if err != nil {
		return script.Outcome{}, &elsewhere{err}
	}
	defer e.over(ctx)
	out, err := e.run.Execute(script.WithOwner(ctx, s.who), c)
	if err != nil {
		e.recordError(err)
		err = &elsewhere{err}
	}
	return out, err
}

// loadFile creates the engine if needed, and loads a file into it unless it is loaded.
func (s *side) loadFile(ctx context.Context, file string) (*engine, error) {
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { <-s.turn }()
	if s.engine == nil {
		e, err := newEngine(ctx, s.build, within, nil)
		if err != nil {
			return nil, fmt.Errorf("an engine could not be made: %w", err)
		}
		s.unit.mu.Lock()
		s.engine = e
		s.unit.mu.Unlock()
		if s.unit.set.life.Err() != nil { // too late to close it
			e.end()
			return nil, errClosed
		}
	}
	i := slices.IndexFunc(s.build.entries, func(e userFile) bool { return e.name == file })
	if i < 0 || s.files[file] {
		return s.engine, nil
	}
	if _, err := s.engine.loadFile(ctx, s.build.entries[i]); err != nil {
		s.engine.lost.Store(true) // what it has loaded may be half done
		return nil, errors.New(s.unit.engineProblem(err))
	}
	s.files[file] = true
	return s.engine, nil
}

// A roll counts the calls that are in an engine.
type roll struct {
	mu    sync.Mutex
	calls map[*script.ToolCall]bool
}

// names are the tools that run, for messages.
func (r *roll) names() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []string
	for c := range r.calls {
		all = append(all, strings.TrimSuffix(c.File+" "+c.Tool, " "))
	}
	if len(all) == 0 {
		return "hooks of plugins"
	}
	return "of " + strings.Join(sorted(all), ", ")
}

// add writes a call down, until it has ended.
func (r *roll) add(c script.ToolCall) (ended func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.calls == nil {
		r.calls = map[*script.ToolCall]bool{}
	}
	r.calls[&c] = true
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.calls, &c)
	}
}
