package sandbox

import "golang.org/x/sys/unix"

// nativeArch is how the kernel names this processor. It has one set of
// numbers only.
const (
	nativeArch   = unix.AUDIT_ARCH_AARCH64
	foreignCalls = 0
)

// refusedHere are refused calls that only this processor has: none.
func refusedHere() []uint32 { return nil }
