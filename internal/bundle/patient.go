package bundle

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// patience is how long a file may take to be read. What does not answer, such
// as a mount whose server is gone, must not hold up the other files.
const patience = 3 * time.Second

// errSlow is why there is no text of a file that does not answer.
var errSlow = fmt.Errorf("it could not be read within %v", patience)

// errKernel is why the files of the kernel are not read: they say that they
// are regular files, and reading some of them waits for ever.
var errKernel = errors.New("not a regular file but one of the kernel's")

// within does something that may never come back. After the limit it is left
// behind, and what it still gives is nobody's.
func within[T any](limit time.Duration, do func() T) (made T, ok bool) {
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

// kernels reports whether a path leads to a file that the kernel makes up.
func kernels(path string) bool {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		real = path
	}
	real = filepath.ToSlash(real)
	return strings.HasPrefix(real, "/proc/") || strings.HasPrefix(real, "/sys/")
}

// looked is what a path is.
type looked struct {
	info os.FileInfo
	err  error
}

// regular refuses what is there but neither a file nor a folder.
func regular(path string) error {
	at, ok := within(patience, func() looked {
		st, err := os.Stat(path)
		if err == nil && st.Mode().IsRegular() && kernels(path) {
			err = errKernel
		}
		return looked{st, err}
	})
	switch {
	case !ok:
		return fmt.Errorf("%s: %w", path, errSlow)
	case errors.Is(at.err, errKernel):
		return fmt.Errorf("%s is %w", path, at.err)
	case at.err == nil && !at.info.Mode().IsRegular() && !at.info.IsDir():
		return fmt.Errorf("%s is not a regular file", path)
	}
	return nil
}
