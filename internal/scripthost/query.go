package scripthost

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/helve-dev/helve/internal/script"
	lib "modernc.org/sqlite/lib"
)

// The limits of a result.
const (
	mostRows    = 250_000
	longestRows = 16 << 20 // bytes
)

// A DBQuery is a statement and its bound values: those of a list, or, if there are names, the named
// ones.
type DBQuery struct {
	SQL    string
	Limit  int // how many rows are wanted; 0 for all
	List   []json.RawMessage
	Names  map[string]json.RawMessage
	Strict bool // each name in the statement needs a value
}

// DBChanges are what a statement has changed.
type DBChanges struct {
	Changes         int64           `json:"changes"`
	LastInsertRowid json.RawMessage `json:"lastInsertRowid"`
}

// errEnough ends a walk over statements.
var errEnough = errors.New("enough")

// firstStatement uses the first statement of a text.
func (d *DB) firstStatement(ctx context.Context, sql string, use func(*statement) error) error {
	found := false
	err := d.each(ctx, sql, func(st *statement) error {
		found = true
		if err := use(st); err != nil {
			return err
		}
		return errEnough
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	if err == nil && !found {
		return &script.Failure{Name: "RangeError", Message: "Invalid SQL statement"}
	}
	return err
}

// Prepare describes the first statement of a text: its columns, and how many values it takes.
func (d *DB) Prepare(ctx context.Context, sql string) (columns []string, params int, err error) {
	err = d.during(ctx, func() error {
		return d.firstStatement(ctx, sql, func(st *statement) error {
			columns, params = st.columns(), st.params()
			return nil
		})
	})
	return columns, params, err
}

// Query gives the rows of the first statement of a text, as the JSON of
// {columns, rows}.
func (d *DB) Query(ctx context.Context, q DBQuery) ([]byte, error) {
	var out []byte
	err := d.during(ctx, func() error {
		return d.firstStatement(ctx, q.SQL, func(st *statement) error {
			if err := q.bind(st); err != nil {
				return err
			}
			columns, err := json.Marshal(st.columns())
			if err != nil {
				return err
			}
			out = append(append([]byte(`{"columns":`), columns...), `,"rows":[`...)
			out, err = q.rows(st, out)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	return append(out, "]}"...), nil
}

// rows adds the rows of a statement to a result.
func (q DBQuery) rows(st *statement, out []byte) ([]byte, error) {
	columns := lib.Xsqlite3_column_count(st.d.tls, st.ptr)
	for n := 0; q.Limit <= 0 || n < q.Limit; n++ {
		row, err := st.step()
		if err != nil || !row {
			return out, err
		}
		if columns == 0 {
			continue
		}
		if n > 0 {
			out = append(out, ',')
		}
		out = append(out, '[')
		for i := range columns {
			if i > 0 {
				out = append(out, ',')
			}
			out = st.appendValue(i, out)
		}
		out = append(out, ']')
		if n >= mostRows || len(out) > longestRows {
			return nil, &script.Failure{Name: "RangeError", Message: fmt.Sprintf("The answer is too large: %d rows or %d bytes are the most. Ask for less at a time, with LIMIT.", mostRows, longestRows)}
		}
	}
	return out, nil
}

// bind binds the values of a request.
func (q DBQuery) bind(st *statement) error {
	n := st.params()
	if q.Names == nil {
		if len(q.List) != n && len(q.List) > 0 {
			return &script.Failure{Message: fmt.Sprintf("SQLite query expected %d values, received %d", n, len(q.List))}
		}
		for i, raw := range q.List {
			if err := bindJSON(st, i+1, raw); err != nil {
				return err
			}
		}
		return nil
	}
	for i := 1; i <= n; i++ {
		name := st.param(i)
		if name != "" {
			name = name[1:]
		}
		raw, ok := q.Names[name]
		if !ok {
			raw, ok = q.Names["\x00"+name]
		}
		switch {
		case !ok && q.Strict:
			return &script.Failure{Message: fmt.Sprintf("Missing parameter %q", name)}
		case !ok:
			continue
		}
		if err := bindJSON(st, i, raw); err != nil {
			return err
		}
	}
	return nil
}

func bindJSON(st *statement, i int, raw json.RawMessage) error {
	v, err := valueOf(raw)
	if err != nil {
		return err
	}
	return st.bind(i, v)
}

// Run runs the first statement of a text to its end.
func (d *DB) Run(ctx context.Context, q DBQuery) (DBChanges, error) {
	return d.changing(ctx, func() error {
		return d.firstStatement(ctx, q.SQL, func(st *statement) error {
			if err := q.bind(st); err != nil {
				return err
			}
			return st.runToEnd()
		})
	})
}

// Exec runs all statements of a text.
func (d *DB) Exec(ctx context.Context, sql string) (DBChanges, error) {
	return d.changing(ctx, func() error {
		found := false
		err := d.each(ctx, sql, func(st *statement) error {
			found = true
			return st.runToEnd()
		})
		if err == nil && !found {
			err = &script.Failure{Message: "Query contained no valid SQL statement; likely empty query."}
		}
		return err
	})
}

// changing says what something has changed.
func (d *DB) changing(ctx context.Context, do func() error) (told DBChanges, err error) {
	err = d.during(ctx, func() error {
		before := lib.Xsqlite3_total_changes64(d.tls, d.db)
		err := do()
		told.Changes = lib.Xsqlite3_total_changes64(d.tls, d.db) - before
		told.LastInsertRowid = appendInt(nil, lib.Xsqlite3_last_insert_rowid(d.tls, d.db))
		return err
	})
	return told, err
}

// InTransaction reports whether a transaction has begun that has not ended.
func (d *DB) InTransaction(ctx context.Context) (inside bool, err error) {
	err = d.during(ctx, func() error {
		inside = lib.Xsqlite3_get_autocommit(d.tls, d.db) == 0
		return nil
	})
	return inside, err
}
