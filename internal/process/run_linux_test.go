package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// room makes a executor in a folder of its own.
func room(tb testing.TB, change func(*ExecutorOptions)) *Executor {
	tb.Helper()
	self, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	data, ws := tb.TempDir(), tb.TempDir()
	opt := ExecutorOptions{
		Dir: ws, Lines: 2000, Bytes: 50 << 10, Quota: 1 << 30, Helper: self, Wall: SandboxOptions{Roots: []string{ws}},
		Private: func(name string) string { return filepath.Join(data, name) },
		Jobs:    JobsOptions{Dir: filepath.Join(data, "jobs")},
		Spill: func() (io.WriteCloser, string, error) {
			f, err := os.CreateTemp(data, "spill")
			if err != nil {
				return nil, "", err
			}
			return f, f.Name(), nil
		},
	}
	if change != nil {
		change(&opt)
	}
	r, err := NewExecutor(opt)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := r.Close(); err != nil {
			tb.Error(err)
		}
	})
	return r
}

func do(tb testing.TB, r *Executor, cmd ShellCommand) *Outcome {
	tb.Helper()
	if cmd.Dir == "" {
		cmd.Dir = r.opt.Dir
	}
	out, err := r.Run(context.Background(), cmd)
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

func TestRunRun(t *testing.T) {
	r := room(t, nil)
	for _, tc := range []struct {
		line, want string
		exit       int
	}{
		{"echo out; echo err >&2; exit 3", "out\nerr\n", 3},
		{"type -t ls; shopt -q login_shell || echo no login", "file\nno login\n", 0},
		{"tty; cat", "not a tty\n", 0},
		{"ls /proc/self/fd | wc -l", "4\n", 0}, // its own three, and the folder it reads
		{`printf '\303'; sleep 0.05; printf '\251\n'`, "é\n", 0},
		{"echo $EDITOR $PAGER $TERM", "false cat dumb\n", 0},
	} {
		out := do(t, r, ShellCommand{Line: tc.line})
		if out.Text != tc.want || out.Exit == nil || *out.Exit != tc.exit || out.Truncated {
			t.Errorf("%s: %+v", tc.line, out)
		}
	}
}

// What a command prints is followed while it runs, and its newest part is
// shown.
func TestRunWatch(t *testing.T) {
	r := room(t, nil)
	var seen []string
	do(t, r, ShellCommand{Line: "echo first; sleep 0.3; seq 1 20000", Watch: func(p string) { seen = append(seen, p) }})
	if len(seen) < 2 || seen[0] != "first\n" {
		t.Fatalf("%d previews, the first is %q", len(seen), seen[:min(1, len(seen))])
	}
	if last := seen[len(seen)-1]; !strings.HasPrefix(last, "...\n\n") || !strings.HasSuffix(last, "20000\n") || len(last) > previewBytes+5 {
		t.Errorf("the last preview: %.40q … %q", last, last[len(last)-20:])
	}
}

// However much comes, the memory stays what it is, and the whole is saved
// within the quota.
func TestMuchOutput(t *testing.T) {
	r := room(t, func(o *ExecutorOptions) { o.Quota = 8 << 20 })
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	out := do(t, r, ShellCommand{Line: "yes | head -c 300000000; echo end", Hint: func(path string) string { return "see " + path }})
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapInuse) - int64(before.HeapInuse); grown > 32<<20 {
		t.Errorf("the memory has grown by %d bytes", grown)
	}
	info, err := os.Stat(out.Path)
	if err != nil || info.Size() > 8<<20 {
		t.Errorf("the saved output: %v, %v", info, err)
	}
	if !strings.Contains(out.Text, "\nend\n\nsee "+out.Path) || !strings.HasPrefix(out.Text, "y\ny\n") || !strings.Contains(out.Warning, "only the first 8388608 bytes") {
		t.Errorf("%.50q … %q, %q", out.Text, out.Text[len(out.Text)-100:], out.Warning)
	}
}

