package custom

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/helve-dev/helve/internal/script"
	"github.com/helve-dev/helve/internal/scripthost"
	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/plugin"
	"github.com/helve-dev/helve/tool"
)

// embedded is the name of the engine that is part of helve.
const embedded = "embedded"

// maxTurn is how long a script may run without waiting for anything.
const maxTurn = 5 * time.Second

// turn returns how long a script may run without yielding, so that a loop can be distinguished from
// slow work.
func (s *Set) turn() time.Duration { return min(maxTurn, s.opt.LoadTimeout/2) }

// disposeTime is how long plugins have to tidy up.
const disposeTime = 2 * time.Second

// A loader runs files, and returns what they define.
type loader interface {
	Load(ctx context.Context, files ...string) ([]script.ToolFile, error)
	Plugins(ctx context.Context, input script.PluginInput, entries ...script.PluginEntry) ([]script.PluginFile, error)
}

// A runner calls what files define. Errors other than faults are errors of the engine.
type runner interface {
	Execute(ctx context.Context, c script.ToolCall) (script.Outcome, error)
	Hook(ctx context.Context, name string, input, output json.RawMessage) (script.HookResult, error)
	Event(ctx context.Context, event json.RawMessage) error
	Dispose(ctx context.Context) ([]script.HookRun, error)
}

// An engine is a running program: the files of a unit.
type engine struct {
	unit  *unit
	build *build
	at    place
	kind  string // embedded, bun or node
	load  loader
	run   runner
	close func() error
	over  func(ctx context.Context) // lets go of what the work under a context has left open

	gate   turnQueue
	busy   roll
	watch  stopwatch
	lost   atomic.Bool
	closes atomic.Bool // what is stopped now was done
	ending sync.Once
	ended  error

	users   int  // guarded by the unit
	plugins bool // there are some
}

// newEngine returns an engine for files; none of them has run.
func newEngine(ctx context.Context, b *build, at place, some []userFile) (*engine, error) {
	if at == outside {
		return newWorker(ctx, b, some)
	}
	u := b.unit
	first, err := u.set.base()
	if err != nil {
		return nil, err
	}
	opt := u.set.opt
	host := scripthost.New(opt.Services)
	e := &engine{unit: u, build: b, at: at, kind: embedded, over: host.Over}
	v, err := script.NewVM(script.VMOptions{Memory: opt.Memory, Turn: u.set.turn(), Host: watched{host, &e.watch}, Logger: slog.New(hushed{u.set.log.Handler(), &e.closes})})
	if err != nil {
		return nil, errors.Join(err, host.Close())
	}
	e.close = func() error { return errors.Join(v.Close(), host.Close()) }
	ctx, cancel := context.WithTimeout(e.quiet(ctx, ""), opt.LoadTimeout)
	defer cancel()
	for _, part := range []struct {
		name string
		code []byte
	}{{"prelude.js", first.prelude}, {"driver.js", first.driver}, {"parts.js", b.parts}, {script.ProgramName, b.program}} {
		if err := v.Load(ctx, part.name, script.Code{Bytecode: part.code}); err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", part.name, err), e.shutDown())
		}
	}
	driver := script.NewDriver(v, b.result.Position)
	e.load, e.run = driver, fork{driver, e}
	return e, nil
}

// A hushed log prints nothing once its engine is closed: that this stops timers and the like is
// expected.
type hushed struct {
	slog.Handler
	closed *atomic.Bool
}

func (h hushed) Enabled(ctx context.Context, l slog.Level) bool {
	return !h.closed.Load() && h.Handler.Enabled(ctx, l)
}

func (h hushed) WithAttrs(attrs []slog.Attr) slog.Handler {
	return hushed{h.Handler.WithAttrs(attrs), h.closed}
}

func (h hushed) WithGroup(name string) slog.Handler {
	return hushed{h.Handler.WithGroup(name), h.closed}
}

// waitTurn waits for a call's turn in the engine. The returned context is for the call. After some
// time the call proceeds without its turn: then it runs in another engine.
func (e *engine) waitTurn(ctx context.Context, who string) (context.Context, func(), error) {
	if e.at == outside { // it keeps calls apart by itself
		return ctx, func() {}, nil
	}
	err := errBusy
	in, leave := ctx, func() {}
	if ctx.Value(detourKey{e}) == nil { // otherwise it is part of a call that went elsewhere
		in, leave, err = e.gate.waitTurnFor(ctx, who, callPatience)
	}
	if errors.Is(err, errBusy) {
		in, leave, err = context.WithValue(ctx, detourKey{e}, who), func() {}, nil
	}
	return script.WithOwner(in, who), leave, err
}

