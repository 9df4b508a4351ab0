//go:build unix

package script

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// protect makes the page around p unreachable, or reachable again.
func protect(p uintptr, reachable bool) {
	size := uintptr(unix.Getpagesize())
	rights := unix.PROT_NONE
	if reachable {
		rights = unix.PROT_READ | unix.PROT_WRITE
	}
	// A failure leaves the engine running, as where there is no such thing.
	_ = unix.Mprotect(unsafe.Slice(pointer[byte](p&^(size-1)), size), rights)
}
