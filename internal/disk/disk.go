// Package disk replaces whole files. It opens a name by handle, folder by folder, and follows no
// links. It writes each change to a new file beside the old one, and only when every change of a
// [Commit] is ready do the new files replace the old ones. Readers see the old contents or the new,
// and a failure restores everything.
//
// Concurrent changes by others are not lost: the caller tells [Commit] what it saw, and Commit
// checks what it has replaced and restores it with [ErrChanged] if it is something else.
//
// Linux supports all of this. Other unixes lack some calls, as noted in their files. Other systems
// use a simple version based on os.Rename, which the build tag disk_simple selects on any system,
// so that it can be tested.
//
// Small files of our own, which nobody else changes, need less: see [ReplaceSmall] and [ReadSmall].
package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
)

var (
	// ErrChanged says that somebody else changed, created or removed a file since the caller read
	// it. Nothing was changed.
	ErrChanged = errors.New("changed on disk")
	// ErrNotRegular refuses folders, pipes, sockets and devices. For a
	// folder the error is also a syscall.EISDIR.
	ErrNotRegular = errors.New("not a regular file")
	// ErrTooLarge refuses a file longer than the caller wants to read.
	ErrTooLarge = errors.New("file too large")
)

// A State is what a name held when it was looked at. The zero State is that of a missing file.
type State struct {
	Exists bool
	Size   int64
	Mode   fs.FileMode // with the type bits; a link is not followed
	Links  uint64      // how many names the file has

	dev, ino     uint64
	mtime, ctime int64 // in nanoseconds
	owner
}

// Same reports whether s and o are the same file, unmodified between the two as far as the clock of
// the file system can tell. Two missing files are the same.
func (s State) Same(o State) bool {
	if !s.Exists || !o.Exists {
		return s.Exists == o.Exists
	}
	return s.sameFile(o) && s.Size == o.Size && s.mtime == o.mtime && s.ctime == o.ctime
}

func (s State) sameFile(o State) bool {
	return s.Exists && o.Exists && s.dev == o.dev && s.ino == o.ino
}

// regular returns nil for a regular file, and an error for anything else.
func (s State) regular() error {
	switch {
	case s.Mode.IsRegular():
		return nil
	case s.Mode.IsDir():
		return fmt.Errorf("%w: %w", ErrNotRegular, syscall.EISDIR)
	case s.Mode&fs.ModeSymlink != 0:
		return syscall.ELOOP
	}
	return ErrNotRegular
}

// A Change is the new content of a file, or its removal.
type Change struct {
	Name   string // absolute and clean; neither it nor a folder above is a link
	Data   []byte // the new contents
	Remove bool   // remove the file instead

	// Was is the state that the caller saw under Name, and WasData the contents. Both are checked
	// at the last moment. If the states differ, the contents decide. WasData may be nil for
	// contents that the caller did not read: then any difference of the states counts as a change.
	Was     State
	WasData []byte

	// Mode is the exact permission of a new file; 0 stands for the default, 0666 less the umask. An
	// existing file keeps its mode, owner, group and, on Linux, extended attributes and access
	// lists.
	Mode fs.FileMode
	// SetMode applies Mode to an existing file too.
	SetMode bool
}

// oldContentsKnown reports whether the change says what the old contents were.
func (c *Change) oldContentsKnown() bool { return c.WasData != nil || c.Was.Size == 0 }

// Options configure a Commit. The zero value suits files that need not survive a power failure.
type Options struct {
	// Sync writes files and folders to the disk before Commit returns. Without it, a power failure
	// soon after can leave old or even empty files.
	Sync bool
	// Temp returns the random part of a temporary name; nil makes one of 16
	// random hexadecimal digits.
	Temp func() string
	// Litter remembers temporary files that could not be removed; when nil, they are left behind.
	Litter *Litter
	// Staged, if set, is called when all changes are written and none is visible yet, so that the
	// caller can record what a crash would leave. temps[i] is the file beside changes[i] that holds
	// the new contents before the replacement and the old contents after it (for a removal only the
	// latter). On file systems that cannot exchange two names, the old contents are under the same
	// name with .old instead of .tmp. An error cancels the Commit.
	Staged func(temps []string) error
}

// The prefix and suffix of temporary files.
const (
	tempPrefix = ".helve-"
	tempSuffix = ".tmp"
	oldSuffix  = ".old"
)

// pathError names the file an error is about.
func pathError(op, name string, err error) error {
	if err == nil {
		return nil
	}
	var named *fs.PathError
	if errors.As(err, &named) && named.Path == name {
		return err
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}

// checkName refuses names that cannot be opened by handle.
func checkName(name string) error {
	if !filepath.IsAbs(name) || filepath.Clean(name) != name || strings.IndexByte(name, 0) >= 0 {
		return syscall.EINVAL
	}
	return nil
}

// checkChanges refuses invalid and duplicate names.
func checkChanges(changes []Change) error {
	seen := make(map[string]bool, len(changes))
	for i := range changes {
		name := changes[i].Name
		if err := checkName(name); err != nil {
			return pathError("replace", name, err)
		}
		if seen[name] {
			return pathError("replace", name, errors.New("is changed twice at once"))
		}
		seen[name] = true
	}
	return nil
}
