//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package client

import "os"

// held tells whether a server lives: its lock is there, and a process of its
// number.
func held(path string, pid int) bool {
	if _, err := os.Stat(path); err != nil || pid <= 0 {
		return false
	}
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	return p.Release() == nil
}
