package process

import (
	"syscall"
	"time"
)

// A jobTree is a command with all that it has started, as jobs see it.
type jobTree struct{ *Process }

var _ JobProcess = jobTree{}

// Left counts what is alive of it.
func (t jobTree) Left() int {
	left, err := t.Survivors()
	if err != nil { // the keeper is gone, and all with it
		return 0
	}
	return len(left)
}

// Status says how the command itself ended.
func (t jobTree) Status() (code int, signal string) {
	s := t.Process.Status()
	if s.Signal != 0 {
		return s.Code, runSignalName(s.Signal)
	}
	return s.Code, ""
}

// Signal sends a signal by its name.
func (t jobTree) Signal(name string) error {
	sig, err := signalOf(name)
	if err != nil {
		return err
	}
	return t.Process.Signal(sig)
}

// End ends all of it.
func (t jobTree) End(grace time.Duration) error {
	_, err := t.Process.End(grace)
	return err
}

func runSignalName(sig syscall.Signal) string {
	for _, name := range signalNames() {
		if s, err := signalOf(name); err == nil && s == sig {
			return "SIG" + name
		}
	}
	return sig.String()
}
