package scripthost

import (
	"context"
	"errors"
	"fmt"
	"github.com/helve-dev/helve/internal/script"
	"strings"
	"sync"
)

// mostDatabases is how many scripts may have open at a time.
const mostDatabases = 64

// sqliteOps are what scripts ask of databases. A file is asked about when it
// is opened, and no other is reached through it.
func (w *Host) sqliteOps() map[string]operation {
	s := &databases{world: w, open: map[int]*DB{}}
	w.onClose(s.end)
	return map[string]operation{
		"sqlite.open":    op(s.beginTransaction),
		"sqlite.prepare": op(s.prepareStatement),
		"sqlite.query":   s.query,
		"sqlite.run":     op(s.run),
		"sqlite.exec":    op(s.exec),
		"sqlite.state":   op(s.state),
		"sqlite.close":   op(s.close),
	}
}

// databases are those that scripts have open.
type databases struct {
	world *Host

	mu   sync.Mutex
	last int
	open map[int]*DB
	over bool
}

// A databaseArg is the argument of all requests about databases.
type databaseArg struct {
	ID   int
	Path string
	DBOptions
	DBQuery
}

func (s *databases) beginTransaction(ctx context.Context, by *work, a databaseArg) (any, error) {
	var name string
	var file entryPath
	if a.Path != ":memory:" {
		var err error
		if file, err = s.world.databaseFile(ctx, by, a); err != nil {
			return nil, err
		}
		name = file.path.Real()
	}
	s.mu.Lock()
	full := len(s.open) >= mostDatabases
	s.mu.Unlock()
	if full {
		return nil, &script.Failure{Message: fmt.Sprintf("More than %d databases are open. Close those that are not needed.", mostDatabases), Code: "EMFILE"}
	}
	d, err := OpenDB(name, a.DBOptions)
	if err != nil {
		return nil, err
	}
	if name != "" {
		if st, err := file.look(); err != nil || !d.Holds(st.Dev, st.Ino) {
			d.Close()
			return nil, DBCannotOpen()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		d.Close()
		return nil, DBClosed()
	}
	s.last++
	s.open[s.last] = d
	return map[string]int{"id": s.last}, nil
}

// databaseFile requests permission to open a file as a database. Permission to read is always
// requested, because writing a database reveals its contents too.
func (w *Host) databaseFile(ctx context.Context, by *work, a databaseArg) (entryPath, error) {
	at, err := w.find(ctx, by, a.Path)
	if err != nil {
		return entryPath{}, noDatabase(err)
	}
	st, err := at.look()
	if made := isMissing(err) && !a.Readonly && a.Create; !made {
		if err := mayBeDatabase(at, st, err, a.Readonly); err != nil {
			return entryPath{}, err
		}
	}
	if !at.ours && err == nil {
		if err := w.opt.Files.AskContents(ctx, w.door(by), at.path); err != nil {
			return entryPath{}, err
		}
	}
	if !a.Readonly {
		if err := w.askEdit(ctx, by, map[string]any{"filepath": at.path.String(), "database": true}, at); err != nil {
			return entryPath{}, err
		}
	}
	return at, nil
}

// mayBeDatabase refuses an entry that cannot be opened as a database. A file with several names is
// not written to, because SQLite changes files in place.
func mayBeDatabase(at entryPath, st facts, err error, readonly bool) error {
	switch {
	case err != nil:
		return noDatabase(err)
	case !st.regular(), st.Nlink > 1 && at.ours: // the latter may belong to another user
		return DBCannotOpen()
	case st.Nlink > 1 && !readonly:
		return several(at.path.String())
	}
	return nil
}

// noDatabase words an error about a file as SQLite does; a refusal stays one.
func noDatabase(err error) error {
	if _, no := errors.AsType[*Refusal](err); no || errnoName(err) == "" {
		return err
	}
	return DBCannotOpen()
}

func (s *databases) find(id int) (*DB, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := s.open[id]; d != nil {
		return d, nil
	}
	return nil, DBClosed()
}

func (s *databases) prepareStatement(ctx context.Context, _ *work, a databaseArg) (any, error) {
	d, err := s.find(a.ID)
	if err != nil {
		return nil, err
	}
	columns, params, err := d.Prepare(ctx, a.SQL)
	return map[string]any{"columns": columns, "params": params}, err
}

func (s *databases) query(ctx context.Context, arg script.Data) (script.Data, error) {
	var a databaseArg
	if _, err := read(ctx, arg, &a); err != nil {
		return script.Data{}, err
	}
	d, err := s.find(a.ID)
	if err != nil {
		return script.Data{}, err
	}
	rows, err := d.Query(ctx, a.DBQuery)
	if err != nil {
		return script.Data{}, failure(err)
	}
	return script.Data{JSON: rows}, nil
}

func (s *databases) run(ctx context.Context, _ *work, a databaseArg) (any, error) {
	d, err := s.find(a.ID)
	if err != nil {
		return nil, err
	}
	return d.Run(ctx, a.DBQuery)
}

func (s *databases) exec(ctx context.Context, _ *work, a databaseArg) (any, error) {
	if strings.TrimSpace(a.SQL) == "" {
		return nil, &script.Failure{Message: "SQL string mustn't be blank"}
	}
	d, err := s.find(a.ID)
	if err != nil {
		return nil, err
	}
	return d.Exec(ctx, a.SQL)
}

func (s *databases) state(ctx context.Context, _ *work, a databaseArg) (any, error) {
	d, err := s.find(a.ID)
	if err != nil {
		return nil, err
	}
	inside, err := d.InTransaction(ctx)
	return map[string]bool{"inTransaction": inside}, err
}

func (s *databases) close(_ context.Context, _ *work, a databaseArg) (any, error) {
	s.mu.Lock()
	d := s.open[a.ID]
	delete(s.open, a.ID)
	s.mu.Unlock()
	if d != nil {
		d.Close()
	}
	return nil, nil
}

// end closes everything. Uncommitted changes are lost.
func (s *databases) end() error {
	s.mu.Lock()
	s.over = true
	open := s.open
	s.open = map[int]*DB{}
	s.mu.Unlock()
	for _, d := range open {
		d.Close()
	}
	return nil
}
