package world

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	lib "modernc.org/sqlite/lib"

	"helve/internal/vm"
)

// What scripts may have of databases at a time.
const (
	mostDatabases = 64
	mostRows      = 250_000
	longestRows   = 16 << 20 // bytes of an answer
)

// sqliteOps are what scripts ask of databases. A file is asked about when it
// is opened, and no other is reached through it.
func (w *World) sqliteOps() map[string]operation {
	s := &databases{world: w, open: map[int]*database{}}
	w.onClose(s.end)
	return map[string]operation{
		"sqlite.open":    op(s.begin),
		"sqlite.prepare": op(s.prepare),
		"sqlite.query":   s.query,
		"sqlite.run":     op(s.run),
		"sqlite.exec":    op(s.exec),
		"sqlite.state":   op(s.state),
		"sqlite.close":   op(s.close),
	}
}

// databases are those that scripts have open.
type databases struct {
	world *World

	mu   sync.Mutex
	last int
	open map[int]*database
	over bool
}

// A databaseArg is the argument of all requests about databases.
type databaseArg struct {
	ID               int
	Path, SQL        string
	Readonly, Create bool
	Limit            int
	List             []json.RawMessage
	Names            map[string]json.RawMessage
	Strict           bool
}

func (s *databases) begin(ctx context.Context, by *work, a databaseArg) (any, error) {
	var name string
	var how int32
	var file spot
	if a.Path != ":memory:" {
		var err error
		if file, err = s.world.databaseFile(ctx, by, a); err != nil {
			return nil, err
		}
		name = file.path.Real()
		switch {
		case a.Readonly:
			how = lib.SQLITE_OPEN_READONLY
		case a.Create:
			how = lib.SQLITE_OPEN_READWRITE | lib.SQLITE_OPEN_CREATE
		default:
			how = lib.SQLITE_OPEN_READWRITE
		}
	}
	s.mu.Lock()
	full := len(s.open) >= mostDatabases
	s.mu.Unlock()
	if full {
		return nil, &vm.Failure{Message: fmt.Sprintf("More than %d databases are open. Close those that are not needed.", mostDatabases), Code: "EMFILE"}
	}
	d, err := openDatabase(name, how)
	if err != nil {
		return nil, err
	}
	if name != "" {
		if st, err := file.look(); err != nil || !d.holds(st) {
			d.close()
			return nil, cantOpen()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		d.close()
		return nil, closedDatabase()
	}
	s.last++
	s.open[s.last] = d
	return map[string]int{"id": s.last}, nil
}

// databaseFile asks whether a file may be opened as a database. Who may write
// it sees what is in it too, so that reading is asked about in any case.
func (w *World) databaseFile(ctx context.Context, by *work, a databaseArg) (spot, error) {
	at, err := w.find(ctx, by, a.Path)
	if err != nil {
		return spot{}, noDatabase(err)
	}
	st, err := at.look()
	switch {
	case missing(err) && !a.Readonly && a.Create:
	case err != nil:
		return spot{}, noDatabase(err)
	case !st.regular():
		return spot{}, cantOpen()
	case at.ours && st.Nlink > 1:
		return spot{}, cantOpen() // may be somebody else's
	}
	if !at.ours && err == nil {
		if err := w.opt.Files.AskContents(ctx, w.door(by), at.path); err != nil {
			return spot{}, err
		}
	}
	if !a.Readonly {
		if err := w.askEdit(ctx, by, map[string]any{"filepath": at.path.String(), "database": true}, at); err != nil {
			return spot{}, err
		}
	}
	return at, nil
}

// noDatabase is a mistake about a file as SQLite words it; a refusal stays one.
func noDatabase(err error) error {
	if _, no := errors.AsType[*Refusal](err); no || errnoName(err) == "" {
		return err
	}
	return cantOpen()
}

func cantOpen() error {
	return sqliteFailure(lib.SQLITE_CANTOPEN, "unable to open database file", -1)
}

func (s *databases) find(id int) (*database, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := s.open[id]; d != nil {
		return d, nil
	}
	return nil, closedDatabase()
}

// with uses a database for one request.
func (s *databases) with(ctx context.Context, id int, use func(*database) error) error {
	d, err := s.find(id)
	if err != nil {
		return err
	}
	return d.during(ctx, func() error { return use(d) })
}

// first uses the first statement of a text.
func (d *database) first(ctx context.Context, sql string, use func(*statement) error) error {
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
		return &vm.Failure{Name: "RangeError", Message: "Invalid SQL statement"}
	}
	return err
}

func (s *databases) prepare(ctx context.Context, _ *work, a databaseArg) (any, error) {
	about := map[string]any{}
	err := s.with(ctx, a.ID, func(d *database) error {
		return d.first(ctx, a.SQL, func(st *statement) error {
			about["columns"], about["params"] = st.columns(), st.params()
			return nil
		})
	})
	return about, err
}

