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
	if info.Mode().IsRegular() { // a linked worktree: "gitdir: …/worktrees/name"
		if data, err := os.ReadFile(git); err == nil && len(data) < 1<<16 {
			to := strings.TrimSpace(strings.TrimPrefix(string(data), "gitdir:"))
			if !filepath.IsAbs(to) {
				to = filepath.Join(worktree, to)
			}
			if common, _, ok := strings.Cut(to, string(filepath.Separator)+"worktrees"+string(filepath.Separator)); ok {
				return real(filepath.Dir(common))
			}
		}
	}
	return real(worktree)
}

func real(path string) string {
	if r, err := filepath.EvalSymlinks(path); err == nil {
		return r
	}
	return path
}
