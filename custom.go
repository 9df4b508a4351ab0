package helve

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/internal/custom"
	"github.com/helve-dev/helve/internal/process"
	"github.com/helve-dev/helve/internal/scripthost"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/plugin"
	"github.com/helve-dev/helve/tool"
)

// Custom says what users bring. Nothing of it is read before a call or a
// listing needs it, and nothing of a folder that is not trusted is run.
type Custom struct {
	// Folders hold tools in tool/ and tools/, and plugins in plugin/ and
	// plugins/. Of two tools of one name that of the later folder counts.
	Folders []CustomFolder
	// Plugins are further plugins: files, or packages that are installed.
	Plugins []PluginEntry
	// Commands see calls and events as hooks do.
	Commands HookCommands

	// Memory bounds each engine, 128 MiB when 0; LoadTimeout how long a folder
	// may take to load, 30 seconds when 0; HookTimeout how long the hooks of
	// plugins may take, 10 seconds when 0.
	Memory                   int64
	LoadTimeout, HookTimeout time.Duration

	// Full names tools that may do what rules would ask about. What rules deny
	// they may not, nor change what decides what is run or allowed later.
	Full []string
	// Required names plugins without whose hooks no call is made: by file
	// name, with or without its ending, or by package.
	Required []string
	// Also are further folders that files may import from.
	Also []string
	// Worker is what runs files that need more than the engine within has:
	// "bun", "node", "off", or "" for whichever is installed.
	Worker string
	// Watch is how often files are looked at while nobody calls; 0 for never.
	Watch time.Duration

	// Config is what plugins are told about the configuration, as JSON.
	Config json.RawMessage
	// Client answers what plugins ask of a client that this runtime is not
	// itself, such as session.prompt; nil answers that there is nobody.
	Client func(ctx context.Context, method string, args json.RawMessage) (json.RawMessage, error)
}

// A CustomFolder is a config folder of a user or a project.
type CustomFolder struct {
	Path    string
	Project bool // it comes with the project
	// Trusted says whether the folder may be run from with what it holds now;
	// nil is always. It is asked again when files have changed.
	Trusted func() bool
	// Stamp, if set, names the act by which the folder came to be trusted. The
	// packages that its files import have to stay what they were after it.
	Stamp func() string
}

// A PluginEntry is a plugin that a config file names.
type PluginEntry struct {
	Spec    string // ./file.ts, file:///… or the name of a package
	Base    string // the folder that relative names start from
	Options json.RawMessage
	// Trusted says whether it may be run; nil is always.
	Trusted func() bool
}

// HookCommands are commands that see calls before and after they are run, and
// events.
type HookCommands struct{ Before, After, Event []HookCommand }

// A HookCommand is a program that gets JSON and answers with JSON; see
// docs/custom-tools.md.
type HookCommand struct {
	Command  []string
	Tools    []string // which calls it sees, with * and ?; all when empty
	Events   []string // which events it sees, likewise
	Timeout  time.Duration
	Required bool   // a call is not made if it fails
	Dir      string // where it runs; Options.Dir when empty
	From     string // the config file, for messages
	// Trusted says whether it may be run as it is now; nil is always.
	Trusted func() bool
}

// Plugins are the files that users bring: tools, plugins and hooks.
type Plugins struct{ rt *Runtime }

// Plugins returns what users bring.
func (r *Runtime) Plugins() Plugins { return Plugins{r} }

// Files returns the files with what is known about them so far.
// [Runtime.Gather] loads them.
func (r Plugins) Files() []plugin.File {
	if r.rt.custom == nil {
		return nil
	}
	return r.rt.custom.Status()
}

// loadForCall brings in what a call may need of what users brought.
func (r *Runtime) loadForCall(ctx context.Context, c *callState) error {
	if r.custom == nil {
		return nil
	}
	_, err := r.waitOrAbandon(ctx, func() (*tool.Result, error) {
		own := c.Call // one that is left behind keeps its own copy
		r.custom.NeedFor(ctx, &own)
		if lower := strings.ToLower(c.Tool); lower != c.Tool {
			own.Tool = lower
			r.custom.NeedFor(ctx, &own)
		}
		r.showConfig(ctx)
		return nil, ctx.Err()
	})
	return err
}

// loadCustom loads what users brought, so that who has named a tool that is
// not there is told of all that are.
func (r *Runtime) loadCustom(ctx context.Context) {
	if r.custom == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, gatherLimit)
	defer cancel()
	r.custom.Gather(ctx)
}

// customError says why a tool that a user's file would define is not there; ""
// where that is not the reason.
func (r *Runtime) customError(name string) string {
	if r.custom == nil {
		return ""
	}
	return r.custom.Why(name)
}

