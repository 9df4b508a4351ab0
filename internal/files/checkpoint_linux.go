package files

import (
	"io/fs"
	"syscall"
)

// changedAt returns when anything about a file was last changed.
func changedAt(info fs.FileInfo) (sec, nano int64, ok bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, false
	}
	sec, nano = st.Ctim.Unix()
	return sec, nano, true
}

// isPlainPart reports whether a part of a name is an ordinary name.
func isPlainPart([]byte) bool { return true }
