package custom

import (
	"context"
	"errors"
	"github.com/helve-dev/helve/internal/script"
	"github.com/helve-dev/helve/plugin"
	"slices"
	"time"
)

// shorten is how long the files after a slow one wait for it while it is loaded.
const shorten = 250 * time.Millisecond

// soon determines what a file defines. If that takes long it continues in the background: the fact
// says so, until arrive, which has the unit's turn, replaces it.
func (u *unit) soon(find func() (*fact, error), arrive func(ctx context.Context, late, f *fact, err error)) (*fact, error) {
	type found struct {
		f   *fact
		err error
	}
	late := &fact{state: plugin.NotLoaded, late: make(chan struct{})}
	done, gone := make(chan found), make(chan struct{})
	if !u.set.goes(func() {
		f, err := find()
		select {
		case done <- found{f, err}:
			return
		case <-gone:
		}
		defer close(late.late)
		if err := u.alone(u.set.life, func(ctx context.Context) {
			arrive(ctx, late, f, err)
			u.set.syncTools()
		}); err != nil {
			u.set.log.Debug("nobody waits for what is loaded", "error", err)
		}
	}) {
		return find()
	}
	t := time.NewTimer(shorten)
	defer t.Stop()
	select {
	case now := <-done:
		return now.f, now.err
	case <-t.C:
		close(gone)
		return late, nil
	}
}

// arrived puts the fact about a file in the place of one that was late, unless it was loaded anew
// meanwhile.
func (u *unit) arrived(name string, late, f *fact) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.facts[name] != late {
		return false
	}
	if f != nil {
		u.facts[name] = f
	}
	return true
}

// waitLate waits for wanted files that are late.
func (u *unit) waitLate(ctx context.Context, w want) {
	for {
		var late chan struct{}
		u.mu.Lock()
		for _, e := range slices.Concat(u.scripts, u.programs) {
			if f := u.facts[e.name]; w.includes(e) && f != nil && f.late != nil {
				late = f.late
			}
		}
		u.mu.Unlock()
		if late == nil {
			return
		}
		select {
		case <-late:
		case <-ctx.Done():
			return
		case <-u.set.life.Done():
			return
		}
	}
}

// loadSoon is loadFile for files that others need not wait for: those that only have tools, in an
// engine that can run several at once.
func (e *engine) loadSoon(ctx context.Context, en userFile) (*fact, error) {
	if e.at == outside || en.starts() {
		return e.loadFile(ctx, en)
	}
	return e.unit.soon(func() (*fact, error) { return e.loadFile(ctx, en) }, func(ctx context.Context, late, f *fact, err error) {
		b, u := e.build, e.unit
		if err != nil && b.guilty(err) {
			b.blame(en, u.engineProblem(err))
		}
		if u.arrived(en.name, late, f) && err != nil { // what is half made is given up
			e.recordError(err)
			u.renew(ctx, b, want{})
		}
	})
}

// mostStopped is how often files of a build are loaded anew because they were stopped together with
// another one.
const mostStopped = 5

// guilty reports whether a file is the cause of its failure to load. A file that was stopped
// together with another is not, unless it never ends.
func (b *build) guilty(err error) bool {
	if !errors.Is(err, script.ErrStopped) {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stopped++
	return b.stopped > mostStopped
}

// publishTools puts the tools of files into force before the plugins of their unit are started, the
// first time: a call of them waits for the plugins, who lists them need not.
func (b *build) publishTools(at place, e *engine, facts map[string]*fact) {
	u := b.unit
	u.mu.Lock()
	first := u.build == nil || u.build == b && b.first
	if first {
		u.build, b.first = b, true
		for _, en := range b.entries {
			if f := facts[en.name]; f != nil && !en.starts() {
				u.facts[en.name] = f
			}
		}
		u.swap(at, e)
	}
	u.mu.Unlock()
	if first {
		u.set.syncTools()
	}
}
