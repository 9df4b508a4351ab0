//go:build !linux

package process

import (
	"context"
	"fmt"
	"os"
)

// keeping reports whether there are supervisors on this system.
const keeping = false

// keepers is empty: there are no supervisors here.
type keepers struct{}

func (r *Runner) startKept(context.Context, SupervisorSpec, *spawn, *Process) error { return ErrKeeper }

func (r *Runner) closeKeepers() error { return nil }

// KeeperMain exists on Linux only; elsewhere commands run directly. It prints that and returns an
// exit code.
func KeeperMain() int {
	fmt.Fprintln(os.Stderr, "keeper: not on this system")
	return 1
}
