package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// migrations are the steps from an empty file to today's schema, one script
// a version. A step that has been released never changes; new ones are added
// at the end.
func migrations() []string {
	return []string{
		// In call the wide columns come last, so that looking through the
		// narrow ones does not read them.
		`CREATE TABLE session(
			id TEXT PRIMARY KEY, dir TEXT NOT NULL, project TEXT NOT NULL, agent TEXT NOT NULL,
			parent TEXT NOT NULL, title TEXT NOT NULL, created INTEGER NOT NULL, updated INTEGER NOT NULL
		) WITHOUT ROWID;
		CREATE INDEX session_updated ON session(updated);
		CREATE TABLE call(
			seq INTEGER PRIMARY KEY, id TEXT NOT NULL, session TEXT NOT NULL, parent TEXT NOT NULL,
			tool TEXT NOT NULL, agent TEXT NOT NULL, model TEXT NOT NULL, state TEXT NOT NULL, owner TEXT NOT NULL,
			started INTEGER NOT NULL, ended INTEGER NOT NULL, kind TEXT, code TEXT, message TEXT, hint TEXT,
			title TEXT, input TEXT NOT NULL, output TEXT, metadata TEXT, attachments TEXT, UNIQUE(id, session)
		);
		CREATE INDEX call_session ON call(session, seq);
		CREATE INDEX call_running ON call(owner) WHERE state = 'running';
		CREATE TABLE todo(session TEXT PRIMARY KEY, items TEXT NOT NULL) WITHOUT ROWID;
		CREATE TABLE approval(
			seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, permission TEXT NOT NULL, pattern TEXT NOT NULL,
			exact INTEGER NOT NULL, scope TEXT NOT NULL, session TEXT NOT NULL, project TEXT NOT NULL,
			fingerprint TEXT NOT NULL, created INTEGER NOT NULL
		);`,
		`CREATE TABLE sight(
			session TEXT NOT NULL, file TEXT NOT NULL, hash TEXT NOT NULL, seen INTEGER NOT NULL, encoding TEXT NOT NULL,
			PRIMARY KEY(session, file)
		) WITHOUT ROWID;
		CREATE INDEX sight_file ON sight(file, hash);`,
		`ALTER TABLE approval ADD COLUMN place TEXT NOT NULL DEFAULT '';`,
		// The keys begin with the session, so that they also find what belongs to it. The body of a
		// part is its long text, which is not worth decoding as JSON; the rest of it is in data.
		`ALTER TABLE session ADD COLUMN slug TEXT NOT NULL DEFAULT '';
		ALTER TABLE session ADD COLUMN provider TEXT NOT NULL DEFAULT '';
		ALTER TABLE session ADD COLUMN model TEXT NOT NULL DEFAULT '';
		ALTER TABLE session ADD COLUMN rules TEXT NOT NULL DEFAULT '';
		ALTER TABLE session ADD COLUMN tokens TEXT NOT NULL DEFAULT '';
		ALTER TABLE session ADD COLUMN cost REAL NOT NULL DEFAULT 0;
		CREATE INDEX session_parent ON session(parent) WHERE parent != '';
		CREATE TABLE message(
			session TEXT NOT NULL, id TEXT NOT NULL, created INTEGER NOT NULL, data TEXT NOT NULL, PRIMARY KEY(session, id)
		);
		CREATE UNIQUE INDEX message_created ON message(session, created, id);
		CREATE TABLE part(
			session TEXT NOT NULL, message TEXT NOT NULL, id TEXT NOT NULL,
			data TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY(session, message, id)
		);
		CREATE TABLE turn(session TEXT PRIMARY KEY, owner TEXT NOT NULL, who TEXT NOT NULL) WITHOUT ROWID;
		CREATE TABLE forgotten(session TEXT PRIMARY KEY) WITHOUT ROWID;`,
		// How a command ended is in the narrow column of errors.
		`UPDATE call SET code = json_extract(metadata, '$.exit')
		WHERE kind IS NULL AND code IS NULL AND metadata LIKE '%"exit":%' AND json_valid(metadata)
			AND json_type(metadata, '$.exit') = 'integer' AND json_extract(metadata, '$.exit') != 0;`,
	}
}

// migrate brings c from version have to the end of steps, one transaction a
// step: a step is done wholly or not at all.
func migrate(c *conn, have int64, steps []string) error {
	for v := have; v < int64(len(steps)); v++ {
		if _, err := c.exec("BEGIN IMMEDIATE"); err != nil {
			return err
		}
		err := execScript(c, steps[v])
		if err == nil {
			_, err = c.exec(fmt.Sprintf("PRAGMA user_version=%d", v+1))
		}
		if err == nil {
			_, err = c.exec("COMMIT")
		}
		if err != nil {
			_, _ = c.exec("ROLLBACK")
			return fmt.Errorf("schema version %d: %w", v+1, err)
		}
	}
	return nil
}

// execScript runs several statements without keeping them.
func execScript(c *conn, text string) error {
	_, err := c.c.(driver.ExecerContext).ExecContext(context.Background(), text, nil)
	return err
}

// keepCopy writes a consistent copy of the database beside it before a migration. It uses SQLite:
// opening and closing the file by other means would drop the locks that this process may hold on
// it.
func keepCopy(c *conn, path string, version int64) (string, error) {
	name := fmt.Sprintf("%s.v%d-%s", path, version, stamp(time.Now()))
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return "", err
	}
	if err := f.Close(); err != nil {
		return "", err
	}
	if _, err := c.exec("VACUUM INTO '" + strings.ReplaceAll(name, "'", "''") + "'"); err != nil {
		return "", errors.Join(err, os.Remove(name))
	}
	return name, nil
}

// probeTables reads the start of every table.
func probeTables(ctx context.Context, c *conn) error {
	for _, table := range []string{"session", "call", "todo", "approval", "sight", "message", "part", "turn", "forgotten"} {
		none := func([]driver.Value) error { return nil }
		if err := c.query(ctx, none, "SELECT * FROM "+table+" LIMIT 1"); err != nil {
			if strings.Contains(err.Error(), "no such table") {
				return fmt.Errorf("%w: table %s is missing", errDamaged, table)
			}
			return err
		}
	}
	return nil
}

// checkPages runs one of SQLite's own checks.
func checkPages(ctx context.Context, c *conn, pragma string) error {
	var found []string
	err := c.query(ctx, func(row []driver.Value) error {
		if s := textOf(row[0]); s != "ok" {
			found = append(found, s)
		}
		return nil
	}, pragma)
	if err == nil && len(found) > 0 {
		err = fmt.Errorf("%w: %s", errDamaged, strings.Join(found, "; "))
	}
	return err
}

func stamp(t time.Time) string { return t.UTC().Format("20060102T150405.000") }
