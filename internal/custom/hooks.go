package custom

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/helve-dev/helve/internal/plugins"
	"github.com/helve-dev/helve/internal/script"
	"github.com/helve-dev/helve/internal/scripthost"
	"github.com/helve-dev/helve/plugin"
	"github.com/helve-dev/helve/tool"
)

// thrownMessage returns the message that a plugin itself threw, if that is what an error is.
func thrownMessage(err error) string {
	if fault, ok := errors.AsType[*script.Fault](err); ok {
		return cmp.Or(fault.Message, err.Error())
	}
	return ""
}

// Has reports whether a loaded plugin has a hook of a name. It never waits.
func (s *Set) Has(hook string) bool {
	for _, u := range s.units {
		if u.hasHook(hook) {
			return true
		}
	}
	return false
}

// beforeHook is the one hook that ends the run by throwing; configHook the one whose output is its
// input.
const (
	beforeHook = "tool.execute.before"
	configHook = "config"
)

// Hook runs the hooks of a name of all plugins, one after the other, on the same output, for a
// call, or for none if c is nil. The payload is the input of the hooks and the output they may
// change; config has an input only. A hook that fails has its error in its run, and the next one
// runs, except that tool.execute.before ends with the first that throws. A plugin that had the hook
// but was lost before it ran has a run with an error. The returned error is that of ctx.
func (s *Set) Hook(ctx context.Context, c *tool.Call, name string, payload ...json.RawMessage) (plugins.Hooked, error) {
	var input, output json.RawMessage
	if len(payload) > 0 {
		input = payload[0]
	}
	if len(payload) > 1 {
		output = payload[1]
	}
	done := plugins.Hooked{Output: output}
	if name == configHook {
		done.Output = input
	}
	parts := make([][places][]expected, len(s.units)) // before any is run: a run may lose plugins of other units
	for i, u := range s.units {
		parts[i] = u.expects(name)
	}
	for i, u := range s.units {
		in := input
		if name == configHook {
			in = done.Output
		}
		runs, out := u.hook(ctx, c, hookCall{name: name, input: in, output: done.Output}, parts[i])
		done.Runs = append(done.Runs, runs...)
		if out != nil {
			done.Output = out
		}
		if err := ctx.Err(); err != nil {
			return done, context.Cause(ctx)
		}
		if name == beforeHook && anyThrew(runs) {
			break
		}
	}
	return done, nil
}

func anyThrew(runs []plugins.Run) bool {
	for _, r := range runs {
		if r.Thrown != "" {
			return true
		}
	}
	return false
}

// A hookCall is one run of hooks.
type hookCall struct {
	name          string
	input, output json.RawMessage
	at            place
}

// patience is how long a hook waits for the calls of others that are in its engine, before it runs
// beside them.
const patience = 100 * time.Millisecond

// hasHook reports whether a plugin of the unit has a hook of a name. It never waits: every event
// asks it.
func (u *unit) hasHook(hook string) bool {
	names := u.hooks.Load()
	return names != nil && (*names)[hook]
}

// knowHooks notes which hooks the plugins of the unit have now.
func (u *unit) knowHooks() {
	names := map[string]bool{}
	for _, f := range u.facts {
		for _, name := range f.hooks {
			names[name] = true
		}
	}
	u.hooks.Store(&names)
}

// An expected is a plugin that is known to have a hook.
type expected struct {
	userFile
	sound bool // it was ready
}

// expects are the plugins of the unit that have a hook of a name, by where they run.
func (u *unit) expects(hook string) (some [places][]expected) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.build == nil {
		return some
	}
	for _, e := range u.build.entries {
		if f := u.facts[e.name]; f != nil && slices.Contains(f.hooks, hook) {
			at := u.build.locationOf(e)
			some[at] = append(some[at], expected{e, f.state == plugin.Ready})
		}
	}
	return some
}

// entriesOf are the files of plugins.
func entriesOf(some []expected) (all []userFile) {
	for _, e := range some {
		all = append(all, e.userFile)
	}
	return all
}

// hook runs the hooks of the unit's plugins. No output means that they have not changed it.
func (u *unit) hook(ctx context.Context, c *tool.Call, h hookCall, all [places][]expected) (runs []plugins.Run, out json.RawMessage) {
	for at, some := range all {
		if len(some) == 0 {
			continue
		}
		h.at = place(at)
		did, made := u.hookIn(ctx, c, h, some)
		runs = append(runs, did...)
		if made != nil {
			out = made
			h.output = made
			if h.name == configHook {
				h.input = made
			}
		}
		if h.name == beforeHook && anyThrew(did) {
			break
		}
	}
	return runs, out
}

