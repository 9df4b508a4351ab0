//go:build (linux || darwin || freebsd || netbsd || openbsd || dragonfly) && !disk_simple

package disk

import (
	"context"
	"math/rand/v2"

	"golang.org/x/sys/unix"
)

// held holds open files that this caller has locked.
type held []heldFile

type heldFile struct {
	fd    int
	state State
}

// release unlocks before it closes: a child process that is just starting may briefly share the
// open file, and a lock lives as long as that.
func (h held) release() {
	for _, f := range h {
		_ = unix.Flock(f.fd, unix.LOCK_UN)
		_ = unix.Close(f.fd)
	}
}

// lockFiles locks all the files or none, so that two processes that reach the same file under
// different names do not wait for each other. Since flock cannot be cancelled, it polls.
func lockFiles(ctx context.Context, names []string) (held, error) {
	for wait := pollLeast; ; wait = min(wait*2, pollMost) {
		files, busy, err := tryFiles(names)
		if !busy || err != nil {
			return files, err
		}
		if err := sleep(ctx, wait/2+rand.N(wait/2)); err != nil {
			return nil, err
		}
	}
}

func tryFiles(names []string) (files held, busy bool, err error) {
	for _, name := range names {
		busy, err = files.tryLockFile(name)
		if busy || err != nil {
			files.release()
			return nil, busy, err
		}
	}
	return files, false, nil
}

// tryLockFile locks the file with a name unless somebody else has locked it. It ignores a file that
// is missing, not regular, not readable or on a file system without locks: whoever uses the file
// next reports the problem.
func (h *held) tryLockFile(name string) (busy bool, err error) {
	dir, base, err := openParent(name)
	if err != nil {
		if err == unix.EMFILE || err == unix.ENFILE || err == unix.EINVAL {
			return false, pathError("open", name, err)
		}
		return false, nil
	}
	defer unix.Close(dir)
	busy, err = h.tryAt(dir, base)
	return busy, pathError("open", name, err)
}

func (h *held) tryAt(dir int, base string) (busy bool, err error) {
	fd, st, err := openRegular(dir, base)
	if err == unix.EMFILE || err == unix.ENFILE {
		return false, err
	}
	if err != nil {
		return false, nil
	}
	for _, f := range *h {
		if f.state.sameFile(st) { // another name of a file we have already
			_ = unix.Close(fd)
			return false, nil
		}
	}
	locked, busy := lockOpen(fd, dir, base)
	if !locked {
		_ = unix.Close(fd)
		return busy, nil
	}
	*h = append(*h, heldFile{fd, st})
	return false, nil
}

// lockOpen locks an open file and checks that the name still leads to it. If the file was replaced
// since it was opened, the caller has to try again as if it were busy.
func lockOpen(fd, dir int, base string) (locked, busy bool) {
	err := retryInterrupted(func() error { return unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) })
	if err != nil {
		return false, err == unix.EWOULDBLOCK
	}
	st, err := statFile(fd)
	if err == nil {
		var now State
		if now, err = statAt(dir, base); err == nil && now.sameFile(st) {
			return true, false
		}
	}
	_ = unix.Flock(fd, unix.LOCK_UN)
	return false, err == nil
}
