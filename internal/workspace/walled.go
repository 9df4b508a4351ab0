package workspace

import (
	"path/filepath"
	"slices"
)

// Protected returns the files and folders that change what runs, or what is
// allowed, later: those that [Files.AskEdit] lets nobody write to without a
// rule that names them, as far as they are known beforehand. Of a repository
// it is what makes git run programs; the rest has to change with every
// commit. Some may not exist. What lies outside of the worktree is not among
// them.
func (f *Files) Protected(dir string) []string {
	var out []string
	add := func(path string) {
		if real := realName(path); !slices.Contains(out, real) {
			out = append(out, real)
		}
	}
	top := realName(f.top(dir))
	for d := realName(dir); within(top, d); d = filepath.Dir(d) {
		git := keptAt(realName(filepath.Join(d, ".git")))
		add(filepath.Join(git, "hooks"))
		add(filepath.Join(git, "config"))
		for _, base := range []string{".vscode", ".mcp.json", ".envrc", ".opencode", ".helve", "opencode.json", "opencode.jsonc", "helve.json", "helve.jsonc"} {
			add(filepath.Join(d, base))
		}
		if isRoot(d) {
			break
		}
	}
	for _, own := range f.Own {
		if within(top, realName(own)) {
			add(own)
		}
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
