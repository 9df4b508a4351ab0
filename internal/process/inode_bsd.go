//go:build darwin || freebsd || netbsd

package process

import (
	"io/fs"
	"syscall"
	"time"
)

// A fileID says which file it is, whatever its name.
type fileID struct{ dev, ino uint64 }

// severalNames returns which file it is, and whether it has several names.
func severalNames(info fs.FileInfo) (fileID, bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fileID{}, false
	}
	return fileID{uint64(st.Dev), uint64(st.Ino)}, st.Nlink > 1
}

// changeTime returns when a folder was last changed in any way. Unlike the modification time, it
// cannot be set.
func changeTime(info fs.FileInfo) time.Time {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(st.Ctimespec.Unix())
	}
	return info.ModTime()
}
