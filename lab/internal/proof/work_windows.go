package proof

import (
	"syscall"
	"time"
)

// OwnWork is the time of the processor that this process has used so far. That
// of the programs that it has started is not known here.
func OwnWork() (own, children time.Duration) {
	var made, ended, kernel, user syscall.Filetime
	self, err := syscall.GetCurrentProcess()
	if err != nil || syscall.GetProcessTimes(self, &made, &ended, &kernel, &user) != nil {
		return 0, 0
	}
	ticks := func(t syscall.Filetime) time.Duration {
		return time.Duration(int64(t.HighDateTime)<<32|int64(t.LowDateTime)) * 100
	}
	return ticks(kernel) + ticks(user), 0
}
