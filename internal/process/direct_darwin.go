package process

import (
	"errors"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// errNoTable reports that processes cannot be listed on this system.
var errNoTable = errors.New("no process table")

// A trace is by what a command is found again.
type trace struct {
	since uint64 // when it was started, by the clock of the process table
}

// A processInfo is what the process table says about a process.
type processInfo struct {
	pid, parent, group, session int    // the session is not available
	since                       uint64 // microseconds
	zombie                      bool
	name                        string
}

const stateZombie = 5 // SZOMB of sys/proc.h

// table reads the whole process table.
func table() ([]processInfo, error) {
	list, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil, err
	}
	all := make([]processInfo, 0, len(list))
	for _, p := range list {
		all = append(all, processInfo{
			pid: int(p.Proc.P_pid), parent: int(p.Eproc.Ppid), group: int(p.Eproc.Pgid),
			since:  uint64(p.Proc.P_starttime.Sec)*1e6 + uint64(p.Proc.P_starttime.Usec),
			zombie: p.Proc.P_stat == stateZombie, name: unix.ByteSliceToString(p.Proc.P_comm[:]),
		})
	}
	return all, nil
}

// hasVariable is always false: other environments cannot be read here.
func hasVariable(int, string) bool { return false }

func newSurvivor(e processInfo) Survivor { return Survivor{PID: e.pid, Name: e.name, Line: e.name} }

func directAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func startedAt(pid int) uint64 {
	p, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return uint64(time.Now().Add(-time.Second).UnixMicro())
	}
	return uint64(p.Proc.P_starttime.Sec)*1e6 + uint64(p.Proc.P_starttime.Usec)
}

// closeLeft does nothing: what finished commands left behind cannot be found here.
func (r *Runner) closeLeft() {}

func (r *Runner) tagDirect(*Process) {}

// tagged is always false: there are no tags here.
func tagged(int, *Process) bool { return false }
