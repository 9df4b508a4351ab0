package files_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/helve-dev/helve/internal/files"
	"github.com/helve-dev/helve/permission"
)

// guards notes which patterns of a request only a rule that names them allows.
type guards []string

func (g *guards) Ask(_ context.Context, reqs ...permission.Request) error {
	for _, req := range reqs {
		err := func() error {
			for _, p := range req.Patterns {
				if words := req.Guards[p]; len(words) > 0 {
					*g = append(*g, p+": "+strings.Join(words, " "))
				}
			}
			return nil
		}()
		if err != nil {
			return err
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
	home := filepath.Join(base, "home")
	paths := &files.Workspace{Worktree: ws, Own: []string{own}, Home: home}
	for _, c := range []struct{ dir, name, want string }{
		{".", "main.go", ""},
		{".", ".gitignore", ""},
		{".", ".github/workflows/ci.yml", "workflows"},
		{".", ".github", ".github"}, // another folder could be put in its place
		{".", ".github/ISSUE_TEMPLATE/bug.md", ""},
		{".", ".github/dependabot.yml", ""},
		{".", ".claude/settings.json", ".claude"},
		{".", ".claude/settings.local.json", ".claude"},
		{".", "pkg/.claude/hooks/x.sh", ".claude"},
		{".", ".CLAUDE/commands/x.md", ".claude"},
		{".", "CLAUDE.md", ""},
		{".", ".qoder/mcp.json", ".qoder"},
		{".", ".codesandbox/tasks.json", ".codesandbox"},
		{".", "../home/.config/husky/init.sh", "husky"},
		{".", "../home/.config/Code - Insiders/User/settings.json", "user"},
		{".", "../home/.wezterm.lua", ".wezterm.lua"},
		{".", ".codex/config.toml", ".codex"},
		{".", ".gemini/settings.json", ".gemini"},
		{".", ".cursor/mcp.json", ".cursor"},
		{".", ".cursorrules", ""},
		{".", ".opencode.json", ".opencode.json"},
		{".", "x/.claude-plugin/plugin.json", ".claude-plugin"},
		{".", ".travis.yml", ".travis.yml"},
		{".", ".buildkite/pipeline.yml", ".buildkite"},
		{".", "Jenkinsfile", "jenkinsfile"},
		{".", ".husky/pre-commit", ".husky"},
		{".", ".devcontainer/devcontainer.json", ".devcontainer"},
		{".", ".devcontainer.json", ".devcontainer.json"},
		{".", ".idea/runConfigurations/x.xml", ".idea"},
		{".", "x.code-workspace", ".code-workspace x.code-workspace"},
		{".", ".clinerules/hooks/TaskStart", "hooks"},
		{".", ".clinerules/style.md", ""},
		{".", "package.json", ""},
		{".", ".npmrc", ""},
		{".", ".cargo/config.toml", ""},
		{".", ".bashrc", ""}, // not at home
		{".", ".ssh/config", ""},
		{".", "../home/.bashrc", ".bashrc"},
		{".", "../home/.ssh/authorized_keys", ".ssh"},
		{".", "../home/.config/fish/config.fish", "fish"},
		{".", "../home/.config", ".config"},
		{".", "../home/.claude.json", ".claude.json"},
		{".", "../home/.claude/settings.json", ".claude"},
		{".", "../home/notes.txt", ""},
		{"../home/.config/nvim", "init.lua", ""}, // a workspace of its own
		{"../home/.codex/worktrees/1", "main.go", ""},
		{"../home/.codex/worktrees/1", "../../config.toml", ".codex"},
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
		in := paths
		if strings.HasPrefix(c.dir, "../home") {
			in = &files.Workspace{Worktree: filepath.Join(ws, c.dir), Home: home}
		}
		p, err := in.Resolve(t.Context(), &asker{}, filepath.Join(ws, c.dir), c.name)
		if err != nil {
			t.Fatal(err)
		}
		var got guards
		if err := in.AskEdit(t.Context(), &got, nil, p); err != nil {
			t.Fatal(err)
		}
		named := func(g string) bool {
			return strings.HasSuffix(g, ": "+c.want) || strings.Contains(g+" ", ": "+c.want+" ")
		}
		if (c.want == "") != (len(got) == 0) || slices.ContainsFunc(got, func(g string) bool { return !named(g) }) {
			t.Errorf("%s in %s: guarded by %q, want %q", c.name, c.dir, got, c.want)
		}
	}
}

// A new folder on the way to a protected name is an ordinary folder; one of
// the name itself, or below it, is not.
func TestGuardsOfNewFolders(t *testing.T) {
	base, files := tree(t)
	ws := filepath.Join(base, "ws")
	files.Home = filepath.Join(base, "home")
	for name, guarded := range map[string]bool{
		".github": false, ".github/workflows": true, ".claude": true, ".claude/agents": true, ".config": false, ".config/mise": true,
		"../home/.local": false, "../home/.local/share/shop": false, "../home/.local/bin": true, "../home/.ssh": true,
	} {
		p, err := files.Resolve(t.Context(), &asker{}, ws, name)
		if err != nil {
			t.Fatal(err)
		}
		var got guards
		if err := files.AskEdit(t.Context(), &got, nil, p.AsFolder()); err != nil {
			t.Fatal(err)
		}
		if (len(got) > 0) != guarded {
			t.Errorf("making %s: guarded by %q", name, got)
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
	files := &files.Workspace{Worktree: ws}
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

// A folder becomes a repository by what is put in it: from then on, what git
// reads there has to be named, also where one change makes all of it.
func TestGuardsBareRepositories(t *testing.T) {
	for name, c := range map[string]struct {
		there string
		edit  []string
		want  bool
	}{
		"config beside the rest":  {"sub/HEAD sub/objects/x sub/refs/x", []string{"sub/config"}, true},
		"a hook":                  {"sub/HEAD sub/objects/x sub/refs/x", []string{"sub/hooks/post-checkout"}, true},
		"the last piece":          {"sub/config sub/objects/x sub/refs/x", []string{"sub/HEAD"}, true},
		"objects as the last":     {"sub/config sub/HEAD sub/refs/x", []string{"sub/objects/pack/x"}, true},
		"at once":                 {"a.txt", []string{"sub/HEAD", "sub/objects/x", "sub/refs/heads/x", "sub/config"}, true},
		"with a commondir":        {"sub/HEAD", []string{"sub/commondir"}, true},
		"in upper and lower case": {"sub/HEAD sub/objects/x sub/refs/x", []string{"sub/Config"}, true},
		"the worktree itself":     {"objects/x refs/x", []string{"HEAD"}, true},
		"other files in it":       {"sub/HEAD sub/objects/x sub/refs/x", []string{"sub/main.go"}, false},
		"a config elsewhere":      {"sub/HEAD sub/objects/x", []string{"sub/config"}, false},
		"names alone":             {"a.txt", []string{"objects/x.go", "refs/x.go", "config"}, false},
		"a worktree in one":       {"../HEAD ../objects/x ../refs/x", []string{"config/x.go", "main.go"}, false},
	} {
		base, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		ws := filepath.Join(base, "repo", "ws")
		if err := os.MkdirAll(ws, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, file := range strings.Fields(c.there) {
			put(t, filepath.Join(ws, file), "x")
		}
		workspace := &files.Workspace{Worktree: ws, Home: base}
		var edited []files.Path
		for _, file := range c.edit {
			p, err := workspace.Resolve(t.Context(), &asker{}, ws, file)
			if err != nil {
				t.Fatal(err)
			}
			edited = append(edited, p)
		}
		var got guards
		if err := workspace.AskEdit(t.Context(), &got, nil, edited...); err != nil {
			t.Fatal(err)
		}
		if c.want != slices.ContainsFunc(got, func(g string) bool { return strings.HasSuffix(g, ": .git") }) || !c.want && len(got) > 0 {
			t.Errorf("%s: guarded by %q, want %v", name, got, c.want)
		}
	}
}

// What the settings of git lead to is guarded as they are.
func TestGuardsWhatGitPointsTo(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ws, home := filepath.Join(base, "ws"), filepath.Join(base, "home")
	put(t, filepath.Join(ws, ".git/HEAD"), "ref: refs/heads/main\n")
	put(t, filepath.Join(ws, ".git/config"), "[core]\n\trepositoryformatversion = 0\n\thooksPath = \"scripts/hooks\" # ours\n"+
		"[include]\n\tpath = ../team.gitconfig\n[filter \"a]b\"] clean = ./tools/clean.sh %f\n[alias] x = !sh tools/alias.sh\n[remote \"o\"]\n\tfetch = +refs/heads/*:refs/x\n")
	put(t, filepath.Join(ws, "team.gitconfig"), "[diff \"x\"]\n\ttextconv = \\\n tools/conv.sh\n[includeIf \"gitdir:~/\"]\n\tpath = more/config\n")
	put(t, filepath.Join(home, ".gitconfig"), "[core]\n\thooksPath = ~/shared-hooks\n[core]\n\tpager = less\n")
	for _, name := range []string{"tools/clean.sh", "tools/alias.sh", "tools/conv.sh", "tools/other.sh", "refs/x"} {
		put(t, filepath.Join(ws, name), "x")
	}
	files := &files.Workspace{Worktree: ws, Home: home}
	held := files.Protected(ws)
	for name, want := range map[string]bool{
		"scripts/hooks/pre-commit": true, "team.gitconfig": true, "more/config": true, "tools/clean.sh": true, "tools/alias.sh": true, "tools/conv.sh": true,
		"../home/shared-hooks/pre-commit": true, "tools/other.sh": false, "scripts/x.sh": false, "refs/x": false,
	} {
		p, err := files.Resolve(t.Context(), &asker{}, ws, name)
		if err != nil {
			t.Fatal(err)
		}
		var got guards
		if err := files.AskEdit(t.Context(), &got, nil, p); err != nil {
			t.Fatal(err)
		}
		if want != (len(got) > 0) {
			t.Errorf("%s: guarded by %q, want %v", name, got, want)
		}
		behind := slices.ContainsFunc(held, func(h string) bool { return p.String() == h || strings.HasPrefix(p.String(), h+"/") })
		if behind != want {
			t.Errorf("%s: held behind the wall: %v", name, behind)
		}
	}
}

func put(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
