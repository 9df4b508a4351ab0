package sandbox

import "golang.org/x/sys/unix"

// nativeArch is how the kernel names this processor; foreignCalls is where
// the numbers of the x32 variant of its calls begin.
const (
	nativeArch   = unix.AUDIT_ARCH_X86_64
	foreignCalls = 0x40000000
)

// refusedHere are refused calls that only this processor has.
func refusedHere() []uint32 {
	return []uint32{
		unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_USELIB, unix.SYS_CREATE_MODULE, unix.SYS_GET_KERNEL_SYMS, unix.SYS_QUERY_MODULE,
		unix.SYS__SYSCTL, unix.SYS_MODIFY_LDT,
	}
}
