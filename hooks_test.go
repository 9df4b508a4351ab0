package helve_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/plugin"
	"github.com/helve-dev/helve/tool"
)

// notification gathers the events of a kind that were published so far.
func told[E event.Payload](rt *helve.Runtime) (out []E) {
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	for e := range rt.Events(ctx, 0) {
		if h, ok := e.Properties.(E); ok {
			out = append(out, h)
		}
	}
	return out
}

func TestLateHook(t *testing.T) {
	wait := func(ctx context.Context, _ *tool.Call) (*tool.Result, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	for _, required := range []bool{false, true} {
		hook := helve.Hook{Name: "slow", Timeout: time.Millisecond, Required: required, Before: wait,
			After: func(ctx context.Context, _ *tool.Call, res *tool.Result) error {
				<-ctx.Done()
				res.Output = "too late"
				return ctx.Err()
			}}
		rt := open(t, helve.Options{Hooks: []helve.Hook{hook}})
		register(t, rt, echo("echo", nil))
		res, err := rt.Call(t.Context(), say("echo", "hi"))
		if !required {
			if err != nil || res.Output != "hi" {
				t.Errorf("a late hook changed the call: %v, %v", res, err)
			}
		} else if e := kindOf(t, err); e.Kind != tool.Denied || e.Code != "hook-timeout" || !strings.Contains(e.Error(), "slow") {
			t.Errorf("a late required hook: %+v", e)
		}
		for _, ran := range told[event.HookRan](rt) {
			if ran.Hook != "slow" || ran.Effect != "late" {
				t.Errorf("told %+v", ran)
			}
		}
	}
}

func TestHookAnswers(t *testing.T) {
	rt := open(t, helve.Options{Hooks: []helve.Hook{{Name: "cache", Before: func(context.Context, *tool.Call) (*tool.Result, error) {
		return &tool.Result{Output: "from memory"}, nil
	}}}})
	register(t, rt, echo("echo", func(context.Context, *tool.Call, echoInput) (*tool.Result, error) {
		t.Error("the tool ran")
		return &tool.Result{}, nil
	}))
	res, err := rt.Call(t.Context(), say("echo", "hi"))
	if err != nil || res.Output != "from memory" || res.Metadata["answeredBy"] != "cache" {
		t.Errorf("%+v, %v", res, err)
	}
	if ran := told[event.HookRan](rt); len(ran) != 1 || ran[0].Effect != "answered" {
		t.Errorf("told %+v", ran)
	}
}

// What a hook adds to an output is bounded like the output itself.
func TestHookCanNotFlood(t *testing.T) {
	rt := open(t, helve.Options{Limits: helve.Limits{Lines: 10}, Hooks: []helve.Hook{{After: func(_ context.Context, _ *tool.Call, res *tool.Result) error {
		res.Output += strings.Repeat("more\n", 1000)
		return nil
	}}}})
	register(t, rt, echo("echo", nil))
	res, err := rt.Call(t.Context(), say("echo", "hi"))
	if err != nil || strings.Count(res.Output, "more") > 20 || res.Metadata["truncated"] != true {
		t.Errorf("%d lines, %v, %v", strings.Count(res.Output, "more"), res.Metadata, err)
	}
}

// A hook that makes arguments of what the tool does not take is named.
func TestHookBreaksArguments(t *testing.T) {
	rt := open(t, helve.Options{Hooks: []helve.Hook{{Name: "clumsy", Before: func(_ context.Context, c *tool.Call) (*tool.Result, error) {
		c.Input = json.RawMessage(`{"say": {}}`)
		return nil, nil
	}}}})
	register(t, rt, echo("echo", nil))
	_, err := rt.Call(t.Context(), say("echo", "hi"))
	if e := kindOf(t, err); e.Kind != tool.InvalidInput || !strings.Contains(e.Error(), "clumsy") {
		t.Errorf("%+v", e)
	}
}

// hookScript writes a hook command.
func hookScript(t *testing.T, body string) []string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the scripts are for sh")
	}
	file := filepath.Join(t.TempDir(), "hook.sh")
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"+body), 0o755); err != nil {
		t.Fatal(err)
	}
	return []string{file}
}

