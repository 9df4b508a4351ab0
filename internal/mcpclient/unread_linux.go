package mcpclient

import (
	"os"

	"golang.org/x/sys/unix"
)

// ownFile returns a duplicate of the writing end of a pipe, and closes the original. The original's
// owner would otherwise close it when the reader is gone.
func ownFile(f *os.File) *os.File {
	raw, err := f.SyscallConn()
	if err != nil {
		return f
	}
	fd := -1
	if raw.Control(func(old uintptr) { fd, err = unix.FcntlInt(old, unix.F_DUPFD_CLOEXEC, 0) }) != nil || err != nil {
		return f
	}
	f.Close()
	return os.NewFile(uintptr(fd), f.Name())
}

// unread returns how many bytes written to a pipe have not been read.
func unread(f *os.File) (int64, bool) {
	raw, err := f.SyscallConn()
	if err != nil {
		return 0, false
	}
	n := 0
	if raw.Control(func(fd uintptr) { n, err = unix.IoctlGetInt(int(fd), unix.TIOCINQ) }) != nil || err != nil {
		return 0, false
	}
	return int64(n), true
}
