//go:build unix

package scripthost

import (
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// signalOf returns the signal of a name, such as SIGTERM, or of a number; SIGTERM by default.
func signalOf(name string) (syscall.Signal, error) {
	if name == "" {
		return syscall.SIGTERM, nil
	}
	if sig := unix.SignalNum(name); sig != 0 {
		return sig, nil
	}
	if n, err := strconv.Atoi(name); err == nil && n > 0 && n < 65 {
		return syscall.Signal(n), nil
	}
	return 0, coded("EINVAL")
}

func signalName(sig syscall.Signal) string {
	if name := unix.SignalName(sig); name != "" {
		return name
	}
	return "SIG" + strconv.Itoa(int(sig))
}
