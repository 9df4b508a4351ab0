package files

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// The byte that is locked lies far behind the end of any file, because a
// locked byte cannot be read by others.
const lockOffset = 1 << 30 // in units of 4 GiB

// tryLock takes the exclusive lock of a file, unless another handle has it.
// The system frees it when the process ends.
func tryLock(f *os.File) (bool, error) {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &windows.Overlapped{OffsetHigh: lockOffset})
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, windows.ERROR_LOCK_VIOLATION), errors.Is(err, windows.ERROR_IO_PENDING):
		return false, nil
	}
	return false, &os.PathError{Op: "lock", Path: f.Name(), Err: err}
}

// unlock gives the lock up.
func unlock(f *os.File) {
	_ = windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, &windows.Overlapped{OffsetHigh: lockOffset})
}

// syncDir does nothing: folders cannot be flushed here.
func syncDir(string) error { return nil }
