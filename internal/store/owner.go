package store

import (
	"context"
	"crypto/rand"
	"database/sql/driver"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofrs/flock"
)

const lockExt = ".lock"

// An owner identifies a store that begins calls to other processes: a name on its rows, and a lock
// file of that name that the system frees when the process dies.
type owner struct {
	once sync.Mutex
	name atomic.Pointer[string] // set once the lock is held
	lock *flock.Flock
}

// ownerName returns the store's name on rows. The first use takes the lock: none of our rows is
// written before.
func (s *Store) ownerName() (string, error) {
	if n := s.owner.name.Load(); n != nil {
		return *n, nil
	}
	s.owner.once.Lock()
	defer s.owner.once.Unlock()
	if n := s.owner.name.Load(); n != nil {
		return *n, nil
	}
	name := "memory"
	if s.path != "" {
		var err error
		if name, err = s.owner.take(s.runDir()); err != nil {
			return "", fmt.Errorf("taking a lock in %s: %w", s.runDir(), err)
		}
	}
	s.owner.name.Store(&name)
	return name, nil
}

func (o *owner) take(dir string) (string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	for range 10 {
		var b [8]byte
		_, _ = rand.Read(b[:]) // never fails
		name := fmt.Sprintf("%d-%s", os.Getpid(), hex.EncodeToString(b[:]))
		path := filepath.Join(dir, name+lockExt)
		lock := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_EXCL|os.O_RDWR), flock.SetPermissions(0o600))
		ok, err := lock.TryLock()
		if err != nil {
			return "", err
		}
		if !ok {
			continue // someone looks whether it is alive
		}
		// A process that looked before the lock was held has removed the file.
		mine, err := lock.Stat()
		if err == nil {
			if there, err := os.Stat(path); err == nil && os.SameFile(mine, there) {
				o.lock = lock
				return name, nil
			}
		}
		_ = lock.Close()
	}
	return "", errors.New("the lock file keeps disappearing")
}

// release releases the lock when the store is closed.
func (o *owner) release() {
	if o.lock != nil {
		removeLock(o.lock)
	}
}

// removeLock removes a locked file, before it is unlocked where the system allows that.
func removeLock(lock *flock.Flock) {
	removed := os.Remove(lock.Path()) == nil
	_ = lock.Close()
	if !removed {
		_ = os.Remove(lock.Path())
	}
}

// seize takes the lock of an owner that is gone. gone is false while the owner lives or when that
// is unknown; lock is nil when there is no file.
func seize(path string) (lock *flock.Flock, gone bool) {
	lock = flock.New(path, flock.SetFlag(os.O_RDWR))
	ok, err := lock.TryLock()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, true
	case err != nil || !ok:
		return nil, false
	}
	return lock, true
}

// othersAlive reports whether another store that has begun calls is open.
func (s *Store) othersAlive() bool {
	return slices.ContainsFunc(s.lockFiles(), func(path string) bool { return !abandoned(path) })
}

// lockFiles lists the lock files of all stores but this one.
func (s *Store) lockFiles() []string {
	entries, err := os.ReadDir(s.runDir())
	if err != nil {
		return nil
	}
	var own string
	if n := s.owner.name.Load(); n != nil {
		own = *n
	}
	var out []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), lockExt); ok && name != own && e.Type().IsRegular() {
			out = append(out, filepath.Join(s.runDir(), e.Name()))
		}
	}
	return out
}

// recovered interrupts the calls of processes that have died since the store was opened, and
// reports whether there were any. It is called before a call is reported as running.
func (s *Store) recovered() bool {
	if s.path == "" || !slices.ContainsFunc(s.lockFiles(), abandoned) {
		return false
	}
	if _, err := s.recover(); err != nil {
		s.log.Warn("calls of a process that is gone could not be interrupted", "error", err)
		return false
	}
	return true
}

// abandoned reports whether a lock file is unlocked.
func abandoned(path string) bool {
	lock, gone := seize(path)
	if lock != nil {
		_ = lock.Close()
	}
	return gone
}

// recover marks the unfinished calls of dead processes as interrupted, and removes their lock
// files. unclean reports that there were any.
func (s *Store) recover() (unclean bool, err error) {
	dead := map[string]*flock.Flock{}
	defer func() {
		for _, lock := range dead {
			if lock != nil {
				removeLock(lock)
			}
		}
	}()
	for _, path := range s.lockFiles() {
		if lock, gone := seize(path); gone {
			dead[strings.TrimSuffix(filepath.Base(path), lockExt)] = lock
		}
	}
	unclean = len(dead) > 0
	names, err := s.owners()
	if err != nil {
		return unclean, err
	}
	for _, name := range names {
		if _, known := dead[name]; !known && !s.ownerGone(name) {
			continue
		}
		unclean = true
		n, err := s.interrupt(name)
		if err != nil {
			return unclean, err
		}
		if n > 0 {
			s.log.Info("calls of a process that is gone were interrupted", "owner", name, "calls", n)
		}
	}
	return unclean, nil
}

// ownerGone reports whether the owner of running rows has no lock file, which is
// made before its first row and removed after its last.
func (s *Store) ownerGone(name string) bool {
	if n := s.owner.name.Load(); n != nil && *n == name {
		return false
	}
	if name != filepath.Base(name) {
		return true // not a name that we give
	}
	_, err := os.Lstat(filepath.Join(s.runDir(), name+lockExt))
	return errors.Is(err, fs.ErrNotExist)
}

// owners lists who has running calls or claims.
func (s *Store) owners() (owners []string, err error) {
	err = s.w.do(context.Background(), &op{single: true, run: func(c *conn) error {
		owners = owners[:0]
		return c.query(context.Background(), func(row []driver.Value) error {
			owners = append(owners, textOf(row[0]))
			return nil
		}, "SELECT owner FROM call WHERE state = 'running' UNION SELECT owner FROM turn")
	}})
	return owners, err
}

// interrupt ends the running calls of an owner and its claims, and returns
// how many calls these were.
func (s *Store) interrupt(name string) (n int64, err error) {
	now := time.Now().UnixMilli()
	err = s.w.do(context.Background(), &op{run: func(c *conn) (err error) {
		n, err = c.exec("UPDATE call SET state = 'interrupted', ended = ? WHERE state = 'running' AND owner = ?", now, name)
		if err == nil {
			_, err = c.exec("DELETE FROM turn WHERE owner = ?", name)
		}
		return err
	}})
	return n, err
}

// interruptOwn ends the calls that were begun here and not finished.
func (s *Store) interruptOwn() error {
	n := s.owner.name.Load()
	if n == nil {
		return nil
	}
	_, err := s.interrupt(*n)
	return err
}
