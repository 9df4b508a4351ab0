package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	api "github.com/helve-dev/helve"
	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/internal/cli"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// A shop is a runtime whose jobs are looked after by the command.
type shop struct {
	dir, data string
	rt        *api.Runtime
}

func newShop(t *testing.T) shop {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the commands are those of a Unix shell")
	}
	s := shop{dir: t.TempDir(), data: t.TempDir()}
	var err error
	s.rt, err = api.Open(api.Options{
		Dir: s.dir, Worktree: s.dir, DataDir: s.data,
		Agents: []agent.Spec{{Name: "a", Policy: permission.Policy{Rules: permission.Ruleset{{Permission: "*", Pattern: "*", Action: permission.Allow}}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.rt.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// job runs a command line that becomes a job, and returns its id.
func (s shop) job(t *testing.T, line string, background bool) string {
	t.Helper()
	input, err := json.Marshal(map[string]any{"command": line, "background": background})
	if err != nil {
		t.Fatal(err)
	}
	res, err := s.rt.Call(t.Context(), tool.Call{Tool: "bash", Session: "s", Input: input})
	if err != nil {
		t.Fatal(err)
	}
	id, _ := res.Metadata["job"].(string)
	if id == "" {
		t.Fatalf("%+v", res)
	}
	return id
}

// command runs helve jobs, beside the runtime.
func (s shop) command(ctx context.Context, stdout *watched, args ...string) (stderr string, code int) {
	var errs bytes.Buffer
	code = cli.Main(ctx, cli.Env{
		Args: append([]string{"jobs"}, args...), Stdin: strings.NewReader(""), Stdout: stdout, Stderr: &errs, Dir: s.dir,
		Getenv: func(name string) string { return map[string]string{"HOME": s.dir, "HELVE_DATA_DIR": s.data}[name] },
	})
	return errs.String(), code
}

// allow lets the commands go on that wait for it.
func (s shop) allow(t *testing.T) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

// A watched output calls a function when a text was printed.
type watched struct {
	bytes.Buffer
	text string
	then func()
}

func (w *watched) Write(p []byte) (int, error) {
	n, err := w.Buffer.Write(p)
	if w.then != nil && strings.Contains(w.String(), w.text) {
		w.then()
		w.then = nil
	}
	return n, err
}

const later = "(until [ -e go ]; do sleep 0.02; done; echo late) & echo up"

// A job is followed to its end, though its command has ended long before.
func TestFollowJob(t *testing.T) {
	s := newShop(t)
	id := s.job(t, later, false)
	out := &watched{text: "up", then: func() { s.allow(t) }}
	if stderr, code := s.command(t.Context(), out, "output", id, "--follow"); out.String() != "up\nlate\n" || code != 0 {
		t.Errorf("%q, %q, exit code %d", out.String(), stderr, code)
	}
	// Who has seen enough goes.
	id = s.job(t, "sleep 1000 & echo up", false)
	ctx, cancel := context.WithCancel(t.Context())
	out = &watched{text: "up", then: cancel}
	if stderr, code := s.command(ctx, out, "output", id, "--follow"); out.String() != "up\n" || code == 0 {
		t.Errorf("%q, %q, exit code %d", out.String(), stderr, code)
	}
}

// A job is waited for until all of it has ended.
func TestWaitForJob(t *testing.T) {
	s := newShop(t)
	id := s.job(t, later, false)
	out := &watched{}
	if stderr, code := s.command(t.Context(), out, "wait", id, "--timeout", "400ms"); code != 1 || !strings.HasPrefix(out.String(), "running") {
		t.Errorf("%q, %q, exit code %d", out.String(), stderr, code)
	}
	s.allow(t)
	out = &watched{}
	if stderr, code := s.command(t.Context(), out, "wait", id); code != 0 || out.String() != "ended with exit code 0\n" {
		t.Errorf("%q, %q, exit code %d", out.String(), stderr, code)
	}
}

func TestSignalJob(t *testing.T) {
	s := newShop(t)
	id := s.job(t, "trap 'exit 7' USR1; trap '' INT; echo up; while :; do sleep 0.05; done", true)
	for _, words := range [][]string{
		{"output"}, {"signal"}, {"signal", id, "INT", "USR1"}, {"stop", id, id}, {"signal", id, "USR1", "--signal", "INT"},
	} {
		stderr, code := s.command(t.Context(), &watched{}, words...)
		want := "id of a job; 'helve jobs' lists them"
		if len(words) >= 4 {
			want = "which signal? "
		}
		if code != 64 || !strings.Contains(stderr, want) {
			t.Errorf("%v: %q, exit code %d", words, stderr, code)
		}
	}
	list := func() (jobs []map[string]any) {
		t.Helper()
		out := &watched{}
		if stderr, code := s.command(t.Context(), out, "--json"); code != 0 || json.Unmarshal(out.Bytes(), &jobs) != nil || len(jobs) != 1 {
			t.Fatalf("%q, %q, exit code %d", out.String(), stderr, code)
		}
		return jobs
	}
	if got, ok := list()[0]["code"]; ok {
		t.Errorf("a running job has exit code %v", got)
	}
	if stderr, code := s.command(t.Context(), &watched{}, "signal", id, "USR1"); code != 0 {
		t.Errorf("%q, exit code %d", stderr, code)
	}
	out := &watched{}
	if stderr, code := s.command(t.Context(), out, "wait", id); code != 0 || out.String() != "ended with exit code 7\n" {
		t.Errorf("%q, %q, exit code %d", out.String(), stderr, code)
	}
	if got := list()[0]["code"]; got != 7.0 {
		t.Errorf("exit code %v", got)
	}
}
