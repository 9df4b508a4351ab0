package script

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
)

// ProgramName is the name under which a program must be loaded and compiled: it identifies the
// program's frames in stack traces.
const ProgramName = "program.js"

// Program makes a script of a bundle's program. An engine loads it after [DriverPart].
//
// The compiler gives a CommonJS module that says it was an ES module, but has no default, no
// default either; in Bun it is then the module itself, and files rely on it.
func Program(code string) string {
	const compilers, ours = `|| !mod.__esModule ? `, `|| !mod.__esModule || !("default" in mod) ? `
	code = strings.Replace(code, compilers, ours, 1)
	return `__helve.require("driver").program(function (exports, require, module) {` + "\n" + code + "\n});\n"
}

// programStart is how many lines a script has before its program.
const programStart = 1

// DriverPart is the script that gathers and calls tools and plugins, to be loaded after [Prelude].
func DriverPart() string {
	return Parts("driver") + `__helve.require("driver");` + "\n"
}

// PluginModules gives the sources of the modules by which tools and plugins describe themselves, in
// the manner of [Modules].
func PluginModules() map[string]string {
	const source = `module.exports = __helve.require("opencode/plugin");` + "\n"
	return map[string]string{"@opencode-ai/plugin": source, "@opencode-ai/plugin/tool": source}
}

// A Driver calls the tools and plugins of one engine. Its methods may be called from any goroutine;
// errors other than [*Fault] are errors of the engine. If Load or Plugins ends with one, modules
// may be half initialized and the engine must be discarded.
type Driver struct {
	engine *VM
	at     func(line, column int) (file string, fileLine, fileColumn int)

	hooks Hooks

	mu     sync.Mutex
	loaded map[string]*Fault // by file, nil for those that could be loaded
}

// NewDriver returns a driver of an engine that has loaded [Prelude], [DriverPart] and a [Program].
// at maps a position in the program to its source; it returns no file name if it is unknown.
func NewDriver(engine *VM, at func(line, column int) (file string, fileLine, fileColumn int)) *Driver {
	return &Driver{engine: engine, at: at, loaded: map[string]*Fault{}}
}

// A ToolFile is a file and the tools it exports.
type ToolFile struct {
	File    string   `json:"file"`
	Error   *Fault   `json:"error,omitempty"` // why it could not be loaded
	Tools   []Tool   `json:"tools"`
	Exports []string `json:"exports"` // all names, those that are no tools too
}

// A Tool is the definition of one tool.
type Tool struct {
	ID          string          `json:"id"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema,omitempty"` // JSON Schema of the arguments
	// Raw schemas were given as JSON Schema: nothing checks arguments against them here.
	Raw    bool   `json:"raw,omitempty"`
	Export string `json:"export"`
	Name   string `json:"tool,omitempty"`  // in the map of a plugin
	Error  *Fault `json:"error,omitempty"` // why it cannot be used
}

// Load runs tool files, all below tool/ and tools/ if none are named, and returns what they define.
// Timers and requests that they start go on.
func (d *Driver) Load(ctx context.Context, files ...string) ([]ToolFile, error) {
	var told []ToolFile
	if err := d.callJSON(Lasting(ctx), "__load", map[string]any{"files": files}, &told); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range told {
		d.locate(told[i].Error)
		d.locateTools(told[i].Tools)
		d.loaded[told[i].File] = told[i].Error
	}
	return told, nil
}

// A ToolCall is a tool to execute and its arguments.
type ToolCall struct {
	File    string          `json:"file"`
	Export  string          `json:"export"`
	Tool    string          `json:"tool"` // of a plugin: its name in the map
	Args    json.RawMessage `json:"args"`
	Context ToolContext     `json:"context"`
}

// ToolContext is what a tool learns of the call it works for.
type ToolContext struct {
	SessionID string `json:"sessionID"`
	MessageID string `json:"messageID"`
	Agent     string `json:"agent"`
	CallID    string `json:"callID,omitempty"`
	Directory string `json:"directory"`
	Worktree  string `json:"worktree"`
}

// Outcome is what a tool returned.
type Outcome struct {
	Title       string          `json:"title"`
	Output      string          `json:"-"`
	Metadata    json.RawMessage `json:"metadata"`    // an object, or nothing
	Attachments json.RawMessage `json:"attachments"` // a list, or nothing
}

// Execute calls a tool and waits for it. Arguments are checked, but given to the tool as they are.
// What the tool throws is a [*Fault].
func (d *Driver) Execute(ctx context.Context, c ToolCall) (Outcome, error) {
	var result Outcome
	if err := d.loadFile(ctx, c); err != nil {
		return result, err
	}
	if len(c.Args) == 0 {
		c.Args = json.RawMessage("{}")
	}
	body, err := d.framed(ctx, "__execute", c, &result)
	result.Output = string(body)
	return result, err
}

// loadFile loads the file of a call, which a new engine may not have done.
func (d *Driver) loadFile(ctx context.Context, c ToolCall) error {
	if c.Tool != "" {
		return nil
	}
	d.mu.Lock()
	fault, ok := d.loaded[c.File]
	d.mu.Unlock()
	if !ok {
		told, err := d.Load(ctx, c.File)
		if err != nil {
			return err
		}
		for _, f := range told {
			fault = f.Error
		}
	}
	if fault != nil {
		return fault
	}
	return nil
}

// PluginInput is what plugins are started with.
type PluginInput struct {
	Project   json.RawMessage `json:"project,omitempty"`
	Directory string          `json:"directory"`
	Worktree  string          `json:"worktree"`
	ServerURL string          `json:"serverUrl,omitempty"`
}

// A PluginEntry names a plugin file and the options the configuration has for it.
type PluginEntry struct {
	File    string          `json:"file"`
	Options json.RawMessage `json:"options,omitempty"`
}

