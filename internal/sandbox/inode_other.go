//go:build !unix

package sandbox

import "os"

// inode returns the kind of a file, since there are no inode numbers here and no sandbox either.
func inode(info os.FileInfo) string { return info.Mode().Type().String() }
