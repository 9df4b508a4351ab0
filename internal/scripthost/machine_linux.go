package scripthost

import "golang.org/x/sys/unix"

// measure finds out what only the system knows.
func (m *machine) measure() {
	var name unix.Utsname
	if unix.Uname(&name) == nil {
		m.Release, m.Version = unix.ByteSliceToString(name.Release[:]), unix.ByteSliceToString(name.Version[:])
	}
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) == nil {
		m.Memory, m.Free = uint64(info.Totalram)*uint64(info.Unit), uint64(info.Freeram)*uint64(info.Unit)
	}
}
