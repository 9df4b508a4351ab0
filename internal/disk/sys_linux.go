//go:build !disk_simple

package disk

import (
	"errors"
	"strconv"

	"golang.org/x/sys/unix"
)

// walkFlag opens a folder only to open something below it, which does not require the right to list
// it.
const walkFlag = unix.O_PATH

// accessFlags check rights for the effective user.
const accessFlags = unix.AT_EACCESS | unix.AT_SYMLINK_NOFOLLOW

// openWhole opens a name in one call that follows no links. ok is false if the kernel is too old
// for that or a sandbox forbids it.
func openWhole(name string, flags int) (fd int, ok bool, err error) {
	// O_NOFOLLOW would only change the error for a link at the end.
	flags = flags&^unix.O_NOFOLLOW | unix.O_CLOEXEC
	how := unix.OpenHow{Flags: uint64(flags), Resolve: unix.RESOLVE_NO_SYMLINKS}
	err = retryInterrupted(func() error {
		fd, err = unix.Openat2(unix.AT_FDCWD, name, &how)
		return err
	})
	switch err {
	case unix.ENOSYS, unix.EPERM, unix.EINVAL, unix.E2BIG:
		return -1, false, nil
	}
	return fd, true, err
}

// exchange atomically swaps two files of a folder.
func exchange(dir int, a, b string) error {
	return retryInterrupted(func() error { return unix.Renameat2(dir, a, dir, b, unix.RENAME_EXCHANGE) })
}

// renameNew renames a file unless the new name is taken.
func renameNew(dir int, from, to string) error {
	return retryInterrupted(func() error { return unix.Renameat2(dir, from, dir, to, unix.RENAME_NOREPLACE) })
}

// unsupported reports whether an error says that the system or the file system does not support a
// call.
func unsupported(err error) bool {
	return errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EOPNOTSUPP)
}

// openNameless creates a file in a folder without a name, so that nothing is left of it if the
// process is killed.
func openNameless(dir int, mode uint32) (fd int, err error) {
	err = retryInterrupted(func() error {
		fd, err = unix.Openat(dir, ".", unix.O_TMPFILE|unix.O_WRONLY|unix.O_CLOEXEC, mode)
		return err
	})
	if err == unix.EISDIR || err == unix.ENOENT { // kernels without this flag
		err = unix.EOPNOTSUPP
	}
	return fd, err
}

// nameFile gives a file from openNameless a name, which must be free.
func nameFile(fd, dir int, name string) error {
	err := retryInterrupted(func() error {
		return unix.Linkat(unix.AT_FDCWD, "/proc/self/fd/"+strconv.Itoa(fd), dir, name, unix.AT_SYMLINK_FOLLOW)
	})
	if err != unix.ENOENT && err != unix.ENOTDIR {
		return err
	}
	// There is no /proc.
	err = retryInterrupted(func() error { return unix.Linkat(fd, "", dir, name, unix.AT_EMPTY_PATH) })
	if err == unix.ENOENT || err == unix.EPERM {
		err = unix.EOPNOTSUPP
	}
	return err
}

// flush writes a file to the disk.
func flush(fd int) error { return retryInterrupted(func() error { return unix.Fsync(fd) }) }

// A leaseState says whether somebody has a file open for writing.
type leaseState int

const (
	unknown leaseState = iota // the system does not tell
	writers                   // somebody
	leased                    // nobody, and the kernel would notify us
)

// lease requests a lease on a file open for reading, which the kernel grants only while nobody has
// it open for writing.
func lease(fd int) leaseState {
	_, err := unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_RDLCK)
	switch err {
	case nil:
		// The kernel makes a writer wait and sends the holder a signal by default, which nothing
		// here handles.
		_, _ = unix.FcntlInt(uintptr(fd), unix.F_SETOWN, 0)
		return leased
	case unix.EAGAIN:
		return writers
	}
	return unknown
}

// endLease gives a lease back. It returns false if somebody wanted to write meanwhile.
func endLease(fd int) bool {
	kind, err := unix.FcntlInt(uintptr(fd), unix.F_GETLEASE, 0)
	_, _ = unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_UNLCK)
	return err == nil && kind == unix.F_RDLCK
}
