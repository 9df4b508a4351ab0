package helve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/internal/plugins"
	"github.com/helve-dev/helve/internal/process"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/plugin"
	"github.com/helve-dev/helve/tool"
)

// Plugins gives access to the files that users add: tools, plugins and hooks. See
// [Runtime.Plugins].
type Plugins struct{ rt *Runtime }

// Plugins returns access to the files that users add.
func (r *Runtime) Plugins() Plugins { return Plugins{r} }

// Files returns the files with what is known about them so far. [Runtime.Gather] loads them.
func (r Plugins) Files() []plugin.File {
	if r.rt.custom == nil {
		return nil
	}
	return r.rt.custom.Status()
}

// loadForCall loads the custom tools and plugins that a call may need.
func (r *Runtime) loadForCall(ctx context.Context, c *callState) error {
	if r.custom == nil {
		return nil
	}
	_, err := r.waitOrAbandon(ctx, func() (*tool.Result, error) {
		own := c.Call // an abandoned load keeps its own copy
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

// loadCustom loads all custom tools, so that the error for an unknown tool can name every tool
// there is.
func (r *Runtime) loadCustom(ctx context.Context) {
	if r.custom == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, gatherLimit)
	defer cancel()
	r.custom.Gather(ctx)
}

// customError returns why a tool that a user's file would define is missing, or "" if that is not
// the reason.
func (r *Runtime) customError(name string) string {
	if r.custom == nil {
		return ""
	}
	return r.custom.Why(name)
}

// showConfig shows plugins the configuration, once. The configuration is final before plugins are
// loaded, so changes that they make to it have no effect.
func (r *Runtime) showConfig(ctx context.Context) {
	if !r.custom.Has(hookConfig) || !r.configShown.CompareAndSwap(false, true) {
		return
	}
	config := asJSON([]byte(r.opt.Plugins.Config))
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

// openCustom prepares custom tools and plugins. It reads no files.
func (r *Runtime) openCustom() error {
	opt := r.opt.Plugins
	r.hooks = slices.Clone(r.opt.Hooks)
	services := plugins.Services{
		Dir: r.dir, Worktree: r.worktree, Project: asJSON(r.projectInfo()), Cache: r.customCache(),
		Files: r.files, Web: r.web, Shell: r.shell.Executor, Programs: r.programsOf, Variables: r.variables,
		Register: r.Register, Builtin: r.registry.builtin, Quiet: r.backgroundCall, Client: r.clientCall,
		Changed: func() { r.events.publish(event.ScriptsChanged{}) }, Logger: r.log,
		Tell: func(tool, level, text string) {
			r.events.publish(event.ScriptLogged{Tool: tool, Level: level, Text: text})
		},
	}
	r.programs = plugins.NewPrograms(services)
	for _, h := range slices.Concat(opt.Commands.Before, opt.Commands.After, opt.Commands.Event) {
		if len(h.Command) == 0 || h.Command[0] == "" {
			return fmt.Errorf("a hook of %s has no command", cmp.Or(h.From, "the options"))
		}
	}
	r.hookCommands()
	r.notifyHooks()
	if len(opt.Folders) == 0 && len(opt.Entries) == 0 {
		if len(opt.Required) > 0 {
			return fmt.Errorf("the plugin %q is required, and there are none", opt.Required[0])
		}
		return nil
	}
	if r.opt.Scripts == nil {
		return errors.New("there are tools or plugins of users, and no engine to load them: import github.com/helve-dev/helve/scripts and set Options.Scripts to scripts.Engine()")
	}
	r.custom = r.opt.Scripts(opt, services)
	r.sources = append(r.sources, &sourceState{source: r.custom})
	r.hooks = append(r.hooks, r.pluginHook())
	return nil
}

// customCache returns the cache directory for compiled files, or "" for none.
func (r *Runtime) customCache() string {
	if r.opt.DataDir == "" {
		return ""
	}
	return r.ownFolder("custom-cache")
}

// customReadable returns the folders that custom programs must be able to read in a strict sandbox:
// their own. The rest of a config folder stays hidden.
func (r *Runtime) customReadable() (out []string) {
	for _, f := range r.opt.Plugins.Folders {
		for _, name := range []string{"tool", "tools", "plugin", "plugins", "node_modules"} {
			out = append(out, filepath.Join(f.Path, name))
		}
	}
	return out
}

// programsOf returns how the programs of a call run: as the commands of its agent do.
func (r *Runtime) programsOf(c *tool.Call) process.Program {
	p := process.Program{AsCommands: true}
	if agent := r.agentOf(c); agent != nil {
		p.ReadOnly, p.Locked = agent.ReadOnly || agent.Locked, agent.Locked
	}
	passes, key := c.Filter("read")
	p.Sieve = process.PathFilter{Passes: passes, Key: key, Names: r.files.Names(c.Dir)}
	return p
}

// variables returns the environment that scripts see: that of commands.
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

// backgroundPrefix starts the ids for what scripts do outside calls. No call has such an id.
const backgroundPrefix = "event"

// isBackgroundID reports whether an id stands for what a script did while it handled an event,
// rather than for a call.
func isBackgroundID(id string) bool { return strings.HasPrefix(id, backgroundPrefix+"_") }

// refuseLocked refuses a locked agent the tools that run in bun or node: one process there serves
// all agents, and can write.
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

// backgroundCall returns the call on whose behalf scripts work outside calls: one of the first
// agent, which is never asked about. While a locked agent works, such scripts cannot change
// anything either.
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

// inWorktree returns a path as rules and people see it.
func (r *Runtime) inWorktree(path string) string {
	if rel, err := filepath.Rel(r.worktree, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}
