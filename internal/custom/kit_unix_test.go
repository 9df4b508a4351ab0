//go:build unix

package custom

import (
	"context"
	"encoding/json"
	"errors"
	"github.com/helve-dev/helve/internal/process"
	"github.com/helve-dev/helve/internal/script"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// lookPath finds node where it is, and bun where the environment says.
func lookPath(name string) (string, error) {
	if name == "bun" {
		if path := os.Getenv("HELVE_BUN"); path != "" {
			return filepath.EvalSymlinks(path)
		}
		return "", exec.ErrNotFound
	}
	return exec.LookPath(name)
}

// each runs a test with every runtime there is, plainly.
func each(t *testing.T, test func(t *testing.T, k *kit)) {
	for _, name := range []string{"node", "bun"} {
		t.Run(name, func(t *testing.T) {
			if _, err := lookPath(name); err != nil {
				t.Skipf("%s is not here (bun is where HELVE_BUN says)", name)
			}
			test(t, newKit(t, name, true))
		})
	}
}

// A kit is a config folder in a project, and what is needed for a worker of it.
type kit struct {
	t    testing.TB
	dir  string // of the project
	root string // the config folder
	opt  WorkerOptions

	mu    sync.Mutex
	told  []string
	asked []string
}

func newKit(t testing.TB, runtime string, open bool) *kit {
	t.Helper()
	return newKitAt(t, runtime, open, "")
}

// newKitAt makes a kit whose commands have a sandbox of a level.
func newKitAt(t testing.TB, runtime string, open bool, level string) *kit {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	data := t.TempDir()
	var readable []string // where a runtime is installed that the sandbox would hide
	if path, err := lookPath(runtime); err == nil {
		readable = append(readable, filepath.Dir(path))
	}
	if open { // without a keeper it starts much sooner
		self = ""
	}
	room, err := process.NewExecutor(process.ExecutorOptions{
		Dir: dir, Helper: self, Wall: process.SandboxOptions{Level: level, Roots: []string{dir}, Readable: readable}, Private: func(name string) string { return filepath.Join(data, name) },
		Jobs: process.JobsOptions{Dir: filepath.Join(data, "jobs")},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := room.Close(); err != nil {
			t.Error(err)
		}
	})
	k := &kit{t: t, dir: dir, root: filepath.Join(dir, ".config")}
	k.opt = WorkerOptions{Shell: room, Runtime: runtime, Dir: dir, LookPath: lookPath, open: open, Tell: k.tell, Requests: k.answer}
	return k
}

func (k *kit) tell(level, text string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.told = append(k.told, level+": "+text)
}

func (k *kit) heard() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return strings.Join(k.told, "\n")
}

type callKey struct{}

// answer answers requests with what they were, and for whom.
func (k *kit) answer(ctx context.Context, op string, arg json.RawMessage) (json.RawMessage, error) {
	whom, _ := ctx.Value(callKey{}).(string)
	k.mu.Lock()
	k.asked = append(k.asked, op+" "+whom+" "+string(arg))
	k.mu.Unlock()
	switch {
	case op == "client":
		return json.Marshal(map[string]any{"data": map[string]any{"for": whom, "arg": arg}})
	case op == "ask" && strings.Contains(string(arg), "secret"):
		return nil, &script.Fault{Name: "RefusedError", Message: "the rules deny it", Code: "EACCES"}
	case op == "ask" && strings.Contains(string(arg), "plain"):
		return nil, errors.New("no")
	case op == "ask" && strings.Contains(string(arg), "wait"):
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return json.RawMessage("null"), nil
}

func (k *kit) asks() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return append([]string(nil), k.asked...)
}

// write writes a file of the config folder.
func (k *kit) write(name, text string) {
	k.t.Helper()
	path := filepath.Join(k.root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		k.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		k.t.Fatal(err)
	}
}

// start starts a worker of files of the config folder.
func (k *kit) start(files ...string) *Worker {
	k.t.Helper()
	w, err := StartWorker(k.t.Context(), k.opt, WorkerFolder{Root: k.root, Files: files})
	if err != nil {
		k.t.Fatal(err)
	}
	k.t.Cleanup(func() {
		if err := w.Close(); err != nil {
			k.t.Error(err)
		}
	})
	return w
}

// call is a call of the default export of a file.
func call(file, args string) script.ToolCall {
	return script.ToolCall{File: file, Export: "default", Args: json.RawMessage(args), Context: script.ToolContext{SessionID: "s", CallID: "c"}}
}

// run executes the default export of a file.
func (k *kit) run(w *Worker, file, args string) script.Outcome {
	k.t.Helper()
	out, err := w.Execute(k.t.Context(), call(file, args))
	if err != nil {
		k.t.Fatalf("%v\n%s", err, k.heard())
	}
	return out
}
