package process

import (
	"fmt"
	"os"
	"syscall"
	"time"
)

// A Process is a command that was started, with all processes that come of it.
type Process struct {
	pid  int
	mark string
	trace
	done   chan struct{}
	status Status
	stdin  *os.File
	by     control
}

// A control is who can reach the processes of a command.
type control interface {
	signal(p *Process, sig syscall.Signal) error
	end(p *Process, grace time.Duration) ([]Survivor, error)
	list(p *Process) ([]Survivor, error)
}

// A Status is how a command ended.
type Status struct {
	Code   int            // -1 when it was ended by a signal or lost
	Signal syscall.Signal // 0 when it exited
	Err    error          // set when the outcome is unknown, because the supervisor was lost
}

// A Survivor is a process of a command that is alive.
type Survivor struct {
	PID  int    // in a sandbox, the number in its PID namespace
	Name string // of the program
	Line string // with its arguments, as far as it is known; the beginning of it when long
}

// PID is the number of the command's own process. In a sandbox it is the number in the sandbox's
// PID namespace.
func (p *Process) PID() int { return p.pid }

// Done is closed when the command's own process has ended. Others of it may
// still run, see [Process.Survivors].
func (p *Process) Done() <-chan struct{} { return p.done }

// Status returns how the command ended. It must be called after Done is closed.
func (p *Process) Status() Status { return p.status }

// Outcome says how the command ended, as "exit code 1" or "signal: killed". It must be called after
// Done is closed.
func (p *Process) Outcome() string {
	if p.status.Signal != 0 {
		return "signal: " + p.status.Signal.String()
	}
	return fmt.Sprintf("exit code %d", p.status.Code)
}

// Stdin writes to the command's standard input, nil when it has none. Close
// it to let the command read the end. It is closed when the command is done.
func (p *Process) Stdin() *os.File { return p.stdin }

// Signal sends a signal to all processes of the command.
func (p *Process) Signal(sig syscall.Signal) error { return p.by.signal(p, sig) }

// End ends all processes of the command, also when the command itself is done:
// it asks them to (SIGTERM; on Windows a break event), gives them the time of
// grace, and kills what is left until nothing is, for some seconds at most. It
// returns what could not be ended. When it returns no error and nothing is
// left, Done is closed.
func (p *Process) End(grace time.Duration) (left []Survivor, err error) { return p.by.end(p, grace) }

// Stop is [Process.End], with an error that names one of what could not be ended.
func (p *Process) Stop(grace time.Duration) error {
	left, err := p.End(grace)
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("process %d (%s) is still there", left[0].PID, left[0].Name)
	}
	return err
}

// Survivors lists the processes of the command that are alive, with the
// command's own unless it is done.
func (p *Process) Survivors() ([]Survivor, error) { return p.by.list(p) }

// setStatus records that the command's own process has ended, and wakes all waiters.
func (p *Process) setStatus(s Status) {
	p.status = s
	if p.stdin != nil {
		p.stdin.Close()
	}
	close(p.done)
}
