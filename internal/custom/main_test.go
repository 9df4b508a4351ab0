package custom

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/internal/leaktest"
	"github.com/helve-dev/helve/internal/plugins"
	"github.com/helve-dev/helve/internal/process"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/plugin"
	"github.com/helve-dev/helve/tool"
)

// TestMain lets the program of the tests be the helper of programs.
func TestMain(m *testing.M) {
	if code, ok := process.HelperMain(os.Args[1:]); ok {
		os.Exit(code)
	}
	if raceDetector { // compiling takes seconds then: all tests share what was compiled
		dir, err := os.MkdirTemp("", "custom")
		if err != nil {
			panic(err)
		}
		if err := os.Setenv(sharedCache, dir); err != nil {
			panic(err)
		}
		code := leaktest.Run(m)
		if err := os.RemoveAll(dir); err != nil {
			panic(err)
		}
		os.Exit(code)
	}
	leaktest.Main(m)
}

// sharedCache is the variable that names the folder for what was compiled.
const sharedCache = "HELVE_TEST_CACHE"

// A bench is a config folder and a runtime around it: a registry, and rules that are told by a
// function.
type bench struct {
	t    testing.TB
	root string // the config folder
	set  *Set

	mu      sync.Mutex
	tools   map[string][]tool.Tool
	added   int
	changes int
	asked   []permission.Request
	rule    func(permission.Request) error // nil allows
	told    func(title string)             // progress
	ask     func(context.Context, *tool.Call, permission.Request) error
	lines   []event.ScriptLogged
}

// plant writes the files of an archive below a folder.
func plant(t testing.TB, dir, archive string) {
	t.Helper()
	for _, f := range txtar.Parse([]byte(archive)).Files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func realTemp(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// newBench makes a set of one config folder; more may be said by change.
func newBench(t testing.TB, archive string, change func(b *bench, o *Options)) *bench {
	t.Helper()
	b := &bench{t: t, root: realTemp(t), tools: map[string][]tool.Tool{}}
	plant(t, b.root, archive)
	o := Options{
		Options:  plugin.Options{Folders: []plugin.Folder{{Path: b.root}}},
		Services: plugins.Services{Dir: b.root, Worktree: b.root, Cache: os.Getenv(sharedCache)},
	}
	o.Tell = func(tool, level, text string) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.lines = append(b.lines, event.ScriptLogged{Tool: tool, Level: level, Text: text})
	}
	o.Register = b.register
	o.Quiet = func(name string) *tool.Call {
		return &tool.Call{Tool: name, Dir: b.root, Host: quietHost{b}}
	}
	o.Changed = func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.changes++
	}
	if change != nil {
		change(b, &o)
	}
	b.set = New(o)
	t.Cleanup(func() {
		if err := b.set.Close(); err != nil {
			t.Error(err)
		}
		if left := b.names(); len(left) > 0 {
			t.Errorf("left after Close: %v", left)
		}
	})
	return b
}

func (b *bench) register(t tool.Tool) (func(), error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	name := t.Spec().Name
	b.tools[name] = append(b.tools[name], t)
	b.added++
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.tools[name] = slices.DeleteFunc(b.tools[name], func(o tool.Tool) bool { return o == t })
		if len(b.tools[name]) == 0 {
			delete(b.tools, name)
		}
	}, nil
}

func (b *bench) names() (all []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for name := range b.tools {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

func (b *bench) tool(name string) (tool.Tool, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	of := b.tools[name]
	if len(of) == 0 {
		return tool.Tool{}, false
	}
	return of[len(of)-1], true
}

// call takes the road of a call: what it needs is brought, the arguments are checked, the tool
// runs.
func (b *bench) call(ctx context.Context, name, args string) (*tool.Result, error) {
	return b.callAs(ctx, &tool.Call{ID: "call_1", Session: "ses_1", Message: "msg_1", Agent: "build", Tool: name, Input: json.RawMessage(args)})
}

func (b *bench) callAs(ctx context.Context, c *tool.Call) (*tool.Result, error) {
	b.set.Need(ctx, c.Tool)
	t, ok := b.tool(c.Tool)
	if !ok {
		return nil, fmt.Errorf("no tool %s", c.Tool)
	}
	c.Dir, c.Host = b.root, b
	if _, err := t.Check(c, false); err != nil {
		return nil, err
	}
	return t.Run(ctx, c)
}

// output is what a call has to give.
func (b *bench) output(name, args string) string {
	b.t.Helper()
	r, err := b.call(b.t.Context(), name, args)
	if err != nil {
		b.t.Fatalf("%s: %v", name, err)
	}
	return r.Output
}

func (b *bench) file(name string) plugin.File {
	b.t.Helper()
	for _, f := range b.set.Status() {
		if f.Path == filepath.Join(b.root, filepath.FromSlash(name)) {
			return f
		}
	}
	b.t.Fatalf("no status of %s", name)
	return plugin.File{}
}

// write writes a file of the config folder anew.
func (b *bench) write(name, text string) {
	b.t.Helper()
	path := filepath.Join(b.root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		b.t.Fatal(err)
	}
	b.look()
}

// look has the next call look at the files, however short ago the last look was.
func (b *bench) look() {
	for _, u := range b.set.units {
		u.mu.Lock()
		u.looked = u.looked.Add(-lookPause)
		u.asked = u.asked.Add(-trustPause)
		u.mu.Unlock()
	}
}

func (b *bench) Ask(ctx context.Context, c *tool.Call, reqs ...permission.Request) error {
	for _, req := range reqs {
		err := func() error {
			if b.ask != nil {
				return b.ask(ctx, c, req)
			}
			b.mu.Lock()
			b.asked = append(b.asked, req)
			rule := b.rule
			b.mu.Unlock()
			if rule == nil {
				return nil
			}
			return rule(req)
		}()
		if err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) Allowed(c *tool.Call, req permission.Request) bool {
	return b.Ask(context.Background(), c, req) == nil
}

func (b *bench) Filter(*tool.Call, string) (func(...string) bool, string) { return nil, "" }

func (b *bench) Progress(_ *tool.Call, title string, _ map[string]any) {
	if b.told != nil {
		b.told(title)
	}
}

// A quietHost asks nobody.
type quietHost struct{ *bench }

func (q quietHost) Ask(ctx context.Context, c *tool.Call, reqs ...permission.Request) error {
	return q.bench.Ask(ctx, c, reqs...)
}

// ruleWaits has what is asked as "go" wait for a channel to be closed.
func ruleWaits(until <-chan struct{}) func(permission.Request) error {
	return func(r permission.Request) error {
		if r.Permission == "go" {
			<-until
		}
		return nil
	}
}
