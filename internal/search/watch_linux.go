package search

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"golang.org/x/sys/unix"
)

// watchMask selects the events of a watch. It leaves out files without a name, which no search
// finds.
const watchMask = unix.IN_CREATE | unix.IN_DELETE | unix.IN_MOVED_FROM | unix.IN_MOVED_TO |
	unix.IN_MODIFY | unix.IN_CLOSE_WRITE | unix.IN_ATTRIB | unix.IN_MOVE_SELF |
	unix.IN_ONLYDIR | unix.IN_EXCL_UNLINK

// A watcher reports changes in folders. The kernel queues an event before the system call that
// makes the change returns, so a drain sees every change that was finished when it began.
//
// It does not see writes to mapped memory before it is unmapped, or changes by another machine to a
// shared file system. A change to a file with several names is reported for the name that was used,
// and not at all if that is in an unwatched folder. The removal of a folder is reported when it is
// no longer open in any process, but in its parent at once.
//
// A watcher has no goroutine and belongs to one at a time.
type watcher struct {
	fd   int
	keys map[int32][]uint32 // by number of a kernel watch; a slice is never changed
	nums map[uint32]int32   // by key
	buf  []byte
}

// newWatcher returns a watcher that must be closed.
func newWatcher() (*watcher, error) {
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err == unix.ENOSYS {
		return nil, errNoWatch
	}
	if err != nil {
		return nil, fmt.Errorf("watch: %w", err)
	}
	return &watcher{
		fd:   fd,
		keys: map[int32][]uint32{},
		nums: map[uint32]int32{},
		buf:  make([]byte, 32<<10),
	}, nil
}

// add watches a folder, given by a path or as /proc/self/fd/N, under a key. A key that is in use
// moves to this folder. Two names of one folder, by a link or a mount, are one to the kernel: their
// keys share a watch, and each gets every change. A key that joins a watch may get earlier changes
// too.
//
// Watch a folder before reading it, or changes in between are lost. ENOSPC means that the user's
// limit is reached.
func (w *watcher) add(name string, key uint32) error {
	got, err := unix.InotifyAddWatch(w.fd, name, watchMask)
	if err != nil {
		return &fs.PathError{Op: "watch", Path: name, Err: err}
	}
	num := int32(got)
	if old, ok := w.nums[key]; ok {
		if old == num {
			return nil
		}
		w.removeWatch(key)
	}
	w.nums[key] = num
	w.keys[num] = append(slices.Clip(w.keys[num]), key)
	return nil
}

// removeWatch ends the watch of a key. What was not drained yet is lost.
func (w *watcher) removeWatch(key uint32) {
	num, ok := w.nums[key]
	if !ok {
		return
	}
	delete(w.nums, key)
	if len(w.keys[num]) > 1 {
		rest := slices.Clone(w.keys[num])
		w.keys[num] = slices.DeleteFunc(rest, func(k uint32) bool { return k == key })
		return
	}
	delete(w.keys, num)
	_, _ = unix.InotifyRmWatch(w.fd, uint32(num)) // fails if the folder is gone
}

// drain calls f for every change since the last drain, in the order they
// happened, and does not wait for more. f may add and drop. After an overflow
// some changes were lost: what is known of all folders is worth nothing.
func (w *watcher) drain(f func(change)) (overflow bool, err error) {
	n, err := w.read()
	if n == 0 || err != nil {
		return false, err
	}
	// A process that never stops writing must not block this loop, so only what is queued by now is
	// read.
	queued, err := unix.IoctlGetInt(w.fd, unix.TIOCINQ)
	if err != nil {
		return false, fmt.Errorf("watch: %w", err)
	}
	for {
		if w.take(w.buf[:n], f) {
			overflow = true
		}
		if queued <= 0 {
			return overflow, nil
		}
		n, err = w.read()
		if n == 0 || err != nil {
			return overflow, err
		}
		queued -= n
	}
}

// read fills the buffer with whole events, or returns 0 if there are none.
func (w *watcher) read() (int, error) {
	for {
		n, err := unix.Read(w.fd, w.buf)
		switch {
		case err == unix.EINTR:
		case err == unix.EAGAIN:
			return 0, nil
		case err != nil:
			return 0, fmt.Errorf("watch: %w", err)
		default:
			return n, nil
		}
	}
}

