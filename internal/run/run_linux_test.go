package run

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"helve/internal/job"
)

// room makes a room in a folder of its own.
func room(tb testing.TB, change func(*Options)) *Room {
	tb.Helper()
	self, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	data, ws := tb.TempDir(), tb.TempDir()
	opt := Options{
		Dir: ws, Lines: 2000, Bytes: 50 << 10, Quota: 1 << 30, Helper: self, Wall: Wall{Roots: []string{ws}},
		Private: func(name string) string { return filepath.Join(data, name) },
		Jobs:    job.Options{Dir: filepath.Join(data, "jobs")},
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
	r, err := New(opt)
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

func do(tb testing.TB, r *Room, cmd Command) *Outcome {
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

func TestRun(t *testing.T) {
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
		out := do(t, r, Command{Line: tc.line})
		if out.Text != tc.want || out.Exit == nil || *out.Exit != tc.exit || out.Truncated {
			t.Errorf("%s: %+v", tc.line, out)
		}
	}
}

// What a command prints is followed while it runs, and its newest part is
// shown.
func TestWatch(t *testing.T) {
	r := room(t, nil)
	var seen []string
	do(t, r, Command{Line: "echo first; sleep 0.3; seq 1 20000", Watch: func(p string) { seen = append(seen, p) }})
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
	r := room(t, func(o *Options) { o.Quota = 8 << 20 })
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	out := do(t, r, Command{Line: "yes | head -c 300000000; echo end", Hint: func(path string) string { return "see " + path }})
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
	out := do(t, r, Command{Line: "echo ${MY_SECRET-none}; printf the-secret; sleep 0.1; echo -value; seq 1 3000; echo the-secret-value"})
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
	out = do(t, r, Command{Line: "sleep 0.6; echo the-secret-value", Background: true, Session: "s"})
	if _, err := r.jobs.Wait(t.Context(), out.Job, 10*time.Second); err != nil {
		t.Fatal(err)
	}
	chunk, err := r.jobs.Output(out.Job, 0, 0)
	if err != nil || string(chunk.Data) != "[redacted:MY_SECRET]\n" {
		t.Errorf("%q, %v", chunk.Data, err)
	}
}

func TestNothingGoesOnWhereItCanNot(t *testing.T) {
	r := room(t, func(o *Options) { o.Ephemeral = true })
	if _, err := r.Run(t.Context(), Command{Line: "sleep 100", Dir: r.opt.Dir, Background: true}); err != ErrNoJobs {
		t.Errorf("%v", err)
	}
	out := do(t, r, Command{Line: "sleep 100 & echo up"})
	if out.Text != "up\n" || out.Job != "" || !strings.Contains(out.Warning, "was ended: sleep") {
		t.Errorf("%+v", out)
	}
}
