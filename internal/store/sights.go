package store

import (
	"context"
	"database/sql/driver"
	"time"
)

// A Sight records what a session last saw of a file: the name of its contents, when, and in which
// encoding it was shown.
type Sight struct {
	Hash     string
	When     time.Time
	Encoding string
}

// See records what a session saw of a file. It is part of the next write, because losing it only
// costs reading the file again.
func (s *Store) See(session, file string, sight Sight) {
	s.w.later(&op{single: true, run: func(c *conn) error {
		_, err := c.exec(`INSERT INTO sight(session, file, hash, seen, encoding) VALUES(?, ?, ?, ?, ?)
			ON CONFLICT DO UPDATE SET hash = excluded.hash, seen = excluded.seen, encoding = excluded.encoding`,
			session, file, sight.Hash, sight.When.UnixMilli(), sight.Encoding)
		return err
	}})
}

// Sight returns what a session saw of a file, if it saw it.
func (s *Store) Sight(ctx context.Context, session, file string) (sight Sight, ok bool, err error) {
	err = s.read(ctx, "reading what was seen", func(c *conn) error {
		return c.query(ctx, func(row []driver.Value) error {
			ms, _ := row[1].(int64)
			sight, ok = Sight{Hash: textOf(row[0]), When: time.UnixMilli(ms), Encoding: textOf(row[2])}, true
			return nil
		}, "SELECT hash, seen, encoding FROM sight WHERE session = ? AND file = ?", session, file)
	})
	return sight, ok, err
}

// Turn records that contents were restored: sessions that had seen from now have seen to.
func (s *Store) Turn(ctx context.Context, file, from, to string) error {
	return s.write(ctx, "writing what was seen", &op{single: true, run: func(c *conn) error {
		_, err := c.exec("UPDATE sight SET hash = ? WHERE file = ? AND hash = ?", to, file, from)
		return err
	}})
}
