package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
)

// maxKnown bounds the sessions that a store remembers having seen.
const maxKnown = 10000

// A Session is what calls share. Times are milliseconds since the epoch.
type Session struct {
	ID      string `json:"id"`
	Dir     string `json:"dir"`
	Project string `json:"project,omitempty"`
	Agent   string `json:"agent,omitempty"`
	Parent  string `json:"parent,omitempty"` // the session that started this one
	Title   string `json:"title,omitempty"`
	Created int64  `json:"created"`
	Updated int64  `json:"updated"` // its last use, to within a few seconds
}

const sessionColumns = "id, dir, project, agent, parent, title, created, updated"

// AddSession records a session on its first use; of a session that is there
// already only Updated changes. It costs nothing when this store has seen
// the session before. Updated is Created when it is zero.
func (s *Store) AddSession(ctx context.Context, v Session) error {
	if v.ID == "" {
		return errors.New("recording a session: it has no id")
	}
	s.sessions.Lock()
	_, known := s.touched[v.ID]
	s.sessions.Unlock()
	if known {
		return nil
	}
	if v.Updated == 0 {
		v.Updated = v.Created
	}
	err := s.write(ctx, "recording session "+v.ID, &op{single: true, run: func(c *conn) error {
		_, err := c.exec("INSERT INTO session("+sessionColumns+") VALUES(?, ?, ?, ?, ?, ?, ?, ?)"+
			" ON CONFLICT DO UPDATE SET updated = max(updated, excluded.updated)",
			v.ID, v.Dir, v.Project, v.Agent, v.Parent, v.Title, v.Created, v.Updated)
		return err
	}})
	if err != nil {
		return err
	}
	s.sessions.Lock()
	defer s.sessions.Unlock()
	s.remember(v.ID, v.Updated)
	return nil
}

// remember notes when a session's row was written. The caller holds the lock.
func (s *Store) remember(id string, at int64) {
	if len(s.touched) >= maxKnown {
		clear(s.touched)
	}
	s.touched[id] = at
}

// stale reports whether the time of a session's last use is to be written
// with a call that starts at now, and takes it for written.
func (s *Store) stale(id string, now int64) bool {
	if id == "" {
		return false
	}
	s.sessions.Lock()
	defer s.sessions.Unlock()
	last, known := s.touched[id]
	if known && now-last < touchEvery {
		return false
	}
	if known {
		s.touched[id] = now
	}
	return true
}

// SetTitle gives a session a title. An unknown session is ErrNotFound.
func (s *Store) SetTitle(ctx context.Context, id, title string) error {
	return s.write(ctx, "titling session "+id, &op{single: true, run: func(c *conn) error {
		n, err := c.exec("UPDATE session SET title = ? WHERE id = ?", title, id)
		if err == nil && n == 0 {
			err = ErrNotFound
		}
		return err
	}})
}

// Session returns the session of an id, or ErrNotFound.
func (s *Store) Session(ctx context.Context, id string) (Session, error) {
	found, err := s.listSessions(ctx, "WHERE id = ?", id)
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("reading session %s: %w", id, ErrNotFound)
	}
	if err != nil {
		return Session{}, err
	}
	return found[0], nil
}

// Sessions returns at most limit sessions, those used last first; 100 when
// limit is 0.
func (s *Store) Sessions(ctx context.Context, limit int) ([]Session, error) {
	if limit <= 0 {
		limit = 100
	}
	return s.listSessions(ctx, "ORDER BY updated DESC, id LIMIT ?", int64(limit))
}

func (s *Store) listSessions(ctx context.Context, which string, arg any) ([]Session, error) {
	var out []Session
	err := s.read(ctx, "reading sessions", func(c *conn) error {
		out = nil
		return c.query(ctx, func(row []driver.Value) error {
			out = append(out, Session{
				ID: textOf(row[0]), Dir: textOf(row[1]), Project: textOf(row[2]), Agent: textOf(row[3]),
				Parent: textOf(row[4]), Title: textOf(row[5]), Created: intOf(row[6]), Updated: intOf(row[7]),
			})
			return nil
		}, "SELECT "+sessionColumns+" FROM session "+which, arg)
	})
	return out, err
}
