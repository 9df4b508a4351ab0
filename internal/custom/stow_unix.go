//go:build unix

package custom

import (
	"os"
	"path/filepath"
	"syscall"
)

// stowed are the folders that links of a user's own config folder lead to, where the user owns both the link and the folder: settings
// that are kept elsewhere and linked into place. Imports may lead there too. A folder that comes with a project brings no others.
func (u *unit) stowed(root string) (dirs []string) {
	if u.project || u.source == nil {
		return nil
	}
	if _, folder := u.source.(*folderSource); !folder {
		return nil
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil
	}
	own := func(info os.FileInfo, err error) bool {
		if err != nil {
			return false
		}
		st, ok := info.Sys().(*syscall.Stat_t)
		return ok && int(st.Uid) == os.Getuid()
	}
	for _, e := range entries {
		path := filepath.Join(root, e.Name())
		if e.Type()&os.ModeSymlink == 0 || !own(os.Lstat(path)) {
			continue
		}
		if info, err := os.Stat(path); own(info, err) && info.IsDir() {
			dirs = append(dirs, path)
		}
	}
	return dirs
}
