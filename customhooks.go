package helve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/helve-dev/helve/internal/plugins"
	"github.com/helve-dev/helve/plugin"
	"github.com/helve-dev/helve/tool"

	"github.com/google/jsonschema-go/jsonschema"
)

// The hooks of plugins that concern tools, by OpenCode's names.
const (
	hookBefore     = "tool.execute.before"
	hookAfter      = "tool.execute.after"
	hookDefinition = "tool.definition"
	hookShell      = "shell.env"
	hookPermission = "permission.ask"
	hookAuth       = "auth"
	hookConfig     = "config"
)

// hookCommands registers a hook for each command that sees calls. Each has its own timeout and
// decides itself what its failure means.
func (r *Runtime) hookCommands() {
	for _, h := range r.opt.Plugins.Commands.Before {
		r.hooks = append(r.hooks, Hook{Name: plugins.HookName(h), sees: func(_, tool string) bool { return plugins.Matches(h.Tools, tool) }, Before: func(ctx context.Context, c *tool.Call) (*tool.Result, error) {
			if ok, err := r.mayHook(h); !ok {
				return nil, err
			}
			v, err := r.programs.Before(ctx, c, h)
			if err := r.verdict(h, v, err); err != nil {
				return nil, err
			}
			if v.Args != nil {
				c.Input = v.Args
			}
			return v.Result, nil
		}})
	}
	for _, h := range r.opt.Plugins.Commands.After {
		r.hooks = append(r.hooks, Hook{Name: plugins.HookName(h), sees: func(_, tool string) bool { return plugins.Matches(h.Tools, tool) }, After: func(ctx context.Context, c *tool.Call, res *tool.Result) error {
			if ok, err := r.mayHook(h); !ok {
				return err
			}
			v, err := r.programs.After(ctx, c, res, h)
			if err := r.verdict(h, v, err); err != nil {
				return err
			}
			if v.Result != nil {
				*res = *v.Result
			}
			return nil
		}})
	}
}

// mayHook reports whether a command may run as it is now, with the error for the call if it may
// not.
func (r *Runtime) mayHook(h plugin.HookCommand) (bool, error) {
	if h.Trusted == nil || h.Trusted() {
		return true, nil
	}
	if h.Required {
		return false, &tool.Error{Kind: tool.Denied, Code: "hook-failed",
			Err:  fmt.Errorf("the hook %s has changed since it was trusted, and no call is made without it", plugins.HookName(h)),
			Hint: "Look at it and run 'helve trust'.",
		}
	}
	r.log.Warn("a hook has changed since it was trusted and is passed over: look at it and run 'helve trust'", "hook", plugins.HookName(h))
	return false, nil
}

// verdict converts the answer of a command, to an error if it refused the call.
func (r *Runtime) verdict(h plugin.HookCommand, v plugins.HookVerdict, err error) error {
	switch {
	case err != nil:
		return err
	case v.Block != "":
		return &tool.Error{Kind: tool.Denied, Code: "refused", Err: errors.New(v.Block), Hint: "The hook " + plugins.HookName(h) + " of " + h.From + " said so."}
	case v.Problem != "":
		r.log.Warn("a hook failed and was passed over", "hook", plugins.HookName(h), "problem", v.Problem)
	}
	return nil
}

// pluginHook returns one hook that runs the hooks of all plugins.
func (r *Runtime) pluginHook() Hook {
	sees := func(when, _ string) bool {
		if when == "before" {
			return len(r.opt.Plugins.Required) > 0 || r.custom.Has(hookBefore)
		}
		return r.custom.Has(hookAfter)
	}
	return Hook{Name: "plugins", Before: r.pluginsBefore, After: r.pluginsAfter, sees: sees}
}

