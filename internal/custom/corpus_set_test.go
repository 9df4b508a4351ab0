//go:build unix && !race

package custom_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/helve-dev/helve/internal/custom"
	"github.com/helve-dev/helve/internal/files"
	"github.com/helve-dev/helve/internal/plugins"
	"github.com/helve-dev/helve/internal/process"
	"github.com/helve-dev/helve/internal/script"
	"github.com/helve-dev/helve/internal/web"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/plugin"
	"github.com/helve-dev/helve/tool"
)

// A corpusRuntime is what a set needs around it: a registry, rules that allow everything, and
// somebody who keeps what tools say.
type corpusRuntime struct {
	t      *testing.T
	p      *planted
	set    *custom.Set
	close  func()
	client map[string]json.RawMessage
	policy permission.Policy
	engine *permission.Engine

	mu    sync.Mutex
	tools map[string]tool.Tool
	told  []string
	heard chan struct{} // gets one for everything that is told
}

func newCorpusRuntime(t *testing.T, p *planted) *corpusRuntime {
	t.Helper()
	// What is on the machine itself has to be named: the server of the test, and a port where
	// nobody answers.
	rules, err := permission.ParseConfig([]byte(`{"*": "allow", "webfetch": {"`+p.server+`/*": "allow", "http://127.0.0.1:1/*": "allow"}}`), permission.ConfigOptions{Home: p.home})
	if err != nil {
		t.Fatal(err)
	}
	r := &corpusRuntime{
		t: t, p: p, client: readCorpus[map[string]json.RawMessage](t, corpusFile("client.json")), tools: map[string]tool.Tool{},
		policy: permission.Policy{Rules: rules}, engine: permission.NewEngine(permission.EngineOptions{Unattended: true}),
		heard: make(chan struct{}, 1000),
	}
	shell := corpusShell(t, p)
	r.set = custom.New(custom.Options{
		Options: plugin.Options{Folders: []plugin.Folder{{Path: p.config, Project: true}}}, ServerURL: "http://localhost:4096",
		Services: plugins.Services{
			Files: &files.Workspace{Worktree: p.project}, Shell: shell, Dir: p.project, Worktree: p.project, Web: web.New(web.Options{UserAgent: "helve"}),
			Project:   json.RawMessage(`{"id":"p"}`),
			Programs:  func(*tool.Call) process.Program { return process.Program{} },
			Variables: variables, Client: r.answer, Register: r.register,
			Tell:  func(tool, level, text string) { t.Log(tool, level, text) },
			Quiet: func(name string) *tool.Call { return r.call(corpusStep{Call: name}) },
		},
	})
	r.close = sync.OnceFunc(func() {
		if err := r.set.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(r.close)
	return r
}

func corpusShell(t *testing.T, p *planted) *process.Executor {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(p.base, "data")
	room, err := process.NewExecutor(process.ExecutorOptions{
		Dir: p.project, Lines: 2000, Bytes: 50 << 10, Quota: 1 << 30, Helper: self, Env: process.Environment{Pass: []string{"*"}},
		Private: func(name string) string { return filepath.Join(data, name) },
		Jobs:    process.JobsOptions{Dir: filepath.Join(data, "jobs")},
		Spill:   func() (io.WriteCloser, string, error) { return nil, "", errors.New("nothing is spilled here") },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := room.Close(); err != nil {
			t.Error(err)
		}
	})
	return room
}

func variables() map[string]string {
	all := map[string]string{}
	for _, line := range os.Environ() {
		name, value, _ := strings.Cut(line, "=")
		all[name] = value
	}
	return all
}

func (r *corpusRuntime) register(t tool.Tool) (func(), error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	name := t.Spec().Name
	r.tools[name] = t
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.tools, name)
	}, nil
}

func (r *corpusRuntime) tell(what string, value any) {
	text, err := json.Marshal(value)
	if err != nil {
		r.t.Error(err)
	}
	r.mu.Lock()
	r.told = append(r.told, what+" "+string(text))
	r.mu.Unlock()
	r.heard <- struct{}{}
}

