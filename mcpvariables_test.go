package helve_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/mcp"
	"github.com/helve-dev/helve/mcp/connect"
)

// A local server gets the variables that commands get and its own, and none of
// the keys that the runtime was started with.
func TestServersGetNoKeys(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the server is a shell script")
	}
	t.Setenv("SOME_API_KEY", "very-secret-value")
	t.Setenv("SSH_AUTH_SOCK", "/nowhere/agent")
	dir := t.TempDir()
	seen := filepath.Join(dir, "seen")
	rt := open(t, helve.Options{Dir: dir, Worktree: dir, DataDir: t.TempDir(), MCP: mcp.Options{Client: connect.Client(), Servers: []mcp.Server{
		{Name: "spy", Command: []string{"sh", "-c", `env >"$0.new" && mv "$0.new" "$0"`, seen}, Env: map[string]string{"GIVEN": "to it"}},
	}}})
	if err := rt.MCP().Connect(t.Context(), "spy"); err == nil {
		t.Error("what only prints its variables passed for a server")
	}
	text, err := os.ReadFile(seen)
	if err != nil {
		t.Fatal(err)
	}
	vars := "\n" + string(text)
	for _, want := range []string{"\nGIVEN=to it\n", "\nPATH="} {
		if !strings.Contains(vars, want) {
			t.Errorf("%q is missing in %s", want, vars)
		}
	}
	for _, not := range []string{"SOME_API_KEY", "very-secret-value", "SSH_AUTH_SOCK"} {
		if strings.Contains(vars, not) {
			t.Errorf("%s is among its variables", not)
		}
	}
}
