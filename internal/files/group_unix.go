//go:build unix

package files

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// ownGroup gives a child a process group of its own, and ends all of it when
// the context is done.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error {
		err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		if errors.Is(err, syscall.ESRCH) {
			return os.ErrProcessDone
		}
		return err
	}
}
