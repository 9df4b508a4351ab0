package workspace_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"helve/internal/workspace"
	"helve/permission"
)

// guards notes which patterns of a request only a rule that names them allows.
type guards []string

func (g *guards) Ask(_ context.Context, req permission.Request) error {
	for _, p := range req.Patterns {
		if words := req.Guards[p]; len(words) > 0 {
			*g = append(*g, p+": "+strings.Join(words, " "))
		}
	}
	return nil
}

func TestGuards(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ws, own := filepath.Join(base, "ws"), filepath.Join(base, "home", ".config", "helve")
	for _, dir := range []string{filepath.Join(ws, "pkg", "deep"), filepath.Join(ws, ".git", "hooks"), own} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../.git/hooks", filepath.Join(ws, "pkg", "innocent")); err != nil {
		t.Fatal(err)
	}
	files := &workspace.Files{Worktree: ws, Own: []string{own}}
	for _, c := range []struct{ dir, name, want string }{
		{".", "main.go", ""},
		{".", ".gitignore", ""},
		{".", ".github/workflows/ci.yml", ""},
		{".", "x.mcp.json", ""},
		{".", "docs/.envrc.md", ""},
		{".", ".git/config", ".git"},
		{".", ".git/hooks/pre-commit", ".git"},
		{".", "sub/.git/hooks/x", ".git"},
		{".", ".git", ".git"},
		{".", ".GIT/config", ".git"},
		{".", ".vscode/tasks.json", ".vscode"},
		{".", ".mcp.json", ".mcp.json"},
		{".", "deep/.envrc", ".envrc"},
		{".", "opencode.json", "opencode.json"},
		{".", "helve.jsonc", "helve.jsonc"},
		{".", ".opencode/tool/x.ts", ".opencode"},
		{".", ".helve", ".helve"},
		{".", "pkg/opencode.json", ""},
		{"pkg", "opencode.json", "opencode.json"},
		{"pkg", "../helve.json", "helve.json"},
		{"pkg/deep", "../helve.json", "helve.json"},
		{"pkg", "deep/helve.json", ""},
		{".", "x/../.opencode/y", ".opencode"},
		{".", ".opencode/../main.go", ""},
		{".", "pkg/innocent/post-merge", ".git"},
		{".", own + "/helve.json", "helve"},
	} {
		p, err := files.Resolve(t.Context(), &asker{}, filepath.Join(ws, c.dir), c.name)
		if err != nil {
			t.Fatal(err)
		}
		var got guards
		if err := files.AskEdit(t.Context(), &got, nil, p); err != nil {
			t.Fatal(err)
		}
		if (c.want == "") != (len(got) == 0) || slices.ContainsFunc(got, func(g string) bool { return !strings.HasSuffix(g, ": "+c.want) }) {
			t.Errorf("%s in %s: guarded by %q, want %q", c.name, c.dir, got, c.want)
		}
	}
}

// A file that is denied under one name is not read under another.
func TestHardLinksAreOneFile(t *testing.T) {
	base, files := tree(t)
	ws := filepath.Join(base, "ws")
	if err := os.Link(filepath.Join(ws, ".env"), filepath.Join(ws, "sub", "innocent")); err != nil {
		t.Skip("no hard links here")
	}
	p, err := files.Resolve(t.Context(), &asker{}, ws, "sub/innocent")
	if err != nil {
		t.Fatal(err)
	}
	a := &asker{deny: func(req permission.Request) bool { return strings.HasSuffix(req.Patterns[0], ".env") }}
	if f, _, err := files.OpenRead(t.Context(), a, p); err == nil {
		f.Close()
		t.Errorf("it was opened; asked were %q", a.asked)
	}
	f, _, err := files.OpenRead(t.Context(), &asker{}, p)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
}

// What a guarded name leads to is guarded under its own name too.
func TestGuardsFollowLinks(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ws := filepath.Join(base, "ws")
	for _, err := range []error{
		os.MkdirAll(filepath.Join(ws, "editor"), 0o755),
		os.MkdirAll(filepath.Join(ws, "kept", "hooks"), 0o755),
		os.Symlink("editor", filepath.Join(ws, ".vscode")),
		os.Symlink("env/rc", filepath.Join(ws, ".envrc")),
		os.WriteFile(filepath.Join(ws, ".git"), []byte("gitdir: kept\n"), 0o644),
		os.Symlink("../linked", filepath.Join(ws, "kept", "info")),
		os.MkdirAll(filepath.Join(ws, "shared"), 0o755),
		os.WriteFile(filepath.Join(ws, "kept", "commondir"), []byte("../shared\n"), 0o644),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	files := &workspace.Files{Worktree: ws}
	for name, want := range map[string]string{
		"editor/tasks.json": ".vscode", "env/rc": ".envrc", "kept/hooks/pre-commit": ".git", "linked/x": ".git", "shared/hooks/x": ".git", "editors/x": "", "env/rd": "",
	} {
		p, err := files.Resolve(t.Context(), &asker{}, ws, name)
		if err != nil {
			t.Fatal(err)
		}
		var got guards
		if err := files.AskEdit(t.Context(), &got, nil, p); err != nil {
			t.Fatal(err)
		}
		if (want == "") != (len(got) == 0) || len(got) > 0 && got[0] != name+": "+want {
			t.Errorf("%s: guarded by %q, want %q", name, got, want)
		}
	}
}
