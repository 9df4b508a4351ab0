package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"net/url"
	"path/filepath"
	"strings"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// A conn is one SQLite connection with its prepared statements. It talks to
// the driver without database/sql between them, which would cost as much as
// the statement itself on the way of a call. One goroutine uses it at a time.
type conn struct {
	c     driver.Conn
	stmts map[string]driver.Stmt
	args  []driver.NamedValue
}

// dial opens path, which must exist; an empty path is a database in memory.
func dial(path string) (*conn, error) {
	dsn := ":memory:"
	if path != "" {
		p := filepath.ToSlash(path)
		if !strings.HasPrefix(p, "/") {
			p = "/" + p // a drive letter
		}
		dsn = (&url.URL{Scheme: "file", Path: p, RawQuery: "mode=rw"}).String()
	}
	var d sqlite.Driver
	c, err := d.Open(dsn)
	if err != nil {
		return nil, err
	}
	return &conn{c: c, stmts: map[string]driver.Stmt{}}, nil
}

func (c *conn) close() error {
	if c == nil {
		return nil
	}
	var errs []error
	for _, st := range c.stmts {
		errs = append(errs, st.Close())
	}
	return errors.Join(append(errs, c.c.Close())...)
}

// stmt returns the prepared form of query, which is kept.
func (c *conn) stmt(query string) (driver.Stmt, error) {
	if st, ok := c.stmts[query]; ok {
		return st, nil
	}
	st, err := c.c.Prepare(query)
	if err != nil {
		return nil, err
	}
	c.stmts[query] = st
	return st, nil
}

// exec runs one statement to its end and returns how many rows it changed.
// Arguments are int64, float64, string or nil.
func (c *conn) exec(query string, args ...any) (int64, error) {
	st, err := c.stmt(query)
	if err != nil {
		return 0, err
	}
	res, err := st.(driver.StmtExecContext).ExecContext(context.Background(), c.bind(args))
	clear(c.args) // hold on to no text
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// query runs one statement and hands each row to each, which must not keep
// the slice.
func (c *conn) query(ctx context.Context, each func([]driver.Value) error, query string, args ...any) error {
	st, err := c.stmt(query)
	if err != nil {
		return err
	}
	rows, err := st.(driver.StmtQueryContext).QueryContext(ctx, c.bind(args))
	clear(c.args)
	if err != nil {
		return err
	}
	row := make([]driver.Value, len(rows.Columns()))
	for {
		err = rows.Next(row)
		if err == nil {
			err = each(row)
		}
		if err != nil {
			break
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return errors.Join(err, rows.Close())
}

// queryInt runs a query whose result is one number.
func (c *conn) queryInt(query string) (n int64, err error) {
	err = c.query(context.Background(), func(row []driver.Value) error {
		n, _ = row[0].(int64)
		return nil
	}, query)
	return n, err
}

func (c *conn) bind(args []any) []driver.NamedValue {
	c.args = c.args[:0]
	for i, a := range args {
		c.args = append(c.args, driver.NamedValue{Ordinal: i + 1, Value: a})
	}
	return c.args
}

// resultCode returns the primary SQLite result code of err, or 0.
func resultCode(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() & 0xff
	}
	return 0
}

// locked reports whether err means that another process is in the way.
func locked(err error) bool {
	switch resultCode(err) {
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED, lib.SQLITE_PROTOCOL:
		return true
	}
	return false
}

// damaged reports whether err means that the file is not a sound database.
func damaged(err error) bool {
	switch resultCode(err) {
	case lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB:
		return true
	}
	return errors.Is(err, errDamaged)
}

func textOf(v driver.Value) string {
	s, _ := v.(string)
	return s
}

func intOf(v driver.Value) int64 {
	n, _ := v.(int64)
	return n
}

func floatOf(v driver.Value) float64 {
	f, _ := v.(float64)
	return f
}
