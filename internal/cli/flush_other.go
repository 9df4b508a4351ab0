//go:build !linux && !darwin && !freebsd && !netbsd && !openbsd && !dragonfly && !windows

package cli

// flushInput does nothing: discarding input is not implemented for this system.
func flushInput(uintptr) {}
