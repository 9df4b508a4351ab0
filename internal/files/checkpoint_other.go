//go:build !linux

package files

import (
	"bytes"
	"io/fs"
	"runtime"
)

// changedAt would say when anything about a file was last changed.
func changedAt(fs.FileInfo) (sec, nano int64, ok bool) { return 0, 0, false }

// isPlainPart reports whether a part of a name means itself, and not a volume or
// several parts.
func isPlainPart(part []byte) bool {
	return runtime.GOOS != "windows" || !bytes.ContainsAny(part, `\:`)
}
