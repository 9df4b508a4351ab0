// Package store keeps what survives a restart: sessions and their conversations, calls, approvals,
// to-do lists, and the files that long outputs are written to.
//
// It is one SQLite file, helve.db, in write-ahead mode. A write is reported as done only after its
// transaction is committed, so it survives the death of the process at any point; with
// [Options].Sync it also survives a power loss. Several processes may use one file at once.
//
// A call is begun before its tool runs and finished before its answer is sent. Each process that
// begins calls holds a lock file while it lives, and the next process that opens the store marks
// the unfinished calls of dead processes as interrupted. Only a running call can be finished or
// interrupted, so no call is ever reported both ways.
//
// A conversation consists of messages and their parts, a row each, so that saving a step costs what
// the step contains and not what came before. What is saved in one call is stored all or nothing,
// and is read that way. A damaged row does not affect others. A turn claims its session: only one
// turn at a time works on it, whatever the process, and the claim of a dead process is void.
package store

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
)

// The errors that callers decide by.
var (
	// ErrDuplicate: a call or session of that id is already recorded; it is
	// unchanged.
	ErrDuplicate = errors.New("id used twice")
	// ErrNotRunning: there is no running call of that id, because it is
	// unknown or because it has ended; nothing was changed.
	ErrNotRunning = errors.New("no such call is running")
	// ErrBusy: another turn, of this process or another, has the session.
	ErrBusy = errors.New("session is busy")
	// ErrNewer: the store was written by a newer version and is untouched.
	ErrNewer = errors.New("store has a newer schema")
	// ErrClosed: the store was closed.
	ErrClosed = errors.New("store is closed")
)

// Options says where a store is and how it is kept. The zero value is a
// store in memory.
type Options struct {
	// Dir is the data folder, made with mode 0700 if it is missing. When
	// empty nothing outlives the store: rows are kept in memory and spilled
	// outputs in a private folder that Close removes.
	Dir string
	// Outputs names that private folder, which must not exist yet; one with a
	// name of its own is made when empty. It means nothing where Dir is set.
	Outputs string
	// Sync makes every write survive a power loss. Without it writes survive
	// the death of the process, and approvals alone survive a power loss.
	Sync bool
	// Logger logs repairs; nil for no log.
	Logger *slog.Logger
	// OnNotice, if set, gets each sentence that a person should read, such as
	// where a damaged store was moved to. It is called during Open.
	OnNotice func(string)
}

// A Store is an open store. Its methods may be called from any goroutine.
type Store struct {
	opts    Options
	log     *slog.Logger
	path    string // of helve.db; empty in memory
	w       *writer
	r       *readers // nil in memory
	notices []string

	owner owner

	sessions sync.Mutex
	touched  map[string]int64 // sessions known to exist: when their row was last written

	spill      sync.Mutex
	tempDir    string // of a store in memory, once it has spilled
	spillEnded bool

	closing sync.Once
	closed  error
}

// Notices returns the sentences that a person should read, as they were
// given to [Options].OnNotice.
func (s *Store) Notices() []string { return s.notices }

func (s *Store) notice(text string) {
	s.notices = append(s.notices, text)
	s.log.Warn(text)
	if s.opts.OnNotice != nil {
		s.opts.OnNotice(text)
	}
}

// Close waits for pending writes, marks the unfinished calls of this store as interrupted, and
// closes the files. A second Close returns the same error.
func (s *Store) Close() error {
	s.closing.Do(func() {
		err := s.interruptOwn()
		c := s.w.close()
		if s.r != nil {
			s.w.ckpt.close()
			err = errors.Join(err, s.r.close())
		}
		err = errors.Join(err, c.close())
		s.owner.release()
		s.spill.Lock()
		defer s.spill.Unlock()
		s.spillEnded = true
		if s.tempDir != "" {
			err = errors.Join(err, os.RemoveAll(s.tempDir))
		}
		s.closed = err
	})
	return s.closed
}

// write runs fn in a transaction of its own or one shared with other
// callers, and returns when that is committed.
func (s *Store) write(ctx context.Context, doing string, o *op) error {
	return s.fault(doing, s.w.do(ctx, o))
}

// read runs fn on a connection that sees everything committed so far.
func (s *Store) read(ctx context.Context, doing string, fn func(*conn) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.r == nil {
		return s.fault(doing, s.w.do(ctx, &op{run: fn, single: true, apart: true}))
	}
	return s.fault(doing, s.r.do(ctx, fn))
}

// Check looks for damage: quickly, by reading the start of every table, or in full, by reading
// every page, which takes time in proportion to the file. It returns nil if there is none.
func (s *Store) Check(ctx context.Context, full bool) error {
	return s.read(ctx, "checking the store", func(c *conn) error {
		if err := probeTables(ctx, c); err != nil || !full {
			return err
		}
		return checkPages(ctx, c, "PRAGMA integrity_check(10)")
	})
}

// Path returns the file of the store, or "" for a store in memory.
func (s *Store) Path() string { return s.path }

func (s *Store) runDir() string { return filepath.Join(s.opts.Dir, "run") }