// showConfig lets plugins see the configuration, once. It is settled before
// plugins are loaded, so what they make of it is not taken over.
func (r *Runtime) showConfig(ctx context.Context) {
	if !r.custom.Has(hookConfig) || !r.configShown.CompareAndSwap(false, true) {
		return
	}
	config := asJSON([]byte(r.opt.Custom.Config))
	done, err := r.custom.Hook(ctx, r.backgroundCall(hookConfig), hookConfig, config, nil)
	for _, run := range done.Runs {
		err = errors.Join(err, run.Error)
	}
	if err != nil {
		r.log.Warn("a plugin failed when it was shown the configuration", "error", err)
	} else if !sameJSON(done.Output, config) {
		r.log.Info("a plugin changed the configuration, which is not taken over")
	}
}

// openCustom makes the room for what users bring. It reads nothing.
func (r *Runtime) openCustom() error {
	opt := r.opt.Custom
	r.hooks = slices.Clone(r.opt.Hooks)
	r.programs = custom.NewPrograms(custom.ProgramsOptions{
		Shell: r.shell.Executor, Programs: r.programsOf, Dir: r.dir, Worktree: r.worktree, Cache: r.customCache(), Quiet: r.backgroundCall, Logger: r.log,
	})
	for _, h := range slices.Concat(opt.Commands.Before, opt.Commands.After, opt.Commands.Event) {
		if len(h.Command) == 0 || h.Command[0] == "" {
			return fmt.Errorf("a hook of %s has no command", cmp.Or(h.From, "the options"))
		}
	}
	r.hookCommands()
	r.notifyHooks()
	if len(opt.Folders) == 0 && len(opt.Plugins) == 0 {
		if len(opt.Required) > 0 {
			return fmt.Errorf("the plugin %q is required, and there are none", opt.Required[0])
		}
		return nil
	}
	o := custom.Options{
		Dir: r.dir, Worktree: r.worktree, Project: asJSON(r.projectInfo()), Cache: r.customCache(), Programs: r.programs,
		World: scripthost.Options{
			Files: r.files, Shell: r.shell.Executor, Programs: r.programsOf, Variables: r.variables, Web: r.web,
			Dir: r.dir, Client: r.clientCall, Tell: r.scriptSaid, Logger: r.log,
		},
		Worker:   custom.WorkerOptions{Shell: r.shell.Executor, Runtime: opt.Worker, Dir: r.dir, Logger: r.log},
		Register: r.Register, Builtin: r.registry.builtin, Quiet: r.backgroundCall, Changed: func() { r.events.publish(event.ScriptsChanged{}) },
		Watch: opt.Watch, Memory: opt.Memory, LoadTime: opt.LoadTimeout, HookTime: opt.HookTimeout, Also: opt.Also, Logger: r.log,
	}
	for _, f := range opt.Folders {
		o.Folders = append(o.Folders, custom.Folder{Path: f.Path, Project: f.Project, Trusted: f.Trusted, Stamp: f.Stamp})
	}
	for _, p := range opt.Plugins {
		o.Plugins = append(o.Plugins, custom.Plugin{Spec: p.Spec, Base: p.Base, Options: p.Options, Trusted: p.Trusted})
	}
	r.custom = custom.New(o)
	r.sources = append(r.sources, &sourceState{source: r.custom})
	r.hooks = append(r.hooks, r.pluginHook())
	return nil
}

// customCache is where what was made of files is kept; "" for nowhere.
func (r *Runtime) customCache() string {
	if r.opt.DataDir == "" {
		return ""
	}
	return r.ownFolder("custom-cache")
}

// customReadable are the folders that programs of users have to read behind a
// strict wall: their own. What else is in a config folder stays hidden.
func (r *Runtime) customReadable() (out []string) {
	for _, f := range r.opt.Custom.Folders {
		for _, name := range []string{"tool", "tools", "plugin", "plugins", "node_modules"} {
			out = append(out, filepath.Join(f.Path, name))
		}
	}
	return out
}

// programsOf says how the programs of a call run: as the commands of its agent
// do.
func (r *Runtime) programsOf(c *tool.Call) process.Program {
	p := process.Program{AsCommands: true}
	if agent := r.agentOf(c); agent != nil {
		p.ReadOnly, p.Locked = agent.ReadOnly || agent.Locked, agent.Locked
	}
	passes, key := c.Filter("read")
	p.Sieve = process.PathFilter{Passes: passes, Key: key, Names: r.files.Names(c.Dir)}
	return p
}

