//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// A builder sets up the mounts of a sandbox, in the current mount namespace.
type builder struct {
	p       Profile
	held    []held         // the profile's trees, taken before all became read-only
	devices map[string]int // the devices that stay, by name
	pinned  map[string]bool
	sealed  map[string]bool // what was made read-only, as protected
	private []string        // folders that are empty and private now
}

// A held tree is a mount of its own that is not attached anywhere yet.
type held struct {
	keptPath
	fd int
}

// An enterStep is one thing to be done on the way in. None is skipped.
type enterStep struct {
	name string
	do   func() error
}

func run(steps []enterStep) error {
	for _, s := range steps {
		if err := s.do(); err != nil {
			return fmt.Errorf("wall: %s: %w", s.name, err)
		}
	}
	return nil
}

// The names of what covers masked paths, in the private /dev while it is made.
const (
	maskFile   = "/dev/.mask-file"
	maskFolder = "/dev/.mask-folder"
)

// build turns the mount namespace into what the profile lets be seen.
func (b *builder) build() error {
	return run([]enterStep{
		{"keeping mounts private", func() error { return unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "") }},
		{"taking hold of the folders to write in", b.cloneTrees},
		{"taking hold of devices", b.holdDevices},
		{"making the system read-only", func() error {
			return attributes(unix.AT_FDCWD, "/", unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NODEV|unix.MOUNT_ATTR_NOSUID)
		}},
		{"a /dev of few devices", b.makeDev},
		{"private temporary folders", b.makeTemp},
		{"putting back the folders to write in", b.putBack},
		{"a /proc of the own processes", makeProc},
		{"protected paths", b.protectAll},
		{"masks", b.maskAll},
		{"closing /dev", b.closeDev},
		// The working directory is still in the mount below, where there is
		// no mask.
		{"leaving the old folder", func() error { return unix.Chdir("/") }},
	})
}

// attributes sets attributes on a mount and all below it.
func attributes(fd int, path string, set uint64) error {
	flags := uint(unix.AT_RECURSIVE)
	if path == "" {
		flags |= unix.AT_EMPTY_PATH
	}
	return unix.MountSetattr(fd, path, flags, &unix.MountAttr{Attr_set: set})
}

// handle opens a path, not its content, and follows no link on the way: all
// were resolved before, and one that is there now was put there to mislead.
func handle(path string) (int, error) {
	fd, err := unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{
		Flags:   unix.O_PATH | unix.O_CLOEXEC | unix.O_NOFOLLOW,
		Resolve: unix.RESOLVE_NO_SYMLINKS,
	})
	if err != nil {
		return -1, &os.PathError{Op: "opening", Path: path, Err: err}
	}
	return fd, nil
}

// clone returns a detached mount of what is at path, with the mounts below.
func clone(path string) (int, error) {
	at, err := handle(path)
	if err != nil {
		return -1, err
	}
	defer unix.Close(at)
	fd, err := unix.OpenTree(at, "", unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_EMPTY_PATH|unix.AT_RECURSIVE)
	if err != nil {
		return -1, &os.PathError{Op: "cloning the mount", Path: path, Err: err}
	}
	return fd, nil
}

// attach puts a detached mount over what is at path, and closes its
// descriptor.
func attach(fd int, path string) error {
	defer unix.Close(fd)
	at, err := handle(path)
	if err != nil {
		return err
	}
	defer unix.Close(at)
	err = unix.MoveMount(fd, "", at, "", unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH)
	if err != nil {
		return &os.PathError{Op: "mounting over", Path: path, Err: err}
	}
	return nil
}

// bindOver binds source over target, with attributes.
func bindOver(source, target string, set uint64) error {
	fd, err := clone(source)
	if err != nil {
		return err
	}
	if set != 0 {
		if err := attributes(fd, "", set); err != nil {
			unix.Close(fd)
			return &os.PathError{Op: "setting attributes for", Path: target, Err: err}
		}
	}
	return attach(fd, target)
}

func (b *builder) cloneTrees() error {
	all := append(b.p.trees(), b.p.hidden()...)
	slices.SortStableFunc(all, func(a, b keptPath) int { return strings.Compare(a.path, b.path) })
	for _, t := range all {
		fd, err := clone(t.path)
		if err != nil {
			return err
		}
		set := uint64(unix.MOUNT_ATTR_NODEV | unix.MOUNT_ATTR_NOSUID)
		if t.readOnly {
			set |= unix.MOUNT_ATTR_RDONLY
		}
		if err := attributes(fd, "", set); err != nil {
			return &os.PathError{Op: "setting attributes of", Path: t.path, Err: err}
		}
		b.held = append(b.held, held{t, fd})
	}
	return nil
}

