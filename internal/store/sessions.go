package store

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/helve-dev/helve/model"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/record"
)

const (
	// maxKnown bounds the sessions that a store remembers having seen.
	maxKnown = 10000
	// knownFor is how long, in milliseconds, it relies on that, before it
	// records the use of a session again.
	knownFor = 60 * 60 * 1000
)

const sessionColumns = "id, dir, project, agent, parent, title, created, updated, slug, provider, model, rules, tokens, cost"

// sessionRead are the columns to read, with what identifies a session without a title. An index
// finds its first call.
const sessionRead = sessionColumns + `, CASE WHEN title = '' THEN (
	SELECT trim(call.tool || ' ' || substr(coalesce(nullif(call.title, ''), call.input), 1, 120)) FROM call WHERE call.session = session.id ORDER BY call.seq LIMIT 1
) END`

const (
	sessionValues = "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
	insertSession = "INSERT INTO session(" + sessionColumns + ") VALUES" + sessionValues
	updateSession = "UPDATE session SET (" + sessionColumns + ") = " + sessionValues + " WHERE id = ?"
)

// sessionRow returns the columns of a session as SQLite takes them.
func sessionRow(v record.Session) []any {
	var tokens []byte
	if v.Tokens != (model.Tokens{}) {
		tokens, _ = json.Marshal(v.Tokens) // numbers only: cannot fail
	}
	return []any{v.ID, v.Dir, v.Project, v.Agent, v.Parent, v.Title, v.Time.Created, v.Time.Updated,
		v.Slug, v.Model.Provider, v.Model.Model, rulesText(v.Rules), string(tokens), v.Cost}
}

// sessionOf decodes a row.
func (s *Store) sessionOf(row []driver.Value) record.Session {
	v := record.Session{
		ID: textOf(row[0]), Dir: textOf(row[1]), Project: textOf(row[2]), Agent: textOf(row[3]),
		Parent: textOf(row[4]), Title: textOf(row[5]), Time: record.SessionTime{Created: intOf(row[6]), Updated: intOf(row[7])},
		Slug: textOf(row[8]), Model: model.Ref{Provider: textOf(row[9]), Model: textOf(row[10])}, Cost: floatOf(row[13]), First: textOf(row[14]),
	}
	var err error
	if v.Rules, err = rulesOf(textOf(row[11])); err != nil {
		s.log.Warn("the rules of a session are damaged, so it is denied everything", "session", v.ID, "error", err)
		v.Rules = permission.Ruleset{{Permission: "*", Pattern: "*", Action: permission.Deny, From: permission.Source{File: "damaged rules of the session"}}}
	}
	if text := textOf(row[12]); text != "" {
		if err := json.Unmarshal([]byte(text), &v.Tokens); err != nil {
			s.log.Warn("the tokens of a session are damaged", "session", v.ID, "error", err)
			v.Tokens = model.Tokens{}
		}
	}
	return v
}

// A keptRule is a rule with where it was written, which its own JSON leaves out.
type keptRule struct {
	permission.Rule
	From permission.Source `json:"from,omitzero"`
}

func rulesText(rules permission.Ruleset) string {
	if len(rules) == 0 {
		return ""
	}
	kept := make([]keptRule, len(rules))
	for i, r := range rules {
		kept[i] = keptRule{r, r.From}
	}
	b, _ := json.Marshal(kept) // strings and numbers only: cannot fail
	return string(b)
}

func rulesOf(text string) (permission.Ruleset, error) {
	if text == "" {
		return nil, nil
	}
	var kept []keptRule
	if err := json.Unmarshal([]byte(text), &kept); err != nil {
		return nil, err
	}
	rules := make(permission.Ruleset, len(kept))
	for i, k := range kept {
		if !k.Action.Valid() {
			return nil, fmt.Errorf("rule %d has no action", i)
		}
		rules[i] = k.Rule
		rules[i].From = k.From
	}
	return rules, nil
}

// AddSession records a session on its first use; of a session that is there
// already only Updated changes. It costs nothing when this store has seen
// the session lately. Updated is Created when it is zero.
func (s *Store) AddSession(ctx context.Context, v record.Session) error {
	_, err := s.UseSession(ctx, v)
	return err
}

// UseSession is AddSession that reports whether the session is new.
func (s *Store) UseSession(ctx context.Context, v record.Session) (created bool, err error) {
	s.sessions.Lock()
	last, known := s.touched[v.ID]
	s.sessions.Unlock()
	if known && max(v.Time.Created, v.Time.Updated)-last < knownFor {
		return false, nil
	}
	if !known {
		if n, err := s.insertSession(ctx, v, " ON CONFLICT DO NOTHING"); err != nil || n > 0 {
			return n > 0, err
		}
	}
	_, err = s.insertSession(ctx, v, " ON CONFLICT DO UPDATE SET updated = max(updated, excluded.updated)")
	return false, err
}

