package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

const (
	fileName = "helve.db"

	// maxCheck is the size up to which a store is checked page by page after
	// a process has died. Dying does not damage SQLite files, so beyond it
	// the time is better spent on starting.
	maxCheck = 32 << 20
)

// Open opens the store of a data folder, and creates one if there is none.
//
// A damaged file is moved aside, a new one is created, and a notice says where the old one is. A
// file of an older schema is copied and then migrated; one of a newer schema is refused with
// [ErrNewer], unchanged. Unfinished calls of processes that are gone become interrupted.
func Open(o Options) (*Store, error) {
	s := &Store{opts: o, log: o.Logger, touched: map[string]int64{}}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if o.Dir == "" {
		return s, s.openMemory()
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("opening the store: %w", err)
	}
	s.opts.Dir = dir
	s.path = filepath.Join(dir, fileName)
	if err := s.openFile(); err != nil {
		return nil, s.fault("opening the store", err)
	}
	s.r = newReaders(s.path)
	s.w.ckpt = newCheckpointer(s.path, s.log)
	return s, nil
}

func (s *Store) openMemory() error {
	c, err := dial("")
	if err != nil {
		return s.fault("opening the store", err)
	}
	if err := migrate(c, 0, migrations()); err != nil {
		return s.fault("opening the store", errors.Join(err, c.close()))
	}
	s.w = &writer{c: c, sync: true, wait: lockWait}
	return nil
}

func (s *Store) openFile() error {
	if err := os.MkdirAll(s.runDir(), 0o700); err != nil {
		return err
	}
	c, err := s.openExisting()
	if errors.Is(err, errAttend) {
		c, err = s.createOrMigrate()
	}
	if err != nil {
		return err
	}
	s.w = &writer{c: c, sync: s.opts.Sync, wait: lockWait}
	if err := s.recoverDead(); err != nil {
		return errors.Join(err, s.w.c.close())
	}
	return nil
}

// errAttend is a file that cannot be used as it is: it is missing, damaged
// or of an older schema. That is attended to under a lock.
var errAttend = errors.New("store needs attention")

// openExisting opens the file if it can be used as it is, which is the usual case
// and takes no lock.
func (s *Store) openExisting() (*conn, error) {
	info, err := os.Stat(s.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errAttend
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", s.path)
	case info.Size() < 512:
		// SQLite would take this for a new database. A store appears under
		// its name only when it is complete.
		return nil, fmt.Errorf("%w: %w: the file has %d bytes", errAttend, errDamaged, info.Size())
	}
	if !soundLog(s.path + "-wal") {
		return nil, fmt.Errorf("%w: %w", errAttend, errBadLog)
	}
	c, err := dial(s.path)
	if err == nil {
		err = s.prepareConn(c)
	}
	if err != nil {
		err = errors.Join(err, c.close())
		if damaged(err) {
			err = fmt.Errorf("%w: %w", errAttend, err)
		}
		return nil, err
	}
	return c, nil
}

// prepareConn checks an open file and sets the connection up for writing.
func (s *Store) prepareConn(c *conn) error {
	// Opening may meet a process that recovers the log or closes it.
	if _, err := c.exec("PRAGMA busy_timeout=15000"); err != nil {
		return err
	}
	version, err := c.queryInt("PRAGMA user_version")
	if err != nil {
		return err
	}
	switch want := int64(len(migrations())); {
	case version > want:
		return fmt.Errorf("%w: %s has version %d and this program knows up to %d; use a newer one", ErrNewer, s.path, version, want)
	case version == 0:
		return fmt.Errorf("%s is a database of something else; move it away", s.path)
	case version < want:
		return errAttend
	}
	level := "NORMAL"
	if s.opts.Sync {
		level = "FULL"
	}
	for _, p := range []string{
		"PRAGMA journal_mode=WAL", fmt.Sprintf("PRAGMA wal_autocheckpoint=%d", hardLogPages), "PRAGMA synchronous=" + level, "PRAGMA journal_size_limit=67108864",
		"PRAGMA temp_store=MEMORY", "PRAGMA trusted_schema=0",
	} {
		if _, err := c.exec(p); err != nil {
			return err
		}
	}
	if err := probeTables(context.Background(), c); err != nil {
		return err
	}
	_, err = c.exec("PRAGMA busy_timeout=0") // the writer waits in its own way
	return err
}

