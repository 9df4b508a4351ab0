//go:build unix

package scripthost

import (
	"io/fs"
	"os"
	"syscall"
)

// ownTemp says whether a folder belongs to the user who runs this.
func ownTemp(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}