// slip is enter for short work: after some time it proceeds beside the calls of others.
func (e *engine) slip(ctx context.Context, who string, patience time.Duration) (context.Context, func(), error) {
	if e.at == outside {
		return ctx, func() {}, nil
	}
	ctx, who, leave, err := e.gate.short(ctx, who, patience)
	return script.WithOwner(ctx, who), leave, err
}

// quiet returns the context of what runs outside of calls.
func (e *engine) quiet(ctx context.Context, name string) context.Context {
	if e.unit.set.opt.Quiet == nil {
		return ctx
	}
	return scripthost.For(ctx, e.unit.set.opt.Quiet(name), name)
}

// quietOwner is whose work it is while there is no call.
const quietOwner = "\x00"

// owner is whose work a call is.
func owner(c *tool.Call) string {
	if c == nil {
		return quietOwner
	}
	return c.Session + "\x00" + c.Agent
}

// recordError records what an error means for the engine.
func (e *engine) recordError(err error) {
	if _, ok := errors.AsType[*elsewhere](err); ok {
		return
	}
	if errors.Is(err, script.ErrLost) || errors.Is(err, script.ErrClosed) || errors.Is(err, ErrWorkerClosed) {
		e.lost.Store(true)
	}
}

// retire is end for an engine that was replaced.
func (e *engine) retire() {
	defer e.unit.set.ending.Add(-1)
	e.end()
}

// end is finish without the error.
func (e *engine) end() {
	if err := e.shutDown(); err != nil {
		e.unit.set.log.Warn("an engine did not end well", "folder", e.build.root, "error", err)
	}
}

// shutDown lets plugins clean up and ends the engine.
func (e *engine) shutDown() error {
	e.ending.Do(func() {
		if e.plugins && !e.lost.Load() {
			ctx, cancel := context.WithTimeout(e.quiet(context.Background(), ""), disposeTime)
			if err := e.dispose(ctx); err != nil {
				e.unit.set.log.Debug("plugins did not tidy up", "folder", e.build.root, "error", err)
			}
			cancel()
		}
		e.lost.Store(true)
		e.closes.Store(true)
		e.ended = e.close()
	})
	return e.ended
}

func (e *engine) dispose(ctx context.Context) error {
	ctx, leave, err := e.slip(ctx, quietOwner, 0)
	if err != nil {
		return err
	}
	defer leave()
	_, err = e.run.Dispose(ctx)
	return err
}

// raise makes an engine and has it load those of some files that run in a place. A file that ruins
// it is left out, and another engine is made: so a file that never ends loses only itself. There is
// no engine if there is nothing to run.
func (b *build) raise(ctx context.Context, at place, some []userFile, all map[string]*fact) *engine {
	for {
		facts := map[string]*fact{}
		run := b.runnable(at, some, facts)
		if at == outside {
			run = b.permitted(ctx, run, facts)
		}
		if len(run) == 0 || ctx.Err() != nil {
			maps.Copy(all, facts)
			return nil
		}
		e, err := newEngine(ctx, b, at, run)
		if err != nil {
			for _, en := range run {
				all[en.name] = &fact{state: plugin.Failed, engine: embedded, problem: b.why(en, b.unit.engineProblem(err))}
			}
			maps.Copy(all, facts)
			return nil
		}
		tools := slices.DeleteFunc(slices.Clone(run), userFile.starts)
		bad, err := e.loadFiles(ctx, tools, facts)
		if err == nil {
			b.publishTools(at, e, facts)
			bad, err = e.loadFiles(ctx, run, facts)
		}
		if err == nil && e.start(ctx, run, facts) {
			maps.Copy(all, facts)
			return e
		}
		if err != nil {
			b.blame(bad, b.unit.engineProblem(err))
		}
		e.end()
	}
}

// extend loads further files into the engine. It returns false if another engine must be made:
// because plugins are started together, because Bun and Node get their files at the start, or
// because the engine was lost.
func (e *engine) extend(ctx context.Context, some []userFile, facts map[string]*fact) bool {
	plugin := func(en userFile) bool { return en.starts() }
	if e == nil || e.lost.Load() || e.at == outside || slices.ContainsFunc(some, plugin) {
		return false
	}
	_, err := e.loadFiles(ctx, e.build.runnable(e.at, some, facts), facts)
	return err == nil
}

