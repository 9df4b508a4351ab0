//go:build unix

package script_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"modernc.org/sqlite"

	"helve/internal/vm"
)

type databases struct {
	mu   sync.Mutex
	last int
	open map[int]*sql.DB
}

func databaseOps(t *testing.T) map[string]operation {
	t.Helper()
	d := &databases{open: map[int]*sql.DB{}}
	t.Cleanup(func() {
		for _, db := range d.open {
			_ = db.Close()
		}
	})
	return map[string]operation{
		"sqlite.open":    op(d.begin),
		"sqlite.close":   op(d.end),
		"sqlite.prepare": op(d.prepare),
		"sqlite.query":   op(d.query),
		"sqlite.run":     op(d.run),
		"sqlite.exec":    op(d.run),
		"sqlite.state":   op(func(databaseArg) (any, error) { return map[string]bool{"inTransaction": false}, nil }),
	}
}

type databaseArg struct {
	ID               int
	Path, SQL        string
	Readonly, Create bool
	Limit            int
	List             []json.RawMessage
	Names            map[string]json.RawMessage
	Strict           bool
}

func cantOpen() error {
	return &vm.Failure{Message: "unable to open database file", Code: "SQLITE_CANTOPEN", Data: json.RawMessage(`{"errno":14}`)}
}

func (d *databases) begin(a databaseArg) (any, error) {
	dsn := ":memory:"
	if a.Path != ":memory:" {
		if _, err := os.Stat(a.Path); err != nil && (a.Readonly || !a.Create) {
			return nil, cantOpen()
		}
		dsn = "file:" + a.Path
		if a.Readonly {
			dsn += "?mode=ro"
		}
	}
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if err := db.Ping(); err != nil {
		_ = db.Close()
		return nil, cantOpen()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.last++
	d.open[d.last] = db
	return map[string]int{"id": d.last}, nil
}

func (d *databases) find(id int) (*sql.DB, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if db := d.open[id]; db != nil {
		return db, nil
	}
	return nil, &vm.Failure{Name: "RangeError", Message: "Cannot use a closed database"}
}

func (d *databases) end(a databaseArg) (any, error) {
	db, err := d.find(a.ID)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	delete(d.open, a.ID)
	d.mu.Unlock()
	return nil, db.Close()
}

// parameters are the places for values in a statement: the names, "" for those without.
func parameters(text string) []string {
	bare := regexp.MustCompile(`'[^']*'|"[^"]*"|--[^\n]*`).ReplaceAllString(text, "")
	var names []string
	for _, m := range regexp.MustCompile(`[$:@]([A-Za-z_]\w*)|\?`).FindAllStringSubmatch(bare, -1) {
		names = append(names, m[1])
	}
	return names
}

func (d *databases) prepare(a databaseArg) (any, error) {
	db, err := d.find(a.ID)
	if err != nil {
		return nil, err
	}
	names := parameters(a.SQL)
	values := make([]any, len(names))
	for i, name := range names {
		if name != "" {
			values[i] = sql.Named(name, nil)
		}
	}
	rows, err := db.Query("EXPLAIN "+a.SQL, values...)
	if err != nil {
		return nil, sqlFailure(err)
	}
	_ = rows.Close()
	columns := []string{}
	if regexp.MustCompile(`(?i)^\s*(select|with|values)\b`).MatchString(a.SQL) {
		rows, err := db.Query("SELECT * FROM ("+strings.TrimRight(a.SQL, "; \n")+") LIMIT 0", values...)
		if err == nil {
			columns, _ = rows.Columns()
			_ = rows.Close()
		}
	}
	return map[string]any{"columns": columns, "params": len(names)}, nil
}

func (a databaseArg) values() ([]any, error) {
	var all []any
	for _, raw := range a.List {
		v, err := valueOf(raw)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	for name, raw := range a.Names {
		v, err := valueOf(raw)
		if err != nil {
			return nil, err
		}
		if !strings.HasPrefix(name, "\x00") {
			all = append(all, sql.Named(name, v))
		}
	}
	return all, nil
}

func valueOf(raw json.RawMessage) (any, error) {
	var marked struct {
		Bytes     []byte
		Int, Real *string
	}
	if json.Unmarshal(raw, &marked) == nil && string(raw) != "null" {
		switch {
		case marked.Int != nil:
			return strconv.ParseInt(*marked.Int, 10, 64)
		case marked.Real != nil:
			return strconv.ParseFloat(*marked.Real, 64)
		}
		return marked.Bytes, nil
	}
	if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
		return n, nil
	}
	var v any
	err := json.Unmarshal(raw, &v)
	return v, err
}

func (d *databases) query(a databaseArg) (any, error) {
	db, err := d.find(a.ID)
	if err != nil {
		return nil, err
	}
	values, err := a.values()
	if err != nil {
		return nil, err
	}
	rows, err := db.QueryContext(context.Background(), a.SQL, values...)
	if err != nil {
		return nil, sqlFailure(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	all := [][]any{}
	for rows.Next() && (a.Limit == 0 || len(all) < a.Limit) {
		row, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		for i := range row {
			row[i] = marked(row[i])
		}
		all = append(all, row)
	}
	if err := rows.Err(); err != nil {
		return nil, sqlFailure(err)
	}
	return map[string]any{"columns": columns, "rows": all}, nil
}

// marked is a value of a row that JSON can hold.
func marked(v any) any {
	const safe = 1<<53 - 1
	switch v := v.(type) {
	case int64:
		if v > safe || v < -safe {
			return map[string]string{"int": strconv.FormatInt(v, 10)}
		}
	case []byte:
		return map[string][]byte{"bytes": v}
	}
	return v
}

func (d *databases) run(a databaseArg) (any, error) {
	db, err := d.find(a.ID)
	if err != nil {
		return nil, err
	}
	values, err := a.values()
	if err != nil {
		return nil, err
	}
	result, err := db.Exec(a.SQL, values...)
	if err != nil {
		return nil, sqlFailure(err)
	}
	changes, _ := result.RowsAffected()
	last, _ := result.LastInsertId()
	return map[string]any{"changes": changes, "lastInsertRowid": marked(last)}, nil
}

// sqlFailure takes out of an error what SQLite itself said.
func sqlFailure(err error) error {
	told, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return err
	}
	names := map[int]string{1: "SQLITE_ERROR", 5: "SQLITE_BUSY", 8: "SQLITE_READONLY", 14: "SQLITE_CANTOPEN", 19: "SQLITE_CONSTRAINT", 1555: "SQLITE_CONSTRAINT_PRIMARYKEY", 2067: "SQLITE_CONSTRAINT_UNIQUE", 1299: "SQLITE_CONSTRAINT_NOTNULL", 787: "SQLITE_CONSTRAINT_FOREIGNKEY", 275: "SQLITE_CONSTRAINT_CHECK"}
	code := names[told.Code()]
	if code == "" {
		code = "SQLITE_ERROR"
	}
	_, message, _ := strings.Cut(told.Error(), ": ")
	message = strings.TrimSuffix(message, fmt.Sprintf(" (%d)", told.Code()))
	return &vm.Failure{Message: message, Code: code, Data: json.RawMessage(fmt.Sprintf(`{"errno":%d}`, told.Code()))}
}
