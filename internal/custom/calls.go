package custom

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"github.com/helve-dev/helve/internal/script"
	"strings"
)

// Load runs tool files, all in tool/ and tools/ if none are named, and returns what they define.
// Timers and requests that they start go on.
func (w *Worker) Load(ctx context.Context, files ...string) ([]script.ToolFile, error) {
	w.lasting(ctx)
	l, err := w.living(ctx, true)
	if err != nil {
		return nil, err
	}
	return l.load(ctx, files)
}

func (l *workerProcess) load(ctx context.Context, files []string) ([]script.ToolFile, error) {
	var told []script.ToolFile
	if err := l.callJSON(ctx, "load", map[string]any{"files": files}, &told); err != nil {
		return nil, err
	}
	for i := range told {
		l.locate(told[i].Error)
		l.locateTools(told[i].Tools)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range told {
		l.loaded[f.File] = f.Error
	}
	return told, nil
}

// lasting remembers the context that files work under outside of calls: while they are loaded or
// started, and after an event.
func (w *Worker) lasting(ctx context.Context) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.quiet = context.WithoutCancel(ctx)
}

// Execute calls a tool and waits for it. Arguments are checked, but given to the tool as they are.
// What the tool throws is a [*script.Fault]. Its context's signal fires when ctx ends.
func (w *Worker) Execute(ctx context.Context, c script.ToolCall) (script.Outcome, error) {
	var result script.Outcome
	l, err := w.living(ctx, true)
	if err != nil {
		return result, err
	}
	if err := l.loadFile(ctx, c); err != nil {
		return result, err
	}
	if len(c.Args) == 0 {
		c.Args = json.RawMessage("{}")
	}
	body, err := l.framed(ctx, "execute", c, &result)
	result.Output = body
	return result, err
}

// loadFile loads the file of a call, which a new process has not done.
func (l *workerProcess) loadFile(ctx context.Context, c script.ToolCall) error {
	if c.Tool != "" {
		return nil
	}
	l.mu.Lock()
	fault, ok := l.loaded[c.File]
	l.mu.Unlock()
	if !ok {
		told, err := l.load(ctx, []string{c.File})
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

// Plugins starts the plugins of files, of all in plugin/ and plugins/ if none are named, one after
// the other. A process that has to be started anew starts them again.
func (w *Worker) Plugins(ctx context.Context, input script.PluginInput, entries ...script.PluginEntry) ([]script.PluginFile, error) {
	w.lasting(ctx)
	l, err := w.living(ctx, false)
	if err != nil {
		return nil, err
	}
	return w.startPlugins(ctx, l, startedPlugins{input, entries})
}

func (w *Worker) startPlugins(ctx context.Context, l *workerProcess, p startedPlugins) ([]script.PluginFile, error) {
	var told []script.PluginFile
	if err := l.callJSON(ctx, "plugins", p, &told); err != nil {
		return nil, err
	}
	w.mu.Lock()
	w.started = &p
	w.hooks.Set(told)
	w.mu.Unlock()
	for _, f := range told {
		l.locate(f.Error)
		for _, one := range f.Plugins {
			l.locateTools(one.Tools)
		}
	}
	return told, nil
}

// Has reports whether a plugin has a hook of a name. Hook and Event cost nothing if none has.
func (w *Worker) Has(hook string) bool { return w.hooks.Has(hook) }

// Hook runs all hooks of a name, one after the other, on the same output, and waits for them. After
// an exception the next one is run, except for tool.execute.before: there it ends the run. The
// output of config is its input.
func (w *Worker) Hook(ctx context.Context, name string, input, output json.RawMessage) (script.HookResult, error) {
	var result script.HookResult
	if !w.Has(name) {
		if name == "config" {
			output = input
		}
		return script.HookResult{Output: output}, nil
	}
	l, err := w.living(ctx, true)
	if err != nil {
		return result, err
	}
	arg := struct {
		Name   string          `json:"name"`
		Input  json.RawMessage `json:"input"`
		Output json.RawMessage `json:"output"`
	}{name, orNull(input), orNull(output)}
	body, err := l.framed(ctx, "hook", arg, &result)
	if err != nil {
		return result, err
	}
	if !json.Valid([]byte(body)) {
		return result, errors.New("hook: the answer's output is no JSON")
	}
	result.Output = json.RawMessage(body)
	for _, one := range result.Runs {
		l.locate(one.Error)
	}
	return result, nil
}

// Event sends an event to all plugins and does not wait for them to process it; their errors are
// logged.
func (w *Worker) Event(ctx context.Context, event json.RawMessage) error {
	if !w.Has("event") {
		return nil
	}
	w.lasting(ctx)
	l, err := w.living(ctx, true)
	if err != nil {
		return err
	}
	_, err = l.call(ctx, "event", map[string]any{"event": orNull(event)})
	return err
}

// Dispose lets plugins tidy up; they are not called again, nor started again. It starts no process
// for that.
func (w *Worker) Dispose(ctx context.Context) ([]script.HookRun, error) {
	l, err := w.current()
	w.mu.Lock()
	w.started = nil
	w.hooks.Set(nil)
	w.mu.Unlock()
	if l == nil || err != nil {
		return nil, err
	}
	var runs []script.HookRun
	err = l.callJSON(ctx, "dispose", struct{}{}, &runs)
	for _, one := range runs {
		l.locate(one.Error)
	}
	return runs, err
}

func orNull(text json.RawMessage) json.RawMessage {
	if len(text) == 0 {
		return json.RawMessage("null")
	}
	return text
}

// callJSON makes a call and reads its answer.
func (l *workerProcess) callJSON(ctx context.Context, method string, arg, answer any) error {
	f, err := l.call(ctx, method, arg)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(orNull(f.OK), answer); err != nil {
		return fmt.Errorf("%s: answer: %w", method, err)
	}
	return nil
}

// framed makes a call whose answer is a line of JSON, which is decoded, and a text, which is
// returned.
func (l *workerProcess) framed(ctx context.Context, method string, arg, head any) (string, error) {
	f, err := l.call(ctx, method, arg)
	if err != nil {
		return "", err
	}
	if f.Text == nil {
		return "", fmt.Errorf("%s: the answer has no body", method)
	}
	line, body, ok := strings.Cut(*f.Text, "\n")
	if !ok {
		return "", fmt.Errorf("%s: the answer has no body", method)
	}
	if err := json.Unmarshal([]byte(line), head); err != nil {
		return "", fmt.Errorf("%s: answer: %w", method, err)
	}
	return body, nil
}
