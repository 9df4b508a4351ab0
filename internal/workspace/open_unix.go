//go:build unix

package workspace

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// openReal opens a name that holds no links, folder by folder and without
// following any: what is opened is what the name said when it was resolved,
// or nothing, also when somebody swaps a folder for a link meanwhile.
func openReal(name string, flags int) (*os.File, error) {
	const sep = string(filepath.Separator)
	fail := func(err error) error { return &fs.PathError{Op: "open", Path: name, Err: err} }
	parts := strings.Split(strings.Trim(filepath.Clean(name), sep), sep)
	last := len(parts) - 1
	dir, err := openat(unix.AT_FDCWD, sep, unix.O_DIRECTORY|walkFlag)
	if err != nil {
		return nil, fail(err)
	}
	for _, part := range parts[:last] {
		next, err := openat(dir, part, unix.O_DIRECTORY|unix.O_NOFOLLOW|walkFlag)
		_ = unix.Close(dir)
		if err != nil {
			return nil, fail(err)
		}
		dir = next
	}
	if parts[last] == "" { // the root itself
		parts[last] = "."
	}
	fd, err := openat(dir, parts[last], flags|unix.O_NOFOLLOW)
	_ = unix.Close(dir)
	if err != nil {
		return nil, fail(err)
	}
	return os.NewFile(uintptr(fd), name), nil
}

func openat(dir int, name string, flags int) (int, error) {
	for {
		fd, err := unix.Openat(dir, name, flags|unix.O_CLOEXEC, 0)
		if err != unix.EINTR {
			return fd, err
		}
	}
}
