//go:build unix

package process

import (
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

func signalNames() []string {
	return []string{
		"HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE", "ALRM", "TERM", "CHLD", "CONT",
		"STOP", "TSTP", "TTIN", "TTOU", "XCPU", "XFSZ", "WINCH", "SYS",
	}
}

// signalOf is the signal of a name, with or without SIG in front.
func signalOf(name string) (syscall.Signal, error) {
	sig := unix.SignalNum(name)
	if sig == 0 {
		sig = unix.SignalNum("SIG" + name)
	}
	if sig == 0 {
		return 0, fmt.Errorf("there is no signal %q", name)
	}
	return sig, nil
}
