package files

import (
	"context"
	"io/fs"
)

// dirFlag is not needed: listing anything but a folder fails by itself.
const dirFlag = 0

// otherNames finds none: hard links are rare here, and looking for them by
// name would cost every read.
func (*Workspace) otherNames(context.Context, Path, fs.FileInfo) []string { return nil }

// An inode would be a file whatever its names; here there are none.
type inode struct{}

func inodeOf(fs.FileInfo) inode { return inode{} }

func linkCount(fs.FileInfo) uint64 { return 1 }
