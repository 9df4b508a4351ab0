package files_test

import (
	"github.com/helve-dev/helve/internal/files"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestProtected(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	files := &files.Workspace{Worktree: top, Own: []string{filepath.Join(top, "data")}, Home: filepath.Join(top, "home")}
	check := func(names ...string) {
		t.Helper()
		got := files.Protected(top)
		for _, name := range names {
			if !slices.Contains(got, filepath.Join(top, name)) {
				t.Errorf("%s is not protected: %q", name, got)
			}
		}
	}
	check(".git/hooks", ".git/config", ".git/commondir", ".git/config.worktree", ".mcp.json", ".envrc", "helve.json", "data", "commondir", "refs", ".claude", ".codex", ".gemini", ".cursor",
		".github/workflows", ".husky", ".devcontainer", ".idea")
	if got := files.Protected(top); slices.Contains(got, filepath.Join(top, "lefthook.yml")) {
		t.Errorf("a folder in the place of a file that is not there: %q", got)
	}
	for _, name := range []string{"lefthook.yml", ".roo/mcp.json", "x.code-workspace", "home/.bashrc", "home/.config/git/config"} {
		put(t, filepath.Join(top, name), "x")
	}
	check("lefthook.yml", ".roo", "x.code-workspace", "home/.bashrc", "home/.config/git")
	for _, step := range []struct{ made, held, free string }{
		{"refs", "refs", "objects"}, // empty: it may be there to hold the name
		{"refs/own", "objects", "refs"},
		{"objects/own", "HEAD", "objects"},
		{"HEAD/own", ".git/commondir", "HEAD"},
	} {
		if err := os.MkdirAll(filepath.Join(top, step.made), 0o755); err != nil {
			t.Fatal(err)
		}
		check(step.held)
		if slices.Contains(files.Protected(top), filepath.Join(top, step.free)) {
			t.Errorf("%s is the project's own, and protected", step.free)
		}
	}
	if err := os.Symlink("/nonexistent/x", filepath.Join(top, ".git")); err != nil {
		t.Fatal(err)
	}
	check(".git/hooks", ".git/config")
	if err := os.Remove(filepath.Join(top, ".git")); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"repo/worktrees/w", "repo/modules/sub/hooks"} {
		if err := os.MkdirAll(filepath.Join(top, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{".git": "gitdir: repo/worktrees/w\n", "repo/worktrees/w/config.worktree": "", "repo/modules/sub/config": ""} {
		if err := os.WriteFile(filepath.Join(top, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	check(".git", "repo/config", "repo/hooks", "repo/worktrees/w/config.worktree", "repo/worktrees/w/commondir", "repo/modules/sub/config", "repo/modules/sub/hooks", "repo/modules/sub/commondir")
}
