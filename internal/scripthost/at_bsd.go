//go:build unix && !linux

package scripthost

import "golang.org/x/sys/unix"

// walkFlag opens a folder to go on from there.
const walkFlag = unix.O_RDONLY
