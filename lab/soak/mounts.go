//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// enterMounts starts this program anew where its mounts are seen by nobody else
// and end with it, and returns where that is not allowed.
func enterMounts(args []string) {
	unshare := []string{"unshare", "--mount"}
	if os.Getuid() != 0 {
		unshare = append(unshare, "--map-root-user")
	}
	path, err := exec.LookPath("unshare")
	if err == nil {
		err = exec.Command(path, append(unshare[1:], "true")...).Run()
	}
	self, _ := os.Executable() // unshare says so where it is not known
	if err == nil {
		err = syscall.Exec(path, append(append(unshare, self, wordInside), args...), os.Environ())
	}
	fmt.Fprintf(os.Stderr, "soak: mounts are not allowed (%v): disks are neither full nor read-only in this run\n", err)
}

// mountSmall mounts a file system of so many bytes.
func mountSmall(dir string, size int64) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return syscall.Mount("soak", dir, "tmpfs", 0, fmt.Sprintf("size=%d,mode=0700", size))
}

// remount changes the size or whether it is read-only. It is refused where it
// holds more, or somebody writes there.
func remount(dir string, flags uintptr, size int64) error {
	return syscall.Mount("soak", dir, "tmpfs", syscall.MS_REMOUNT|flags, fmt.Sprintf("size=%d", size))
}

// held is how many bytes are on it.
func held(dir string) (int64, error) {
	var at syscall.Statfs_t
	err := syscall.Statfs(dir, &at)
	return int64(at.Blocks-at.Bfree) * at.Bsize, err
}
