//go:build !unix

package examples_test

import (
	"os"
	"os/exec"
)

// ownGroup does nothing where there are no process groups.
func ownGroup(*exec.Cmd) {}

// endGroup ends the process alone where there are no process groups.
func endGroup(p *os.Process) error { return p.Kill() }
