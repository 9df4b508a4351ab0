package lspclient

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/helve-dev/helve/internal/lspclient/lsptest"
	"github.com/helve-dev/helve/internal/process"
	"github.com/helve-dev/helve/lsp"
)

// A bench is a set with one fake server for .foo files.
type bench struct {
	*Set
	t   *testing.T
	dir string
}

// newBench makes a set whose server is started with flags.
func newBench(t *testing.T, change func(*Options), flags ...string) *bench {
	t.Helper()
	dir := t.TempDir()
	fake := lsp.Server{Name: "fake", Command: lsptest.Command(flags...), Extensions: []string{".foo"}, Initialization: json.RawMessage(`{"alpha":{"beta":1}}`)}
	runner := process.NewRunner(process.RunnerOptions{})
	opt := Options{
		Options: lsp.Options{Own: []lsp.Server{fake}, Wait: 20 * time.Second, Request: 20 * time.Second, Start: 20 * time.Second},
		Dir:     dir, Worktree: dir,
		StartProcess: func(ctx context.Context, s lsp.Server, cmd process.Command, out *os.File) (*process.Process, error) {
			return runner.Start(ctx, cmd, out)
		},
	}
	if change != nil {
		change(&opt)
	}
	set, err := New(opt)
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{Set: set, t: t, dir: dir}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		if err := runner.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func (b *bench) path(name string) string { return filepath.Join(b.dir, name) }

// write writes a file as somebody else would.
func (b *bench) write(name, content string) string {
	b.t.Helper()
	path := b.path(name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		b.t.Fatal(err)
	}
	return path
}

// errors are the messages that a check of a file brings.
func (b *bench) errors(before Baseline, name string) []string {
	b.t.Helper()
	r := b.Check(b.t.Context(), Question{Files: []string{b.path(name)}, Before: before})
	if len(r.Pending) > 0 || len(r.Files) != 1 {
		b.t.Fatalf("%s: %+v", name, r)
	}
	out := []string{}
	for _, d := range r.Files[0].Diagnostics {
		out = append(out, d.Message)
	}
	return out
}

// What is reported is about the text that was written, however a server tells
// it, and also where it first tells again what was true before.
func TestOnlyTheNewestText(t *testing.T) {
	t.Parallel()
	for name, flags := range map[string][]string{
		"numbered":            nil,
		"numbered, stale":     {"--stale", "5"},
		"not numbered":        {"--no-version"},
		"asked":               {"--pull"},
		"asked, stale":        {"--pull", "--stale", "5"},
		"asked, registered":   {"--register-pull"},
		"bytes":               {"--utf8"},
		"whole texts":         {"--full-sync"},
		"talks between":       {"--stray"},
		"much about others":   {"--flood", "300"},
		"slow":                {"--delay", "textDocument/publishDiagnostics=30"},
		"slow, stale, unsaid": {"--no-version", "--stale", "20"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, nil, flags...)
			b.write("a.foo", "fine\n")
			if got := b.errors(nil, "a.foo"); len(got) > 0 {
				t.Fatalf("a fine file has errors: %q", got)
			}
			for i := range 10 {
				before := b.Before(b.t.Context())
				line := fmt.Sprintf("ERROR ä %d", i)
				b.write("a.foo", "ok\n"+line+"\n")
				if got, want := b.errors(before, "a.foo"), []string{"error found: " + line}; !slices.Equal(got, want) {
					t.Fatalf("round %d: %q, want %q", i, got, want)
				}
				b.write("a.foo", fmt.Sprintf("fine again %d\n", i))
				if got := b.errors(b.Before(b.t.Context()), "a.foo"); len(got) > 0 {
					t.Fatalf("round %d: the error was mended, and is still told: %q", i, got)
				}
			}
		})
	}
}

// A server that numbers nothing and publishes before it answers is believed
// although it was told of another change since it last published.
func TestPublishedBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil, "--no-version")
	b.write("a.foo", "fine\n")
	b.errors(nil, "a.foo")
	before := b.Before(t.Context())
	b.Changed(FileChange{b.write("b.foo", "x\n"), Created})
	b.write("a.foo", "ERROR one\n")
	if got, want := b.errors(before, "a.foo"), []string{"error found: ERROR one"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// What such a server repeats about the text before, slowly, is not told of the
// new one.
func TestRepeatedAfterTheAnswer(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil, "--no-version", "--stale", "800", "--delay", "textDocument/documentSymbol=900")
	a := b.write("a.foo", "fine\n")
	b.errors(nil, "a.foo")
	before := b.Before(t.Context())
	b.Changed(FileChange{b.write("b.foo", "x\n"), Created})
	b.write("a.foo", "ERROR one\n")
	r := b.Check(t.Context(), Question{Files: []string{a}, Before: before})
	if len(r.Pending) != 1 && (len(r.Files) != 1 || len(r.Files[0].Diagnostics) != 1) {
		t.Errorf("%+v", r)
	}
}

