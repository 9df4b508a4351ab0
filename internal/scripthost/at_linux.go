package scripthost

import "golang.org/x/sys/unix"

// walkFlag opens a folder to go on from there, which needs no right to list it.
const walkFlag = unix.O_PATH