// pluginsBefore lets plugins see and change the arguments of a call.
func (r *Runtime) pluginsBefore(ctx context.Context, c *tool.Call) (*tool.Result, error) {
	if err := r.requiredPlugins(); err != nil {
		return nil, err
	}
	if !r.custom.Has(hookBefore) {
		return nil, r.requiredPlugins() // they may have gone meanwhile
	}
	input := asJSON(map[string]string{"tool": c.Tool, "sessionID": c.Session, "callID": c.ID})
	done, err := r.custom.Hook(ctx, c, hookBefore, input, asJSON(map[string]any{"args": json.RawMessage(c.Input)}))
	if err := r.pluginsFailed(ctx, done, err); err != nil {
		return nil, err
	}
	if err := r.requiredPlugins(); err != nil {
		return nil, err
	}
	var out struct {
		Args   json.RawMessage `json:"args"`
		Result json.RawMessage `json:"result"`
	}
	if err := json.Unmarshal(done.Output, &out); err != nil {
		return nil, fmt.Errorf("what plugins made of the arguments can not be read: %w", err)
	}
	if len(out.Result) > 0 && !bytes.Equal(out.Result, []byte("null")) {
		return readResult(out.Result)
	}
	if len(out.Args) > 0 && !sameJSON(out.Args, c.Input) {
		c.Input = out.Args
	}
	return nil, nil
}

// readResult parses a plugin's answer in place of the tool's: a string, or an object with output.
func readResult(raw json.RawMessage) (*tool.Result, error) {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return &tool.Result{Output: text}, nil
	}
	var res tool.Result
	if err := json.Unmarshal(raw, &res); err != nil {
		return nil, fmt.Errorf("the answer of a plugin can not be read: %w", err)
	}
	res.Inner = nil
	return &res, nil
}

// sameJSON reports whether two JSON texts have the same value.
func sameJSON(a, b json.RawMessage) bool {
	var x, y bytes.Buffer
	if json.Compact(&x, a) != nil || json.Compact(&y, b) != nil {
		return false
	}
	return bytes.Equal(x.Bytes(), y.Bytes())
}

// pluginsAfter lets plugins see and change the result of a call.
func (r *Runtime) pluginsAfter(ctx context.Context, c *tool.Call, res *tool.Result) error {
	if !r.custom.Has(hookAfter) {
		return nil
	}
	input := asJSON(map[string]any{"tool": c.Tool, "sessionID": c.Session, "callID": c.ID, "args": json.RawMessage(c.Input)})
	output, err := json.Marshal(map[string]any{"title": res.Title, "output": res.Output, "metadata": res.Metadata})
	if err != nil {
		return fmt.Errorf("a result does not encode: %w", err)
	}
	done, err := r.custom.Hook(ctx, c, hookAfter, input, output)
	if err := r.pluginsFailed(ctx, done, err); err != nil {
		return err
	}
	var out struct {
		Title, Output *string
		Metadata      map[string]any
	}
	if err := json.Unmarshal(done.Output, &out); err != nil {
		return fmt.Errorf("what plugins made of the result can not be read: %w", err)
	}
	if out.Title != nil {
		res.Title = *out.Title
	}
	if out.Output != nil {
		res.Output = *out.Output
	}
	if out.Metadata != nil && !bytes.Equal(asJSON(res.Metadata), asJSON(out.Metadata)) {
		res.Metadata = out.Metadata
	}
	return nil
}

// pluginsFailed returns what failures of plugins mean for a call: an exception refuses it, and a
// required plugin that is late or lost does too.
func (r *Runtime) pluginsFailed(ctx context.Context, done plugins.Hooked, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for _, run := range done.Runs {
		switch {
		case run.Error == nil:
		case run.Thrown != "":
			return &tool.Error{Kind: tool.Denied, Code: "refused", Err: errors.New(run.Thrown), Hint: "The plugin " + r.inWorktree(run.Source) + " said so."}
		case required(r.opt.Plugins.Required, run.Source, run.Name):
			return &tool.Error{Kind: tool.Denied, Code: "hook-failed",
				Err: fmt.Errorf("the plugin %s failed, and no call is made without it: %w", r.inWorktree(run.Source), run.Error)}
		default:
			r.log.Warn("a plugin failed and was passed over", "plugin", run.Source, "error", run.Error)
		}
	}
	return err
}

