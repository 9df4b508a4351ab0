package files_test

import (
	"github.com/helve-dev/helve/internal/files"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Files that git tracks or surely ignores are left out, and no others.
func TestStaging(t *testing.T) {
	t.Parallel()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(top, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir = top
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	git("init", "-q")
	write("tracked/.env", "1")
	git("add", "-A")
	write(".gitignore", "*.env\nnode_modules/\n")
	write("open/.gitignore", "!x.env\n")
	write(".git/info/exclude", "mine\n")
	s := &files.Staging{}
	for _, c := range []struct {
		name         string
		folder, want bool
	}{
		{"tracked/.env", false, true},
		{"tracked", true, false},
		{"prod.env", false, true},
		{"sub/deep/prod.env", false, true},
		{"node_modules", true, true},
		{"node_modules", false, false},
		{"a/node_modules/b/c.txt", false, true},
		{"open/x.env", false, false},
		{"mine", false, true},
		{"a.txt", false, false},
		{"sub", true, false},
	} {
		if got := s.LeavesOut(filepath.Join(top, c.name), c.folder); got != c.want {
			t.Errorf("%s: %t, want %t", c.name, got, c.want)
		}
	}
	if s.LeavesOut(filepath.Join(t.TempDir(), "prod.env"), false) {
		t.Error("left out where there is no repository")
	}
}
