// Package plugins runs what users bring as programs, and has what a runtime and the engine for
// scripts know of each other: the engine is linked only where it is asked for.
//
// [Programs] are tools and hooks in any language: JSON in, JSON or text out.
// A program is not trusted, even in a trusted folder. It may print nothing or
// too much, never end, leave processes behind, or describe itself wrongly. The
// outcome is always a bounded result, or an error that says what it did.
package plugins

import (
	"context"
	"encoding/json"
	"log/slog"

	"github.com/helve-dev/helve/internal/files"
	"github.com/helve-dev/helve/internal/process"
	"github.com/helve-dev/helve/internal/web"
	"github.com/helve-dev/helve/plugin"
	"github.com/helve-dev/helve/tool"
)

// Services are what a runtime lends to the code of users.
type Services struct {
	// Dir is the folder that code of users starts in when a call names none, and
	// Worktree the project around it. Both are absolute.
	Dir, Worktree string
	Project       json.RawMessage // what plugins learn about the project
	// Cache is a folder for what was compiled, and for the descriptions that programs printed; ""
	// for none. It must be the user's own.
	Cache string

	Files *files.Workspace
	Web   *web.Client
	// Shell is where programs run; without it none do.
	Shell *process.Executor
	// Programs returns how the programs of a call run: in which sandbox, and with what read-only
	// and hidden. Nil means without a sandbox.
	Programs func(c *tool.Call) process.Program
	// Variables returns those that scripts see; it is called once for each engine.
	Variables func() map[string]string

	// Register makes a tool callable.
	Register func(tool.Tool) (remove func(), err error)
	// Builtin reports whether a tool of a name is part of helve; nil for none.
	Builtin func(name string) bool
	// Quiet returns the call that code of users works for outside of calls: it refuses what the
	// rules do not allow, and never asks.
	Quiet func(name string) *tool.Call
	// Changed is called after tools, plugins or their problems have changed. It must not use the
	// set.
	Changed func()
	// Client serves the requests of plugins to the runtime; it may be nil.
	Client func(ctx context.Context, c *tool.Call, method string, args json.RawMessage) (json.RawMessage, error)
	// Tell receives what scripts print and log; tool is empty while files are loaded.
	Tell   func(tool, level, text string)
	Logger *slog.Logger
}

// A Set is the tools and plugins of users.
type Set interface {
	// Need loads what a call of a tool may need: the files whose names suggest that they define
	// it, and every plugin, as their hooks see all calls. It returns when ctx ends; loading
	// continues.
	Need(ctx context.Context, name string)
	// NeedFor is Need for a call, which is asked where a file may run only after a question.
	NeedFor(ctx context.Context, c *tool.Call)
	// Gather loads all tools and plugins.
	Gather(ctx context.Context)
	// Status lists all files in loading order. It looks at the folders, but runs nothing.
	Status() []plugin.File
	// Why explains in a sentence why there is no tool of a name; "" if no file explains it.
	Why(name string) string

	// Has reports whether a loaded plugin has a hook of a name. It never waits.
	Has(hook string) bool
	// Hook runs the hooks of a name of all plugins, one after the other, on the same output, for a
	// call, or for none if c is nil. The payload is the input of the hooks and the output they may
	// change; config has an input only. The error is that of ctx.
	Hook(ctx context.Context, c *tool.Call, name string, payload ...json.RawMessage) (Hooked, error)
	// Event sends an event to all plugins that receive events. It does not wait.
	Event(name string, properties json.RawMessage)
	// Close ends all engines and unregisters the tools.
	Close() error
}

// Hooked is what became of an output that hooks may change.
type Hooked struct {
	Output json.RawMessage
	Runs   []Run
}

// A Run is the part of one plugin in it.
type Run struct {
	Source string // the plugin's file
	Name   string // by which settings name it: the file's name without ending, or that of the npm package
	Millis float64
	Error  error // nil if all went well
	// Thrown is the message that the plugin itself threw. It is empty if the plugin came too late,
	// or its engine was lost.
	Thrown string
}

type scriptKey struct{}

// WithScript returns the context in which a script works, for a tool or plugin of a name.
func WithScript(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, scriptKey{}, name)
}

// Script reports whether a context is that of a script, and the name of the tool or plugin it works
// for.
func Script(ctx context.Context) (name string, ok bool) {
	name, ok = ctx.Value(scriptKey{}).(string)
	return name, ok
}