// hidden returns what may be read and lies below a folder that will be
// private: it is put back, read-only, as the trees are.
func (p Profile) hidden() (out []keptPath) {
	for _, path := range p.Readable {
		real, err := filepath.EvalSymlinks(path)
		if err != nil || slices.ContainsFunc(p.trees(), func(t keptPath) bool { return isWithin(real, t.path) }) {
			continue // there is nothing to be read, or it is there anyway
		}
		known := slices.ContainsFunc(out, func(t keptPath) bool { return isWithin(real, t.path) })
		if !known && slices.ContainsFunc(shared(), func(dir string) bool { return real != dir && isWithin(real, dir) }) {
			out = append(out, keptPath{real, true})
		}
	}
	return out
}

// shared returns the folders that all processes of a machine share, with
// links followed.
func shared() (out []string) {
	for _, dir := range []string{"/tmp", "/var/tmp", "/dev/shm"} {
		if real, err := filepath.EvalSymlinks(dir); err == nil && !slices.Contains(out, real) {
			out = append(out, real)
		}
	}
	return out
}

// holdDevices opens the devices every program expects. Devices that a container lacks are skipped.
func (b *builder) holdDevices() error {
	b.devices = map[string]int{}
	for _, name := range []string{"null", "zero", "full", "random", "urandom", "tty"} {
		fd, err := clone("/dev/" + name)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		// The file is read-only, so that its mode cannot be changed; writing to the device still
		// works.
		if err := attributes(fd, "", unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NOEXEC); err != nil {
			return err
		}
		b.devices[name] = fd
	}
	return nil
}

// makeDev covers /dev: read-only does not keep anyone from writing to a disk
// through its device, so none but harmless ones may be there.
func (b *builder) makeDev() error {
	if err := unix.Mount("tmpfs", "/dev", "tmpfs", unix.MS_NOSUID|unix.MS_NOEXEC, "mode=0755,size=1m"); err != nil {
		return err
	}
	for name, fd := range b.devices {
		if err := os.WriteFile("/dev/"+name, nil, 0o444); err != nil {
			return err
		}
		if err := attach(fd, "/dev/"+name); err != nil {
			return err
		}
	}
	for name, target := range map[string]string{
		"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2", "ptmx": "pts/ptmx",
	} {
		if err := os.Symlink(target, "/dev/"+name); err != nil {
			return err
		}
	}
	for _, dir := range []string{"/dev/pts", "/dev/shm", maskFolder} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
	}
	if err := b.makeMask(); err != nil {
		return err
	}
	if err := os.Chmod(maskFolder, 0); err != nil {
		return err
	}
	return unix.Mount("devpts", "/dev/pts", "devpts", unix.MS_NOSUID|unix.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620")
}

// makeMask creates the file that covers others: a file of mode 0, or, if the process keeps
// capabilities and so may ignore modes, a socket, which nothing can open.
func (b *builder) makeMask() error {
	if b.p.kept() != 0 {
		return unix.Mknod(maskFile, unix.S_IFSOCK, 0)
	}
	return os.WriteFile(maskFile, nil, 0)
}

// closeDev closes what was only needed to build the sandbox.
func (b *builder) closeDev() error {
	if err := errors.Join(os.Remove(maskFile), os.Remove(maskFolder)); err != nil {
		return err
	}
	return unix.MountSetattr(unix.AT_FDCWD, "/dev", 0, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
}

// makeTemp covers the folders that all processes of a machine share, where
// sockets and files of others lie.
func (b *builder) makeTemp() error {
	for _, real := range shared() {
		if slices.ContainsFunc(b.held, func(h held) bool { return isWithin(real, h.path) }) {
			continue // part of the workspace
		}
		if err := unix.Mount("tmpfs", real, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=1777"); err != nil {
			return &os.PathError{Op: "mounting over", Path: real, Err: err}
		}
		b.private = append(b.private, real)
	}
	return nil
}

func (b *builder) putBack() error {
	for _, h := range b.held {
		if slices.ContainsFunc(b.private, func(dir string) bool { return isWithin(h.path, dir) }) {
			if err := mountPoint(h); err != nil {
				return err
			}
		}
		if err := attach(h.fd, h.path); err != nil {
			return err
		}
	}
	return nil
}

// mountPoint makes the place for a tree below a folder that is empty now.
func mountPoint(h held) error {
	if _, err := os.Lstat(h.path); err == nil {
		return nil // in a folder that was put back before
	}
	var st unix.Stat_t
	if err := unix.Fstat(h.fd, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT == unix.S_IFDIR {
		return os.MkdirAll(h.path, 0o755)
	}
	if err := os.MkdirAll(filepath.Dir(h.path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(h.path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// makeProc shows the own processes only. Where parts of the old /proc are
// covered, as in containers, the kernel allows no new one: then the old one
// stays, read-only, and the processes outside can be seen but not entered,
// because they are in another user namespace. Probes tell the two apart.
func makeProc() error {
	err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC|unix.MS_RDONLY, "")
	if errors.Is(err, unix.EPERM) {
		return nil
	}
	return err
}
