//go:build unix

package main

import (
	"syscall"
	"time"
)

// ownCPU is the CPU time that this process has used so far, without its children.
func ownCPU() time.Duration {
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		return 0
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}
