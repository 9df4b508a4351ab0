//go:build amd64 || arm64

package sandbox

import (
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Rights of Landlock, as the sandbox groups them.
const (
	rightsRead = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	// rightsDevice is what writing to a device takes.
	rightsDevice = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	rightsWrite  = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE |
		unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_REFER |
		unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG |
		unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_SYM
	// rightsFile is what makes sense for something that is no folder.
	rightsFile = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | rightsDevice
)

// landlockABI returns the version of the kernel's interface, or why it is not available.
func landlockABI() (int, error) {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0, errno
	}
	return int(v), nil
}

// supported returns those of the rights on files that a version knows.
func supported(abi int) uint64 {
	all := uint64(unix.LANDLOCK_ACCESS_FS_MAKE_SYM<<1 - 1)
	if abi >= 2 {
		all |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if abi >= 3 {
		all |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if abi >= 5 {
		all |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	return all
}

// A ruleset collects what Landlock is to allow.
type ruleset struct {
	fd      int
	handled uint64 // rights on files that are refused unless a rule gives them
}

// rulesetAttr is the kernel's struct landlock_ruleset_attr.
type rulesetAttr struct{ fs, net, scoped uint64 }

func newRuleset(p Profile) (*ruleset, error) {
	abi, err := landlockABI()
	if err != nil {
		return nil, err
	}
	attr := rulesetAttr{fs: (rightsWrite | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV) & supported(abi)}
	if p.Level == Strict {
		attr.fs |= rightsRead
		if abi >= 4 {
			attr.net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
		}
	}
	if abi >= 6 {
		attr.scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	runtime.KeepAlive(&attr)
	if errno != 0 {
		return nil, errno
	}
	unix.CloseOnExec(int(fd))
	return &ruleset{fd: int(fd), handled: attr.fs}, nil
}

// allow grants rights on paths and everything below them. It skips a path that is missing or that
// the user cannot open.
func (r *ruleset) allow(rights uint64, paths ...string) error {
	for _, path := range paths {
		fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
		if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EACCES) || errors.Is(err, unix.ENOTDIR) {
			continue
		}
		if err == nil {
			err = r.allowOpen(rights, fd)
			unix.Close(fd)
		}
		if err != nil {
			return fmt.Errorf("a rule for %s: %w", path, err)
		}
	}
	return nil
}

// allowOpen gives rights on what a descriptor stands for.
func (r *ruleset) allowOpen(rights uint64, fd int) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= rightsFile
	}
	rights &= r.handled
	if rights == 0 {
		return nil
	}
	// struct landlock_path_beneath_attr, which is packed.
	var attr [12]byte
	binary.NativeEndian.PutUint64(attr[:8], rights)
	binary.NativeEndian.PutUint32(attr[8:], uint32(fd))
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(r.fd), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&attr)), 0, 0, 0)
	runtime.KeepAlive(&attr)
	if errno != 0 {
		return errno
	}
	return nil
}

// landlock restricts this thread to what the profile allows. programs are
// open files that may be executed wherever they are.
func landlock(p Profile, private []string, programs []int) error {
	r, err := newRuleset(p)
	if err != nil {
		return err
	}
	defer unix.Close(r.fd)
	var readable []string
	for _, t := range p.trees() {
		readable = append(readable, t.path)
		if t.readOnly {
			continue
		}
		if err := r.allow(rightsWrite, t.path); err != nil {
			return err
		}
	}
	if err := r.allow(rightsWrite, private...); err != nil {
		return err
	}
	devices := []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx", "/dev/pts"}
	if err := r.allow(rightsDevice, devices...); err != nil {
		return err
	}
	readable = append(append(append(readable, private...), systemFolders()...), toolchains(p.Home)...)
	readable = append(readable, devices...)
	if !p.Bare {
		readable = append(readable, "/dev")
	}
	if err := r.allow(rightsRead, append(readable, p.Readable...)...); err != nil {
		return err
	}
	for _, fd := range programs {
		if err := r.allowOpen(rightsRead, fd); err != nil {
			return err
		}
	}
	_, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(r.fd), 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// systemFolders may be read in Strict: where programs, libraries and their
// settings are. Users' files and the state of services are elsewhere.
func systemFolders() []string {
	return []string{
		"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix", "/gnu", "/snap",
		"/proc", "/sys/devices/system", "/sys/fs/cgroup", "/sys/kernel/mm", "/run/systemd/resolve", "/run/current-system",
	}
}

// toolchains are the parts of a home folder that builds read and that hold
// no secrets.
func toolchains(home string) []string {
	if home == "" {
		return nil
	}
	names := []string{
		"go/bin", "go/pkg", "sdk", ".local/go", ".rustup", ".cargo/bin", ".cargo/registry", ".cargo/git", ".cargo/env", ".cargo/config.toml",
		".nvm", ".fnm", ".volta", ".bun/bin", ".deno/bin", ".local/bin", ".local/lib", ".local/share/pnpm", ".local/share/fnm",
		".local/share/uv", ".local/share/mise", ".local/share/virtualenvs", ".pyenv", ".rbenv", ".rvm", ".gem", ".asdf", ".sdkman",
		".jenv", ".m2/repository", ".m2/wrapper", ".gradle/wrapper", ".ghcup", ".opam", ".dotnet", ".nuget/packages", ".juliaup",
		".gitconfig", ".config/git", ".gitignore", ".gitignore_global", ".editorconfig",
	}
	paths := make([]string, 0, len(names))
	for _, name := range names {
		paths = append(paths, filepath.Join(home, name))
	}
	return paths
}
