//go:build unix && !linux

package world

import "golang.org/x/sys/unix"

// walkFlag opens a folder to go on from there.
const walkFlag = unix.O_RDONLY
