package lspclient

import (
	"errors"
	"fmt"
	"github.com/helve-dev/helve/lsp"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Whatever a server does, and whenever, a change returns within its bound, with
// what is known or with the server's name among those that are pending, and
// nothing of the server is left.
func TestFaults(t *testing.T) {
	t.Parallel()
	stages := []string{
		"initialize", "initialized", "textDocument/didOpen", "textDocument/didChange", "textDocument/publishDiagnostics",
		"textDocument/hover", "shutdown", "exit",
	}
	kinds := map[string][]string{}
	for _, stage := range stages {
		for _, kind := range []string{"never", "garbage", "deaf", "die"} {
			kinds[kind+" "+stage] = []string{"--" + kind, stage}
		}
	}
	kinds["die start"] = []string{"--die", "start"}
	kinds["die after initialize"] = []string{"--die", "after-initialize"}
	kinds["late"] = []string{"--delay", "initialize=200", "--delay", "textDocument/hover=60000"}
	kinds["flood"] = []string{"--flood", "20000"}
	kinds["child"] = []string{"--child", "--never", "exit"}
	kinds["stray"] = []string{"--stray"}
	for name, flags := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, func(o *Options) {
				o.Wait, o.Request, o.Start = 1500*time.Millisecond, 1500*time.Millisecond, 3*time.Second
			}, flags...)
			for i := range 3 {
				path := b.write("a.foo", fmt.Sprintf("ERROR %d\n", i))
				begun := time.Now()
				r := b.Check(t.Context(), Question{Files: []string{path}, Before: b.Before(b.t.Context())})
				if len(r.Files) == 1 && (len(r.Files[0].Diagnostics) != 1 || r.Files[0].Diagnostics[0].Message != fmt.Sprintf("error found: ERROR %d", i)) {
					t.Errorf("round %d: something else than what is there is reported: %+v", i, r)
				}
				if took := time.Since(begun); took > 20*time.Second { // ten times its bound, for a machine with much to do
					t.Errorf("round %d: it took %s", i, took)
				}
				views, err := b.Open(t.Context(), path)
				if err != nil {
					if _, ok := errors.AsType[*Unavailable](err); !ok {
						t.Errorf("round %d: %v is no reason that a caller understands", i, err)
					}
					continue
				}
				_, err = views[0].Call(t.Context(), "textDocument/hover", map[string]any{
					"textDocument": map[string]any{"uri": views[0].URI()}, "position": views[0].At(1, 1),
				})
				if err != nil && !strings.Contains(err.Error(), "fake") {
					t.Errorf("round %d: the error does not name the server: %v", i, err)
				}
			}
		})
	}
}

// A server that ends is started again, later and later, and then given up with
// its last words; a restart begins anew.
func TestCrashes(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil, "--die", "textDocument/didOpen=7")
	path := b.write("a.foo", "x\n")
	deadline := time.Now().Add(60 * time.Second)
	for time.Now().Before(deadline) {
		r := b.Check(t.Context(), Question{Files: []string{path}, Before: b.Before(b.t.Context())})
		if len(r.Files) > 0 {
			t.Fatalf("a server that ended has reported %+v", r)
		}
		if st := b.Status(); len(st) == 1 && st[0].State == lsp.StateBroken {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	st := b.until(lsp.StateBroken)
	if !strings.Contains(st.Error, "exit code 7") || !strings.Contains(st.Error, "fatal at textDocument/didOpen") || st.Restarts != maxLives-1 {
		t.Errorf("%+v", st)
	}
	_, err := b.Open(t.Context(), path)
	if gone, ok := errors.AsType[*Unavailable](err); !ok || !strings.Contains(gone.Why, "exit code 7") {
		t.Errorf("asked again: %v", err)
	}
	if ids, err := b.Restart(t.Context(), path); err != nil || len(ids) != 1 {
		t.Errorf("restart: %v %v", ids, err)
	}
}

// One that ended once goes on after its restart, with its files open again.
func TestRecovers(t *testing.T) {
	t.Parallel()
	once := filepath.Join(t.TempDir(), "once")
	b := newBench(t, nil, "--die", "textDocument/hover", "--once", once)
	path := b.write("a.foo", "ERROR x\n")
	b.errors(nil, "a.foo")
	views, err := b.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = views[0].Call(t.Context(), "textDocument/hover", map[string]any{"textDocument": map[string]any{"uri": views[0].URI()}, "position": views[0].At(1, 1)})
	if err == nil {
		t.Fatal("it should have ended")
	}
	deadline := time.Now().Add(30 * time.Second)
	for {
		r := b.Check(t.Context(), Question{Files: []string{path}})
		if len(r.Files) == 1 && len(r.Files[0].Diagnostics) == 1 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("it has not come back: %+v %+v", r, b.Status())
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// A server that holds too much memory is stopped, and says why.
func TestTooMuchMemory(t *testing.T) {
	t.Parallel()
	if rss(os.Getpid()) == 0 {
		t.Skip("what a process holds can not be known on this system")
	}
	b := newBench(t, func(o *Options) { o.Memory, o.Idle = 150<<20, 4*time.Second }, "--grow", "300")
	path := b.write("a.foo", "x\n")
	deadline := time.Now().Add(60 * time.Second)
	for time.Now().Before(deadline) {
		b.Check(t.Context(), Question{Files: []string{path}})
		if b.Status()[0].State == lsp.StateBroken {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if st := b.until(lsp.StateBroken); !strings.Contains(st.Error, "memory_bytes") {
		t.Errorf("%+v", st)
	}
}

// Closing while servers start, work and wait leaves nothing.
func TestCloseAtAnyTime(t *testing.T) {
	t.Parallel()
	for i := range 12 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			b := newBench(t, nil, "--delay", "initialize=50", "--delay", "textDocument/publishDiagnostics=50")
			path := b.write("a.foo", "x\n")
			done := make(chan struct{})
			go func() {
				defer close(done)
				b.Check(t.Context(), Question{Files: []string{path}})
			}()
			time.Sleep(time.Duration(i) * 15 * time.Millisecond) // somewhere in its life
			if err := b.Close(); err != nil {
				t.Error(err)
			}
			<-done
		})
	}
}