// loadFiles loads files, one after the other. It stops with the one that ruined the engine.
func (e *engine) loadFiles(ctx context.Context, some []userFile, facts map[string]*fact) (bad userFile, err error) {
	for _, en := range some {
		if facts[en.name] != nil {
			continue
		}
		f, err := e.loadSoon(ctx, en)
		if err != nil {
			e.recordError(err)
			return en, err
		}
		facts[en.name] = f
	}
	return userFile{}, nil
}

// loadFile runs a file, and returns the tools it exports. The error is the engine's.
func (e *engine) loadFile(ctx context.Context, en userFile) (*fact, error) {
	began := time.Now()
	ctx, cancel := e.watch.withLimit(e.quiet(ctx, en.settingsName()), e.unit.set.opt.LoadTimeout)
	defer cancel()
	ctx, leave, err := e.slip(ctx, quietOwner, 0)
	if err != nil {
		return nil, err
	}
	defer leave()
	told, err := e.load.Load(ctx, en.name)
	if fault, ok := errors.AsType[*script.Fault](err); ok {
		told, err = []script.ToolFile{{File: en.name, Error: fault}}, nil
	}
	if err != nil {
		return nil, err
	}
	f := &fact{state: plugin.Ready, engine: e.kind, took: time.Since(began)}
	for _, t := range told {
		if t.Error != nil {
			f.state, f.problem = plugin.Failed, e.locateFault(en, t.Error)
		}
		if en.kind == kindTool {
			f.tools = append(f.tools, t.Tools...)
		}
	}
	e.describeProblems(en, f)
	return f, nil
}

// mostProblems bounds how many tools of a file are reported.
const mostProblems = 10

// describeProblems reports tools that cannot be used.
func (e *engine) describeProblems(en userFile, f *fact) {
	var all []string
	if f.problem != "" {
		all = append(all, f.problem)
	}
	for _, t := range f.tools {
		if t.Error != nil && len(all) < mostProblems {
			all = append(all, e.locateFault(en, t.Error))
		}
	}
	if len(f.tools) > 0 && en.kind == kindTool && !slices.ContainsFunc(f.tools, func(t script.Tool) bool { return t.Error == nil }) {
		f.state = plugin.Failed
	}
	for _, hook := range f.unknown {
		if len(all) < mostProblems {
			all = append(all, e.unit.path(e.build.root, en)+": "+unknownHook(hook))
		}
	}
	if of := ofBun(e.build.needs(en)); len(of) > 0 && e.kind == "node" && f.state == plugin.Failed {
		all = append(all, "It uses "+strings.Join(of, ", ")+", which node does not have: install bun (https://bun.com), and leave the config key custom.worker at auto")
	}
	if e.at == outside && f.state == plugin.Failed && strings.Contains(f.problem, "EROFS") {
		all = append(all, "In "+e.kind+" it runs behind the wall, where config folders and much else cannot be written: if it is missing a file of its own settings, write that yourself")
	}
	f.problem = strings.Join(all, "\n")
	if len(f.tools) == 0 && en.kind == kindTool && !en.both && f.state == plugin.Ready {
		f.notes = []string{"It exports no tool (an object with description, args and execute), so it only helps other files."}
	}
}

// ofBun are those of some needs that only bun has.
func ofBun(needs []string) (some []string) {
	for _, need := range needs {
		if need == "bun" || strings.HasPrefix(need, "bun:") || strings.HasPrefix(need, "Bun.") {
			some = append(some, need)
		}
	}
	return some
}

// unknownHook reports a hook that nothing calls.
func unknownHook(hook string) string {
	said, _ := text.Cut(hook, 100)
	note := fmt.Sprintf("there is no hook %q, so nothing calls it", said)
	if near, ok := text.Nearest(hook, knownHooks()); ok {
		return note + fmt.Sprintf(": did you mean %q?", near)
	}
	return note + ": take it out, or use \"event\" if it is the name of an event"
}

