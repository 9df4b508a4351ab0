package builtin

import (
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/helve-dev/helve/internal/files"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// A slowHost is one whose rules take their time.
type slowHost struct {
	tool.Host
	wait func()
}

func (h slowHost) Allowed(*tool.Call, permission.Request) bool { h.wait(); return true }

// instructed makes a worktree with instructions in a folder, and a file there.
func instructed(t *testing.T) (paths *files.Workspace, top string, file files.Path) {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(top, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"sub/AGENTS.md", "sub/file"} {
		if err := os.WriteFile(filepath.Join(top, name), []byte("text"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	paths = &files.Workspace{Worktree: top}
	if file, err = paths.Resolve(t.Context(), nil, top, "sub/file"); err != nil {
		t.Fatal(err)
	}
	return paths, top, file
}

// A session that gets no further does not keep another one from its
// instructions.
func TestInstructionsBesideASlowOne(t *testing.T) {
	files, top, file := instructed(t)
	i := &instructions{files: files}
	add := func(session string, wait func()) bool {
		res := &tool.Result{Metadata: map[string]any{}}
		i.add(&tool.Call{Session: session, Dir: top, Host: slowHost{wait: wait}}, file, res)
		return res.Metadata["loaded"] != nil
	}
	inside, let := make(chan struct{}), make(chan struct{})
	slow := make(chan bool)
	var once sync.Once
	go func() { slow <- add("slow", func() { once.Do(func() { close(inside); <-let }) }) }()
	<-inside
	if !add("quick", func() {}) {
		t.Error("the quick session was given nothing")
	}
	close(let)
	if !<-slow {
		t.Error("the slow session was given nothing")
	}
}

// Of many reads at once one gives the instructions.
func TestInstructionsOnce(t *testing.T) {
	files, top, file := instructed(t)
	i := &instructions{files: files}
	const reads = 8
	var ready, done sync.WaitGroup
	var given atomic.Int32
	ready.Add(reads)
	for range reads {
		var once sync.Once
		together := func() { once.Do(func() { ready.Done(); ready.Wait() }) }
		done.Go(func() {
			res := &tool.Result{Metadata: map[string]any{}}
			i.add(&tool.Call{Session: "s", Dir: top, Host: slowHost{wait: together}}, file, res)
			if res.Metadata["loaded"] != nil {
				given.Add(1)
			}
		})
	}
	done.Wait()
	if n := given.Load(); n != 1 {
		t.Errorf("given %d times", n)
	}
}
