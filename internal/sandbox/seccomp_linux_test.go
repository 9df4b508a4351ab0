//go:build amd64 || arm64

package sandbox

import (
	"encoding/binary"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

// judge runs the filter as the kernel does.
func (f filter) judge(t interface{ Fatalf(string, ...any) }, data [64]byte) uint32 {
	var loaded uint32
	for at := 0; at < len(f); at++ {
		s := f[at]
		hit := false
		switch s.Code {
		case unix.BPF_LD | unix.BPF_W | unix.BPF_ABS:
			loaded = binary.LittleEndian.Uint32(data[s.K:])
			continue
		case unix.BPF_RET | unix.BPF_K:
			return s.K
		case unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K:
			hit = loaded == s.K
		case unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K:
			hit = loaded >= s.K
		case unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K:
			hit = loaded&s.K != 0
		default:
			t.Fatalf("unknown statement %#x", s.Code)
		}
		if hit {
			at += int(s.Jt)
		} else {
			at += int(s.Jf)
		}
	}
	t.Fatalf("the filter has no end")
	return 0
}

func callData(arch, nr uint32, args ...uint64) (data [64]byte) {
	binary.LittleEndian.PutUint32(data[offsetCall:], nr)
	binary.LittleEndian.PutUint32(data[offsetArch:], arch)
	for i, a := range args {
		binary.LittleEndian.PutUint64(data[offsetArgs+8*i:], a)
	}
	return data
}

// The filter answers every call as its tables say, whatever else is in it.
func TestFilter(t *testing.T) {
	const refuse = answerErrno | uint32(unix.EPERM)
	refused := append(refusedCalls(), refusedHere()...)
	for _, level := range []Level{Write, Strict} {
		f := filterFor(level)
		rapid.Check(t, func(t *rapid.T) {
			nr := rapid.OneOf(rapid.Uint32Range(0, 500), rapid.SampledFrom([]uint32{unix.SYS_CLONE, unix.SYS_IOCTL, unix.SYS_SOCKET, unix.SYS_SOCKETPAIR}), rapid.Uint32()).Draw(t, "nr")
			a := rapid.OneOf(rapid.Uint64Range(0, 50), rapid.Uint64(), rapid.SampledFrom([]uint64{unix.CLONE_NEWNET, unix.TIOCSTI, unix.TIOCSTI | 1<<32})).Draw(t, "a")
			b := rapid.OneOf(rapid.Uint64(), rapid.SampledFrom([]uint64{unix.TIOCSTI, unix.TIOCSTI | 1<<40, tioclinux})).Draw(t, "b")
			arch := rapid.SampledFrom([]uint32{nativeArch, nativeArch, nativeArch, unix.AUDIT_ARCH_I386, unix.AUDIT_ARCH_ARM}).Draw(t, "arch")
			want := uint32(answerAllow)
			family := uint32(a)
			switch {
			case arch != nativeArch, foreignCalls != 0 && nr >= foreignCalls, slices.Contains(refused, nr):
				want = refuse
			case nr == unix.SYS_CLONE3:
				want = answerErrno | uint32(unix.ENOSYS)
			case nr == unix.SYS_CLONE && uint32(a)&0x7e020000 != 0:
				want = refuse
			case nr == unix.SYS_IOCTL && (uint32(b) == unix.TIOCSTI || uint32(b) == tioclinux):
				want = refuse
			case nr == unix.SYS_SOCKETPAIR && family != unix.AF_UNIX:
				want = refuse
			case nr == unix.SYS_SOCKET && (level == Strict || !slices.Contains([]uint32{unix.AF_UNIX, unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK}, family)):
				want = refuse
			}
			if got := f.judge(t, callData(arch, nr, a, b)); got != want {
				t.Fatalf("%s: call %d of %#x with %#x, %#x: %#x, want %#x", level, nr, arch, a, b, got, want)
			}
		})
		if len(f) > 4096 {
			t.Errorf("the filter has %d statements, more than the kernel takes", len(f))
		}
	}
	if len(slices.Compact(slices.Sorted(slices.Values(refused)))) != len(refused) {
		t.Error("a call is listed twice")
	}
}

func TestAvailable(t *testing.T) {
	m := Available()
	if (m.Landlock == 0 || !m.Seccomp || !m.Namespaces) && len(m.Missing) == 0 {
		t.Errorf("something is missing and nothing is said: %+v", m)
	}
	for _, abi := range []int{1, 2, 3, 5} {
		if supported(abi)&^supported(7) != 0 || supported(abi)&rightsRead != rightsRead {
			t.Errorf("version %d has rights %#x", abi, supported(abi))
		}
	}
}
