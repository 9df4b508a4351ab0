package disk

import (
	"path/filepath"
	"strings"
	"time"
)

// InTime runs do, which may never return, such as reading from a mount whose server is gone. After
// the limit it abandons do and discards its result.
func InTime[T any](limit time.Duration, do func() T) (made T, ok bool) {
	done := make(chan T, 1)
	go func() { done <- do() }()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case made = <-done:
		return made, true
	case <-timer.C:
		return made, false
	}
}

// OfKernel reports whether a path is in a file system that the kernel generates. Such files appear
// regular, but reading one may block forever.
func OfKernel(path string) bool {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		real = path
	}
	real = filepath.ToSlash(real)
	return strings.HasPrefix(real, "/proc/") || strings.HasPrefix(real, "/sys/")
}
