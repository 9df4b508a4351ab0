package disk

import (
	"path/filepath"
	"strings"
	"time"
)

// InTime does something that may never come back, such as reading from a mount
// whose server is gone. After the limit it is left behind, and what it still
// gives is nobody's.
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

// OfKernel reports whether a path leads to a file that the kernel makes up. It
// says that it is a regular file, and reading it may wait for ever.
func OfKernel(path string) bool {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		real = path
	}
	real = filepath.ToSlash(real)
	return strings.HasPrefix(real, "/proc/") || strings.HasPrefix(real, "/sys/")
}
