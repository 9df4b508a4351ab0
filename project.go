package helve

import (
	"os"
	"path/filepath"
	"strings"
)

// projectOf identifies the project of a folder: the path of its git repository, which linked
// worktrees share, or else the folder itself.
func projectOf(worktree, dir string) string {
	git := filepath.Join(worktree, ".git")
	info, err := os.Lstat(git)
	if err != nil {
		return real(dir)
	}
	if info.Mode().IsRegular() {
		if common, ok := linkedRepository(worktree, git); ok {
			return real(common)
		}
	}
	return real(worktree)
}

// linkedRepository returns the repository of a linked worktree, whose .git is a file with "gitdir:
// …/.git/worktrees/name". It accepts that only if that folder points back, because a file can say
// anything and the project decides which approvals hold.
func linkedRepository(worktree, git string) (string, bool) {
	to, ok := strings.CutPrefix(readShortLine(git), "gitdir:")
	if !ok {
		return "", false
	}
	to = strings.TrimSpace(to)
	if !filepath.IsAbs(to) {
		to = filepath.Join(worktree, to)
	}
	to, err := filepath.EvalSymlinks(to)
	if err != nil { // missing, or not trusted
		return "", false
	}
	back := readShortLine(filepath.Join(to, "gitdir"))
	if !filepath.IsAbs(back) {
		back = filepath.Join(to, back)
	}
	if real(back) != real(git) {
		return "", false
	}
	kept := filepath.Dir(to) // …/.git/worktrees
	common := filepath.Dir(kept)
	return filepath.Dir(common), filepath.Base(kept) == "worktrees" && filepath.Base(common) == ".git"
}

// readShortLine returns the content of a file with one short line, or "" for any other.
func readShortLine(name string) string {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 1<<16 {
		return ""
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

func real(path string) string {
	if r, err := filepath.EvalSymlinks(path); err == nil {
		return r
	}
	return path
}