// recoverDead cleans up after dead processes.
func (s *Store) recoverDead() error {
	unclean, err := s.recover()
	if err != nil && !damaged(err) {
		return err
	}
	_, none := os.Stat(s.suspicion())
	suspect := none == nil || err != nil
	info, err := os.Stat(s.path)
	if err != nil || !suspect && (!unclean || info.Size() > maxCheck) {
		return err
	}
	err = checkPages(context.Background(), s.w.c, "PRAGMA quick_check(3)")
	if damaged(err) {
		err = errors.Join(err, s.w.c.close())
		s.w.c, err = s.replace(err)
	}
	if err == nil && suspect {
		_ = os.Remove(s.suspicion())
	}
	return err
}

// createOrMigrate makes, migrates or replaces the file, one process at a time.
func (s *Store) createOrMigrate() (*conn, error) {
	lock, err := s.attention()
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	c, err := s.openExisting() // another process may have been here
	switch {
	case !errors.Is(err, errAttend):
		return c, err
	case errors.Is(err, errBadLog):
		if err := s.moveLog(); err != nil {
			return nil, err
		}
		if c, err = s.openExisting(); !errors.Is(err, errAttend) {
			return c, err
		}
	}
	if damaged(err) {
		return s.moveAside(err)
	}
	if _, err := os.Stat(s.path); errors.Is(err, fs.ErrNotExist) {
		return s.create()
	}
	return s.upgrade(migrations())
}

// replace is attend for damage that only a full check has found.
func (s *Store) replace(found error) (*conn, error) {
	lock, err := s.attention()
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	return s.moveAside(found)
}

func (s *Store) attention() (*flock.Flock, error) {
	ctx, cancel := context.WithTimeout(context.Background(), lockWait)
	defer cancel()
	lock := flock.New(filepath.Join(s.opts.Dir, "helve.lock"))
	ok, err := lock.TryLockContext(ctx, 5*time.Millisecond)
	if err == nil && !ok {
		err = errors.New("another process is making or repairing it")
	}
	if err != nil {
		return nil, fmt.Errorf("locking %s: %w", lock.Path(), err)
	}
	return lock, nil
}

// create makes a new store under another name and moves it into place when
// it is complete, so that there never is half a store.
func (s *Store) create() (*conn, error) {
	fresh := s.path + ".new"
	for _, name := range []string{fresh, fresh + "-wal", fresh + "-shm", fresh + "-journal"} {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	f, err := os.OpenFile(fresh, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	c, err := dial(fresh)
	if err != nil {
		return nil, err
	}
	_, err = c.exec("PRAGMA synchronous=FULL")
	if err == nil {
		err = migrate(c, 0, migrations())
	}
	if err == nil {
		_, err = c.exec("PRAGMA journal_mode=WAL")
	}
	if err := errors.Join(err, c.close()); err != nil {
		return nil, err
	}
	if err := os.Rename(fresh, s.path); err != nil {
		return nil, err
	}
	if d, err := os.Open(s.opts.Dir); err == nil {
		_ = d.Sync() // not every system can
		_ = d.Close()
	}
	return s.openExisting()
}

// upgrade brings an older file forward, after keeping a copy of it.
func (s *Store) upgrade(steps []string) (*conn, error) {
	c, err := dial(s.path)
	if err != nil {
		return nil, err
	}
	err = func() error {
		if _, err := c.exec("PRAGMA busy_timeout=15000"); err != nil {
			return err
		}
		version, err := c.queryInt("PRAGMA user_version")
		if err != nil {
			return err
		}
		kept, err := keepCopy(c, s.path, version)
		if err != nil {
			return fmt.Errorf("keeping a copy of %s: %w", s.path, err)
		}
		if err := migrate(c, version, steps); err != nil {
			return err
		}
		s.notice(fmt.Sprintf("The store %s was brought to schema version %d; the old one is kept as %s.", s.path, len(steps), kept))
		return nil
	}()
	if err := errors.Join(err, c.close()); err != nil {
		return nil, err
	}
	return s.openExisting()
}

// moveAside moves a damaged file aside and creates a new one. The caller holds the lock.
func (s *Store) moveAside(found error) (*conn, error) {
	if s.othersAlive() {
		return nil, fmt.Errorf("%s is damaged and another process is using it; stop that one and try again: %w", s.path, found)
	}
	aside := s.path + ".damaged-" + stamp(time.Now())
	if err := os.Rename(s.path, aside); err != nil {
		return nil, err
	}
	for _, ext := range []string{"-wal", "-shm"} {
		if err := os.Rename(s.path+ext, aside+ext); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	c, err := s.create()
	if err != nil {
		return nil, fmt.Errorf("the damaged store was moved to %s, but a new one cannot be made: %w", aside, err)
	}
	s.notice(fmt.Sprintf("The store %s was damaged and is now %s; a new, empty one was begun.", s.path, aside))
	return c, nil
}
