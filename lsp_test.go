package helve_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/internal/lspclient/lsptest"
	"github.com/helve-dev/helve/lsp"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/record"
	"github.com/helve-dev/helve/tool"
)

// fooServer is a runtime with a language server for .foo files, in a folder of
// its own.
func fooServer(t *testing.T, flags ...string) (*helve.Runtime, string) {
	t.Helper()
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	rt, err := helve.Open(helve.Options{
		Dir: dir, Worktree: dir, Shell: helve.Shell{Helper: self}, Flags: map[string]bool{"lsp": true},
		LSP:    &lsp.Options{Own: []lsp.Server{{Name: "foo", Command: lsptest.Command(flags...), Extensions: []string{".foo"}}}},
		Agents: agent.Specs(agent.SpecOptions{Worktree: dir, User: permission.Ruleset{{Permission: "*", Pattern: "*", Action: permission.Allow}}}),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := rt.Close(); err != nil {
			t.Error(err)
		}
	})
	return rt, dir
}

// do calls a tool and returns its output.
func do(t *testing.T, rt *helve.Runtime, name string, args map[string]any) string {
	t.Helper()
	input, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	res, err := rt.Call(t.Context(), tool.Call{Session: "ses_foo", Tool: name, Input: input})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return res.Output
}

// What a command, an undo or a person changes is known to the servers before
// they are asked the next time.
func TestServersHearOfEveryChange(t *testing.T) {
	t.Parallel()
	rt, dir := fooServer(t)
	file := filepath.Join(dir, "a.foo")
	if out := do(t, rt, "write", map[string]any{"filePath": file, "content": "ERROR first\n"}); !strings.HasPrefix(out, "Wrote file successfully.\n\nLSP errors detected in this file, please fix:\n") {
		t.Errorf("write: %q", out)
	}
	problems := func() string {
		t.Helper()
		return do(t, rt, "lsp", map[string]any{"operation": "diagnostics", "filePath": file})
	}
	if out := problems(); !strings.Contains(out, "ERROR [1:1] error found: ERROR first") {
		t.Errorf("after writing: %q", out)
	}
	do(t, rt, "bash", map[string]any{"command": "echo ERROR by a command > a.foo", "description": "writes"})
	if out := problems(); !strings.Contains(out, "ERROR by a command") || strings.Contains(out, "first") {
		t.Errorf("after a command: %q", out)
	}
	if err := os.WriteFile(file, []byte("fine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := problems(); !strings.Contains(out, "No problems found in a.foo (foo).") {
		t.Errorf("after a person: %q", out)
	}
	do(t, rt, "read", map[string]any{"filePath": file})
	do(t, rt, "edit", map[string]any{"filePath": file, "oldString": "fine", "newString": "WARN careful"})
	if _, err := rt.Records().Undo(t.Context(), record.UndoRequest{Session: "ses_foo", Last: 1}); err != nil {
		t.Fatal(err)
	}
	if out := problems(); !strings.Contains(out, "No problems found") {
		t.Errorf("after an undo: %q", out)
	}
}

// Hosts see servers come and what they find as events, and can ask themselves.
func TestServersAreSeen(t *testing.T) {
	t.Parallel()
	rt, dir := fooServer(t)
	seen := make(chan string, 100)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		defer close(seen)
		for e := range rt.Events(ctx, 0) {
			if strings.HasPrefix(e.Type, "lsp.") {
				seen <- e.Type
			}
		}
	}()
	if err := os.WriteFile(filepath.Join(dir, "a.foo"), []byte("x\nERROR here\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	report, err := rt.LSP().Diagnostics(t.Context(), "a.foo")
	if err != nil || len(report.Files) != 1 || len(report.Files[0].Diagnostics) != 1 {
		t.Fatalf("%+v %v", report, err)
	}
	wanted := map[string]bool{"lsp.updated": true, "lsp.client.diagnostics": true}
	for len(wanted) > 0 {
		delete(wanted, <-seen)
	}
	if st := rt.LSP().Status(); len(st) != 1 || st[0].ID != "foo" || st[0].State != "connected" {
		t.Errorf("%+v", st)
	}
	if ids, err := rt.LSP().Restart(t.Context(), "a.foo"); err != nil || len(ids) != 1 {
		t.Errorf("restart: %v %v", ids, err)
	}
	if _, err := rt.LSP().Diagnostics(t.Context(), "a.bar"); err == nil {
		t.Error("a file that no server takes has a report")
	}
	cancel()
	for range seen {
	}
}

// Without the option there are no servers, and nothing is different.
func TestNoServers(t *testing.T) {
	t.Parallel()
	rt, err := helve.Open(helve.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	if _, err := rt.LSP().Diagnostics(t.Context(), "a.go"); !errors.Is(err, lsp.ErrOff) {
		t.Errorf("%v", err)
	}
	if rt.LSP().Status() != nil || rt.LSP().Found() != nil || rt.LSP().Log("gopls") != nil {
		t.Error("there are servers")
	}
}
