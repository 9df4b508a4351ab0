package search

import "golang.org/x/sys/unix"

// openWhole opens a name below a folder in one call that follows no link and does not leave the
// folder. ok is false if the kernel is too old for that, a sandbox forbids it or the name is too
// long.
func openWhole(dir int, name string, flags int) (fd int, ok bool, err error) {
	// O_NOFOLLOW would only change the error for a link at the end.
	how := unix.OpenHow{
		Flags:   uint64(flags&^unix.O_NOFOLLOW | unix.O_CLOEXEC),
		Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_BENEATH,
	}
	for {
		fd, err = unix.Openat2(dir, name, &how)
		switch err {
		case unix.EINTR:
			continue
		case unix.EAGAIN, // a process has a lease on the file: opening it component by component returns that error
			unix.ENOSYS, unix.EPERM, unix.EINVAL, unix.E2BIG, unix.ENAMETOOLONG:
			return -1, false, nil
		}
		return fd, true, err
	}
}
