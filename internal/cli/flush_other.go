//go:build !linux && !darwin && !freebsd && !netbsd && !openbsd && !dragonfly && !windows

package cli

// flushInput does nothing: how a terminal forgets what was typed is not known
// for this system.
func flushInput(uintptr) {}
