package mcpserve

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
	"github.com/helve-dev/helve/tooltest"
)

// TestMain also lets this program keep the commands that its tests run.
func TestMain(m *testing.M) { tooltest.Main(m) }

// A house is a server in a folder of its own.
type house struct {
	*Server
	dir    string
	mu     sync.Mutex
	opened []Workspace
	rts    []*helve.Runtime
	log    *buffer
}

// A buffer is a log that several write to.
type buffer struct {
	mu sync.Mutex
	b  strings.Builder

	off bool
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.off {
		return len(p), nil
	}
	return b.b.Write(p)
}

// discard keeps nothing from now on.
func (b *buffer) discard() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.off = true
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// build makes a house. Rules stand after the defaults; change may alter the
// options of the server and those of each runtime.
func build(t testing.TB, rules permission.Ruleset, change func(*Options), furnish func(*helve.Options)) *house {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	h := &house{dir: dir, log: &buffer{}}
	o := Options{
		Dir: dir, Version: "1.2.3", Logger: slog.New(slog.NewTextHandler(h.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Open: func(_ context.Context, w Workspace) (*helve.Runtime, error) {
			opt := helve.Options{
				Dir: w.Dir, Worktree: w.Dir, Unattended: !w.Attended, Flags: map[string]bool{"question": w.Attended, "batch": true},
				Agents:   agent.Specs(agent.SpecOptions{Worktree: w.Dir, User: rules}),
				Patience: time.Minute, // machines that run tests are slow
			}
			if furnish != nil {
				furnish(&opt)
			}
			rt, err := helve.Open(opt)
			if err == nil {
				h.mu.Lock()
				h.opened, h.rts = append(h.opened, w), append(h.rts, rt)
				h.mu.Unlock()
			}
			return rt, err
		},
	}
	if change != nil {
		change(&o)
	}
	h.Server = New(o)
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Log(h.log)
		}
	})
	return h
}

func (h *house) workspaces() []Workspace {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]Workspace(nil), h.opened...)
}

func (h *house) runtime(t testing.TB) *helve.Runtime {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.rts) == 0 {
		t.Fatal("no runtime has been opened")
	}
	return h.rts[len(h.rts)-1]
}

// write makes a file in the house.
func (h *house) write(t testing.TB, name, content string) string {
	t.Helper()
	path := filepath.Join(h.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// connect is a client over pipes, as over standard input and output.
func (h *house) connect(t testing.TB, o *mcp.ClientOptions, roots ...*mcp.Root) *mcp.ClientSession {
	t.Helper()
	return h.connectAs(t, "tester", o, roots...)
}

func (h *house) connectAs(t testing.TB, name string, o *mcp.ClientOptions, roots ...*mcp.Root) *mcp.ClientSession {
	t.Helper()
	toServer, fromClient, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	toClient, fromServer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() {
		err := h.ServeStdio(context.Background(), toServer, fromServer)
		_, _ = fromServer.Close(), toServer.Close()
		served <- err
	}()
	cs := dialAs(t, name, &mcp.IOTransport{Reader: toClient, Writer: fromClient}, o, roots...)
	t.Cleanup(func() {
		_ = cs.Close()
		if err := <-served; err != nil {
			t.Errorf("serving: %v", err)
		}
	})
	return cs
}

func dial(t testing.TB, tr mcp.Transport, o *mcp.ClientOptions, roots ...*mcp.Root) *mcp.ClientSession {
	t.Helper()
	return dialAs(t, "tester", tr, o, roots...)
}

func dialAs(t testing.TB, name string, tr mcp.Transport, o *mcp.ClientOptions, roots ...*mcp.Root) *mcp.ClientSession {
	t.Helper()
	if o == nil {
		o = &mcp.ClientOptions{}
	}
	if o.Capabilities == nil {
		o.Capabilities = &mcp.ClientCapabilities{}
		if roots != nil {
			o.Capabilities.RootsV2 = &mcp.RootCapabilities{ListChanged: true}
		}
	}
	c := mcp.NewClient(&mcp.Implementation{Name: name, Version: "1"}, o)
	c.AddRoots(roots...)
	cs, err := c.Connect(t.Context(), tr, nil)
	if err != nil {
		t.Fatal(err)
	}
	return cs
}

// call makes a call and returns its text; what fails begins with "ERROR: ".
func call(t testing.TB, cs *mcp.ClientSession, name string, args any) string {
	t.Helper()
	res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		t.Fatalf("calling %s: %v", name, err)
	}
	return said(res)
}

func said(res *mcp.CallToolResult) string {
	var b strings.Builder
	if res.IsError {
		b.WriteString("ERROR: ")
	}
	for _, c := range res.Content {
		switch c := c.(type) {
		case *mcp.TextContent:
			b.WriteString(c.Text)
		default:
			fmt.Fprintf(&b, "[%T]", c)
		}
	}
	return b.String()
}

func contains(t testing.TB, got string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in:\n%s", want, got)
		}
	}
}

// ask is a rule that wants something asked.
func ask(name, pattern string) permission.Rule {
	return permission.Rule{Permission: name, Pattern: pattern, Action: permission.Ask}
}

// own is a tool for a test.
func own(t testing.TB, name string, run func(ctx context.Context, c *tool.Call) (*tool.Result, error)) tool.Tool {
	t.Helper()
	tl, err := tool.Dynamic(tool.Spec{Name: name, Description: "a tool of the test", Schema: anything(t)}, run)
	if err != nil {
		t.Fatal(err)
	}
	return tl
}

func asJSON(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// rt keeps the types of options in tests short.
type rt = helve.Runtime

func newReader(r io.Reader) *bufio.Reader { return bufio.NewReader(r) }

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// hallOf is the only runtime of a server.
func hallOf(t testing.TB, s *Server) *sharedRuntime {
	t.Helper()
	s.halls.mu.Lock()
	defer s.halls.mu.Unlock()
	if len(s.halls.all) != 1 {
		t.Fatalf("there are %d runtimes", len(s.halls.all))
	}
	for _, h := range s.halls.all {
		return h
	}
	return nil
}

func everySession(s *Server) []*session {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []*session
	for _, se := range s.sessions {
		all = append(all, se)
	}
	return all
}
