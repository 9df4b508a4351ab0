//go:build unix && !linux && !darwin

package process

import (
	"errors"
	"syscall"
)

// errNoTable reports that processes cannot be listed on this system: a command is reached only by
// its group.
var errNoTable = errors.New("no process table")

// A trace is by what a command is found again.
type trace struct {
	since uint64 // when it was started, by the clock of the process table
}

// An entry is what the process table would say about a process.
type entry struct {
	pid, parent, group, session int
	since                       uint64
	zombie                      bool
	name                        string
}

func table() ([]entry, error) { return nil, errNoTable }

func marked(int, string) bool { return false }

func describe(e entry) Survivor { return Survivor{PID: e.pid, Name: e.name, Line: e.name} }

func directAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func startedAt(int) uint64 { return 0 }

// closeLeft does nothing: what finished commands left behind cannot be found here.
func (r *Runner) closeLeft() {}

func (r *Runner) tagDirect(*Process) {}

// tagged is not known here: there are no tags.
func tagged(int, *Process) bool { return false }
