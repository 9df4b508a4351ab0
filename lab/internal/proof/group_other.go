//go:build !unix

package proof

import (
	"os"
	"os/exec"
)

// OwnGroup does nothing where there are no process groups.
func OwnGroup(*exec.Cmd) {}

// EndGroup ends the process alone where there are no process groups.
func EndGroup(p *os.Process) error { return p.Kill() }
