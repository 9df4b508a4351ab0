//go:build !unix

package process

import (
	"fmt"
	"syscall"
)

func signalNames() []string { return []string{"INT", "KILL", "TERM"} }

// signalOf is the signal of a name. There are few on this system.
func signalOf(name string) (syscall.Signal, error) {
	switch name {
	case "INT":
		return syscall.SIGINT, nil
	case "KILL":
		return syscall.SIGKILL, nil
	case "TERM":
		return syscall.SIGTERM, nil
	}
	return 0, fmt.Errorf("there is no signal %q on this system", name)
}
