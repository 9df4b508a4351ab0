package cli

import "golang.org/x/sys/unix"

// flushInput makes a terminal forget what was typed and not read. Where it
// can not, what was typed stays.
func flushInput(fd uintptr) { _ = unix.IoctlSetInt(int(fd), unix.TCFLSH, unix.TCIFLUSH) }
