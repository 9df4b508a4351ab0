package files

import (
	"context"
	"io/fs"
)

// dirFlag is not needed: listing anything but a folder fails by itself.
const dirFlag = 0

// otherNames returns nothing: hard links are rare on Windows, and searching for them would slow
// down every read.
func (*Workspace) otherNames(context.Context, Path, fs.FileInfo) []string { return nil }

// An inode identifies nothing on Windows.
type inode struct{}

func inodeOf(fs.FileInfo) inode { return inode{} }

func linkCount(fs.FileInfo) uint64 { return 1 }