// What was there before a change is told apart from what was not, wherever it
// stands by now.
func TestOldIsMarked(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.write("a.foo", "ERROR one\nx\n")
	b.errors(nil, "a.foo")
	before := b.Before(b.t.Context())
	b.write("a.foo", "x\nERROR one\nERROR two\n")
	r := b.Check(t.Context(), Question{Files: []string{b.path("a.foo")}, Before: before})
	got := []string{}
	for _, d := range r.Files[0].Diagnostics {
		got = append(got, fmt.Sprint(d.Message, " ", d.Old))
	}
	if want := []string{"error found: ERROR one true", "error found: ERROR two false"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// What does not come in time is pending, and owed: a later report has it.
func TestPendingIsOwed(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(o *Options) { o.Wait = 2 * time.Second }, "--delay", "textDocument/publishDiagnostics=4000")
	a := b.write("a.foo", "ERROR late\n")
	r := b.Check(t.Context(), Question{Files: []string{a}, Before: b.Before(b.t.Context())})
	if len(r.Pending) != 1 || len(r.Files) != 0 || r.Pending[0].Server != "fake" {
		t.Fatalf("%+v", r)
	}
	deadline := time.Now().Add(30 * time.Second)
	for len(r.Others) == 0 && time.Now().Before(deadline) {
		other := b.write("b.foo", fmt.Sprint("fine ", time.Now()))
		r = b.Check(t.Context(), Question{Files: []string{other}, Before: b.Before(b.t.Context())})
	}
	if len(r.Others) != 1 || r.Others[0].Path != a {
		t.Errorf("%+v", r)
	}
}

// Errors that a change makes in other files are told on request.
func TestOtherFiles(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.write("b.foo", "x\n")
	a := b.write("a.foo", "BREAK b.foo\n")
	r := b.Check(t.Context(), Question{Files: []string{a}, Before: b.Before(b.t.Context()), Others: true})
	if len(r.Others) != 1 || r.Others[0].Path != b.path("b.foo") {
		t.Fatalf("%+v", r)
	}
	before := b.Before(b.t.Context())
	b.write("a.foo", "x\n")
	r = b.Check(t.Context(), Question{Files: []string{a}, Before: before, Others: true})
	if len(r.Others) != 0 {
		t.Errorf("mended, and still told: %+v", r)
	}
}

// Files that others have changed are sent before something is asked: open ones
// always, further ones after a doubt.
func TestChangesOfOthers(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "log")
	b := newBench(t, nil, "--log", log)
	a := b.write("a.foo", "fine\n")
	b.errors(nil, "a.foo")
	b.write("a.foo", "ERROR by hand\n")
	other := b.write("b.foo", "x\n")
	b.Doubt()
	views, err := b.Open(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	if text, _ := views[0].Text(a); text != "ERROR by hand\n" {
		t.Errorf("the server has %q", text)
	}
	if got := b.errors(nil, "a.foo"); len(got) != 1 {
		t.Errorf("%q", got)
	}
	if err := os.Remove(other); err != nil {
		t.Fatal(err)
	}
	b.Changed(FileChange{other, Deleted})
	b.Doubt()
	b.errors(nil, "a.foo")
	sent := b.sent(log, "workspace/didChangeWatchedFiles")
	for _, want := range []string{`"type":1`, `"type":2`, `"type":3`} {
		if !strings.Contains(sent, want) {
			t.Errorf("no %s in what was sent:\n%s", want, sent)
		}
	}
}

// sent are the messages of a method that a server has got.
func (b *bench) sent(log, method string) string {
	b.t.Helper()
	data, err := os.ReadFile(log)
	if err != nil {
		b.t.Fatal(err)
	}
	var out []string
	for line := range strings.Lines(string(data)) {
		if strings.Contains(line, method) {
			out = append(out, line)
		}
	}
	return strings.Join(out, "")
}

// A server asks for its settings piece by piece.
func TestConfiguration(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil, "--config", "alpha,alpha.beta,gamma")
	b.write("a.foo", "fine\n")
	b.errors(nil, "a.foo")
	deadline := time.Now().Add(20 * time.Second)
	for !strings.Contains(strings.Join(b.Log("fake"), "\n"), `{"beta":1},1,null`) && time.Now().Before(deadline) {
		b.errors(nil, "a.foo")
	}
	if log := strings.Join(b.Log("fake"), "\n"); !strings.Contains(log, `{"beta":1},1,null`) {
		t.Errorf("the answer is not in\n%s", log)
	}
}

// A server that nobody uses is stopped, and starts again when it is needed.
func TestIdle(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(o *Options) { o.Idle = 50 * time.Millisecond })
	b.write("a.foo", "ERROR x\n")
	b.errors(nil, "a.foo")
	b.until(lsp.StateStopped)
	if got := b.errors(nil, "a.foo"); len(got) != 1 {
		t.Errorf("after a rest: %q", got)
	}
	if st := b.Status(); st[0].Restarts == 0 || st[0].Error != "" {
		t.Errorf("%+v", st)
	}
}

