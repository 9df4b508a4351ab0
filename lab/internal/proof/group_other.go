//go:build !unix

package proof

import (
	"os"
	"os/exec"
)

// ownGroup does nothing where there are no process groups.
func ownGroup(*exec.Cmd) {}

// EndGroup ends the process alone where there are no process groups.
func EndGroup(p *os.Process) error { return p.Kill() }
