//go:build !disk_simple

package disk

import (
	"errors"

	"golang.org/x/sys/unix"
)

// walkFlag opens a folder only to open something below it.
const walkFlag = unix.O_SEARCH

// exchange atomically swaps two files of a folder.
func exchange(dir int, a, b string) error {
	return retryInterrupted(func() error { return unix.RenameatxNp(dir, a, dir, b, unix.RENAME_SWAP) })
}

// renameNew renames a file unless the new name is taken.
func renameNew(dir int, from, to string) error {
	return retryInterrupted(func() error { return unix.RenameatxNp(dir, from, dir, to, unix.RENAME_EXCL) })
}

// unsupported reports whether an error says that the system or the file system does not support a
// call.
func unsupported(err error) bool {
	return errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.ENOTSUP)
}

// flush writes a file to the disk, through the cache of the drive where possible.
func flush(fd int) error {
	err := retryInterrupted(func() error { _, err := unix.FcntlInt(uintptr(fd), unix.F_FULLFSYNC, 0); return err })
	if err != nil && unsupported(err) {
		return retryInterrupted(func() error { return unix.Fsync(fd) })
	}
	return err
}