func (s *databases) query(ctx context.Context, arg vm.Data) (vm.Data, error) {
	var a databaseArg
	if _, err := read(ctx, arg, &a); err != nil {
		return vm.Data{}, err
	}
	var out []byte
	err := s.with(ctx, a.ID, func(d *database) error {
		return d.first(ctx, a.SQL, func(st *statement) error {
			if err := a.bind(st); err != nil {
				return err
			}
			columns, err := json.Marshal(st.columns())
			if err != nil {
				return err
			}
			out = append(append([]byte(`{"columns":`), columns...), `,"rows":[`...)
			out, err = a.rows(st, out)
			return err
		})
	})
	if err != nil {
		return vm.Data{}, failure(err)
	}
	return vm.Data{JSON: append(out, "]}"...)}, nil
}

// rows adds the rows of a statement to an answer.
func (a databaseArg) rows(st *statement, out []byte) ([]byte, error) {
	columns := lib.Xsqlite3_column_count(st.d.tls, st.ptr)
	for n := 0; a.Limit <= 0 || n < a.Limit; n++ {
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
			out = st.value(i, out)
		}
		out = append(out, ']')
		if n >= mostRows || len(out) > longestRows {
			return nil, &vm.Failure{Name: "RangeError", Message: fmt.Sprintf("The answer is too large: %d rows or %d bytes are the most. Ask for less at a time, with LIMIT.", mostRows, longestRows)}
		}
	}
	return out, nil
}

// bind binds the values of a request.
func (a databaseArg) bind(st *statement) error {
	n := st.params()
	if a.Names == nil {
		if len(a.List) != n && len(a.List) > 0 {
			return &vm.Failure{Message: fmt.Sprintf("SQLite query expected %d values, received %d", n, len(a.List))}
		}
		for i, raw := range a.List {
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
		raw, ok := a.Names[name]
		if !ok {
			raw, ok = a.Names["\x00"+name]
		}
		switch {
		case !ok && a.Strict:
			return &vm.Failure{Message: fmt.Sprintf("Missing parameter %q", name)}
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
	v, err := sqliteValueOf(raw)
	if err != nil {
		return err
	}
	return st.bind(i, v)
}

func (s *databases) run(ctx context.Context, _ *work, a databaseArg) (any, error) {
	var told any
	err := s.with(ctx, a.ID, func(d *database) error {
		before := lib.Xsqlite3_total_changes64(d.tls, d.db)
		err := d.first(ctx, a.SQL, func(st *statement) error {
			if err := a.bind(st); err != nil {
				return err
			}
			return st.finish()
		})
		told = d.changes(before)
		return err
	})
	return told, err
}

func (s *databases) exec(ctx context.Context, _ *work, a databaseArg) (any, error) {
	if strings.TrimSpace(a.SQL) == "" {
		return nil, &vm.Failure{Message: "SQL string mustn't be blank"}
	}
	var told any
	err := s.with(ctx, a.ID, func(d *database) error {
		before := lib.Xsqlite3_total_changes64(d.tls, d.db)
		found := false
		err := d.each(ctx, a.SQL, func(st *statement) error {
			found = true
			return st.finish()
		})
		if err == nil && !found {
			err = &vm.Failure{Message: "Query contained no valid SQL statement; likely empty query."}
		}
		told = d.changes(before)
		return err
	})
	return told, err
}

// changes says what a statement has changed.
func (d *database) changes(before int64) any {
	return map[string]any{
		"changes":         lib.Xsqlite3_total_changes64(d.tls, d.db) - before,
		"lastInsertRowid": json.RawMessage(appendInt(nil, lib.Xsqlite3_last_insert_rowid(d.tls, d.db))),
	}
}

func (s *databases) state(ctx context.Context, _ *work, a databaseArg) (any, error) {
	var inside bool
	err := s.with(ctx, a.ID, func(d *database) error {
		inside = lib.Xsqlite3_get_autocommit(d.tls, d.db) == 0
		return nil
	})
	return map[string]bool{"inTransaction": inside}, err
}

func (s *databases) close(_ context.Context, _ *work, a databaseArg) (any, error) {
	s.mu.Lock()
	d := s.open[a.ID]
	delete(s.open, a.ID)
	s.mu.Unlock()
	if d != nil {
		d.close()
	}
	return nil, nil
}

// end closes everything. What was not committed is not there any more.
func (s *databases) end() error {
	s.mu.Lock()
	s.over = true
	open := s.open
	s.open = map[int]*database{}
	s.mu.Unlock()
	for _, d := range open {
		d.close()
	}
	return nil
}