func TestHookCommands(t *testing.T) {
	for _, test := range []struct {
		name, script string
		required     bool
		want, fails  string
	}{
		{name: "passes", script: "cat >/dev/null", want: "hi"},
		{name: "changes", script: `cat >/dev/null; echo '{"args": {"say": "changed"}}'`, want: "changed"},
		{name: "answers", script: `cat >/dev/null; echo '{"result": {"output": "answered"}}'`, want: "answered"},
		{name: "blocks", script: `cat >/dev/null; echo '{"block": "not on Sundays"}'`, fails: "not on Sundays"},
		{name: "blocks by code", script: `cat >/dev/null; echo 'not today' >&2; exit 2`, fails: "not today"},
		{name: "breaks", script: "exit 3", want: "hi"},
		{name: "breaks and is required", script: "exit 3", required: true, fails: "hook.sh"},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := plugin.HookCommand{Command: hookScript(t, test.script), Tools: []string{"ec*"}, Required: test.required, Timeout: 20 * time.Second, From: "helve.json"}
			rt := open(t, helve.Options{Plugins: plugin.Options{Commands: plugin.HookCommands{Before: []plugin.HookCommand{h}}}})
			register(t, rt, echo("echo", nil))
			res, err := rt.Call(t.Context(), say("echo", "hi"))
			if test.fails != "" {
				if e := kindOf(t, err); e.Kind != tool.Denied || !strings.Contains(e.Error(), test.fails) {
					t.Errorf("%+v", e)
				}
				return
			}
			if err != nil || res.Output != test.want {
				t.Errorf("%+v, %v", res, err)
			}
		})
	}
}

// The arguments that a hook gives are authorised like those of a model.
func TestChangedArgumentsAreAskedAbout(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "secret.txt"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "plain.txt"), []byte("plain"), 0o600); err != nil {
		t.Fatal(err)
	}
	agents := agent.Specs(agent.SpecOptions{User: permission.Ruleset{{Permission: "read", Pattern: "*secret.txt", Action: permission.Deny}}})
	rt := open(t, helve.Options{Dir: dir, Agents: agents, Unattended: true, Hooks: []helve.Hook{{Before: func(_ context.Context, c *tool.Call) (*tool.Result, error) {
		c.Input = json.RawMessage(`{"filePath": "secret.txt"}`)
		return nil, nil
	}}}})
	_, err := rt.Call(t.Context(), tool.Call{Tool: "read", Input: json.RawMessage(`{"filePath": "plain.txt"}`)})
	if !errors.Is(err, permission.ErrDenied) {
		t.Errorf("what the hook put in was not asked about: %v", err)
	}
}

// A hook that goes on after its time does not touch what the caller gets.
func TestLateHookKeepsItsCopy(t *testing.T) {
	stop, stopped := make(chan struct{}), make(chan struct{})
	rt := open(t, helve.Options{Hooks: []helve.Hook{{Name: "late", Timeout: time.Millisecond, After: func(_ context.Context, _ *tool.Call, res *tool.Result) error {
		defer close(stopped)
		for i := 0; ; i++ {
			res.Metadata["n"] = i
			select {
			case <-stop:
				return nil
			default:
			}
		}
	}}}})
	register(t, rt, echo("echo", nil))
	res, err := rt.Call(t.Context(), say("echo", "hi"))
	if err != nil || res.Metadata["n"] != nil {
		t.Errorf("%v, %v", res, err)
	}
	close(stop)
	<-stopped
}

// A program that makes one call and ends has told its commands of it.
func TestEventCommandOfOneCall(t *testing.T) {
	dir := t.TempDir()
	h := plugin.HookCommand{Command: hookScript(t, `cat >> `+filepath.Join(dir, "heard")), Events: []string{"file.edited"}, From: "helve.json"}
	rt, err := helve.Open(helve.Options{Dir: dir, Worktree: dir, Unattended: true, Plugins: plugin.Options{Commands: plugin.HookCommands{Event: []plugin.HookCommand{h}}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := callJSON(t, rt, "write", `{"filePath": "a.txt", "content": "a"}`); err != nil {
		t.Error(err)
	}
	if err := rt.Close(); err != nil {
		t.Error(err)
	}
	heard, err := os.ReadFile(filepath.Join(dir, "heard"))
	if err != nil || !strings.Contains(string(heard), `"file.edited"`) {
		t.Errorf("it heard %q, %v", heard, err)
	}
}
