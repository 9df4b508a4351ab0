//go:build unix

package proof

import (
	"syscall"
	"time"
)

// OwnWork is the time of the processor that this process has used so far, and
// that of the programs that it has started and waited for.
func OwnWork() (own, children time.Duration) {
	used := func(who int) time.Duration {
		var use syscall.Rusage
		if err := syscall.Getrusage(who, &use); err != nil {
			return 0
		}
		return time.Duration(use.Utime.Nano() + use.Stime.Nano())
	}
	return used(syscall.RUSAGE_SELF), used(syscall.RUSAGE_CHILDREN)
}
