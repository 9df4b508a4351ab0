package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	lib "modernc.org/sqlite/lib"
)

// errDamaged is a file that SQLite opens and that is not sound all the same.
var errDamaged = errors.New("database is malformed")

// fault words err for a person: what was being done, where, and what to do. Damage is recorded, so
// that the next Open checks for it.
func (s *Store) fault(doing string, err error) error {
	where := s.path
	if where == "" {
		where = "the store in memory"
	} else if damaged(err) {
		_ = os.WriteFile(s.suspicion(), nil, 0o600)
	}
	return explain(doing, where, err)
}

// suspicion is the file that records that the store was seen to be damaged.
func (s *Store) suspicion() string { return filepath.Join(s.runDir(), "damaged") }

func explain(doing, where string, err error) error {
	if err == nil {
		return nil
	}
	if damaged(err) {
		return fmt.Errorf("%s: %s is damaged; close every process that uses it and start again to have it moved aside: %w", doing, where, err)
	}
	switch resultCode(err) {
	case lib.SQLITE_FULL:
		return fmt.Errorf("%s: the disk of %s is full; free some space and try again: %w", doing, where, err)
	case lib.SQLITE_READONLY, lib.SQLITE_CANTOPEN, lib.SQLITE_PERM:
		return fmt.Errorf("%s: %s cannot be written; check that the folder exists and its permissions: %w", doing, where, err)
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED, lib.SQLITE_PROTOCOL:
		return fmt.Errorf("%s: another process has kept %s locked for %s: %w", doing, where, lockWait, err)
	case lib.SQLITE_IOERR:
		return fmt.Errorf("%s: the disk of %s failed or is full: %w", doing, where, err)
	case lib.SQLITE_TOOBIG:
		return fmt.Errorf("%s: the record is too large to keep: %w", doing, err)
	}
	return fmt.Errorf("%s: %w", doing, err)
}
