//go:build unix

package process

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// openFlags keep an open from following a link and from waiting for a pipe.
const openFlags = unix.O_NOFOLLOW | unix.O_NONBLOCK

// tryLock takes the exclusive lock of a file, unless another handle has it.
// It ends with the handle.
func tryLock(f *os.File) (bool, error) {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, unix.EWOULDBLOCK):
			return false, nil
		case !errors.Is(err, unix.EINTR):
			return false, err
		}
	}
}
