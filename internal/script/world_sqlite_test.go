//go:build unix

package script_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"

	"github.com/helve-dev/helve/internal/sqlite"
	"github.com/helve-dev/helve/internal/vm"
)

// databases are those that scripts have open.
type databases struct {
	mu   sync.Mutex
	last int
	open map[int]*sqlite.DB
}

// databaseOps are sqlite.*, asking nobody.
func databaseOps(t *testing.T) map[string]operation {
	t.Helper()
	d := &databases{open: map[int]*sqlite.DB{}}
	t.Cleanup(func() {
		for _, db := range d.open {
			db.Close()
		}
	})
	return map[string]operation{
		"sqlite.open":  op(d.begin),
		"sqlite.close": op(d.end),
		"sqlite.prepare": d.with(func(ctx context.Context, db *sqlite.DB, a databaseArg) (any, error) {
			columns, params, err := db.Prepare(ctx, a.SQL)
			return map[string]any{"columns": columns, "params": params}, err
		}),
		"sqlite.query": d.with(func(ctx context.Context, db *sqlite.DB, a databaseArg) (any, error) {
			rows, err := db.Query(ctx, a.Query)
			return json.RawMessage(rows), err
		}),
		"sqlite.run":  d.with(func(ctx context.Context, db *sqlite.DB, a databaseArg) (any, error) { return db.Run(ctx, a.Query) }),
		"sqlite.exec": d.with(func(ctx context.Context, db *sqlite.DB, a databaseArg) (any, error) { return db.Exec(ctx, a.SQL) }),
		"sqlite.state": d.with(func(ctx context.Context, db *sqlite.DB, _ databaseArg) (any, error) {
			inside, err := db.InTransaction(ctx)
			return map[string]bool{"inTransaction": inside}, err
		}),
	}
}

type databaseArg struct {
	ID   int
	Path string
	sqlite.How
	sqlite.Query
}

func (d *databases) begin(a databaseArg) (any, error) {
	name := a.Path
	if name == ":memory:" {
		name = ""
	}
	db, err := sqlite.Open(name, a.How)
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
func (d *databases) with(do func(context.Context, *sqlite.DB, databaseArg) (any, error)) operation {
	return func(ctx context.Context, arg vm.Data) (vm.Data, error) {
		return op(func(a databaseArg) (any, error) {
			d.mu.Lock()
			db := d.open[a.ID]
			d.mu.Unlock()
			if db == nil {
				return nil, sqlite.Closed()
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
