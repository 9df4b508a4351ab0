//go:build unix

package sandbox

import (
	"fmt"
	"os"
	"syscall"
)

// inode names a file by what it is and not by its path.
func inode(info os.FileInfo) string {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return info.Mode().Type().String()
	}
	return fmt.Sprintf("%d:%d:%s", st.Dev, st.Ino, info.Mode().Type())
}
