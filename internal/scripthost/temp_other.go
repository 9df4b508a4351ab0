//go:build !unix

package scripthost

import "io/fs"

// ownTemp says whether a folder belongs to the user who runs this. Windows has
// a folder for temporary files for each.
func ownTemp(fs.FileInfo) bool { return true }