// variables are those that scripts see: the ones that commands get.
func (r *Runtime) variables() map[string]string {
	env, _ := process.Environment{Pass: r.opt.Shell.PassEnv, Set: r.opt.Shell.SetEnv}.Build(os.Environ())
	out := make(map[string]string, len(env))
	for _, v := range env {
		if name, value, ok := strings.Cut(v, "="); ok {
			out[name] = value
		}
	}
	return out
}

// scriptSaid passes on what a script has logged.
func (r *Runtime) scriptSaid(l scripthost.Line) {
	r.events.publish(event.ScriptLogged{Tool: l.Tool, Level: l.Level, Text: l.Text})
}

// backgroundPrefix begins the ids of what scripts do while there is no call. No call
// has such an id.
const backgroundPrefix = "event"

// isBackgroundID reports whether an id is not one of a call, but of what a script
// did while it heard of an event.
func isBackgroundID(id string) bool { return strings.HasPrefix(id, backgroundPrefix+"_") }

// refuseLocked refuses a locked agent the tools that run in bun or node: one process
// serves all agents there, and can write.
func (r *Runtime) refuseLocked(c *callState) error {
	if !c.agent.Locked || r.custom == nil {
		return nil
	}
	for _, f := range r.custom.Status() {
		if (f.Engine == "bun" || f.Engine == "node") && slices.Contains(f.Tools, c.Tool) {
			return &tool.Error{Kind: tool.Denied, Code: "locked", Tool: c.Tool, Err: fmt.Errorf(
				"nothing may be changed now, and %s runs in %s, where it can not be kept from it: do without it", c.Tool, f.Engine)}
		}
	}
	return nil
}

// backgroundCall is whom scripts work for while there is no call: the first agent, who
// is never asked. While a locked agent works nothing is changed by them either.
func (r *Runtime) backgroundCall(name string) *tool.Call {
	who := r.agent("")
	if who == nil {
		who = &agent.Spec{Policy: permission.Policy{Rules: denied("no agent", "*")}}
	}
	if locked := r.active.locked(); locked != nil {
		under := activeSession{}
		under.restrict(locked)
		who = under.limitAgent(who)
	}
	return &tool.Call{
		ID: r.newID(backgroundPrefix), Session: r.session(), Agent: who.Name, Dir: r.dir, Tool: name, Client: r.opt.Client,
		Host: &backgroundHost{*newHost(r, who)},
	}
}

// A backgroundHost decides by the rules alone.
type backgroundHost struct{ host }

// Ask refuses what would have to be asked.
func (h *backgroundHost) Ask(_ context.Context, c *tool.Call, reqs ...permission.Request) error {
	own := make([]permission.Request, len(reqs))
	for i, req := range reqs {
		own[i] = req
		own[i].Session = c.Session
	}
	asked, err := h.r.engine.Weigh(own, h.policy)
	if all := slices.Concat(asked...); err == nil && len(all) > 0 {
		return &permission.UnattendedError{Permission: all[0].Permission, Asked: all, File: h.r.opt.RulesFile}
	}
	return err
}

// askScripted asks for a script of a user: plugins may answer for the person, but not
// for their own scripts, and some tools need not be asked about. What a plugin
// has allowed is no part of the question to the person.
func (h *host) askScripted(ctx context.Context, reqs []permission.Request) error {
	script, scripted := scripthost.Working(ctx)
	full := scripted && slices.Contains(h.r.opt.Custom.Full, script)
	plugins := h.r.custom != nil && h.r.custom.Has(hookPermission)
	if !full && !plugins {
		return h.r.engine.AskAll(ctx, reqs, h.policy)
	}
	reqs = permission.Together(reqs)
	asked, err := h.r.engine.Weigh(reqs, h.policy)
	if err != nil {
		return err
	}
	if full && !slices.ContainsFunc(slices.Concat(asked...), func(d permission.Decision) bool { return d.Guarded || d.Ceiling }) {
		return nil
	}
	var open []permission.Request
	for i, req := range reqs {
		if len(asked[i]) > 0 && plugins {
			switch h.r.pluginAnswer(ctx, req) {
			case "allow":
				if !scripted {
					continue
				}
			case "deny":
				return &tool.Error{Kind: tool.Denied, Code: "refused", Err: errors.New("A plugin denied the permission " + req.Permission + " for this call.")}
			}
		}
		open = append(open, req)
	}
	return h.r.engine.AskAll(ctx, open, h.policy)
}

// inWorktree is a path as rules and people see it.
func (r *Runtime) inWorktree(path string) string {
	if rel, err := filepath.Rel(r.worktree, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}
