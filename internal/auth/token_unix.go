//go:build unix

package auth

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// openFolder opens a folder, not a link to one.
func openFolder(dir string) (*os.File, error) {
	f, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.ENOTDIR) {
		return nil, fmt.Errorf("%s is a link or not a folder; name a folder that is yours", dir)
	}
	return f, err
}

// openFile opens a file, not a link to one, and does not wait for what may be
// a pipe.
func openFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.EMLINK) {
		return nil, fmt.Errorf("%s is a link; remove it", path)
	}
	return f, err
}

// checkPrivate checks that an opened file is ours and not accessible to others.
func checkPrivate(path string, info fs.FileInfo) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || int64(st.Uid) != int64(os.Geteuid()) {
		return fmt.Errorf("%s belongs to another user; name a place that is yours", path)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		if info.IsDir() {
			return fmt.Errorf("%s is open to others (mode %04o); run: chmod 700 %s, or keep the token in a folder of its own", path, mode, path)
		}
		return fmt.Errorf("%s is open to others (mode %04o), who may know the token; remove it and a new one will be made", path, mode)
	}
	return nil
}
