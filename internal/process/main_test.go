package process

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helve-dev/helve/internal/leaktest"
)

// The test binary doubles as the other processes: with roleEnv set it is one
// of the roles of process_test.go.
const roleEnv = "HELVE_JOB_ROLE"

func TestMain(m *testing.M) {
	actAsKeeper()
	if code, ok := HelperMain(os.Args[1:]); ok {
		os.Exit(code)
	}
	if name := os.Getenv(roleEnv); name != "" {
		if err := role(name, os.Getenv("HELVE_JOB_DIR")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	leaktest.Main(m)
}

// A tb is a *testing.T, *testing.B or *rapid.T.
type tb interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

func ok(t tb, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func must[T any](v T, err error) func(t tb) T {
	return func(t tb) T {
		t.Helper()
		ok(t, err)
		return v
	}
}

func want(t tb, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("not as wanted (-want +got):\n%s", diff)
	}
}

// newJobs makes a set of jobs in a folder of its own that ends with the test.
func newJobs(t *testing.T, o JobsOptions) *Jobs {
	t.Helper()
	if o.Dir == "" {
		o.Dir = filepath.Join(t.TempDir(), "jobs")
	}
	if o.Grace == 0 {
		o.Grace = 200 * time.Millisecond
	}
	j := must(NewJobs(o))(t)
	t.Cleanup(func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
	return j
}

// An actor is a command that does in this process what a test tells it.
type actor struct {
	in  *io.PipeReader
	out *io.PipeWriter

	mu      sync.Mutex
	done    chan struct{}
	code    int
	signals []string
	left    int
	deaf    error // what End says instead of ending it
}

func newActor() (*actor, JobStreams) {
	in, stdin := io.Pipe()
	stdout, out := io.Pipe()
	return &actor{in: in, out: out, done: make(chan struct{})}, JobStreams{Out: stdout, In: stdin}
}

func (a *actor) say(t tb, text string) {
	t.Helper()
	_, err := io.WriteString(a.out, text)
	ok(t, err)
}

// exit ends the command; its pipe stays open.
func (a *actor) exit(code int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !closed(a.done) {
		a.code = code
		close(a.done)
	}
}

func (a *actor) Done() <-chan struct{} { return a.done }

func (a *actor) Status() (int, string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.code, ""
}

func (a *actor) Signal(name string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if name == "WINCH" {
		return errors.New("not known here")
	}
	a.signals = append(a.signals, name)
	return nil
}

func (a *actor) End(time.Duration) error {
	a.mu.Lock()
	deaf := a.deaf
	a.left = 0
	a.mu.Unlock()
	if deaf != nil {
		return deaf
	}
	a.exit(-1)
	_ = a.out.Close()
	_ = a.in.Close()
	return nil
}

// A crowd is an actor that counts what it left.
type crowd struct{ *actor }

func (c crowd) Left() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.left
}

func (c crowd) set(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left = n
}

// exited waits until it is told that the command of a job has ended.
func exited(t *testing.T, j *Jobs, id string) (info JobInfo) {
	t.Helper()
	await(t, "the exit", func() bool { info, _ = j.Get(id); return info.Exited })
	return info
}

// textOf is the whole output of a job that is kept.
func textOf(t tb, j *Jobs, id string) string {
	t.Helper()
	var out []byte
	for at := int64(0); ; {
		c := must(j.Output(id, at, 0))(t)
		out = append(out, c.Data...)
		if at = c.Next; c.Next >= c.Total {
			return string(out)
		}
	}
}

// await waits for something another process does.
func await(t *testing.T, what string, f func() bool) {
	t.Helper()
	for until := time.Now().Add(time.Minute); !f(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("%s: not seen", what)
		}
	}
}
