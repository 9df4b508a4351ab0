package scripthost

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/internal/files"
	"github.com/helve-dev/helve/internal/leaktest"
	"github.com/helve-dev/helve/internal/plugins"
	"github.com/helve-dev/helve/internal/process"
	"github.com/helve-dev/helve/internal/script"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// TestMain lets the program of the tests be the helper of programs.
func TestMain(m *testing.M) {
	if code, ok := process.HelperMain(os.Args[1:]); ok {
		os.Exit(code)
	}
	leaktest.Main(m)
}

// A room is a world for tests: a project, a folder beside it, and rules that
// decide for real. It is the Host of its call.
type room struct {
	t     *testing.T // nil in benchmarks
	tb    testing.TB
	world *Host
	files *files.Workspace
	call  *tool.Call
	ctx   context.Context // scripts work for call under it
	dir   string          // the project
	out   string          // a folder that is not of the project

	// person answers what the rules ask; where it is nil there is nobody.
	person func(permission.Request) error

	policy permission.Policy
	engine *permission.Engine
	mu     sync.Mutex
	asked  []string             // "permission pattern" of everything put to the rules
	told   []permission.Request // the same, whole
	events []files.Changed
	lines  []event.ScriptLogged
}

// newRoom makes a room with rules in the form of the config, such as
// {"read": {"*": "allow", "*.env": "deny"}}. The changes are made to its
// options before there is a world.
func newRoom(tb testing.TB, rules string, changes ...func(*plugins.Services)) *room {
	tb.Helper()
	base, err := filepath.EvalSymlinks(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	set, err := permission.ParseConfig([]byte(rules), permission.ConfigOptions{Home: base})
	if err != nil {
		tb.Fatal(err)
	}
	r := &room{
		tb: tb, dir: filepath.Join(base, "project"), out: filepath.Join(base, "out"),
		policy: permission.Policy{Rules: set}, engine: permission.NewEngine(permission.EngineOptions{Unattended: true}),
	}
	r.t, _ = tb.(*testing.T)
	for _, dir := range []string{r.dir, r.out} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			tb.Fatal(err)
		}
	}
	r.files = &files.Workspace{
		Worktree: r.dir, History: files.NewHistory(files.HistoryOptions{Dir: filepath.Join(base, "history")}),
		OnChange: func(c files.Changed) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.events = append(r.events, c)
		},
	}
	r.call = &tool.Call{ID: "call_1", Session: "ses_1", Message: "msg_1", Agent: "build", Tool: "custom", Dir: r.dir, Host: r}
	opt := plugins.Services{Files: r.files, Dir: r.dir, Tell: func(tool, level, text string) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.lines = append(r.lines, event.ScriptLogged{Tool: tool, Level: level, Text: text})
	}}
	for _, change := range changes {
		change(&opt)
	}
	r.world = New(opt)
	r.ctx = For(tb.Context(), r.call, "custom")
	tb.Cleanup(func() {
		if err := r.world.Close(); err != nil {
			tb.Error(err)
		}
	})
	return r
}

// Ask decides by the rules, and asks the person where there is one.
func (r *room) Ask(ctx context.Context, c *tool.Call, reqs ...permission.Request) error {
	for _, req := range reqs {
		err := func() error {
			r.mu.Lock()
			for _, p := range req.Patterns {
				r.asked = append(r.asked, req.Permission+" "+p)
			}
			r.told = append(r.told, req)
			r.mu.Unlock()
			req.Session = c.Session
			err := r.engine.Ask(ctx, req, r.policy)
			if errors.Is(err, permission.ErrUnattended) && r.person != nil {
				return r.person(req)
			}
			return err
		}()
		if err != nil {
			return err
		}
	}
	return nil
}

// Allowed decides by the rules alone.
func (r *room) Allowed(c *tool.Call, req permission.Request) bool {
	req.Session = c.Session
	decisions, err := r.engine.Decide(req, r.policy)
	return err == nil && !slices.ContainsFunc(decisions, func(d permission.Decision) bool { return d.Action != permission.Allow })
}

