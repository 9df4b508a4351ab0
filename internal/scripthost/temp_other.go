//go:build !unix

package scripthost

import "io/fs"

// ownTemp reports whether a folder belongs to this user. Windows has a folder for temporary files
// for each user.
func ownTemp(fs.FileInfo) bool { return true }