// takeTold gives what was told, when it is as much as it should be: plugins do not wait for all
// they say.
func (r *corpusRuntime) takeTold(want int) []string {
	late := time.NewTimer(10 * time.Second)
	defer late.Stop()
	for range want {
		select {
		case <-r.heard:
			continue
		case <-late.C:
		}
		break
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	told := r.told
	r.told = nil
	return told
}

func (r *corpusRuntime) answer(_ context.Context, _ *tool.Call, method string, args json.RawMessage) (json.RawMessage, error) {
	r.tell("client "+method, args)
	if answer, ok := r.client[method]; ok {
		return answer, nil
	}
	return json.RawMessage(`{"error":{"name":"UnknownError","data":{"message":"no ` + method + ` here"}}}`), nil
}

func (r *corpusRuntime) Ask(ctx context.Context, c *tool.Call, reqs ...permission.Request) error {
	for _, req := range reqs {
		err := func() error {
			if _, ok := req.Metadata["why"]; ok { // asked by a tool itself
				told := maps.Clone(req.Metadata)
				delete(told, "tool")
				r.tell("ask", map[string]any{"permission": req.Permission, "patterns": req.Patterns, "always": req.Always, "metadata": told})
			}
			req.Session = c.Session
			return r.engine.Ask(ctx, req, r.policy)
		}()
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *corpusRuntime) Allowed(c *tool.Call, req permission.Request) bool {
	req.Session = c.Session
	decisions, err := r.engine.Decide(req, r.policy)
	return err == nil && !slices.ContainsFunc(decisions, func(d permission.Decision) bool { return d.Action != permission.Allow })
}

func (r *corpusRuntime) Filter(_ *tool.Call, name string) (passes func(names ...string) bool, key string) {
	return r.policy.Filter(name)
}

func (r *corpusRuntime) Progress(_ *tool.Call, title string, metadata map[string]any) {
	told := map[string]any{}
	if title != "" {
		told["title"] = title
	}
	if len(metadata) > 0 {
		told["metadata"] = metadata
	}
	r.tell("meta", told)
}

// call makes the call of a step.
func (r *corpusRuntime) call(s corpusStep) *tool.Call {
	c := &tool.Call{ID: "call_corpus", Session: "ses_corpus", Message: "msg_corpus", Agent: s.Agent, Tool: s.Call, Input: s.Args, Dir: r.p.project, Host: r}
	if c.Agent == "" {
		c.Agent = "build"
	}
	if len(c.Input) == 0 {
		c.Input = json.RawMessage("{}")
	}
	return c
}

// runOurs runs the steps in a set, with everything allowed.
func (p *planted) runOurs(t *testing.T, want []corpusAnswer) []corpusAnswer {
	t.Helper()
	r := newCorpusRuntime(t, p)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r.set.Gather(ctx)
	answers := []corpusAnswer{r.loaded(want[0])}
	for i, s := range p.steps {
		a := r.step(ctx, s)
		a.Told = r.takeTold(len(want[i+1].Told))
		answers = append(answers, a)
	}
	return answers
}

// loaded tells what the file has.
func (r *corpusRuntime) loaded(want corpusAnswer) (a corpusAnswer) {
	for _, f := range r.set.Status() {
		a.Hooks = append(a.Hooks, f.Hooks...)
		if f.Problem == "" {
			continue
		}
		a.Error = &corpusError{Message: f.Problem}
		if want.Error != nil && strings.Contains(r.p.mask(f.Problem), want.Error.Message) { // it also says where
			a.Error = want.Error
		}
	}
	slices.Sort(a.Hooks)
	r.mu.Lock()
	for _, name := range slices.Sorted(maps.Keys(r.tools)) {
		spec := r.tools[name].Spec()
		schema, err := json.Marshal(spec.Schema)
		if err != nil {
			r.t.Error(err)
		}
		a.Tools = append(a.Tools, corpusTool{name, spec.Description, schema})
	}
	r.mu.Unlock()
	a.Told = r.takeTold(len(want.Told))
	return a
}

func (r *corpusRuntime) step(ctx context.Context, s corpusStep) (a corpusAnswer) {
	switch {
	case s.Call != "":
		result, err := r.execute(ctx, r.call(s))
		if err != nil {
			a.Error = corpusErrorOf(err)
			break
		}
		a.Title, a.Output = result.Title, result.Output
		if len(result.Metadata) > 0 {
			a.Metadata, err = json.Marshal(result.Metadata)
		}
		if err == nil && len(result.Attachments) > 0 {
			a.Attachments, err = json.Marshal(result.Attachments)
		}
		if err != nil {
			r.t.Error(err)
		}
	case s.Hook != "":
		done, err := r.set.Hook(ctx, r.call(corpusStep{Call: "corpus"}), s.Hook, s.Input, s.Output)
		if err != nil {
			a.Error = corpusErrorOf(err)
		}
		a.Hooked = done.Output
		for _, one := range done.Runs {
			if one.Error != nil {
				a.Errors = append(a.Errors, *corpusErrorOf(one.Error))
			}
		}
	case s.Event != nil:
		var e struct {
			Type       string
			Properties json.RawMessage
		}
		if err := json.Unmarshal(s.Event, &e); err != nil {
			r.t.Fatal(err)
		}
		r.set.Event(e.Type, e.Properties)
	default:
		r.close()
	}
	return a
}

// execute takes the road of a call.
func (r *corpusRuntime) execute(ctx context.Context, c *tool.Call) (*tool.Result, error) {
	r.set.Need(ctx, c.Tool)
	r.mu.Lock()
	t, ok := r.tools[c.Tool]
	r.mu.Unlock()
	if !ok {
		return nil, errors.New("no such tool")
	}
	if _, err := t.Check(c, false); err != nil {
		return nil, err
	}
	return t.Run(ctx, c)
}

func corpusErrorOf(err error) *corpusError {
	if fault, ok := errors.AsType[*script.Fault](err); ok {
		return &corpusError{fault.Name, fault.Message}
	}
	if failed, ok := errors.AsType[*tool.Error](err); ok && failed.Code == "script-error" {
		if said := errors.Unwrap(failed.Err); said != nil { // what is put below the message is not in Bun's
			err = said
		}
	}
	return &corpusError{"not of the script", err.Error()}
}