// CreateSession records a session that must not be there yet: one that is, is
// ErrDuplicate. Updated is Created when it is zero.
func (s *Store) CreateSession(ctx context.Context, v record.Session) error {
	n, err := s.insertSession(ctx, v, " ON CONFLICT DO NOTHING")
	if err == nil && n == 0 {
		err = fmt.Errorf("recording session %s: %w", v.ID, ErrDuplicate)
	}
	return err
}

// insertSession returns how many rows were written.
func (s *Store) insertSession(ctx context.Context, v record.Session, conflict string) (n int64, err error) {
	if v.ID == "" {
		return 0, errors.New("recording a session: it has no id")
	}
	if v.Time.Updated == 0 {
		v.Time.Updated = v.Time.Created
	}
	values := sessionRow(v)
	err = s.write(ctx, "recording session "+v.ID, &op{single: true, run: func(c *conn) (err error) {
		n, err = c.exec(insertSession+conflict, values...)
		return err
	}})
	if err == nil && n > 0 {
		s.sessions.Lock()
		defer s.sessions.Unlock()
		s.remember(v.ID, v.Time.Updated)
	}
	return n, err
}

// remember records when a session's row was written. The caller holds the lock.
func (s *Store) remember(id string, at int64) {
	if len(s.touched) >= maxKnown {
		clear(s.touched)
	}
	s.touched[id] = at
}

// stale reports whether the time of a session's last use must be written with a call or message of
// now, and records it as written.
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

// touch writes the time of a session's last use.
func touch(c *conn, session string, at int64) error {
	_, err := c.exec("UPDATE session SET updated = max(updated, ?) WHERE id = ?", at, session)
	return err
}

// UpdateSession changes a session and returns what became of it; an unknown
// one is ErrNotFound. It is read and written in one transaction, so no change
// is lost. For that, change may run on another goroutine and more than once:
// it only changes what it is given, waits for nothing, and never panics. ID
// stays, and Updated never goes back.
func (s *Store) UpdateSession(ctx context.Context, id string, change func(*record.Session)) (record.Session, error) {
	var v record.Session
	err := s.write(ctx, "changing session "+id, &op{run: func(c *conn) error {
		v = record.Session{}
		err := c.query(context.Background(), func(row []driver.Value) error {
			v = s.sessionOf(row)
			return nil
		}, "SELECT "+sessionRead+" FROM session WHERE id = ?", id)
		if err != nil {
			return err
		}
		if v.ID == "" {
			return record.ErrNotFound
		}
		used := v.Time.Updated
		change(&v)
		v.ID, v.Time.Updated = id, max(v.Time.Updated, used)
		if v.Title != "" {
			v.First = ""
		}
		_, err = c.exec(updateSession, append(sessionRow(v), id)...)
		return err
	}})
	if err != nil {
		return record.Session{}, err
	}
	s.sessions.Lock()
	defer s.sessions.Unlock()
	s.remember(id, v.Time.Updated)
	return v, nil
}

// Session returns the session of an id, or ErrNotFound.
func (s *Store) Session(ctx context.Context, id string) (record.Session, error) {
	found, err := s.listSessions(ctx, "WHERE id = ?", id)
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("reading session %s: %w", id, record.ErrNotFound)
	}
	if err != nil {
		return record.Session{}, err
	}
	return found[0], nil
}

// Sessions returns at most limit sessions, those used last first; 100 when
// limit is 0.
func (s *Store) Sessions(ctx context.Context, limit int) ([]record.Session, error) {
	if limit <= 0 {
		limit = 100
	}
	return s.listSessions(ctx, "ORDER BY updated DESC, id LIMIT ?", int64(limit))
}

// A SessionQuery chooses sessions, those used last first: at most Limit, of the
// folder Dir unless that is "", and, where ID is not "", those that come after
// the session of that id when it was used last at Updated.
type SessionQuery struct {
	Limit   int
	Dir     string
	Updated int64
	ID      string
}

// SessionsAfter returns the sessions that q chooses.
func (s *Store) SessionsAfter(ctx context.Context, q SessionQuery) ([]record.Session, error) {
	which, args := "WHERE 1", []any{}
	if q.ID != "" {
		which, args = which+" AND (updated < ? OR updated = ? AND id > ?)", append(args, q.Updated, q.Updated, q.ID)
	}
	if q.Dir != "" {
		which, args = which+" AND dir = ?", append(args, q.Dir)
	}
	return s.listSessions(ctx, which+" ORDER BY updated DESC, id LIMIT ?", append(args, int64(q.Limit))...)
}

// SessionChildren returns the sessions that a session started, oldest first.
func (s *Store) SessionChildren(ctx context.Context, id string) ([]record.Session, error) {
	return s.listSessions(ctx, "WHERE parent = ? AND parent != '' ORDER BY created, id", id)
}

func (s *Store) listSessions(ctx context.Context, which string, args ...any) ([]record.Session, error) {
	out := []record.Session{} // never nil
	err := s.read(ctx, "reading sessions", func(c *conn) error {
		out = out[:0]
		return c.query(ctx, func(row []driver.Value) error {
			out = append(out, s.sessionOf(row))
			return nil
		}, "SELECT "+sessionRead+" FROM session "+which, args...)
	})
	return out, err
}
