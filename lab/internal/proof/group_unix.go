//go:build unix

package proof

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// ownGroup puts a command into a process group of its own.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// EndGroup ends a process that was started so, and all that it started.
func EndGroup(p *os.Process) error {
	err := syscall.Kill(-p.Pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		return nil
	}
	return err
}

// OwnWork is the time of the processor that this process has used so far.
func OwnWork() time.Duration {
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		return 0
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}