// until waits until the only server is in a state.
func (b *bench) until(state string) lsp.Status {
	b.t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for {
		st := b.Status()
		if len(st) == 1 && st[0].State == state {
			return st[0]
		}
		if time.Now().After(deadline) {
			b.t.Fatalf("not %s: %+v", state, st)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// When what a project depends on has changed, a server that keeps it in mind
// starts anew.
func TestRenewedByLockFile(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(o *Options) {
		o.Own = []lsp.Server{{Name: "typescript", Command: lsptest.Command(), Extensions: []string{".foo"}}}
	})
	b.write("package-lock.json", "{}")
	b.write("a.foo", "ERROR x\n")
	b.errors(nil, "a.foo")
	b.write("package-lock.json", `{"lockfileVersion": 3}`)
	b.Doubt()
	if got := b.errors(nil, "a.foo"); len(got) != 1 {
		t.Errorf("%q", got)
	}
	if st := b.Status(); len(st) != 1 || st[0].Restarts != 1 || st[0].Error != "" {
		t.Errorf("%+v", st)
	}
}

// A file that was closed and is opened again has higher numbers than before:
// what comes late about an older text is not about the new one.
func TestNumbersDoNotComeAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil, "--stale", "30")
	path := b.write("a.foo", "ERROR old\n")
	b.errors(nil, "a.foo")
	for i := range 5 {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		b.Changed(FileChange{path, Deleted})
		b.write("a.foo", "fine\n")
		b.Changed(FileChange{path, Created})
		if got := b.errors(b.Before(t.Context(), path), "a.foo"); len(got) > 0 {
			t.Fatalf("round %d: %q", i, got)
		}
		b.write("a.foo", "ERROR old\n")
		b.errors(b.Before(t.Context(), path), "a.foo")
	}
}

// Of two changes that overtake each other, the first is not told what was found
// in the text of the second.
func TestOvertaken(t *testing.T) {
	t.Parallel()
	for name, flags := range map[string][]string{
		"published": {"--delay", "textDocument/publishDiagnostics=300"},
		"asked":     {"--pull", "--delay", "textDocument/diagnostic=300"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, nil, flags...)
			path := b.write("a.foo", "fine\n")
			b.errors(nil, "a.foo")
			b.write("a.foo", "ERROR one\n")
			first := make(chan lsp.Report)
			go func() { first <- b.Check(t.Context(), Question{Files: []string{path}, Before: Baseline{}}) }()
			for l := b.links()[0]; ; time.Sleep(time.Millisecond) { // until the first waits for what is found in its text
				l.mu.Lock()
				text := l.docs[path].text
				l.mu.Unlock()
				l.c.mu.Lock()
				waits := l.c.users > 0
				l.c.mu.Unlock()
				if waits && text == "ERROR one\n" {
					break
				}
			}
			b.write("a.foo", "fine again\n")
			if got := b.errors(Baseline{}, "a.foo"); len(got) > 0 {
				t.Errorf("the second: %q", got)
			}
			r := <-first
			if len(r.Files) > 0 && (len(r.Files[0].Diagnostics) != 1 || r.Files[0].Diagnostics[0].Message != "error found: ERROR one") {
				t.Errorf("the first was told %+v", r)
			}
			if len(r.Files) == 0 && len(r.Pending) != 1 {
				t.Errorf("the first was told nothing: %+v", r)
			}
		})
	}
}

// A server that dies again with the same words is told again.
func TestEveryDeathIsTold(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	path := b.write("a.foo", "fine\n")
	b.errors(nil, "a.foo")
	for round := range 2 {
		l := b.links()[0]
		if left, err := l.process.End(0); err != nil || len(left) > 0 {
			t.Fatal(left, err)
		}
		b.until(lsp.StateFailed)
		b.write("a.foo", fmt.Sprintf("ERROR %d\n", round))
		r := b.Check(t.Context(), Question{Files: []string{path}, Before: Baseline{}})
		if len(r.Pending) != 1 || !r.Pending[0].Failed || r.Pending[0].Why == "" {
			t.Fatalf("round %d: %+v", round, r)
		}
		again := b.Check(t.Context(), Question{Files: []string{path}, Before: Baseline{}})
		if len(again.Pending) == 1 && again.Pending[0].Why != "" && again.Pending[0].Failed {
			t.Errorf("round %d: told twice: %+v", round, again)
		}
		deadline := time.Now().Add(30 * time.Second)
		for len(b.Check(t.Context(), Question{Files: []string{path}, Before: Baseline{}}).Files) == 0 {
			if time.Now().After(deadline) {
				t.Fatal("it does not come back")
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
}

// What nobody has told of is seen all the same, a little later.
func TestChangesThatNobodyTells(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "log")
	b := newBench(t, nil, "--log", log, "--watch", "**/*.cfg")
	b.write("a.foo", "fine\n")
	b.errors(nil, "a.foo")
	b.write("b.cfg", "x")
	deadline := time.Now().Add(30 * time.Second)
	for !strings.Contains(b.sent(log, "workspace/didChangeWatchedFiles"), "b.cfg") {
		if time.Now().After(deadline) {
			t.Fatal("the server was not told of b.cfg")
		}
		time.Sleep(50 * time.Millisecond)
		b.errors(nil, "a.foo")
	}
}