// hookIn runs the hooks of plugins that share an engine.
func (u *unit) hookIn(ctx context.Context, c *tool.Call, h hookCall, some []expected) ([]plugins.Run, json.RawMessage) {
	began := time.Now()
	res, b, err := u.runHooks(ctx, c, h, some)
	root := u.folderPath(b)
	if err == nil && res.Lost {
		err = fmt.Errorf("the plugins of %s made something of the output that is not JSON", root)
	}
	var runs []plugins.Run
	if err != nil { // which one is to blame is not known
		for _, e := range some {
			runs = append(runs, plugins.Run{
				Source: u.path(root, e.userFile), Name: e.settingsName(), Millis: float64(time.Since(began).Microseconds()) / 1000,
				Error: u.hookError(h.name, err), Thrown: thrownMessage(err),
			})
		}
		return runs, nil
	}
	for _, r := range res.Runs {
		run := plugins.Run{Source: filepath.Join(root, filepath.FromSlash(r.File)), Millis: r.Millis}
		if i := slices.IndexFunc(some, func(e expected) bool { return e.name == r.File }); i >= 0 {
			run.Name = some[i].settingsName()
		}
		if r.Error != nil {
			run.Error = r.Error
			if r.Error.Name == "" && r.Error.Message == "null" {
				r.Error.Message = "null, which is also what an engine throws that has no memory left"
			}
			run.Thrown = thrownMessage(run.Error)
		}
		runs = append(runs, run)
	}
	if h.name == beforeHook && anyThrew(runs) { // those behind were not to run
		return runs, res.Output
	}
	return append(runs, u.missingRuns(h, some, res.Runs)...), res.Output
}

// folderPath returns the folder of a build, or of the unit if there is none.
func (u *unit) folderPath(b *build) string {
	if b != nil {
		return b.root
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.root
}

// missingRuns returns failed runs for plugins that had a hook and did not run it: they may have
// been lost since, or could not be started again. That must not count as success.
func (u *unit) missingRuns(h hookCall, some []expected, did []script.HookRun) (runs []plugins.Run) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, e := range some {
		now := u.facts[e.name]
		ran := slices.ContainsFunc(did, func(r script.HookRun) bool { return r.File == e.name })
		if ran && (!e.sound || now != nil && now.state == plugin.Ready) {
			continue
		}
		err := errors.New("its plugin is not there any more; 'helve plugins' shows why")
		runs = append(runs, plugins.Run{Source: u.path(u.root, e.userFile), Name: e.settingsName(), Error: u.hookError(h.name, err)})
	}
	return runs
}

func (u *unit) runHooks(ctx context.Context, c *tool.Call, h hookCall, plugins []expected) (res script.HookResult, b *build, err error) {
	some := entriesOf(plugins)
	e, err := u.acquire(ctx, h.at)
	if err != nil {
		return res, nil, err
	}
	defer u.release(e)
	ctx, leave, err := e.slip(ctx, owner(c), patience)
	if err != nil {
		return res, e.build, err
	}
	defer leave()
	ctx, cancel := e.watch.withLimit(ctx, u.set.opt.HookTimeout)
	defer cancel()
	if c == nil {
		ctx = e.quiet(ctx, names(some))
	} else {
		ctx = scripthost.For(ctx, c, names(some))
	}
	res, err = e.run.Hook(script.Lasting(ctx), h.name, h.input, h.output) // what a hook sets going and does not wait for goes on
	if err == nil {
		err = stopped(ctx, res)
	}
	e.recordError(err)
	return res, e.build, err
}

// stopped distinguishes hooks that were stopped, or ran out of memory, from those that threw an
// error of their own: scripts that continue after such an end see it as an exception.
func stopped(ctx context.Context, res script.HookResult) error {
	for _, r := range res.Runs {
		switch {
		case r.Error == nil || r.Error.Name != "InternalError":
		case r.Error.Message == "interrupted" && ctx.Err() != nil:
			return context.Cause(ctx)
		case r.Error.Message == "interrupted":
			return script.ErrTurn
		case r.Error.Message == "out of memory":
			return fmt.Errorf("%w: %w", script.ErrLost, script.ErrMemory)
		}
	}
	return nil
}

// hookError words the error of hooks that did not finish.
func (u *unit) hookError(hook string, err error) error {
	switch {
	case errors.Is(err, errLate):
		return fmt.Errorf("the hook %s did not end within %v: look for something it waits for, or allow more by \"custom\": {\"hook_timeout\": …}: %w", hook, u.set.opt.HookTimeout, err)
	case errors.Is(err, script.ErrMemory), errors.Is(err, script.ErrTurn):
		return fmt.Errorf("the hook %s was stopped: %s: %w", hook, u.engineProblem(err), err)
	}
	return fmt.Errorf("the hook %s did not run: %w", hook, err)
}

// event sends an event to the plugins of the unit, if they are loaded.
func (u *unit) event(ctx context.Context, event json.RawMessage) {
	for at, some := range u.expects("event") {
		if len(some) == 0 {
			continue
		}
		if e := u.workingEngine(place(at)); e != nil {
			e.event(ctx, event, names(entriesOf(some)))
			u.release(e)
		}
	}
}

func (e *engine) event(ctx context.Context, event json.RawMessage, name string) {
	life := ctx
	ctx, leave, err := e.slip(ctx, quietOwner, 0)
	if err != nil {
		return
	}
	defer leave()
	ctx, cancel := e.watch.withLimit(e.quiet(ctx, name), e.unit.set.opt.HookTimeout)
	defer cancel()
	if err := e.run.Event(ctx, event); err != nil {
		e.recordError(err)
		if life.Err() == nil { // otherwise everything ends
			e.unit.set.log.Warn("plugins were not told of an event", "folder", e.build.root, "error", err)
		}
	}
}
