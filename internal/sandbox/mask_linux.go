//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// protectAll makes protected paths read-only. What is read-only already, as
// all outside the trees is, needs nothing.
func (b *builder) protectAll() error {
	b.pinned, b.sealed = map[string]bool{}, map[string]bool{}
	for _, path := range b.p.Protected {
		if err := b.protect(path); err != nil {
			return err
		}
	}
	return nil
}

// protect walks to a protected path and fixes every component of it. A folder or link on the way
// could otherwise be moved aside and replaced; a mount cannot be. If a folder of another user
// blocks the way, it blocks it for everything in the sandbox.
func (b *builder) protect(path string) error {
	spots, err := trace(path)
	if err != nil && !errors.Is(err, os.ErrPermission) {
		return err
	}
	for i, s := range spots {
		if !b.p.writable(s.path) {
			continue
		}
		if covered(b.sealed, s.path) { // a link in it may lead out again
			continue
		}
		last := i == len(spots)-1 && err == nil
		if s.kind == missing {
			if err := makePlaceholder(s.path); err != nil {
				return err
			}
		}
		set := uint64(0)
		if last || s.kind == link {
			set = unix.MOUNT_ATTR_RDONLY
		}
		if err := b.pin(s.path, set); err != nil {
			return err
		}
		if last {
			b.sealed[s.path] = true
		}
	}
	return nil
}

// pin makes a path a mount, unless it is one of ours already.
func (b *builder) pin(path string, set uint64) error {
	for _, h := range b.held {
		if h.path == path && set == 0 {
			return nil
		}
	}
	if b.pinned[path] && set == 0 {
		return nil
	}
	b.pinned[path] = true
	return bindOver(path, path, set)
}

// maskAll covers what may not be read, and the sockets through which a process could ask others,
// outside, to do what the sandbox forbids.
func (b *builder) maskAll() error {
	paths := append([]string{}, b.p.Masks...)
	paths = append(paths, doors(b.p.Home)...)
	if b.p.Level == Strict {
		paths = append(paths, systemSecrets()...)
	}
	done := map[string]bool{}
	for _, path := range paths {
		spots, err := trace(path)
		if errors.Is(err, os.ErrPermission) {
			continue // a process that cannot get there cannot read it either
		}
		if err != nil {
			return err
		}
		if len(spots) == 0 {
			return &os.PathError{Op: "masking", Path: path, Err: unix.EINVAL}
		}
		end := spots[len(spots)-1]
		if end.kind == missing || end.kind == placeholder || done[end.path] {
			continue
		}
		done[end.path] = true
		source := maskFile
		if end.kind == folder {
			source = maskFolder
		}
		if err := bindOver(source, end.path, unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NODEV|unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NOEXEC); err != nil {
			return err
		}
	}
	return nil
}

// doors returns well-known sockets, and folders of them, of daemons that start programs or mount
// folders for any client. Only a file mode guards them, so they are masked at every level.
func doors(home string) []string {
	patterns := []string{
		"/run/docker.sock", "/run/docker", "/run/containerd", "/run/crio", "/run/podman", "/run/buildkit", "/run/balena.sock",
		"/run/dbus", "/run/snapd.socket", "/run/snapd-snap.socket", "/run/libvirt", "/run/incus", "/run/lxd",
		"/run/systemd/private", "/run/systemd/io.*", "/run/k3s", "/run/user/" + strconv.Itoa(os.Geteuid()),
		"/var/lib/lxd/unix.socket", "/var/lib/incus/unix.socket", "/var/snap/lxd/common/lxd/unix.socket", "/var/run/docker.sock",
	}
	if home != "" {
		patterns = append(patterns, home+"/.docker/run", home+"/.docker/desktop", home+"/.colima", home+"/.rd/docker.sock")
	}
	var found []string
	for _, pattern := range patterns {
		matches, err := filepath.Glob(pattern)
		if err == nil {
			found = append(found, matches...)
		}
	}
	return found
}

// systemSecrets returns files in folders that are readable in Strict which no build needs. As root
// they would be readable.
func systemSecrets() []string {
	var found []string
	for _, pattern := range []string{
		"/etc/shadow*", "/etc/gshadow*", "/etc/sudoers", "/etc/sudoers.d", "/etc/ssh/ssh_host_*", "/etc/ssl/private",
		"/etc/security/opasswd", "/etc/krb5.keytab", "/etc/kubernetes", "/etc/wireguard", "/etc/NetworkManager/system-connections",
	} {
		matches, err := filepath.Glob(pattern)
		if err == nil {
			found = append(found, matches...)
		}
	}
	return found
}
