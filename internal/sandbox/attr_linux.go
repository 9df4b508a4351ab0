//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Attr says how the process that will call [Main] has to be started: in
// namespaces of its own, with the right to arrange them and no other. The
// caller may add to it.
func (p Profile) Attr() *syscall.SysProcAttr {
	if p.Bare || p.Level == Off {
		return &syscall.SysProcAttr{Pdeathsig: syscall.Signal(p.Death)}
	}
	flags := unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWIPC
	if p.Level == Strict {
		flags |= unix.CLONE_NEWNET
	}
	attr := &syscall.SysProcAttr{
		Cloneflags: uintptr(flags),
		Pdeathsig:  syscall.Signal(p.Death),
		// An ordinary user's id stays what it is, so exec would drop the
		// capabilities that come with the namespace. These are handed on:
		// to mount, to give up all capabilities for good, and to reach a path
		// to be masked through a folder whose owner, the user, has shut it.
		AmbientCaps: []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_SETPCAP, unix.CAP_DAC_OVERRIDE},
	}
	if os.Geteuid() == 0 {
		attr.UidMappings = idMap("/proc/self/uid_map", 0, unix.CAP_SETUID)
		attr.GidMappings = idMap("/proc/self/gid_map", os.Getegid(), unix.CAP_SETGID)
	} // for anyone else see mapSelf
	return attr
}

// mapSelf maps the helper's own ids into the namespace, which is all that the kernel allows an
// ordinary user. The process that started the helper cannot do it if that process is not dumpable:
// until exec, the helper inherits this, and its files in /proc belong to root.
func (p Profile) mapSelf() error {
	if text, err := os.ReadFile("/proc/self/uid_map"); err != nil || len(text) > 0 {
		return err
	}
	for _, entry := range []struct{ file, text string }{
		{"setgroups", "deny"},
		{"gid_map", fmt.Sprintf("%d %d 1", p.Group, p.Group)},
		{"uid_map", fmt.Sprintf("%d %d 1", p.User, p.User)},
	} {
		if err := os.WriteFile("/proc/self/"+entry.file, []byte(entry.text), 0); err != nil {
			return err
		}
	}
	return nil
}

// idMap maps root's ids to themselves: if it may, all that exist here, so
// that files keep their owners.
func idMap(file string, own int, capability uint) []syscall.SysProcIDMap {
	single := []syscall.SysProcIDMap{{ContainerID: own, HostID: own, Size: 1}}
	if !hasCapability(capability) || !hasCapability(unix.CAP_SETFCAP) {
		return single
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return single
	}
	var all []syscall.SysProcIDMap
	for line := range bytes.Lines(text) {
		var first, outside, size int
		if n, err := fmt.Sscan(string(line), &first, &outside, &size); n == 3 && err == nil {
			all = append(all, syscall.SysProcIDMap{ContainerID: first, HostID: first, Size: size})
		}
	}
	if len(all) == 0 {
		return single
	}
	return all
}

// hasCapability tells whether this process has a capability now.
func hasCapability(capability uint) bool {
	set, err := strconv.ParseUint(status("CapEff"), 16, 64)
	return err == nil && set&(1<<capability) != 0
}

// status returns a field of what the kernel says about this process.
func status(field string) string {
	text, err := os.ReadFile("/proc/thread-self/status")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(line, ":"); ok && name == field {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
