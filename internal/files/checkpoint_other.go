//go:build !linux

package files

import (
	"bytes"
	"io/fs"
	"runtime"
)

// changedAt returns false: the time is not available.
func changedAt(fs.FileInfo) (sec, nano int64, ok bool) { return 0, 0, false }

// isPlainPart reports whether a part of a name is an ordinary name, and not a volume or several
// parts.
func isPlainPart(part []byte) bool {
	return runtime.GOOS != "windows" || !bytes.ContainsAny(part, `\:`)
}
