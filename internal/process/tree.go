package process

import (
	"syscall"
	"time"
)

// A processTree is a command with all that it has started, as jobs see it.
type processTree struct{ *Process }

var _ JobProcess = processTree{}

// Left counts what is alive of it.
func (t processTree) Left() int {
	left, err := t.Survivors()
	if err != nil { // the supervisor is gone, and all its commands with it
		return 0
	}
	return len(left)
}

// Status says how the command itself ended.
func (t processTree) Status() (code int, signal string) {
	s := t.Process.Status()
	if s.Signal != 0 {
		return s.Code, signalNameOf(s.Signal)
	}
	return s.Code, ""
}

// Signal sends a signal by its name.
func (t processTree) Signal(name string) error {
	sig, err := signalOf(name)
	if err != nil {
		return err
	}
	return t.Process.Signal(sig)
}

// End ends all of it.
func (t processTree) End(grace time.Duration) error {
	_, err := t.Process.End(grace)
	return err
}

func signalNameOf(sig syscall.Signal) string {
	for _, name := range signalNames() {
		if s, err := signalOf(name); err == nil && s == sig {
			return "SIG" + name
		}
	}
	return sig.String()
}
