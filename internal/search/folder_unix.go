//go:build unix

package search

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"github.com/helve-dev/helve/internal/disk"
)

var errNotRegular = errors.New("not a regular file")

// A dirHandle is an open folder. Its entries are opened below the handle, and never through a link.
type dirHandle struct{ fd int }

// openFolder opens a folder by its name.
func openFolder(name string) (*dirHandle, error) {
	fd, err := openat(unix.AT_FDCWD, name, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return &dirHandle{fd: fd}, nil
}

// openExact opens a folder by a name without links.
func openExact(name string) (*dirHandle, error) {
	f, err := disk.Open(name, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return &dirHandle{fd: fd}, nil
}

// sub opens a folder in this one.
func (f *dirHandle) sub(name string) (*dirHandle, error) {
	fd, err := openat(f.fd, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW)
	if err != nil {
		return nil, err
	}
	return &dirHandle{fd: fd}, nil
}

// open opens a regular file in this folder. It does not wait for the other
// end of a pipe.
func (f *dirHandle) open(name string) (*os.File, error) {
	fd, err := openat(f.fd, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK)
	if err == unix.ELOOP || err == unix.EMLINK { // a link; what it is called differs
		return nil, errNotRegular
	}
	if err != nil {
		return nil, err
	}
	return regular(fd, name)
}

// exists reports whether there is an entry of that name.
func (f *dirHandle) exists(name string) bool {
	var st unix.Stat_t
	return unix.Fstatat(f.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil
}

func (f *dirHandle) close() { _ = unix.Close(f.fd) }

// openRegular opens a regular file by its name, through links if need be.
func openRegular(name string) (*os.File, error) {
	fd, err := openat(unix.AT_FDCWD, name, unix.O_RDONLY|unix.O_NONBLOCK)
	if err != nil {
		return nil, err
	}
	return regular(fd, name)
}

func regular(fd int, name string) (*os.File, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		_ = unix.Close(fd)
		return nil, errors.Join(errNotRegular, err)
	}
	return os.NewFile(uintptr(fd), name), nil
}

func openat(dir int, name string, flags int) (int, error) {
	for {
		fd, err := unix.Openat(dir, name, flags|unix.O_CLOEXEC, 0)
		if err != unix.EINTR {
			return fd, err
		}
	}
}
