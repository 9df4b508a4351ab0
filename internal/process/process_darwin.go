package process

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

const zombie = 5 // SZOMB

func fromKernel(k *unix.KinfoProc) (process, bool) {
	at := k.Proc.P_starttime
	return process{
		pid: int(k.Proc.P_pid), parent: int(k.Eproc.Ppid), group: int(k.Eproc.Pgid),
		start: fmt.Sprintf("%d.%06d", at.Sec, at.Usec),
	}, k.Proc.P_stat != zombie
}

// look returns what the process table says about a process. ok is false if there is none, or only a
// zombie.
func look(pid int) (p process, ok bool) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return process{}, false
	}
	return fromKernel(k)
}

// listProcesses returns the processes that are alive.
func listProcesses() []process {
	list, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil
	}
	var out []process
	for i := range list {
		if p, ok := fromKernel(&list[i]); ok {
			out = append(out, p)
		}
	}
	return out
}

// send sends a signal to a process whose start time was looked at just before.
func (p process) send(sig unix.Signal) error {
	if now, ok := look(p.pid); !ok || now.start != p.start {
		return nil
	}
	if err := unix.Kill(p.pid, sig); err != nil && !errors.Is(err, unix.ESRCH) {
		return err
	}
	return nil
}

func bootID() string {
	at, err := unix.SysctlTimeval("kern.boottime")
	if err != nil {
		return ""
	}
	return fmt.Sprint(at.Sec)
}

func pidSpace() string { return "" }
