//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package client

import (
	"errors"
	"os"
	"syscall"
)

// held tells whether a server holds its lock, and so lives.
func held(path string, _ int) bool {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	// A lock that we get goes with the file.
	return errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}
