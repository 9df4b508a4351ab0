package store

import (
	"context"
	"database/sql/driver"
)

// forgetRows bounds what one transaction removes of each table, so that other
// writes do not wait for long.
const forgetRows = 32

// Forget removes the sessions that were not used since before, in
// milliseconds since the epoch, with their messages, calls, to-do lists and
// what they saw. A session goes together with those that it started, and
// stays while one of them was used since, has a running call or is claimed.
// The rows go in many small transactions; what is left over when Forget is
// cut short goes the next time. It returns how many sessions it removed. The
// file does not shrink: its free space is used again.
func (s *Store) Forget(ctx context.Context, before int64) (sessions int, err error) {
	const doing = "forgetting sessions"
	// Where a tree of sessions begins: its parent is not there.
	roots, err := s.column(ctx, doing, `SELECT id FROM session AS root WHERE updated < ?
		AND NOT EXISTS(SELECT 1 FROM session WHERE id = root.parent) ORDER BY updated`, before)
	if err != nil {
		return 0, err
	}
	for _, root := range roots {
		n, err := s.forgetTree(ctx, root, before)
		if err != nil {
			return sessions, s.fault(doing, err)
		}
		sessions += n
	}
	// Also those of a Forget that was cut short.
	forgotten, err := s.column(ctx, doing, "SELECT session FROM forgotten")
	if err != nil {
		return sessions, err
	}
	for _, id := range forgotten {
		for done := false; !done; {
			if done, err = s.purge(ctx, id); err != nil {
				return sessions, s.fault(doing, err)
			}
		}
	}
	return sessions, nil
}

// column reads a query's only column.
func (s *Store) column(ctx context.Context, doing, query string, args ...any) (out []string, err error) {
	err = s.read(ctx, doing, func(c *conn) error {
		out, err = c.texts(query, args...)
		return err
	})
	return out, err
}

// texts runs a query of one column of text.
func (c *conn) texts(query string, args ...any) (out []string, err error) {
	err = c.query(context.Background(), func(row []driver.Value) error {
		out = append(out, textOf(row[0]))
		return nil
	}, query, args...)
	return out, err
}

const sessionTree = `WITH RECURSIVE tree(id) AS
	(VALUES(?) UNION SELECT s.id FROM tree JOIN session s ON s.parent = tree.id AND s.parent != '') `

// forgetTree takes a session and those below it out of the list, unless one
// of them is in use, and notes that their rows are to go.
func (s *Store) forgetTree(ctx context.Context, root string, before int64) (int, error) {
	var tree []string
	err := s.w.do(ctx, &op{run: func(c *conn) (err error) {
		tree = nil
		used, err := c.texts(sessionTree+`SELECT id FROM session WHERE id IN tree AND (updated >= ?
			OR id IN(SELECT session FROM turn) OR id IN(SELECT session FROM call WHERE state = 'running')) LIMIT 1`, root, before)
		if err != nil || len(used) > 0 {
			return err
		}
		if tree, err = c.texts(sessionTree+"SELECT id FROM tree", root); err != nil {
			return err
		}
		for _, id := range tree {
			if _, err := c.exec("INSERT INTO forgotten VALUES(?) ON CONFLICT DO NOTHING", id); err != nil {
				return err
			}
			if _, err := c.exec("DELETE FROM session WHERE id = ?", id); err != nil {
				return err
			}
		}
		return nil
	}})
	if err != nil {
		return 0, err
	}
	s.sessions.Lock()
	defer s.sessions.Unlock()
	for _, id := range tree {
		delete(s.touched, id)
	}
	return len(tree), nil
}

// purge removes some rows of a forgotten session and reports whether they
// were the last. One that has begun anew keeps what is left.
func (s *Store) purge(ctx context.Context, id string) (done bool, err error) {
	err = s.w.do(ctx, &op{size: forgetRows * pageSize, run: func(c *conn) error {
		anew, err := c.texts("SELECT id FROM session WHERE id = ?", id)
		if err != nil {
			return err
		}
		var n int64
		if len(anew) == 0 {
			if n, err = purgeRows(c, id); err != nil {
				return err
			}
		}
		if done = n == 0; done {
			_, err = c.exec("DELETE FROM forgotten WHERE session = ?", id)
		}
		return err
	}})
	return done, err
}

func purgeRows(c *conn, id string) (rows int64, err error) {
	for _, query := range []string{
		"DELETE FROM part WHERE rowid IN(SELECT rowid FROM part WHERE session = ? LIMIT ?)",
		"DELETE FROM message WHERE rowid IN(SELECT rowid FROM message WHERE session = ? LIMIT ?)",
		"DELETE FROM call WHERE seq IN(SELECT seq FROM call WHERE session = ? LIMIT ?)",
		"DELETE FROM sight WHERE (session, file) IN(SELECT session, file FROM sight WHERE session = ? LIMIT ?)",
		"DELETE FROM todo WHERE session IN(SELECT session FROM todo WHERE session = ? LIMIT ?)",
	} {
		n, err := c.exec(query, id, int64(forgetRows))
		if err != nil {
			return rows, err
		}
		rows += n
	}
	return rows, nil
}
