package plugins

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/helve-dev/helve/internal/leaktest"
	"github.com/helve-dev/helve/internal/process"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// TestMain lets the program of the tests be the helper of commands.
func TestMain(m *testing.M) {
	if code, ok := process.HelperMain(os.Args[1:]); ok {
		os.Exit(code)
	}
	leaktest.Main(m)
}

// A testProject is a project with a config folder, and a room for its programs.
type testProject struct {
	*Programs
	dir, config string
	host        *host
}

// newTestProject makes one whose programs run directly, which is quick to set up.
func newTestProject(t testing.TB) *testProject { return placeWith(t, "") }

// keptPlace makes one whose programs are kept by a helper, as those of a
// runtime are.
func keptPlace(t testing.TB) *testProject {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return placeWith(t, self)
}

func placeWith(t testing.TB, helper string) *testProject {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the programs are shell scripts")
	}
	data, dir := t.TempDir(), t.TempDir()
	shell, err := process.NewExecutor(process.ExecutorOptions{
		Dir: dir, Lines: 2000, Bytes: 50 << 10, Helper: helper, Jobs: process.JobsOptions{Dir: filepath.Join(data, "jobs")},
		Private: func(name string) string { return filepath.Join(data, name) },
		Spill:   func() (io.WriteCloser, string, error) { return nil, "", os.ErrInvalid },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := shell.Close(); err != nil {
			t.Error(err)
		}
	})
	p := &testProject{dir: dir, config: filepath.Join(dir, ".opencode"), host: &host{}}
	p.Programs = NewPrograms(Services{
		Shell: shell, Dir: dir, Worktree: dir, Cache: filepath.Join(data, "cache"),
		Programs: func(*tool.Call) process.Program { return process.Program{Set: map[string]string{"FROM_HOST": "1"}} },
		Quiet:    func(name string) *tool.Call { return &tool.Call{Tool: name, Dir: dir, Host: p.host} },
	})
	return p
}

// script writes an executable file into the tools of the project.
func (p *testProject) script(t testing.TB, name, code string) string {
	t.Helper()
	return p.file(t, filepath.Join("tools", name), code, 0o755)
}

func (p *testProject) file(t testing.TB, name, code string, mode os.FileMode) string {
	t.Helper()
	name = filepath.Join(p.config, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(code), mode); err != nil {
		t.Fatal(err)
	}
	return name
}

// tool makes the only tool of a program.
func (p *testProject) tool(t testing.TB, file string) tool.Tool {
	t.Helper()
	all, err := p.Describe(t.Context(), file)
	if err != nil || len(all) != 1 {
		t.Fatalf("%d tools, %v", len(all), err)
	}
	made, err := p.Tool(all[0])
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// call is a call of a tool with checked arguments.
func (p *testProject) call(t testing.TB, of tool.Tool, args string) *tool.Call {
	t.Helper()
	c := &tool.Call{
		ID: "call_1", Session: "ses_1", Message: "msg_1", Agent: "build", Tool: of.Spec().Name, Input: json.RawMessage(args), Dir: p.dir, Host: p.host,
	}
	if _, err := of.Check(c, false); err != nil {
		t.Fatal(err)
	}
	return c
}

// A host allows what it is told to and remembers what it was asked.
type host struct {
	mu      sync.Mutex
	refuses error
	asked   []permission.Request
	reports []report
	heard   func(report)
}

func (h *host) Ask(_ context.Context, _ *tool.Call, reqs ...permission.Request) error {
	for _, req := range reqs {
		err := func() error {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.asked = append(h.asked, req)
			return h.refuses
		}()
		if err != nil {
			return err
		}
	}
	return nil
}

func (h *host) Allowed(*tool.Call, permission.Request) bool { return h.refuses == nil }

func (h *host) Filter(*tool.Call, string) (func(...string) bool, string) { return nil, "" }

func (h *host) Progress(_ *tool.Call, title string, metadata map[string]any) {
	h.mu.Lock()
	h.reports = append(h.reports, report{title, metadata})
	h.mu.Unlock()
	if h.heard != nil {
		h.heard(report{title, metadata})
	}
}
