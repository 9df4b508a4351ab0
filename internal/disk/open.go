//go:build (linux || darwin || freebsd || netbsd || openbsd || dragonfly) && !disk_simple

package disk

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	// folderFlags open a folder in order to open something below it.
	folderFlags = walkFlag | unix.O_DIRECTORY | unix.O_NOFOLLOW
	// readFlags open a file for reading without ever blocking, even on a pipe.
	readFlags = unix.O_RDONLY | unix.O_NONBLOCK | unix.O_NOFOLLOW | unix.O_NOCTTY
)

// Open opens a name that is absolute, clean and without links. It follows no links: if somebody
// replaces a folder by a link in the meantime, the error is syscall.ELOOP. It neither creates nor
// truncates files; [Commit] does that.
func Open(name string, flags int) (*os.File, error) {
	fd, err := open(name, flags|unix.O_NOFOLLOW)
	if err != nil {
		return nil, pathError("open", name, err)
	}
	return os.NewFile(uintptr(fd), name), nil
}

func open(name string, flags int) (int, error) {
	if err := checkName(name); err != nil {
		return -1, err
	}
	if flags&(unix.O_CREAT|unix.O_TRUNC) != 0 {
		return -1, unix.EINVAL
	}
	if fd, ok, err := openWhole(name, flags); ok {
		return fd, err
	}
	return openByParts(name, flags)
}

// openByParts opens a name folder by folder.
func openByParts(name string, flags int) (int, error) {
	const root = string(filepath.Separator)
	dir, err := openAt(unix.AT_FDCWD, root, folderFlags)
	if err != nil {
		return -1, err
	}
	parts := strings.Split(strings.TrimPrefix(name, root), root)
	last := len(parts) - 1
	for _, part := range parts[:last] {
		next, err := openAt(dir, part, folderFlags)
		_ = unix.Close(dir)
		if err != nil {
			return -1, err
		}
		dir = next
	}
	defer unix.Close(dir)
	if parts[last] == "" { // the root itself
		parts[last] = "."
	}
	return openAt(dir, parts[last], flags)
}

// openAt opens an entry of a folder. Systems return different errors for a link that is not
// followed; openAt always returns ELOOP.
func openAt(dir int, name string, flags int) (fd int, err error) {
	err = retryInterrupted(func() error {
		fd, err = unix.Openat(dir, name, flags|unix.O_CLOEXEC, 0)
		return err
	})
	if err != nil && err != unix.ENOENT {
		if st, e := statAt(dir, name); e == nil && st.Mode&fs.ModeSymlink != 0 {
			err = unix.ELOOP
		}
	}
	return fd, err
}

// retryInterrupted repeats a call that a signal has interrupted.
func retryInterrupted(call func() error) error {
	for {
		if err := call(); err != unix.EINTR {
			return err
		}
	}
}

// openParent opens the folder a name is in and returns the name's last part.
func openParent(name string) (dir int, base string, err error) {
	if err := checkName(name); err != nil {
		return -1, "", err
	}
	folder, base := filepath.Split(name)
	if base == "" {
		return -1, "", unix.EISDIR
	}
	dir, err = open(filepath.Clean(folder), folderFlags)
	return dir, base, err
}

// Look returns the state of a name; a missing one is no error. If the last part is a link, it is
// not followed. The folders above must not be links.
func Look(name string) (State, error) {
	dir, base, err := openParent(name)
	if err == unix.ENOENT {
		return State{}, nil
	}
	if err == unix.EISDIR { // the root
		dir, base, err = unix.AT_FDCWD, name, nil
	}
	if err != nil {
		return State{}, pathError("stat", name, err)
	}
	if dir >= 0 {
		defer unix.Close(dir)
	}
	st, err := statAt(dir, base)
	return st, pathError("stat", name, err)
}

// owner is the owner of a file.
type owner struct{ uid, gid uint32 }

// sameTime reports whether both have the same size and modification time. Unlike Same, it allows
// the file to have been renamed.
func (s State) sameTime(o State) bool { return s.Size == o.Size && s.mtime == o.mtime }

// sameRights reports whether both have the same mode and owner.
func (s State) sameRights(o State) bool {
	return s.Mode == o.Mode && s.owner == o.owner
}

// statAt returns the state of an entry of a folder; a missing name is no error.
func statAt(dir int, name string) (State, error) {
	var st unix.Stat_t
	err := retryInterrupted(func() error { return unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW) })
	if err == unix.ENOENT {
		return State{}, nil
	}
	if err != nil {
		return State{}, err
	}
	return stateOf(&st), nil
}

// statFile returns the state of an open file.
func statFile(fd int) (State, error) {
	var st unix.Stat_t
	if err := retryInterrupted(func() error { return unix.Fstat(fd, &st) }); err != nil {
		return State{}, err
	}
	return stateOf(&st), nil
}

func stateOf(st *unix.Stat_t) State {
	return State{
		Exists: true,
		Size:   st.Size,
		Mode:   modeOf(uint32(st.Mode)),
		Links:  uint64(st.Nlink),
		dev:    uint64(st.Dev),
		ino:    uint64(st.Ino),
		owner:  owner{st.Uid, st.Gid},
		mtime:  unix.TimespecToNsec(st.Mtim),
		ctime:  unix.TimespecToNsec(st.Ctim),
	}
}

func modeOf(bits uint32) fs.FileMode {
	mode := fs.FileMode(bits & 0o777)
	switch bits & unix.S_IFMT {
	case unix.S_IFREG:
	case unix.S_IFDIR:
		mode |= fs.ModeDir
	case unix.S_IFLNK:
		mode |= fs.ModeSymlink
	case unix.S_IFIFO:
		mode |= fs.ModeNamedPipe
	case unix.S_IFSOCK:
		mode |= fs.ModeSocket
	case unix.S_IFCHR:
		mode |= fs.ModeDevice | fs.ModeCharDevice
	case unix.S_IFBLK:
		mode |= fs.ModeDevice
	default:
		mode |= fs.ModeIrregular
	}
	if bits&unix.S_ISUID != 0 {
		mode |= fs.ModeSetuid
	}
	if bits&unix.S_ISGID != 0 {
		mode |= fs.ModeSetgid
	}
	if bits&unix.S_ISVTX != 0 {
		mode |= fs.ModeSticky
	}
	return mode
}

// bitsOf returns the bits of mode that fchmod sets.
func bitsOf(mode fs.FileMode) uint32 {
	bits := uint32(mode.Perm())
	if mode&fs.ModeSetuid != 0 {
		bits |= unix.S_ISUID
	}
	if mode&fs.ModeSetgid != 0 {
		bits |= unix.S_ISGID
	}
	if mode&fs.ModeSticky != 0 {
		bits |= unix.S_ISVTX
	}
	return bits
}
