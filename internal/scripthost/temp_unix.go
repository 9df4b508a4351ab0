//go:build unix

package scripthost

import (
	"io/fs"
	"os"
	"syscall"
)

// ownTemp reports whether a folder belongs to this user.
func ownTemp(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}