// passedOver logs which plugins failed where the work continues without them.
func (r *Runtime) passedOver(hook string, done plugins.Hooked) {
	for _, run := range done.Runs {
		if run.Error != nil {
			r.log.Warn("a plugin failed and was passed over", "plugin", run.Source, "hook", hook, "error", run.Error)
		}
	}
}

// required reports whether a plugin is among names: by its file, with or without the ending, or by
// its package.
func required(names []string, source, name string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return n == name || n == source || n == filepath.Base(source) })
}

// requiredPlugins refuses all calls while a required plugin is missing.
func (r *Runtime) requiredPlugins() error {
	if len(r.opt.Plugins.Required) == 0 {
		return nil
	}
	files := r.custom.Status()
	for _, name := range r.opt.Plugins.Required {
		i := slices.IndexFunc(files, func(f plugin.File) bool {
			return f.Kind == "plugin" && required([]string{name}, f.Path, f.Name)
		})
		why := "there is no such plugin"
		if i >= 0 {
			if files[i].State == plugin.Ready {
				continue
			}
			why = "it is " + string(files[i].State)
			if p := files[i].Problem; p != "" {
				why += ": " + p
			}
		}
		return &tool.Error{Kind: tool.Denied, Code: "hook-failed", Err: fmt.Errorf("no call is made without the plugin %s, and %s", name, why),
			Hint: "'helve plugins' shows what became of it; the config key custom.required names it."}
	}
	return nil
}

// shellVariables returns the environment variables that plugins add to a command.
func (r *Runtime) shellVariables(ctx context.Context, c *tool.Call, dir string) map[string]string {
	if r.custom == nil || !r.custom.Has(hookShell) {
		return nil
	}
	input := asJSON(map[string]string{"cwd": dir, "sessionID": c.Session, "callID": c.ID})
	done, err := r.custom.Hook(ctx, c, hookShell, input, asJSON(map[string]any{"env": map[string]string{}}))
	r.passedOver(hookShell, done)
	if err != nil {
		r.log.Warn("a plugin could not add variables", "error", err)
	}
	var out struct{ Env map[string]any }
	if json.Unmarshal(done.Output, &out) != nil {
		return nil
	}
	set := map[string]string{}
	for name, value := range out.Env {
		if text, ok := value.(string); ok && name != "" && !strings.ContainsAny(name, "=\x00") && !strings.Contains(text, "\x00") {
			set[name] = text
		}
	}
	return set
}

// redefine lets plugins change how tools are described to models. Arguments are still checked
// against the tool's own schema. When ctx ends, the remaining tools stay unchanged.
func (r *Runtime) redefine(ctx context.Context, specs []tool.Spec) []tool.Spec {
	if r.custom == nil || !r.custom.Has(hookDefinition) {
		return specs
	}
	for i := range specs {
		if err := r.redefineOne(ctx, &specs[i]); err != nil {
			r.log.Warn("a tool is shown as it is, without what plugins make of it", "tool", specs[i].Name, "error", err)
		}
		if ctx.Err() != nil {
			break
		}
	}
	return specs
}

func (r *Runtime) redefineOne(ctx context.Context, s *tool.Spec) error {
	output, err := json.Marshal(map[string]any{"description": s.Description, "parameters": s.Schema})
	if err != nil {
		return err
	}
	done, err := r.custom.Hook(ctx, r.backgroundCall(hookDefinition), hookDefinition, asJSON(map[string]string{"toolID": s.Name}), output)
	r.passedOver(hookDefinition, done)
	if err != nil || bytes.Equal(done.Output, output) {
		return err
	}
	var out struct {
		Description string
		Parameters  *jsonschema.Schema
	}
	if err := json.Unmarshal(done.Output, &out); err != nil {
		return fmt.Errorf("the definition can not be read: %w", err)
	}
	if out.Description != "" {
		s.Description = out.Description
	}
	if out.Parameters != nil {
		s.Schema = out.Parameters
	}
	return nil
}
