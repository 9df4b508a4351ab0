package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/helve-dev/helve/internal/leaktest"
	"github.com/helve-dev/helve/internal/process"
	"github.com/helve-dev/helve/mcp"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// The test binary is its own MCP server.
func TestMain(m *testing.M) {
	keepManyPins()
	if how := os.Getenv("HELVE_TEST_PEER"); how != "" {
		os.Exit(fakeMain(how))
	}
	leaktest.Main(m)
}

// A bench is a pool with what it needs around it.
type bench struct {
	t      testing.TB
	runner *process.Runner
	pool   *Pool

	mu       sync.Mutex
	tools    map[string]tool.Tool
	added    []string // every registration, in order
	removed  []string
	pids     []int // of every process that was started
	states   []mcp.Status
	asked    []permission.Request
	answer   error  // of Ask
	allowed  bool   // of Allowed
	session  string // the only one that is allowed; "" for all
	progress []map[string]any
}

// newBench makes a pool that ends with the test.
func newBench(t testing.TB, o mcp.Options, h mcp.Host) *bench {
	t.Helper()
	b := &bench{t: t, runner: process.NewRunner(process.RunnerOptions{}), tools: map[string]tool.Tool{}, allowed: true}
	h.Start = func(ctx context.Context, s mcp.Server, stdout, stderr *os.File) (mcp.Process, error) {
		cmd := process.Command{Path: s.Command[0], Args: s.Command[1:], Dir: s.Dir, Env: os.Environ(), Stdin: true, Stderr: stderr}
		for k, v := range s.Env {
			cmd.Env = append(cmd.Env, k+"="+v)
		}
		p, err := b.runner.Start(ctx, cmd, stdout)
		if err == nil {
			b.mu.Lock()
			b.pids = append(b.pids, p.PID())
			b.mu.Unlock()
		}
		return p, err
	}
	h.Register = b.register
	if h.Dir == "" {
		h.Dir = t.TempDir()
	}
	o.Version = "1.2.3"
	h.Changed = func(s mcp.Status) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.states = append(b.states, s)
	}
	b.pool = New(o, h)
	t.Cleanup(func() {
		if err := b.pool.Close(); err != nil {
			t.Error(err)
		}
		if err := b.runner.Close(); err != nil {
			t.Error(err)
		}
		if n := len(b.names()); n != 0 {
			t.Errorf("%d tools are left", n)
		}
	})
	return b
}

func (b *bench) register(t tool.Tool) (func(), error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	name := t.Spec().Name
	if name == "built_in" {
		return nil, errors.New("that is the name of a built-in tool")
	}
	b.tools[name] = t
	b.added = append(b.added, name)
	return sync.OnceFunc(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.removed = append(b.removed, name)
		if b.tools[name] == t {
			delete(b.tools, name)
		}
	}), nil
}

func (b *bench) names() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var names []string
	for name := range b.tools {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (b *bench) Ask(_ context.Context, _ *tool.Call, reqs ...permission.Request) error {
	for _, req := range reqs {
		err := func() error {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.asked = append(b.asked, req)
			return b.answer
		}()
		if err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) Allowed(c *tool.Call, _ permission.Request) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.allowed && (b.session == "" || b.session == c.Session)
}

func (b *bench) Filter(*tool.Call, string) (func(...string) bool, string) { return nil, "" }

func (b *bench) Progress(_ *tool.Call, title string, m map[string]any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.progress = append(b.progress, m)
}

// call calls a tool as the runtime does.
func (b *bench) call(ctx context.Context, name string, args any) (*tool.Result, error) {
	b.t.Helper()
	b.mu.Lock()
	t, ok := b.tools[name]
	b.mu.Unlock()
	if !ok {
		return nil, fmt.Errorf("no tool %s", name)
	}
	if args == nil {
		args = map[string]any{}
	}
	input, err := json.Marshal(args)
	if err != nil {
		b.t.Fatal(err)
	}
	c := &tool.Call{ID: "1", Session: "s", Tool: name, Input: input, Host: b}
	if _, err := t.Check(c, false); err != nil {
		return nil, err
	}
	return t.Run(ctx, c)
}

// must calls a tool that has to work.
func (b *bench) must(name string, args any) *tool.Result {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), 30*time.Second)
	defer cancel()
	res, err := b.call(ctx, name, args)
	if err != nil {
		b.t.Fatalf("%s: %v", name, err)
	}
	return res
}

// fails calls a tool that must not work, and returns the error.
func (b *bench) fails(name string, args any) *tool.Error {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), 30*time.Second)
	defer cancel()
	res, err := b.call(ctx, name, args)
	var e *tool.Error
	if !errors.As(err, &e) {
		b.t.Fatalf("%s gave %+v and the error %v", name, res, err)
	}
	return e
}

// gather connects everything.
func (b *bench) gather() {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), 30*time.Second)
	defer cancel()
	b.pool.Gather(ctx)
}

// status returns the state of one server.
func (b *bench) status(name string) mcp.Status {
	b.t.Helper()
	for _, s := range b.pool.Status() {
		if s.Name == name {
			return s
		}
	}
	b.t.Fatalf("no server %s", name)
	return mcp.Status{}
}

// until waits for something to become true.
func (b *bench) until(what string, is func() bool) {
	b.t.Helper()
	for end := time.Now().Add(20 * time.Second); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			b.t.Fatalf("%s: it did not come to that: %+v", what, b.pool.Status())
		}
	}
}

// state waits for a server to be in a state.
func (b *bench) state(name string, want mcp.State) mcp.Status {
	b.t.Helper()
	var s mcp.Status
	b.until(name+" "+string(want), func() bool {
		s = b.status(name)
		return s.State == want
	})
	return s
}

func asJSON(t testing.TB, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// fake is a local server that is this test binary.
func fake(name, how string) mcp.Server {
	return mcp.Server{Name: name, Command: []string{os.Args[0]}, Env: map[string]string{"HELVE_TEST_PEER": "plain " + how}}
}
