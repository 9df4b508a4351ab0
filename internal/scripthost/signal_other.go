//go:build !unix

package scripthost

import "syscall"

// signalOf returns the signal of a name, of which this system has few; SIGTERM by default.
func signalOf(name string) (syscall.Signal, error) {
	switch name {
	case "", "SIGTERM", "15":
		return syscall.SIGTERM, nil
	case "SIGKILL", "9":
		return syscall.SIGKILL, nil
	case "SIGINT", "2":
		return syscall.SIGINT, nil
	case "SIGHUP", "1":
		return syscall.SIGHUP, nil
	}
	return 0, coded("EINVAL")
}

func signalName(sig syscall.Signal) string {
	switch sig {
	case syscall.SIGKILL:
		return "SIGKILL"
	case syscall.SIGINT:
		return "SIGINT"
	}
	return "SIGTERM"
}