// take passes on the events in a buffer. It reports whether one of them says
// that others were lost.
func (w *watcher) take(buf []byte, f func(change)) (overflow bool) {
	name := ""
	for len(buf) >= unix.SizeofInotifyEvent {
		num := int32(binary.NativeEndian.Uint32(buf))
		mask := binary.NativeEndian.Uint32(buf[4:])
		size := int(binary.NativeEndian.Uint32(buf[12:]))
		buf = buf[unix.SizeofInotifyEvent:]
		if size > len(buf) {
			return true // no kernel does that
		}
		raw := buf[:size]
		buf = buf[size:]
		if mask&unix.IN_Q_OVERFLOW != 0 {
			overflow = true
			continue
		}
		keys := w.keys[num]
		if len(keys) == 0 {
			continue // dropped meanwhile
		}
		raw, _, _ = bytes.Cut(raw, []byte{0})
		if string(raw) != name { // one file often has several events in a row
			name = string(raw)
		}
		ev := change{what: kindOfChange(mask), name: name}
		if ev.what == 0 {
			continue
		}
		for _, key := range keys {
			if now, ok := w.nums[key]; !ok || now != num {
				continue // dropped by f
			}
			if ev.what == changeSelfGone {
				w.removeWatch(key)
			}
			ev.key = key
			f(ev)
		}
	}
	return overflow
}

// kindOfChange is what the mask of an event means, or 0 for nothing of interest.
// An event has one kind. IN_IGNORED is the last one of a folder, whatever was
// the reason.
func kindOfChange(mask uint32) changeKind {
	switch mask & (unix.IN_ALL_EVENTS | unix.IN_IGNORED) {
	case unix.IN_CREATE:
		return changeCreated
	case unix.IN_DELETE:
		return changeRemoved
	case unix.IN_MOVED_FROM:
		return changeMovedFrom
	case unix.IN_MOVED_TO:
		return changeMovedTo
	case unix.IN_MODIFY:
		return changeModified
	case unix.IN_CLOSE_WRITE:
		return changeClosed
	case unix.IN_ATTRIB:
		return changeAttributes
	case unix.IN_MOVE_SELF:
		return changeSelfMoved
	case unix.IN_IGNORED:
		return changeSelfGone
	}
	return 0
}

// close ends all watches. The watcher is of no use afterwards.
func (w *watcher) close() {
	if w.fd >= 0 {
		_ = unix.Close(w.fd)
		w.fd = -1
	}
}

// watchable reports whether the file system of a folder tells of all changes
// that can happen in it. Those do not whose files others can change behind the
// kernel's back: on another machine, in the program that serves them, or in the
// kernel itself. An overlay does, as long as its layers are left alone, which it
// demands anyway.
func watchable(name string) bool {
	var st unix.Statfs_t
	for {
		err := unix.Statfs(name, &st)
		if err == nil {
			return !foreign(uint32(st.Type))
		}
		if !errors.Is(err, unix.EINTR) {
			return false
		}
	}
}

// File systems that the unix package has no name of.
const (
	lustreMagic = 0x0bd00bd0
	gpfsMagic   = 0x47504653
	gfs2Magic   = 0x01161970
	beegfsMagic = 0x19830326
	vboxMagic   = 0x786f4256
	vmwareMagic = 0xbacbacbc
	prlMagic    = 0x7c7c6673
	wslMagic    = 0x53464846
)

// foreign reports whether changes to a file system of this type are not reported to this kernel
// reliably.
func foreign(magic uint32) bool {
	switch magic {
	case unix.NFS_SUPER_MAGIC, unix.SMB_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC,
		unix.AFS_SUPER_MAGIC, unix.AFS_FS_MAGIC, unix.CODA_SUPER_MAGIC, unix.NCP_SUPER_MAGIC,
		unix.OCFS2_SUPER_MAGIC, unix.CEPH_SUPER_MAGIC, lustreMagic, gpfsMagic, gfs2Magic, beegfsMagic:
		return true // other machines
	case unix.V9FS_MAGIC, unix.FUSE_SUPER_MAGIC, vboxMagic, vmwareMagic, prlMagic, wslMagic:
		return true // a program, or the host of a virtual machine
	case unix.PROC_SUPER_MAGIC, unix.SYSFS_MAGIC, unix.DEBUGFS_MAGIC, unix.TRACEFS_MAGIC,
		unix.CGROUP_SUPER_MAGIC, unix.CGROUP2_SUPER_MAGIC:
		return true // the kernel
	}
	return false
}