// idle reports hooks that are never called, or have no effect.
func idle(hooks []string) (notes []string) {
	var never []string
	for _, hook := range hooks {
		switch hook {
		case "auth":
			notes = append(notes, "Its hook auth is called for a provider that the config has without a key; a fetch of its own is not used.")
		case "provider", "experimental.provider.small_model", "chat.headers", "command.execute.before", "experimental.chat.messages.transform", "experimental.compaction.autocontinue",
			"experimental.session.compacting", "experimental.text.complete":
			never = append(never, hook)
		case "config":
			notes = append(notes, "Its hook config sees the configuration, but what it changes there (agents, commands, MCP servers) is not taken over.")
		}
	}
	if len(never) > 0 {
		notes = append(notes, "The helve command does not call its hook "+strings.Join(never, ", ")+".")
	}
	return notes
}

// knownHooks are what plugins may have, those that are only of use elsewhere too.
func knownHooks() []string {
	return []string{
		"auth", "chat.headers", "chat.message", "chat.params", "command.execute.before", "config", "dispose", "event",
		"experimental.chat.messages.transform", "experimental.chat.system.transform", "experimental.compaction.autocontinue",
		"experimental.provider.small_model", "experimental.session.compacting", "experimental.text.complete", "permission.ask", "provider",
		"shell.env", "tool", "tool.definition", "tool.execute.after", "tool.execute.before",
	}
}

// start starts the plugins among files that could be loaded.
func (e *engine) start(ctx context.Context, some []userFile, facts map[string]*fact) bool {
	var plugins []userFile
	for _, en := range some {
		if f := facts[en.name]; en.starts() && f != nil && f.state == plugin.Ready {
			plugins = append(plugins, en)
		}
	}
	if len(plugins) == 0 {
		return true
	}
	began := time.Now()
	told, err := e.startPlugins(ctx, plugins)
	if err != nil {
		e.recordError(err)
		e.trial(ctx, plugins, err)
		return false
	}
	e.plugins = true
	took := time.Since(began) / time.Duration(len(plugins))
	for i, file := range told {
		f := facts[plugins[i].name]
		f.took += took
		switch {
		case file.Error == nil:
		case plugins[i].both && len(f.tools) > 0:
			f.notes = append(f.notes, "The config names it under \"plugin\", but it is no plugin: its tools are there all the same.")
		default:
			f.state, f.problem = plugin.Failed, e.locateFault(plugins[i], file.Error)
		}
		for _, p := range file.Plugins {
			f.tools = append(f.tools, p.Tools...)
			f.hooks = sorted(append(f.hooks, p.Hooks...))
			f.unknown = sorted(append(f.unknown, p.Unknown...))
		}
		e.describeProblems(plugins[i], f)
		f.notes = append(f.notes, idle(f.hooks)...)
	}
	return true
}

func (e *engine) startPlugins(ctx context.Context, plugins []userFile) ([]script.PluginFile, error) {
	opt := e.unit.set.opt
	ctx, cancel := e.watch.withLimit(e.quiet(ctx, names(plugins)), opt.LoadTimeout)
	defer cancel()
	ctx, leave, err := e.slip(ctx, quietOwner, 0)
	if err != nil {
		return nil, err
	}
	defer leave()
	var list []script.PluginEntry
	for _, en := range plugins {
		list = append(list, script.PluginEntry{File: en.name, Options: json.RawMessage(en.options)})
	}
	input := script.PluginInput{Project: opt.Project, Directory: opt.Dir, Worktree: opt.Worktree, ServerURL: opt.ServerURL}
	told, err := e.load.Plugins(ctx, input, list...)
	if err == nil && len(told) != len(plugins) {
		err = errors.New("the driver told of other plugins than it was asked to start")
	}
	return told, err
}

// trial finds out which plugin broke an engine when all were started: each is started in an engine
// of its own.
func (e *engine) trial(ctx context.Context, plugins []userFile, cause error) {
	u, b := e.unit, e.build
	if len(plugins) == 1 {
		b.blame(plugins[0], u.engineProblem(cause))
		return
	}
	found := false
	for _, en := range plugins {
		other, err := newEngine(ctx, b, e.at, []userFile{en})
		if err == nil {
			if _, err = other.loadFile(ctx, en); err == nil {
				_, err = other.startPlugins(ctx, []userFile{en})
			}
			other.end()
		}
		if err != nil {
			found = true
			b.blame(en, u.engineProblem(err))
		}
	}
	if found {
		return
	}
	for _, en := range plugins {
		b.blame(en, u.engineProblem(cause)+" (when all plugins of the folder were started)")
	}
}
