//go:build amd64 || arm64

package sandbox

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Offsets into the kernel's struct seccomp_data, and what a filter answers.
const (
	offsetCall = 0
	offsetArch = 4
	offsetArgs = 16

	answerAllow = 0x7fff0000
	answerErrno = 0x00050000

	tioclinux = 0x541c // pastes into a text console
)

// A filter is a program for the kernel's packet filter machine, which sees
// the number and arguments of each system call.
type filter []unix.SockFilter

func (f *filter) statement(code uint16, k uint32) {
	*f = append(*f, unix.SockFilter{Code: code, K: k})
}

func (f *filter) load(offset uint32) { f.statement(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, offset) }

func (f *filter) addReturn(value uint32) { f.statement(unix.BPF_RET|unix.BPF_K, value) }

// when adds a jump: if the loaded word compares to k, the next `then`
// statements run, otherwise they are left out.
func (f *filter) when(compare uint16, k uint32, then uint8) {
	*f = append(*f, unix.SockFilter{Code: unix.BPF_JMP | compare | unix.BPF_K, K: k, Jf: then})
}

// unless is when, the other way round.
func (f *filter) unless(compare uint16, k uint32, then uint8) {
	*f = append(*f, unix.SockFilter{Code: unix.BPF_JMP | compare | unix.BPF_K, K: k, Jt: then})
}

// argument is the offset of the low half of an argument. All arguments that
// are looked at are 32 bits wide for the kernel, which drops the rest.
func argument(n uint32) uint32 { return offsetArgs + 8*n }

// filterFor returns the filter of a level. What it refuses fails with EPERM,
// as it would for lack of a right.
func filterFor(level Level) filter {
	const refuse = answerErrno | uint32(unix.EPERM)
	var f filter
	f.load(offsetArch)
	f.unless(unix.BPF_JEQ, nativeArch, 1) // other numbers mean other calls there
	f.addReturn(refuse)
	f.load(offsetCall)
	if foreignCalls != 0 {
		f.when(unix.BPF_JGE, foreignCalls, 1)
		f.addReturn(refuse)
	}
	for _, nr := range append(refusedCalls(), refusedHere()...) {
		f.when(unix.BPF_JEQ, nr, 1)
		f.addReturn(refuse)
	}
	// Its flags are behind a pointer, which a filter cannot follow. Callers that are told it does
	// not exist use clone.
	f.when(unix.BPF_JEQ, unix.SYS_CLONE3, 1)
	f.addReturn(answerErrno | uint32(unix.ENOSYS))

	const namespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC |
		unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET
	f.when(unix.BPF_JEQ, unix.SYS_CLONE, 4)
	f.load(argument(0))
	f.when(unix.BPF_JSET, namespaces, 1)
	f.addReturn(refuse)
	f.addReturn(answerAllow)

	// A terminal would take what is pasted into it for typed by the user.
	f.when(unix.BPF_JEQ, unix.SYS_IOCTL, 6)
	f.load(argument(1))
	f.when(unix.BPF_JEQ, unix.TIOCSTI, 1)
	f.addReturn(refuse)
	f.when(unix.BPF_JEQ, tioclinux, 1)
	f.addReturn(refuse)
	f.addReturn(answerAllow)

	f.sockets(level, refuse)
	f.addReturn(answerAllow)
	return f
}

// sockets adds the rules for sockets: in Strict only pairs within a process family; else the
// families that programs use.
func (f *filter) sockets(level Level, refuse uint32) {
	f.when(unix.BPF_JEQ, unix.SYS_SOCKETPAIR, 4)
	f.load(argument(0))
	f.unless(unix.BPF_JEQ, unix.AF_UNIX, 1)
	f.addReturn(refuse)
	f.addReturn(answerAllow)

	if level == Strict {
		f.when(unix.BPF_JEQ, unix.SYS_SOCKET, 1)
		f.addReturn(refuse)
		return
	}
	families := []uint32{unix.AF_UNIX, unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK}
	f.when(unix.BPF_JEQ, unix.SYS_SOCKET, uint8(2*len(families)+2))
	f.load(argument(0))
	for _, family := range families {
		f.when(unix.BPF_JEQ, family, 1)
		f.addReturn(answerAllow)
	}
	f.addReturn(refuse)
}

// refusedCalls lists the system calls that are forbidden in the sandbox: those that inspect or
// control other processes, change the sandbox itself, run code in the kernel, or reach parts of the
// kernel that no build uses.
func refusedCalls() []uint32 {
	return []uint32{
		unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_KCMP, unix.SYS_PIDFD_GETFD, unix.SYS_PROCESS_MADVISE,
		unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
		unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
		unix.SYS_BPF, unix.SYS_USERFAULTFD, unix.SYS_PERF_EVENT_OPEN,
		unix.SYS_UNSHARE, unix.SYS_SETNS,
		unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_OPEN_TREE, unix.SYS_OPEN_TREE_ATTR,
		unix.SYS_MOVE_MOUNT, unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR,
		unix.SYS_OPEN_BY_HANDLE_AT,
		unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
		unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_REBOOT, unix.SYS_ACCT, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD, unix.SYS_NFSSERVCTL,
		unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_CLOCK_ADJTIME, unix.SYS_ADJTIMEX,
		unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME, unix.SYS_SYSLOG, unix.SYS_VHANGUP, unix.SYS_LOOKUP_DCOOKIE, unix.SYS_FANOTIFY_INIT,
	}
}

// seccomp puts the filter on this thread, and on all that come of it.
func seccomp(level Level) error {
	f := filterFor(level)
	program := unix.SockFprog{Len: uint16(len(f)), Filter: &f[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&program)))
	runtime.KeepAlive(f)
	if errno != 0 {
		return errno
	}
	return nil
}
