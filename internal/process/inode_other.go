//go:build !(linux || darwin || freebsd || netbsd)

package process

import (
	"io/fs"
	"time"
)

// A fileID would say which file it is, whatever its name.
type fileID struct{}

// severalNames is always false here, where there is no sandbox either.
func severalNames(fs.FileInfo) (fileID, bool) { return fileID{}, false }

// changeTime is when a folder was changed, as far as that is known here.
func changeTime(info fs.FileInfo) time.Time { return info.ModTime() }
