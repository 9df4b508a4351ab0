package helve

import (
	"os"
	"path/filepath"
	"strings"
)

// projectOf names the project a folder belongs to: where its git repository
// is kept, so that linked worktrees share it, or the folder itself.
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

// linkedRepository finds the repository of a linked worktree, whose .git is a file with
// "gitdir: …/.git/worktrees/name". It is believed only where that folder
// points back: a file can say anything, and the project decides which
// approvals hold.
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
	if err != nil { // it is there, or it is not believed
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

// readShortLine reads a file of one short line; "" for any other.
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
