//go:build unix

package scripthost

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/helve-dev/helve/internal/disk"
)

// A dirHandle is an open folder. Names in it keep the meaning they had when it was opened, and no
// link is followed, whatever another process replaces meanwhile.
type dirHandle struct{ f *os.File }

// openFolder opens a folder by a name that is free of links.
func openFolder(real string) (dirHandle, error) {
	f, err := disk.Open(real, walkFlag|unix.O_DIRECTORY)
	return dirHandle{f}, err
}

func (d dirHandle) close() { _ = d.f.Close() }

func (d dirHandle) fd() int { return int(d.f.Fd()) }

// retryInterrupted repeats a call that a signal has interrupted.
func retryInterrupted(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// stat looks at what the folder holds.
func (d dirHandle) stat(base string) (facts, error) {
	var st unix.Stat_t
	err := retryInterrupted(func() error { return unix.Fstatat(d.fd(), base, &st, unix.AT_SYMLINK_NOFOLLOW) })
	if err != nil {
		return facts{}, err
	}
	return factsOf(&st), nil
}

// statOpen looks at an open file.
func statOpen(f *os.File) (facts, error) {
	var st unix.Stat_t
	raw, err := f.SyscallConn()
	if err != nil {
		return facts{}, err
	}
	var failed error
	if err := raw.Control(func(fd uintptr) { failed = retryInterrupted(func() error { return unix.Fstat(int(fd), &st) }) }); err != nil {
		return facts{}, err
	}
	return factsOf(&st), failed
}

func factsOf(st *unix.Stat_t) facts {
	ms := func(t unix.Timespec) float64 { return float64(t.Sec)*1e3 + float64(t.Nsec)/1e6 }
	return facts{
		Dev: uint64(st.Dev), Ino: uint64(st.Ino), Mode: uint32(st.Mode), Nlink: uint64(st.Nlink), UID: st.Uid, GID: st.Gid,
		Rdev: uint64(st.Rdev), Size: st.Size, Blksize: int64(st.Blksize), Blocks: st.Blocks,
		Atime: ms(st.Atim), Mtime: ms(st.Mtim), Ctime: ms(st.Ctim), Birthtime: ms(st.Ctim),
	}
}

// open opens a file of the folder, making it if the flags say so. It never
// waits for the other end of a pipe.
func (d dirHandle) open(base string, flags int, mode uint32) (*os.File, error) {
	fd := -1
	err := retryInterrupted(func() (err error) {
		fd, err = unix.Openat(d.fd(), base, flags|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, mode)
		return err
	})
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), filepath.Join(d.f.Name(), base)), nil
}

func (d dirHandle) mkdir(base string, mode uint32) error { return unix.Mkdirat(d.fd(), base, mode) }

func (d dirHandle) rmdir(base string) error {
	err := unix.Unlinkat(d.fd(), base, unix.AT_REMOVEDIR)
	if errors.Is(err, syscall.EEXIST) { // some systems say it so
		return syscall.ENOTEMPTY
	}
	return err
}

func (d dirHandle) unlink(base string) error { return unix.Unlinkat(d.fd(), base, 0) }

func (d dirHandle) symlink(target, base string) error { return unix.Symlinkat(target, d.fd(), base) }

func (d dirHandle) readlink(base string) (string, error) {
	for size := 256; ; size *= 2 {
		to := make([]byte, size)
		n, err := unix.Readlinkat(d.fd(), base, to)
		if err != nil {
			return "", err
		}
		if n < size {
			return string(to[:n]), nil
		}
	}
}

func (d dirHandle) rename(base string, to dirHandle, name string) error {
	return unix.Renameat(d.fd(), base, to.fd(), name)
}

func (d dirHandle) link(base string, to dirHandle, name string) error {
	return unix.Linkat(d.fd(), base, to.fd(), name, 0)
}

func (d dirHandle) chmod(base string, mode uint32) error {
	err := unix.Fchmodat(d.fd(), base, mode, unix.AT_SYMLINK_NOFOLLOW)
	if !errors.Is(err, unix.EOPNOTSUPP) && !errors.Is(err, unix.ENOSYS) && !errors.Is(err, unix.EINVAL) {
		return err
	}
	f, err := d.open(base, unix.O_RDONLY, 0) // older kernels change only what is open, or what links lead to
	if err != nil {
		return err
	}
	defer f.Close()
	return unix.Fchmod(int(f.Fd()), mode)
}

func (d dirHandle) chown(base string, uid, gid int) error {
	return unix.Fchownat(d.fd(), base, uid, gid, unix.AT_SYMLINK_NOFOLLOW)
}

func (d dirHandle) utimes(base string, atime, mtime time.Time) error {
	times := []unix.Timespec{unix.NsecToTimespec(atime.UnixNano()), unix.NsecToTimespec(mtime.UnixNano())}
	return unix.UtimesNanoAt(d.fd(), base, times, unix.AT_SYMLINK_NOFOLLOW)
}

// access asks the system what this user may do.
func (d dirHandle) access(base string, mode uint32) error {
	return unix.Faccessat(d.fd(), base, mode, unix.AT_SYMLINK_NOFOLLOW)
}

// openBelow opens a folder that lies in this one.
func (d dirHandle) openBelow(base string) (dirHandle, error) {
	f, err := d.open(base, walkFlag|unix.O_DIRECTORY, 0)
	if err != nil && errors.Is(err, syscall.ENOTDIR) {
		if st, e := d.stat(base); e == nil && st.link() {
			err = syscall.ELOOP
		}
	}
	return dirHandle{f}, err
}

// names lists what lies in the folder, in no order.
func (d dirHandle) names() ([]os.DirEntry, error) {
	f, err := d.open(".", unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.ReadDir(-1)
}
