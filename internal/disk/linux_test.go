//go:build linux && !disk_simple

package disk

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// attribute returns an attribute of a file, or "-".
func attribute(t *testing.T, name, attr string) string {
	t.Helper()
	buf := make([]byte, 100_000)
	n, err := unix.Lgetxattr(name, attr, buf)
	if err == unix.ENODATA {
		return "-"
	}
	ok(t, err)
	return string(buf[:n])
}

func TestAttributesAreKept(t *testing.T) {
	onAll(t, func(t *testing.T, dir string, can lacks) {
		name := filepath.Join(dir, "f")
		put(t, name, "old", 0o644)
		long := string(bytes.Repeat([]byte("x"), 2000)) // more than there is room for at first
		if err := unix.Setxattr(name, "user.helve", []byte("kept"), 0); err == unix.EOPNOTSUPP {
			t.Skip("the file system has no attributes")
		}
		ok(t, unix.Setxattr(name, "user.long", []byte(long), 0))
		ok(t, unix.Setxattr(name, "user.empty", nil, 0))
		ok(t, commit(t.Context(), []Change{saw(t, name, "new")}, Options{}, can))
		same(t, attribute(t, name, "user.helve"), "kept")
		same(t, attribute(t, name, "user.long"), long)
		same(t, attribute(t, name, "user.empty"), "")
	})
}

// acl spells an access list that lets one more user in.
func acl(user uint32, perm uint16) []byte {
	b := binary.LittleEndian.AppendUint32(nil, 2) // version
	for _, e := range []struct {
		tag, perm uint16
		id        uint32
	}{
		{1, 6, ^uint32(0)}, {2, perm, user}, {4, 4, ^uint32(0)}, {16, 6, ^uint32(0)}, {32, 4, ^uint32(0)},
	} {
		b = binary.LittleEndian.AppendUint16(b, e.tag)
		b = binary.LittleEndian.AppendUint16(b, e.perm)
		b = binary.LittleEndian.AppendUint32(b, e.id)
	}
	return b
}

func TestAccessList(t *testing.T) {
	onAll(t, func(t *testing.T, dir string, can lacks) {
		plain, listed := filepath.Join(dir, "plain"), filepath.Join(dir, "listed")
		put(t, plain, "old", 0o644)
		put(t, listed, "old", 0o644)
		list := acl(4242, 6)
		if err := unix.Setxattr(listed, accessList, list, 0); err == unix.EOPNOTSUPP {
			t.Skip("the file system has no access lists")
		}
		// What is made in the folder from now on gets a list of its own.
		ok(t, unix.Setxattr(dir, "system.posix_acl_default", acl(4343, 4), 0))
		made := filepath.Join(dir, "made")
		ok(t, commit(t.Context(), []Change{
			saw(t, plain, "new"), saw(t, listed, "new"), saw(t, made, "new"),
		}, Options{}, can))
		same(t, attribute(t, plain, accessList), "-")
		same(t, attribute(t, listed, accessList), string(list))
		same(t, attribute(t, made, accessList), string(acl(4343, 4)))
		same(t, everything(t, dir), map[string]string{
			"plain": "-rw-r--r-- new", "listed": "-rw-rw-r-- new", "made": "-rw-rw-r-- new",
		})
	})
}

// What vouches for a program is not carried over to another one.
func TestCapabilitiesAreNotKept(t *testing.T) {
	t.Parallel()
	name := filepath.Join(folderOf(t), "f")
	put(t, name, "old", 0o755)
	capability := append([]byte{1, 0, 0, 2}, make([]byte, 16)...) // version 2, effective
	capability[5] = 4                                             // CAP_NET_BIND_SERVICE
	if err := unix.Setxattr(name, "security.capability", capability, 0); err != nil {
		t.Skipf("capabilities cannot be set here: %v", err)
	}
	same(t, attribute(t, name, "security.capability"), string(capability))
	ok(t, Commit(t.Context(), []Change{saw(t, name, "new")}, Options{}))
	same(t, attribute(t, name, "security.capability"), "-")
}

func TestFullDisk(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only the superuser can mount a small file system")
	}
	for kind, can := range kinds() {
		t.Run(kind, func(t *testing.T) {
			dir := folderOf(t)
			if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=256k,mode=755"); err != nil {
				t.Skipf("cannot mount: %v", err)
			}
			defer func() { ok(t, unix.Unmount(dir, 0)) }()
			put(t, filepath.Join(dir, "upd"), "old", 0o644)
			put(t, filepath.Join(dir, "gone"), "old", 0o644)
			put(t, filepath.Join(dir, "big"), "old", 0o644)
			before := everything(t, dir)
			big := saw(t, filepath.Join(dir, "big"), "")
			big.Data = make([]byte, 400<<10)
			for _, changes := range [][]Change{
				{big},
				append(three(t, dir), big),
				{{Name: filepath.Join(dir, "a", "b", "c"), Data: big.Data}},
			} {
				is(t, commit(t.Context(), changes, Options{Sync: true}, can), syscall.ENOSPC)
				same(t, everything(t, dir), before)
			}
			ok(t, commit(t.Context(), three(t, dir), Options{Sync: true}, can))
		})
	}
}

// Who has a file open for writing is waited for, and what was written is kept.
func TestWriterIsWaitedFor(t *testing.T) {
	t.Parallel()
	name := filepath.Join(folderOf(t), "f")
	put(t, name, "old", 0o644)
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	ok(t, err)
	defer f.Close()
	dir, err := open(filepath.Dir(name), folderFlags)
	ok(t, err)
	defer unix.Close(dir)
	fd, st, err := openRegular(dir, "f")
	ok(t, err)
	defer unix.Close(fd)
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_RDLCK); err != unix.EAGAIN {
		t.Skipf("the file system has no leases: %v", err)
	}
	tr := &transaction{lacks: lacks{patience: patience}}
	holds := func() bool {
		got, err := tr.hasContents(&openFolder{fd: dir}, "f", contents{st, []byte("old"), true})
		ok(t, err)
		return got
	}
	same(t, holds(), true) // open, but nothing is written
	if tr.lacks.patience > 0 {
		t.Errorf("%v of patience is left", tr.lacks.patience)
	}
	tr.lacks.patience = patience
	_, err = f.WriteString("new")
	ok(t, err)
	same(t, holds(), false)
	same(t, tr.lacks.patience, patience)
	_, err = f.WriteAt([]byte("old"), 0)
	ok(t, err)
	ok(t, f.Close())
	same(t, holds(), true)
	same(t, tr.lacks.patience, patience)
}

// A file that is open for writing for good can be replaced.
func TestOpenFileIsReplaced(t *testing.T) {
	t.Parallel()
	name := filepath.Join(folderOf(t), "f")
	put(t, name, "old", 0o644)
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	ok(t, err)
	defer f.Close()
	ok(t, Commit(t.Context(), []Change{saw(t, name, "new")}, Options{}))
	same(t, everything(t, filepath.Dir(name)), map[string]string{"f": "-rw-r--r-- new"})
}
