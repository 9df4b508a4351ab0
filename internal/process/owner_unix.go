//go:build unix

package process

import (
	"os"
	"syscall"
)

// ofAnother reports whether a folder belongs to a user other than the one who runs this program, as
// when root works in a user's folder.
func ofAnother(dir string) bool {
	info, err := os.Stat(dir)
	if err != nil {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) != os.Geteuid()
}
