//go:build unix

package process

import (
	"os"
	"syscall"
)

// maxDrain is the most that is read at once: as much as a pipe can hold.
const maxDrain = 1 << 20

// drain reads what is in a pipe without waiting for more, and reports whether the pipe has ended.
func drain(pipe *os.File, took func([]byte)) (ended bool) {
	raw, err := pipe.SyscallConn()
	if err != nil {
		return false
	}
	buf := make([]byte, chunk)
	for total := 0; total < maxDrain; {
		n, failed := 0, error(nil)
		err := raw.Read(func(fd uintptr) bool {
			n, failed = syscall.Read(int(fd), buf)
			return true // do not wait
		})
		switch {
		case err != nil:
			return false
		case failed == syscall.EINTR:
		case failed != nil:
			return failed != syscall.EAGAIN
		case n == 0:
			return true
		default:
			took(buf[:n])
			total += n
		}
	}
	return false
}
