package command

import (
	"os"
	"path/filepath"
	"strings"
)

// revision reports whether a word of a git command names a branch, a tag or a commit of the
// worktree. Any other word is a file, even a missing one, which git restores.
func (f *accessFinder) revision(word string) bool {
	if isObjectName(word) {
		return true
	}
	top := f.files.Worktree
	if top == "" || filepath.Dir(top) == top {
		top = f.place.Dir
	}
	git := filepath.Join(top, ".git")
	switch info, err := os.Stat(git); {
	case err != nil:
		return true // without a repository nothing is put back
	case !info.IsDir(), filepath.IsAbs(word), strings.Contains(word, ".."):
		return false
	}
	for _, in := range []string{"heads", "tags", "remotes", "remotes/origin"} {
		if _, err := os.Stat(filepath.Join(git, "refs", in, word)); err == nil {
			return true
		}
	}
	if f.packed == "" {
		packed, err := os.ReadFile(filepath.Join(git, "packed-refs"))
		if err != nil {
			packed = []byte("\n")
		}
		f.packed = string(packed)
	}
	return strings.Contains(f.packed, "/"+word+"\n")
}

// isObjectName reports whether a word looks like the id of a commit.
func isObjectName(word string) bool {
	return word == "" || strings.ContainsAny(word, "~^:@{}") || strings.HasSuffix(word, "HEAD") ||
		len(word) >= 4 && strings.Trim(word, "0123456789abcdef") == ""
}
