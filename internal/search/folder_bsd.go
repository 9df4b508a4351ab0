//go:build unix && !linux

package search

import (
	"os"

	"golang.org/x/sys/unix"
)

// reader is a second handle of the folder, to read its entries by.
func (f *dirHandle) reader() (*os.File, error) {
	fd, err := openat(f.fd, ".", unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "."), nil
}
