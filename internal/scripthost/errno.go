package scripthost

import (
	"errors"
	"io/fs"
	"syscall"

	"github.com/helve-dev/helve/internal/disk"
	"github.com/helve-dev/helve/internal/files"
)

// errnoName returns the code that scripts know a system error by; "" for other errors.
func errnoName(err error) string {
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		if name := nameOf(errno); name != "" {
			return name
		}
	}
	switch {
	case errors.Is(err, disk.ErrTooLarge):
		return "EFBIG"
	case errors.Is(err, disk.ErrChanged):
		return "EBUSY"
	case errors.Is(err, files.ErrNameTooLong):
		return "ENAMETOOLONG"
	case errors.Is(err, files.ErrBadName):
		return "EINVAL"
	case errors.Is(err, fs.ErrNotExist):
		return "ENOENT"
	case errors.Is(err, fs.ErrExist):
		return "EEXIST"
	case errors.Is(err, fs.ErrPermission):
		return "EACCES"
	case errors.Is(err, fs.ErrClosed):
		return "EBADF"
	case errors.Is(err, errors.ErrUnsupported):
		return "ENOTSUP"
	}
	if _, ok := errors.AsType[syscall.Errno](err); ok {
		return "EIO"
	}
	return ""
}

// nameOf gives errors of the system the names of Node.
func nameOf(errno syscall.Errno) string {
	if name := fileErrno(errno); name != "" {
		return name
	}
	switch errno {
	case syscall.ESRCH:
		return "ESRCH"
	case syscall.EINTR:
		return "EINTR"
	case syscall.ENXIO:
		return "ENXIO"
	case syscall.E2BIG:
		return "E2BIG"
	case syscall.ENOEXEC:
		return "ENOEXEC"
	case syscall.EAGAIN:
		return "EAGAIN"
	case syscall.ENOMEM:
		return "ENOMEM"
	case syscall.ENODEV:
		return "ENODEV"
	case syscall.ETXTBSY:
		return "ETXTBSY"
	case syscall.EPIPE:
		return "EPIPE"
	}
	return rareErrno(errno)
}

// fileErrno are those that files give.
func fileErrno(errno syscall.Errno) string {
	switch errno {
	case syscall.ENOENT:
		return "ENOENT"
	case syscall.EEXIST:
		return "EEXIST"
	case syscall.EISDIR:
		return "EISDIR"
	case syscall.ENOTDIR:
		return "ENOTDIR"
	case syscall.EACCES:
		return "EACCES"
	case syscall.EPERM:
		return "EPERM"
	case syscall.ENOTEMPTY:
		return "ENOTEMPTY"
	case syscall.EINVAL:
		return "EINVAL"
	case syscall.ELOOP:
		return "ELOOP"
	case syscall.ENAMETOOLONG:
		return "ENAMETOOLONG"
	case syscall.EBADF:
		return "EBADF"
	case syscall.EXDEV:
		return "EXDEV"
	case syscall.EBUSY:
		return "EBUSY"
	}
	return ""
}

// rareErrno are those of full, read-only and odd file systems.
func rareErrno(errno syscall.Errno) string {
	switch errno {
	case syscall.EMFILE:
		return "EMFILE"
	case syscall.ENFILE:
		return "ENFILE"
	case syscall.ENOSPC:
		return "ENOSPC"
	case syscall.EROFS:
		return "EROFS"
	case syscall.EIO:
		return "EIO"
	case syscall.EFBIG:
		return "EFBIG"
	case syscall.ESPIPE:
		return "ESPIPE"
	case syscall.EMLINK:
		return "EMLINK"
	case syscall.ERANGE:
		return "ERANGE"
	case syscall.EOVERFLOW:
		return "EOVERFLOW"
	case syscall.ENOSYS:
		return "ENOSYS"
	case syscall.ENOTSUP:
		return "ENOTSUP"
	case syscall.ENOTTY:
		return "ENOTTY"
	}
	return ""
}