// Filter is what the rules say.
func (r *room) Filter(_ *tool.Call, name string) (passes func(names ...string) bool, key string) {
	return r.policy.Filter(name)
}

// Progress goes nowhere.
func (*room) Progress(*tool.Call, string, map[string]any) {}

// do makes a request as scripts do.
func (r *room) do(op string, arg any, raw ...byte) (script.Data, error) {
	r.tb.Helper()
	text, err := json.Marshal(arg)
	if err != nil {
		r.tb.Fatal(err)
	}
	return r.world.Now(r.ctx, op, script.Data{JSON: text, Raw: raw})
}

// must is do for what has to succeed; it gives the JSON of the answer.
func (r *room) must(op string, arg any, raw ...byte) string {
	r.tb.Helper()
	answer, err := r.do(op, arg, raw...)
	if err != nil {
		r.tb.Fatalf("%s %v: %v", op, arg, err)
	}
	return string(answer.JSON)
}

// code gives what a request comes to: "ok", the code of a failure with
// " permission" behind it where the rules refused, or the text of an error
// that has none.
func (r *room) code(op string, arg any, raw ...byte) string {
	r.tb.Helper()
	_, err := r.do(op, arg, raw...)
	if err == nil {
		return "ok"
	}
	fail, ok := errors.AsType[*script.Failure](err)
	if !ok || fail.Code == "" {
		return err.Error()
	}
	if fail.Syscall == "permission" {
		return fail.Code + " permission"
	}
	return fail.Code
}

// path is the absolute name of a file of the project.
func (r *room) path(name string) string { return filepath.Join(r.dir, filepath.FromSlash(name)) }

// write puts a file into the project, unasked.
func (r *room) write(name, text string) {
	r.tb.Helper()
	if err := os.MkdirAll(filepath.Dir(r.path(name)), 0o755); err != nil {
		r.tb.Fatal(err)
	}
	if err := os.WriteFile(r.path(name), []byte(text), 0o644); err != nil {
		r.tb.Fatal(err)
	}
}

// text is what a file holds, by its absolute name; "(none)" where there is none.
func (r *room) text(name string) string {
	r.tb.Helper()
	data, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) {
		return "(none)"
	}
	if err != nil {
		r.tb.Fatal(err)
	}
	return string(data)
}

// questions gives what was put to the rules since the last time.
func (r *room) questions() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	asked := r.asked
	r.asked, r.told = nil, nil
	return asked
}

// changed gives the file events since the last time, as "add a.txt".
func (r *room) changed() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []string
	for _, e := range r.events {
		name, err := filepath.Rel(r.dir, e.File)
		if err != nil {
			name = e.File
		}
		out = append(out, e.Event+" "+filepath.ToSlash(name))
	}
	r.events = nil
	return out
}

func TestCloseTwice(t *testing.T) {
	r := newRoom(t, `{"*": "allow"}`)
	var order []string
	for _, name := range []string{"a", "b"} {
		r.world.onClose(func() error { order = append(order, name); return nil })
	}
	for range 2 {
		if err := r.world.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(order, []string{"b", "a"}) {
		t.Errorf("closed %v", order)
	}
}

// unmarshal reads the JSON of an answer.
func unmarshal(t testing.TB, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

// An arg is what a request is made with.
type arg = map[string]any

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// undo takes back all changes that the history knows, newest first, and gives
// how many there were.
func (r *room) undo() int {
	r.tb.Helper()
	var sets []files.ChangeSet
	for set, err := range r.files.History.Sets(r.tb.Context(), files.HistoryQuery{}) {
		if err != nil {
			r.tb.Fatal(err)
		}
		sets = append(sets, set)
	}
	if _, _, err := r.files.Undo(r.tb.Context(), files.By{Dir: r.dir}, sets); err != nil {
		r.tb.Fatal(err)
	}
	return len(sets)
}
