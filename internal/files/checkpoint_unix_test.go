//go:build unix

package files_test

import (
	"os/exec"
	"syscall"
)

// asUser has a command run as another user.
func asUser(cmd *exec.Cmd, id uint32) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: id, Gid: id}}
}
