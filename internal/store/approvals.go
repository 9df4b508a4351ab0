package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"time"

	"github.com/helve-dev/helve/permission"
)

var _ permission.ApprovalStore = (*Store)(nil)

// KeepApproval stores a, replacing an approval of the same id. Approvals are few and important, so
// they survive a power loss whatever [Options].Sync says.
func (s *Store) KeepApproval(a permission.Approval) error {
	if a.ID == "" {
		return errors.New("keeping an approval: it has no id")
	}
	var created int64
	if !a.Created.IsZero() {
		created = a.Created.UnixNano()
	}
	exact := int64(0)
	if a.Exact {
		exact = 1
	}
	return s.write(context.Background(), "keeping an approval", &op{single: true, durable: true, run: func(c *conn) error {
		_, err := c.exec(`INSERT INTO approval(id, permission, pattern, exact, scope, session, project, fingerprint, place, created)
			VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET permission = excluded.permission,
			pattern = excluded.pattern, exact = excluded.exact, scope = excluded.scope, session = excluded.session,
			project = excluded.project, fingerprint = excluded.fingerprint, place = excluded.place, created = excluded.created`,
			a.ID, a.Permission, a.Pattern, exact, string(a.Scope), a.Session, a.Project, a.Fingerprint, a.Place, created)
		return err
	}})
}

// Approvals returns every kept approval, oldest first.
func (s *Store) Approvals() ([]permission.Approval, error) {
	var out []permission.Approval
	ctx := context.Background()
	err := s.read(ctx, "reading approvals", func(c *conn) error {
		out = nil
		return c.query(ctx, func(row []driver.Value) error {
			a := permission.Approval{
				ID: textOf(row[0]), Permission: textOf(row[1]), Pattern: textOf(row[2]), Exact: intOf(row[3]) != 0,
				Scope: permission.Scope(textOf(row[4])), Session: textOf(row[5]), Project: textOf(row[6]), Fingerprint: textOf(row[7]), Place: textOf(row[8]),
			}
			if ns := intOf(row[9]); ns != 0 {
				a.Created = time.Unix(0, ns).UTC()
			}
			out = append(out, a)
			return nil
		}, `SELECT id, permission, pattern, exact, scope, session, project, fingerprint, place, created
			FROM approval ORDER BY created, seq`)
	})
	return out, err
}

// ForgetApproval removes the approval of an id, as durably as it was kept,
// and reports whether there was one.
func (s *Store) ForgetApproval(id string) (bool, error) {
	var n int64
	err := s.write(context.Background(), "forgetting an approval", &op{single: true, durable: true, run: func(c *conn) (err error) {
		n, err = c.exec("DELETE FROM approval WHERE id = ?", id)
		return err
	}})
	return n > 0, err
}
