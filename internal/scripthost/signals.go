package scripthost

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strconv"
	"syscall"
)

// signal is proc.signal: it sends a signal to a process number. Scripts may signal programs that
// this engine has started; for another one, permission to run kill is needed.
func (p *programs) signal(ctx context.Context, by *work, a struct{ PID, Signal int }) (any, error) {
	if r := p.byPID(max(a.PID, -a.PID)); r != nil {
		if a.Signal == 0 {
			return nil, nil
		}
		return nil, system(r.process.Signal(syscall.Signal(a.Signal)))
	}
	switch {
	case a.PID > 0 && a.Signal == 0:
		return nil, thereIs(a.PID)
	case a.PID == 0, a.PID == -1, a.PID == os.Getpid(), a.PID == -os.Getpid():
		return nil, coded("EPERM") // the runtime itself
	}
	line := "kill -" + strconv.Itoa(a.Signal) + " " + strconv.Itoa(a.PID)
	told, err := p.through(ctx, by, &wanted{Argv: []string{"/bin/sh", "-c", line}, Cwd: p.homeDir(by)}, nil)
	if err != nil {
		return nil, err
	}
	var end struct{ Code int }
	if err := json.Unmarshal(told.JSON, &end); err != nil || end.Code == 0 {
		return nil, err
	}
	return nil, errors.Join(thereIs(a.PID), coded("EPERM"))
}

// byPID is the program that has a number as a process.
func (p *programs) byPID(pid int) *running {
	p.mu.Lock()
	defer p.mu.Unlock()
	for r := range p.alive {
		if r.process.PID() == pid && !r.isOver() {
			return r
		}
	}
	return nil
}

// thereIs finds out whether there is a process of that number.
func thereIs(pid int) error {
	process, err := os.FindProcess(pid)
	if err != nil {
		return coded("ESRCH")
	}
	defer func() { _ = process.Release() }()
	err = process.Signal(syscall.Signal(0))
	switch {
	case errors.Is(err, os.ErrProcessDone), errors.Is(err, syscall.ESRCH):
		return coded("ESRCH")
	case errors.Is(err, syscall.EPERM):
		return coded("EPERM")
	}
	return nil
}