// Secrets are not shown, not saved and not in what jobs print.
func TestSecretsAreNotShown(t *testing.T) {
	t.Setenv("MY_SECRET", "the-secret-value")
	r := room(t, nil)
	out := do(t, r, ShellCommand{Line: "echo ${MY_SECRET-none}; printf the-secret; sleep 0.1; echo -value; seq 1 3000; echo the-secret-value"})
	saved, err := os.ReadFile(out.Path)
	if err != nil {
		t.Fatal(err)
	}
	for what, text := range map[string]string{"shown": out.Text, "saved": string(saved), "previewed": out.Preview} {
		if strings.Contains(text, "the-secret-value") || !strings.Contains(text, "[redacted:MY_SECRET]") {
			t.Errorf("%s: %.60q", what, text)
		}
	}
	if !strings.HasPrefix(out.Text, "none\n") {
		t.Errorf("the variable was passed on: %.20q", out.Text)
	}
	out = do(t, r, ShellCommand{Line: "until [ -e go ]; do sleep 0.05; done; echo the-secret-value", Background: true, Session: "s"})
	if err := os.WriteFile(filepath.Join(r.opt.Dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := r.jobs.Wait(t.Context(), out.Job, 10*time.Second); err != nil {
		t.Fatal(err)
	}
	chunk, err := r.jobs.Output(out.Job, 0, 0)
	if err != nil || string(chunk.Data) != "[redacted:MY_SECRET]\n" {
		t.Errorf("%q, %v", chunk.Data, err)
	}
}

func TestNothingGoesOnWhereItCanNot(t *testing.T) {
	t.Setenv("MY_SECRET", "the-secret-value")
	r := room(t, func(o *ExecutorOptions) { o.Ephemeral = true })
	if _, err := r.Run(t.Context(), ShellCommand{Line: "sleep 100", Dir: r.opt.Dir, Background: true}); err != ErrNoJobs {
		t.Errorf("%v", err)
	}
	// What may have been the beginning of a secret is shown: it was none.
	out := do(t, r, ShellCommand{Line: "sleep 100 & until [ \"$(cat /proc/$!/comm)\" = sleep ]; do :; done; echo up; printf the-secret"})
	if out.Text != "up\nthe-secret" || out.Job != "" || !strings.Contains(out.Warning, "was ended: sleep") {
		t.Errorf("%+v", out)
	}
	tries := make(chan bool, 100)
	out = do(t, r, ShellCommand{Line: "echo up; sleep 0.2", Session: "s", Call: "c", Watch: func(string) { tries <- r.Detach("s", "c") }})
	if <-tries || out.Job != "" || out.Exit == nil {
		t.Errorf("it was let go: %+v", out)
	}
}

// What a line that may detach leaves running outlives the executor. Timeouts end it
// all the same, and no other line gets the right.
func TestDetached(t *testing.T) {
	r := room(t, func(o *ExecutorOptions) {
		o.Ephemeral = true
		o.Detach = func(line string) bool { return strings.HasPrefix(line, "nohup ") }
	})
	pidFile := filepath.Join(t.TempDir(), "pid")
	alive := func() (int, bool) {
		text, err := os.ReadFile(pidFile)
		if err != nil {
			t.Fatal(err)
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if err != nil {
			t.Fatal(err)
		}
		state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		return pid, err == nil && !strings.Contains(string(state), ") Z ")
	}
	out := do(t, r, ShellCommand{Line: "nohup sleep 100 >/dev/null 2>&1 & echo $! > '" + pidFile + "'"})
	pid, ok := alive()
	if !ok || len(out.Detached) != 1 || out.Detached[0] != fmt.Sprintf("sleep (%d)", pid) || out.Warning != "" || out.Job != "" {
		t.Fatalf("alive %t: %+v", ok, out)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if _, ok := alive(); !ok {
		t.Error("it has ended with the room")
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Error(err)
	}
	_ = os.Remove(out.Log)

	r = room(t, func(o *ExecutorOptions) { o.Ephemeral, o.Detach = true, func(string) bool { return true } })
	out = do(t, r, ShellCommand{Line: "setsid sleep 100 & echo $! > '" + pidFile + "'; sleep 100", Timeout: 300 * time.Millisecond})
	if _, ok := alive(); ok || !out.TimedOut {
		t.Errorf("alive %t after its time: %+v", ok, out)
	}
	if out = do(t, r, ShellCommand{Line: "sleep 100 & echo up", ReadOnly: true}); len(out.Detached) > 0 {
		t.Errorf("for an agent that changes nothing: %+v", out)
	}
}

// What goes on after the executor can print: a pipe that nobody reads would end it.
func TestDetachedPrints(t *testing.T) {
	temp, dir := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", temp)
	r := room(t, func(o *ExecutorOptions) { o.Detach = func(string) bool { return true } })
	out := do(t, r, ShellCommand{Dir: dir, Line: "echo here; sh -c 'until [ -e gate ]; do sleep 0.02; done; echo out; echo err >&2; echo more; echo > end' &"})
	if out.Text != "here\n" || len(out.Detached) == 0 || out.Warning != "" {
		t.Errorf("it is %+v", out)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "gate"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 500 {
		if _, err := os.Stat(filepath.Join(dir, "end")); err == nil {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if text, err := os.ReadFile(out.Log); err != nil || string(text) != "here\nout\nerr\nmore\n" {
		t.Errorf("it printed %q: %v", text, err)
	}

	r = room(t, func(o *ExecutorOptions) { o.Detach = func(string) bool { return true } })
	if again := do(t, r, ShellCommand{Line: "seq 100000; echo last"}); again.Log != "" || !strings.HasSuffix(again.Text, "99999\n100000\nlast\n") {
		t.Errorf("it is %+v", again)
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) != 1 {
		t.Errorf("there are %v, %v", left, err)
	}
}

// runOutputOf waits for a job and returns what it has printed.
func runOutputOf(t *testing.T, r *Executor, id string) string {
	t.Helper()
	info, err := r.jobs.Wait(t.Context(), id, time.Minute)
	if err != nil || info.State != JobEnded {
		t.Fatalf("%+v, %v", info, err)
	}
	chunk, err := r.jobs.Output(id, 0, 1<<20)
	if err != nil || !chunk.Done {
		t.Fatalf("%+v, %v", chunk, err)
	}
	return string(chunk.Data)
}

// detached runs a command that is let go when it has printed a word, and then
// finds the file "go".
func detached(t *testing.T, r *Executor, line, word string) *Outcome {
	t.Helper()
	out := do(t, r, ShellCommand{Line: line, Session: "s", Call: "c", Watch: func(p string) {
		if strings.Contains(p, word) {
			r.Detach("s", "c")
		}
	}})
	if out.Job == "" {
		t.Fatalf("it was not let go: %+v", out)
	}
	if err := os.WriteFile(filepath.Join(r.opt.Dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return out
}

const untilGo = "; until [ -e go ]; do sleep 0.02; done; "

// A secret or a character that is cut where a command becomes a job is put
// together again, and nothing that was held back is lost.
func TestCutWhereItGoesOn(t *testing.T) {
	t.Setenv("MY_SECRET", "the-secret-value")
	r := room(t, nil)
	for line, want := range map[string]string{
		"echo begun; printf the-sec" + untilGo + "echo ret-value":                "begun\n[redacted:MY_SECRET]\n",
		"echo begun; printf the-sec" + untilGo + "echo ond":                      "begun\nthe-second\n",
		`echo begun; printf '\303'` + untilGo + `printf '\251\n'`:                "begun\né\n",
		"echo begun; printf the-sec" + untilGo + "sleep 0.01 & wait; printf ret": "begun\nthe-secret",
	} {
		out := detached(t, r, line, "begun")
		if got := runOutputOf(t, r, out.Job); got != want || out.Text != "begun\n" {
			t.Errorf("%s: %q and %q, want %q", line, out.Text, got, want)
		}
		if err := os.Remove(filepath.Join(r.opt.Dir, "go")); err != nil {
			t.Fatal(err)
		}
	}
}

// A job says what is left out of its output, and where that is.
func TestGapWhereItGoesOn(t *testing.T) {
	r := room(t, nil)
	out := detached(t, r, "seq 1 100000; echo begun"+untilGo+"echo over", "begun")
	got := runOutputOf(t, r, out.Job)
	saved, err := os.ReadFile(out.Path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, _ := strings.Cut(got, "\n...")
	gap, tail, _ := strings.Cut(rest, "...\n")
	before := strings.TrimSuffix(tail, "over\n")
	want := fmt.Sprintf("%d bytes are left out here; the whole until then is in %s", len(saved)-len(head)-len(before), out.Path)
	if gap != want || !strings.HasPrefix(string(saved), head) || !strings.HasSuffix(string(saved), before) || !strings.HasSuffix(before, "begun\n") {
		t.Errorf("%q, want %q; %.20q … %q", gap, want, head, tail[max(len(tail)-20, 0):])
	}
}

// A call whose command cannot go on as a job goes on itself.
func TestDetachWhereItIsFull(t *testing.T) {
	r := room(t, func(o *ExecutorOptions) { o.Jobs.Max = 1 })
	full := do(t, r, ShellCommand{Line: "sleep 1000", Background: true})
	if _, err := r.Run(t.Context(), ShellCommand{Line: "touch begun", Dir: r.opt.Dir, Background: true}); !errors.Is(err, ErrFull) {
		t.Errorf("%v", err)
	}
	tries := make(chan bool, 100)
	out := do(t, r, ShellCommand{Line: "echo up; sleep 0.2", Session: "s", Call: "c", Watch: func(string) { tries <- r.Detach("s", "c") }})
	if <-tries || out.Job != "" || out.Exit == nil || *out.Exit != 0 {
		t.Errorf("%+v", out)
	}
	out = do(t, r, ShellCommand{Line: "sleep 1000 & until [ \"$(cat /proc/$!/comm)\" = sleep ]; do :; done; echo up"})
	if out.Text != "up\n" || out.Job != "" || !strings.Contains(out.Warning, "What the command left running (sleep (") {
		t.Errorf("%+v", out)
	}
	if _, err := r.jobs.Stop(t.Context(), full.Job); err != nil {
		t.Fatal(err)
	}
	if out = do(t, r, ShellCommand{Line: "sleep 1000 & echo up"}); out.Job == "" {
		t.Errorf("its place is not free: %+v", out)
	}
}

// What a filter held back comes first where a reader goes on, and reading
// allocates nothing.
func TestRedactedReader(t *testing.T) {
	r := newRedactor([]Secret{{"A", "secret-one"}})
	begin := string(r.filter()([]byte("x secret"), false))
	rest, err := io.ReadAll(r.reader(io.NopCloser(strings.NewReader("-one y secret"))))
	if got := begin + "|" + string(rest); got != "x |[redacted:A] y secret" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	plain := io.NopCloser(strings.NewReader(""))
	if newRedactor(nil).reader(plain) != plain {
		t.Error("a stream without secrets is wrapped")
	}
	endless := newRedactor([]Secret{{"A", "secret-one"}}).reader(io.NopCloser(repeater("a secret-one and secret-")))
	buf := make([]byte, 1000)
	if n := testing.AllocsPerRun(100, func() { _, _ = endless.Read(buf) }); n > 0 {
		t.Errorf("%v allocations per read", n)
	}
}

// A repeater is an endless stream of a text.
type repeater string

func (r repeater) Read(p []byte) (int, error) { return copy(p, r), nil }
