//go:build unix

package search

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

// A file is a regular file that is open for reading.
type file struct{ fd int }

// openFile opens a regular file in this folder. It does not wait for the
// other end of a pipe.
func (f *dirHandle) openFile(name string) (file, stat, error) {
	fd, err := openat(f.fd, name, fileFlags)
	if err != nil {
		return file{}, stat{}, openError(err)
	}
	return newFile(fd)
}

const fileFlags = unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_NOCTTY

// openError classifies the errors for what is not a readable file: a link (whose error differs
// between systems), a socket or a device without a driver.
func openError(err error) error {
	switch err {
	case unix.ELOOP, unix.EMLINK, unix.ENXIO, unix.ENODEV:
		return errNotRegular
	}
	return err
}

func newFile(fd int) (file, stat, error) {
	var st unix.Stat_t
	err := unix.Fstat(fd, &st)
	if err == nil && st.Mode&unix.S_IFMT != unix.S_IFREG {
		err = errNotRegular
	}
	if err != nil {
		_ = unix.Close(fd)
		return file{}, stat{}, err
	}
	return file{fd: fd}, statOf(&st), nil
}

// read reads the next bytes, none at the end.
func (f file) read(p []byte) (int, error) {
	for {
		n, err := unix.Read(f.fd, p)
		if err != unix.EINTR {
			return max(n, 0), err
		}
	}
}

func (f file) close() { _ = unix.Close(f.fd) }

// stat returns the attributes of a regular file in this folder.
func (f *dirHandle) stat(name string) (stat, error) {
	var st unix.Stat_t
	for {
		err := unix.Fstatat(f.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW)
		if err == unix.EINTR {
			continue
		}
		if err == nil && st.Mode&unix.S_IFMT != unix.S_IFREG {
			err = errNotRegular
		}
		if err != nil {
			return stat{}, err
		}
		return statOf(&st), nil
	}
}

func statOf(st *unix.Stat_t) stat {
	sec, nsec := st.Mtim.Unix()
	return stat{size: st.Size, time: stamp{sec, nsec}, links: uint64(st.Nlink)}
}

// openBelow opens a regular file by a name of several parts, none of which may be a link. ok is
// false if that needs more than one call.
func (f *dirHandle) openBelow(name string) (file file, st stat, ok bool, err error) {
	fd, ok, err := openWhole(f.fd, name, fileFlags)
	if !ok || err != nil {
		return file, st, ok, openError(err)
	}
	file, st, err = newFile(fd)
	return file, st, true, err
}

// gone reports whether an error means that a file no longer exists or is no longer a regular file:
// then there is nothing to search, and no failure.
func gone(err error) bool {
	return err == errNotRegular || err == fs.ErrNotExist || err == unix.ENOENT || err == unix.ENOTDIR
}

// subBelow is openBelow for a folder.
func (f *dirHandle) subBelow(name string) (sub *dirHandle, ok bool, err error) {
	fd, ok, err := openWhole(f.fd, name, unix.O_RDONLY|unix.O_DIRECTORY)
	if !ok || err != nil {
		return nil, ok, err
	}
	return &dirHandle{fd: fd}, true, nil
}
