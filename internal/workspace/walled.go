package workspace

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Protected returns the files and folders that change what runs, or what is
// allowed, later: those that [Files.AskEdit] lets nobody write to without a
// rule that names them, as far as they are known beforehand. Of a repository
// it is what makes git run programs; the rest has to change with every
// commit. Some may not exist.
func (f *Files) Protected(dir string) []string {
	var out []string
	add := func(path string) {
		real := realName(path)
		if _, err := os.Stat(filepath.Dir(path)); err != nil {
			real = path
		}
		if !slices.Contains(out, real) {
			out = append(out, real)
		}
	}
	top := realName(f.top(dir))
	for d := realName(dir); within(top, d); d = filepath.Dir(d) {
		at := filepath.Join(d, ".git")
		git := keptAt(realName(at))
		if _, err := os.Stat(at); err != nil { // nothing, or a link that leads nowhere
			git = at
		}
		for _, base := range []string{"hooks", "config"} {
			add(filepath.Join(git, base))
		}
		if info, err := os.Lstat(at); err == nil && info.Mode().IsRegular() {
			add(at) // it names the repository, and another one would have other hooks
		}
		for _, path := range gitConfigs(git) {
			add(path)
		}
		for _, base := range []string{".vscode", ".mcp.json", ".envrc", ".opencode", ".helve", "opencode.json", "opencode.jsonc", "helve.json", "helve.jsonc"} {
			add(filepath.Join(d, base))
		}
		if isRoot(d) {
			break
		}
	}
	for _, own := range f.Own {
		add(own)
	}
	return out
}

// Names returns what gives the names of a file that rules for reading are
// about, as seen by a call in dir.
func (f *Files) Names(dir string) func(file string) []string {
	top, real := f.top(dir), realName(f.top(dir))
	if real == top {
		return func(file string) []string { return []string{file, relative(top, file)} }
	}
	return func(file string) []string { return []string{file, relative(top, file), relative(real, file)} }
}

// gitConfigs finds the other places of a repository from which git takes
// programs to run, where they exist: those of worktrees and of submodules.
func gitConfigs(git string) (out []string) {
	const most = 200
	for _, pattern := range []string{
		"config.worktree", "worktrees/*/config.worktree", "modules/*/config", "modules/*/hooks", "modules/*/modules/*/config", "modules/*/modules/*/hooks",
		"modules/*/*/config", "modules/*/*/hooks",
	} {
		found, err := filepath.Glob(filepath.Join(globQuoted(git), filepath.FromSlash(pattern)))
		if err != nil { // the pattern is ours
			continue
		}
		out = append(out, found...)
	}
	return out[:min(len(out), most)]
}

// globQuoted is a name as a pattern that matches it alone.
func globQuoted(name string) string {
	return strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `\`, `\\`).Replace(name)
}
