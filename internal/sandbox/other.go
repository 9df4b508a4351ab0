//go:build !(linux && (amd64 || arm64))

package sandbox

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"syscall"
)

// Attr sets nothing: there is no sandbox here.
func (p Profile) Attr() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }

// Main fails: there is no sandbox here.
func Main([]string) int {
	fmt.Fprintln(os.Stderr, ErrUnavailable)
	return 126
}

// Prove reports that there is no sandbox here.
func Prove(_ context.Context, _ Helper, p Profile) (Profile, State, error) {
	state := State{Level: p.Level}
	if p.Level == Off {
		return p, state, nil
	}
	state.Reason = Available().Missing[0]
	return p, state, ErrUnavailable
}

// Available reports that this system has nothing to build a sandbox from.
func Available() Machine {
	return Machine{Missing: []string{
		fmt.Sprintf("There is no wall on %s/%s: it is built from parts of Linux, on amd64 and arm64. Run helve in a Linux container or virtual machine, or with the wall off.", runtime.GOOS, runtime.GOARCH),
	}}
}

// Pass returns the profile as an argument.
func (p Profile) Pass(int) (arg string, file *os.File, err error) { return p.Encode(), nil, nil }

// A Lease is empty where there is no sandbox.
type Lease struct{}

// Prepare fails unless the level is off: there is no sandbox here.
func (p Profile) Prepare() (*Lease, error) {
	if p.Level == Off {
		return &Lease{}, nil
	}
	return nil, ErrUnavailable
}

// Keep fails: there is no sandbox here.
func (l *Lease) Keep(p Profile) error {
	if p.Level == Off {
		return nil
	}
	return ErrUnavailable
}

// Sweep has nothing to remove.
func Sweep([]string) error { return nil }

// Transient is always false: another try will not find a sandbox either.
func Transient(error) bool { return false }

// Release has nothing to remove.
func (l *Lease) Release() (left []string, err error) { return nil, nil }