// A PluginFile is a file and what it started, in its order. Those before an error stay.
type PluginFile struct {
	File    string   `json:"file"`
	Error   *Fault   `json:"error,omitempty"`
	Plugins []Plugin `json:"plugins"`
}

// A Plugin is what one export of a plugin file returned.
type Plugin struct {
	Export string   `json:"export"`
	Hooks  []string `json:"hooks"`
	Tools  []Tool   `json:"tools"`
	// Unknown are the names in what it returned that nothing here calls.
	Unknown []string `json:"unknown,omitempty"`
}

// Plugins starts the plugins of files, of all below plugin/ and plugins/ if none are named, one
// after the other.
func (d *Driver) Plugins(ctx context.Context, input PluginInput, entries ...PluginEntry) ([]PluginFile, error) {
	var told []PluginFile
	if err := d.callJSON(Lasting(ctx), "__plugins", map[string]any{"input": input, "files": entries}, &told); err != nil {
		return nil, err
	}
	d.hooks.Set(told)
	for _, f := range told {
		d.locate(f.Error)
		for _, p := range f.Plugins {
			d.locateTools(p.Tools)
		}
	}
	return told, nil
}

// Has reports whether a plugin has a hook of a name. Hook and Event cost nothing if none has.
func (d *Driver) Has(hook string) bool { return d.hooks.Has(hook) }

// HookResult is what became of the output that hooks may change.
type HookResult struct {
	Output json.RawMessage `json:"-"`
	Runs   []HookRun       `json:"runs"`
	// Lost says that the hooks turned the output into something that is not JSON; it is null then.
	Lost bool `json:"lost"`
}

// A HookRun is one hook's part in a result.
type HookRun struct {
	File   string  `json:"file"`
	Export string  `json:"export"`
	Millis float64 `json:"ms"`
	Error  *Fault  `json:"error,omitempty"`
}

// Hook runs all hooks of a name, one after the other, on the same output, and waits for them. After
// an exception the next one is run, except for tool.execute.before: there it ends the run. The
// output of config is its input.
func (d *Driver) Hook(ctx context.Context, name string, input, output json.RawMessage) (HookResult, error) {
	var result HookResult
	if !d.Has(name) {
		if name == "config" {
			output = input
		}
		return HookResult{Output: output}, nil
	}
	arg := struct {
		Name   string          `json:"name"`
		Input  json.RawMessage `json:"input"`
		Output json.RawMessage `json:"output"`
	}{name, orNull(input), orNull(output)}
	body, err := d.framed(ctx, "__hook", arg, &result)
	result.Output = body
	for _, run := range result.Runs {
		d.locate(run.Error)
	}
	return result, err
}

// Event sends an event to all plugins and does not wait for them to process it; their errors are
// logged.
func (d *Driver) Event(ctx context.Context, event json.RawMessage) error {
	if !d.Has("event") {
		return nil
	}
	return d.callJSON(Lasting(ctx), "__event", map[string]any{"event": orNull(event)}, nil)
}

// Dispose lets plugins tidy up; they are not called again.
func (d *Driver) Dispose(ctx context.Context) ([]HookRun, error) {
	var runs []HookRun
	err := d.callJSON(ctx, "__dispose", struct{}{}, &runs)
	for _, run := range runs {
		d.locate(run.Error)
	}
	d.hooks.Set(nil)
	return runs, err
}

func orNull(text json.RawMessage) json.RawMessage {
	if len(text) == 0 {
		return json.RawMessage("null")
	}
	return text
}

// callJSON calls a function of the driver and decodes its result.
func (d *Driver) callJSON(ctx context.Context, function string, arg, answer any) error {
	told, err := d.callDriver(ctx, function, arg)
	if err != nil || answer == nil {
		return err
	}
	if err := json.Unmarshal(told.JSON, answer); err != nil {
		return fmt.Errorf("%s: answer: %w", function, err)
	}
	return nil
}

// framed calls a function that returns a line of JSON, which is decoded, and a text, which is
// returned.
func (d *Driver) framed(ctx context.Context, function string, arg, head any) ([]byte, error) {
	told, err := d.callDriver(ctx, function, arg)
	if err != nil {
		return nil, err
	}
	line, body, ok := bytes.Cut(told.Raw, []byte("\n"))
	if !ok {
		return nil, fmt.Errorf("%s: the answer has no body", function)
	}
	if err := json.Unmarshal(line, head); err != nil {
		return nil, fmt.Errorf("%s: answer: %w", function, err)
	}
	return body, nil
}

func (d *Driver) callDriver(ctx context.Context, function string, arg any) (Data, error) {
	text, err := json.Marshal(arg)
	if err != nil {
		return Data{}, fmt.Errorf("%s: argument: %w", function, err)
	}
	told, err := d.engine.Call(ctx, function, Data{JSON: text})
	if thrown, ok := errors.AsType[*Thrown](err); ok {
		if err := starved(thrown); err != nil {
			return told, err
		}
		fault := &Fault{Name: thrown.Name, Message: thrown.Message, Stack: thrown.Stack, Code: thrown.Code, Data: thrown.Data}
		d.locate(fault)
		return told, fault
	}
	return told, err
}

// starved is the error of an engine that ran out of memory. If there was not even enough for the
// message, the engine cannot be used any more.
func starved(t *Thrown) error {
	switch {
	case t.Name != "InternalError":
	case t.Message == "out of memory": // of a single piece that was too large: the rest goes on
		return fmt.Errorf("a script: %w", ErrMemory)
	case t.Message == "":
		return fmt.Errorf("%w: %w", ErrLost, ErrMemory)
	}
	return nil
}
