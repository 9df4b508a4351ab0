// Package disk replaces files whole. A name is opened by handle, folder by
// folder, and no link is followed; a change is written to a file of its own
// beside the old one, and only when every change of a [Commit] is ready do
// they take the places of the old files. Whoever reads meanwhile sees the old
// contents or the new, and a failure on the way puts everything back.
//
// What somebody else changes at the same time is not lost: [Commit] is told
// what the caller saw, looks at what it has replaced, and gives it back with
// [ErrChanged] if that is something else.
//
// Linux has all of it. The other unixes lack some calls and say so where they
// do; other systems have a simple version made of os.Rename, which can also
// be had anywhere with the build tag disk_simple, so that it can be tested.
//
// Small files of our own, which nobody else changes, need less: see
// [ReplaceSmall] and [ReadSmall].
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
	// ErrChanged says that somebody else changed, made or removed a file
	// since the caller looked at it. Nothing was done.
	ErrChanged = errors.New("changed on disk")
	// ErrNotRegular refuses folders, pipes, sockets and devices. For a
	// folder the error is also a syscall.EISDIR.
	ErrNotRegular = errors.New("not a regular file")
	// ErrTooLarge refuses a file longer than the caller wants to read.
	ErrTooLarge = errors.New("file too large")
)

// A State is what a name held when it was looked at. The zero State is that
// of a missing file.
type State struct {
	Exists bool
	Size   int64
	Mode   fs.FileMode // with the type bits; a link is not followed
	Links  uint64      // how many names the file has

	dev, ino     uint64
	mtime, ctime int64 // in nanoseconds
	owner
}

// Same reports whether both are the same file and nothing has been written
// to it in between, as far as the clock of the file system can tell. Two
// missing files are the same.
func (s State) Same(o State) bool {
	if !s.Exists || !o.Exists {
		return s.Exists == o.Exists
	}
	return s.sameFile(o) && s.Size == o.Size && s.mtime == o.mtime && s.ctime == o.ctime
}

func (s State) sameFile(o State) bool {
	return s.Exists && o.Exists && s.dev == o.dev && s.ino == o.ino
}

// regular returns nil for a regular file and else why it is none.
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

// A Change is what shall become of one file.
type Change struct {
	Name   string // absolute and clean; neither it nor a folder above is a link
	Data   []byte // what the file shall hold
	Remove bool   // or that it shall be gone

	// Was is what the caller saw under Name and WasData the contents; both
	// are checked at the last moment. Where the states differ, the contents
	// decide. WasData may be nil for contents the caller did not read: then
	// any difference of the states counts as a change.
	Was     State
	WasData []byte

	// Mode is the permission of a new file, exactly; 0 stands for what a new
	// file gets by itself, 0666 less the umask. An existing file keeps mode,
	// owner, group and, on Linux, extended attributes and access lists.
	Mode fs.FileMode
	// SetMode gives Mode to a file that exists, too.
	SetMode bool
}

// oldContentsKnown reports whether the change says what the old contents were.
func (c *Change) oldContentsKnown() bool { return c.WasData != nil || c.Was.Size == 0 }

// Options are settings of a Commit. The zero value is good for files that
// need not outlive a power cut.
type Options struct {
	// Sync has files and folders written to the disk before Commit returns.
	// Without it a power cut soon after can leave old or even empty files.
	Sync bool
	// Temp returns the random part of a temporary name; nil makes one of 16
	// random hexadecimal digits.
	Temp func() string
	// Litter remembers temporary files that could not be removed; nil leaves
	// them behind.
	Litter *Litter
	// Staged, if set, is called when all changes are written and none is
	// visible yet, so that the caller can put down what a crash would leave.
	// temps[i] is the file beside changes[i] that holds the new contents
	// before and the old contents after it takes its place (for a removal
	// only the latter). Where the file system cannot exchange two names the
	// old contents are in the same name with .old in place of .tmp. An error
	// calls the whole off.
	Staged func(temps []string) error
}

// The names of temporary files begin and end so.
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

// checkName refuses names that a handle walk cannot take.
func checkName(name string) error {
	if !filepath.IsAbs(name) || filepath.Clean(name) != name || strings.IndexByte(name, 0) >= 0 {
		return syscall.EINVAL
	}
	return nil
}

// checkChanges refuses names that are no good and files named twice.
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
