//go:build unix

package search

import (
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// keepable says that this system can tell files apart, so that a tree can be
// kept.
const keepable = true

// entryInfo is what is known of an entry, for a tree.
type entryInfo struct {
	kind    entryKind
	id      fileID
	mode    uint32
	links   uint64
	time    stamp // of the last change of what is in it
	changed stamp // of the last change of any kind
}

func infoOf(st *unix.Stat_t) entryInfo {
	i := entryInfo{
		id: fileID{uint64(st.Dev), uint64(st.Ino)}, mode: uint32(st.Mode), links: uint64(st.Nlink),
	}
	i.time.sec, i.time.nsec = st.Mtim.Unix()
	i.changed.sec, i.changed.nsec = st.Ctim.Unix()
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		i.kind = entryFile
	case unix.S_IFDIR:
		i.kind = entryDir
	}
	return i
}

// look says what a name in this folder is, without following a link.
func (f *dirHandle) look(name string) (entryInfo, error) {
	return lookAt(f.fd, name, unix.AT_SYMLINK_NOFOLLOW)
}

// lookSelf says what is known of the folder.
func (f *dirHandle) lookSelf() (entryInfo, error) {
	var st unix.Stat_t
	for {
		err := unix.Fstat(f.fd, &st)
		if err != unix.EINTR {
			return infoOf(&st), err
		}
	}
}

// lookName says what a path is, through links if it is to follow them.
func lookName(path string, follow bool) (entryInfo, error) {
	if follow {
		return lookAt(unix.AT_FDCWD, path, 0)
	}
	return lookAt(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW)
}

func lookAt(dir int, name string, flags int) (entryInfo, error) {
	var st unix.Stat_t
	for {
		err := unix.Fstatat(dir, name, &st, flags)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return entryInfo{}, err
		}
		return infoOf(&st), nil
	}
}

// openPath opens a folder by a name of several parts, none of which may be a link.
func (f *dirHandle) openPath(name string) (*dirHandle, error) {
	fd, ok, err := openWhole(f.fd, name, unix.O_RDONLY|unix.O_DIRECTORY)
	if ok {
		if err != nil {
			return nil, err
		}
		return &dirHandle{fd: fd}, nil
	}
	at := f
	for part := range strings.SplitSeq(name, "/") {
		next, err := at.sub(part)
		if at != f {
			at.close()
		}
		if err != nil {
			return nil, err
		}
		at = next
	}
	return at, nil
}

// procPath is a name by which the kernel finds this very folder.
func (f *dirHandle) procPath() string { return "/proc/self/fd/" + strconv.Itoa(f.fd) }
