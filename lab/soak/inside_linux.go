package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// runInside runs the soak where mounts are seen by nobody else, and end with
// it. Where that is not allowed it runs without.
func runInside(ctx context.Context, args []string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, self, append([]string{wordInside}, args...)...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	if os.Getuid() != 0 {
		cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}}
	}
	alive, err := cmd.StdinPipe() // it ends when this process does
	if err != nil {
		return err
	}
	defer func() { _ = alive.Close() }()
	if err := cmd.Start(); err != nil {
		fmt.Fprintf(os.Stderr, "soak: no place for mounts (%v): disks are neither full nor read-only in this run\n", err)
		return run(ctx, args, false)
	}
	err = cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		os.Exit(max(exit.ExitCode(), 1)) // it has said why
	}
	return err
}

// mountSmall mounts a file system of so many bytes.
func mountSmall(dir string, size int64) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return syscall.Mount("soak", dir, "tmpfs", 0, fmt.Sprintf("size=%d,mode=0700", size))
}

// resize lets it hold so many bytes; less than it holds is refused.
func resize(dir string, size int64) error {
	return syscall.Mount("soak", dir, "tmpfs", syscall.MS_REMOUNT, fmt.Sprintf("size=%d", size))
}

// readOnly lets nobody write there, or lets them again. While somebody does it
// is refused.
func readOnly(dir string, on bool) error {
	var flags uintptr = syscall.MS_REMOUNT
	if on {
		flags |= syscall.MS_RDONLY
	}
	return syscall.Mount("soak", dir, "tmpfs", flags, "")
}

// held is how many bytes are on it.
func held(dir string) (int64, error) {
	var at syscall.Statfs_t
	if err := syscall.Statfs(dir, &at); err != nil {
		return 0, err
	}
	return int64(at.Blocks-at.Bfree) * at.Bsize, nil
}

func unmount(dir string) error { return syscall.Unmount(dir, syscall.MNT_DETACH) }
