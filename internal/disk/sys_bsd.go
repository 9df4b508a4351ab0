//go:build (freebsd || netbsd || openbsd || dragonfly) && !disk_simple

package disk

import (
	"errors"

	"golang.org/x/sys/unix"
)

// walkFlag opens a folder in order to open something below it.
const walkFlag = unix.O_RDONLY

// exchange is not supported.
func exchange(int, string, string) error { return unix.ENOSYS }

// renameNew is not supported.
func renameNew(int, string, string) error { return unix.ENOSYS }

// unsupported reports whether an error says that the system or the file system does not support a
// call.
func unsupported(err error) bool {
	return errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EOPNOTSUPP)
}

// flush writes a file to the disk.
func flush(fd int) error { return again(func() error { return unix.Fsync(fd) }) }
