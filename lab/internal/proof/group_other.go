//go:build !unix

package proof

import (
	"os"
	"os/exec"
	"time"
)

// ownGroup does nothing where there are no process groups.
func ownGroup(*exec.Cmd) {}

// EndGroup ends the process alone where there are no process groups.
func EndGroup(p *os.Process) error { return p.Kill() }

// OwnWork is not known where there are no process groups.
func OwnWork() time.Duration { return 0 }
