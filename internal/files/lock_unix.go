//go:build unix

package files

import (
	"errors"
	"os"
	"syscall"
)

// tryLock takes the exclusive lock of a file, unless another handle has it.
// The system frees it when the process ends.
func tryLock(f *os.File) (bool, error) {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, syscall.EWOULDBLOCK):
			return false, nil
		case errors.Is(err, syscall.EINTR):
			continue
		}
		return false, &os.PathError{Op: "lock", Path: f.Name(), Err: err}
	}
}

// unlock gives the lock up. Closing alone would not do while a child that is
// being started still shares the handle.
func unlock(f *os.File) {
	_ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN)
}

// syncDir makes names in a folder survive loss of power.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}
