//go:build unix

package script_test

import (
	"context"
	"encoding/json"
	"github.com/helve-dev/helve/internal/script"
	"github.com/helve-dev/helve/internal/scripthost"
	"sync"
	"testing"
)

// databases are those that scripts have open.
type databases struct {
	mu   sync.Mutex
	last int
	open map[int]*scripthost.DB
}

// databaseOps are sqlite.*, asking nobody.
func databaseOps(t *testing.T) map[string]operation {
	t.Helper()
	d := &databases{open: map[int]*scripthost.DB{}}
	t.Cleanup(func() {
		for _, db := range d.open {
			db.Close()
		}
	})
	return map[string]operation{
		"sqlite.open":  op(d.begin),
		"sqlite.close": op(d.end),
		"sqlite.prepare": d.with(func(ctx context.Context, db *scripthost.DB, a databaseArg) (any, error) {
			columns, params, err := db.Prepare(ctx, a.SQL)
			return map[string]any{"columns": columns, "params": params}, err
		}),
		"sqlite.query": d.with(func(ctx context.Context, db *scripthost.DB, a databaseArg) (any, error) {
			rows, err := db.Query(ctx, a.DBQuery)
			return json.RawMessage(rows), err
		}),
		"sqlite.run": d.with(func(ctx context.Context, db *scripthost.DB, a databaseArg) (any, error) {
			return db.Run(ctx, a.DBQuery)
		}),
		"sqlite.exec": d.with(func(ctx context.Context, db *scripthost.DB, a databaseArg) (any, error) { return db.Exec(ctx, a.SQL) }),
		"sqlite.state": d.with(func(ctx context.Context, db *scripthost.DB, _ databaseArg) (any, error) {
			inside, err := db.InTransaction(ctx)
			return map[string]bool{"inTransaction": inside}, err
		}),
	}
}

type databaseArg struct {
	ID   int
	Path string
	scripthost.DBOptions
	scripthost.DBQuery
}

func (d *databases) begin(a databaseArg) (any, error) {
	name := a.Path
	if name == ":memory:" {
		name = ""
	}
	db, err := scripthost.OpenDB(name, a.DBOptions)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.last++
	d.open[d.last] = db
	return map[string]int{"id": d.last}, nil
}

// with is an operation on a database that is open.
func (d *databases) with(do func(context.Context, *scripthost.DB, databaseArg) (any, error)) operation {
	return func(ctx context.Context, arg script.Data) (script.Data, error) {
		return op(func(a databaseArg) (any, error) {
			d.mu.Lock()
			db := d.open[a.ID]
			d.mu.Unlock()
			if db == nil {
				return nil, scripthost.DBClosed()
			}
			return do(ctx, db, a)
		})(ctx, arg)
	}
}

func (d *databases) end(a databaseArg) (any, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if db := d.open[a.ID]; db != nil {
		delete(d.open, a.ID)
		db.Close()
	}
	return nil, nil
}
