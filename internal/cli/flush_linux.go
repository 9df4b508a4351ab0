package cli

import "golang.org/x/sys/unix"

// flushInput discards what was typed on a terminal and not read. If that fails, the input stays.
func flushInput(fd uintptr) { _ = unix.IoctlSetInt(int(fd), unix.TCFLSH, unix.TCIFLUSH) }
