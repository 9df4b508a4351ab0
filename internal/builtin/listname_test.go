package builtin

import (
	"github.com/helve-dev/helve/internal/files"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The name of a folder does not make entries of its own.
func TestListHeading(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(top, "a\n  faked"), 0o700); err != nil {
		t.Skip("no such names here: ", err)
	}
	if err := os.WriteFile(filepath.Join(top, "a\n  faked", "real"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	files := &files.Workspace{Worktree: top}
	dir, err := files.ResolveFolder(t.Context(), nil, top, "a\n  faked")
	if err != nil {
		t.Fatal(err)
	}
	result, err := listing(t.Context(), files, dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Split(result.Output, "\n"); len(lines) != 3 || lines[1] != "  real" {
		t.Errorf("got %q", result.Output)
	}
}
