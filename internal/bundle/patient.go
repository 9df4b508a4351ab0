package bundle

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/helve-dev/helve/internal/disk"
)

// patience is how long reading a file may take. A file system that does not respond, such as a
// mount whose server is gone, must not block the other files.
const patience = 3 * time.Second

// errSlow says that the file system did not respond.
var errSlow = fmt.Errorf("it could not be read within %v", patience)

// errKernel is why the files of the kernel are not read: they say that they
// are regular files, and reading some of them waits for ever.
var errKernel = errors.New("not a regular file but one of the kernel's")

// looked is what a path is.
type looked struct {
	info os.FileInfo
	err  error
}

// regular refuses anything but a file or a folder.
func regular(path string) error {
	at, ok := disk.InTime(patience, func() looked {
		st, err := os.Stat(path)
		if err == nil && st.Mode().IsRegular() && disk.OfKernel(path) {
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
