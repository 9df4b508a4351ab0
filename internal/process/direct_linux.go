package process

import (
	"errors"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// errNoTable reports that processes cannot be listed on this system.
var errNoTable = errors.New("no process table")

func directAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// tagDirect gives a command that runs directly a tag. It comes a moment after
// the start, so what the command has started in that moment lacks it.
func (r *Runner) tagDirect(p *Process) {
	r.mu.Lock()
	if !r.keepers.tagged {
		r.keepers.tagged = true
		r.keepers.tags.openBelow()
	}
	tag := r.keepers.tags.next(nil)
	most := r.keepers.tags.old.Max
	r.mu.Unlock()
	if tag != 0 && unix.Prlimit(p.pid, unix.RLIMIT_MSGQUEUE, &unix.Rlimit{Cur: tag, Max: most}, nil) == nil {
		p.tag = tag
	}
}

// tagged reports whether a process has the tag of a command.
func tagged(pid int, p *Process) bool { return p.tag != 0 && tagOf(pid) == p.tag }

func startedAt(pid int) uint64 {
	e, _ := readEntry(pid)
	return e.since
}

// closeLeft kills what commands that ran directly have left, by the mark of
// the runner.
func (r *Runner) closeLeft() {
	prefix := r.opts.Mark + "=" + r.id + "."
	for limit := time.Now().Add(killLimit); time.Now().Before(limit); time.Sleep(directPause) {
		list, err := table()
		if err != nil {
			return
		}
		n := 0
		for _, e := range list {
			if !e.zombie && e.pid != os.Getpid() && markedBy(e.pid, prefix) {
				_ = syscall.Kill(e.pid, syscall.SIGKILL)
				n++
			}
		}
		if n == 0 {
			return
		}
	}
}
