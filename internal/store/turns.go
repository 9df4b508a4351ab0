package store

import (
	"context"
	"database/sql/driver"
	"fmt"
	"path/filepath"
	"sync"
)

// ClaimTurn makes the caller the only one, of all processes, who works on a
// session, until release is called or the process dies. Who is the name that
// others get to read; while another has the claim it is ErrBusy. Closing the
// store gives up its claims. release may be called more than once.
func (s *Store) ClaimTurn(ctx context.Context, session, who string) (release func(), err error) {
	doing := "claiming session " + session
	own, err := s.ownerName()
	if err != nil {
		return nil, s.fault(doing, err)
	}
	dead := "" // a holder that is gone
	for {
		var holder, by string
		err := s.write(ctx, doing, &op{run: func(c *conn) error {
			holder, by = "", ""
			err := c.query(context.Background(), func(row []driver.Value) error {
				holder, by = textOf(row[0]), textOf(row[1])
				return nil
			}, "SELECT owner, who FROM turn WHERE session = ?", session)
			if err != nil || holder != "" && holder != dead {
				return err
			}
			holder = ""
			_, err = c.exec("REPLACE INTO turn(session, owner, who) VALUES(?, ?, ?)", session, own, who)
			return err
		}})
		switch {
		case err != nil:
			return nil, err
		case holder == "":
			return sync.OnceFunc(func() { s.endTurn(session, own) }), nil
		case !s.gone(holder):
			return nil, fmt.Errorf("%s: %w: %s works on it; wait for its end or stop it", doing, ErrBusy, by)
		}
		dead = holder
	}
}

// endTurn takes no context: a claim is given up whoever waits for it.
func (s *Store) endTurn(session, own string) {
	err := s.w.do(context.Background(), &op{single: true, run: func(c *conn) error {
		_, err := c.exec("DELETE FROM turn WHERE session = ? AND owner = ?", session, own)
		return err
	}})
	if err != nil {
		s.log.Warn("a claim cannot be given up", "session", session, "error", err)
	}
}

// gone reports whether the owner of a row is dead, and leaves what it left
// behind to recover.
func (s *Store) gone(name string) bool {
	if n := s.owner.name.Load(); n != nil && *n == name {
		return false
	}
	if s.ownerGone(name) {
		return true
	}
	lock, gone := seize(filepath.Join(s.runDir(), name+lockExt))
	if lock != nil {
		_ = lock.Close()
	}
	return gone
}
