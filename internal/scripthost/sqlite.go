package scripthost

import (
	"context"
	"runtime"
	"strconv"
	"sync"
	"unsafe"

	"github.com/helve-dev/helve/internal/script"
	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

// How much memory a database may use at a time.
const (
	busyTime     = 5000     // milliseconds that another's lock is waited for
	longestValue = 32 << 20 // bytes of a value, and of a row
	longestText  = 4 << 20  // bytes of a statement
	mostMemory   = 64 << 20 // bytes of a database in memory
	pageSize     = 4096
	mostColumns  = 2000
)

// A DB is a connection to SQLite through its C interface, because database/sql cannot restrict what
// statements do. One request uses it at a time.
type DB struct {
	mu    sync.Mutex
	tls   *libc.TLS
	db    uintptr // 0 once it is closed
	guard *guard

	stopping sync.Mutex // held by who interrupts
	running  bool       // guarded by stopping
}

// pointer is what a pointer of the library's leads to.
func pointer[T any](p uintptr) *T { return (*T)(unsafe.Add(nil, p)) }

// DBOptions say how a file is opened: for writing, and only if it exists, by default.
type DBOptions struct{ Readonly, Create bool }

// flags are those of the library.
func (h DBOptions) flags() int32 {
	switch {
	case h.Readonly:
		return lib.SQLITE_OPEN_READONLY
	case h.Create:
		return lib.SQLITE_OPEN_READWRITE | lib.SQLITE_OPEN_CREATE
	}
	return lib.SQLITE_OPEN_READWRITE
}

// OpenDB opens a file by a name that is free of links and was asked about, or a
// database in memory for the empty name.
func OpenDB(name string, how DBOptions) (*DB, error) {
	d := &DB{tls: libc.NewTLS(), guard: new(guard)}
	if err := d.open(name, how); err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

func (d *DB) open(name string, how DBOptions) error {
	vfs, err := d.guard.install(d.tls)
	if err != nil {
		return err
	}
	memory := name == ""
	if memory {
		name, how = ":memory:", DBOptions{Create: true}
	}
	file, err := libc.CString(name)
	if err != nil {
		return err
	}
	defer libc.Xfree(d.tls, file)
	out := d.tls.Alloc(int(unsafe.Sizeof(uintptr(0))))
	defer d.tls.Free(int(unsafe.Sizeof(uintptr(0))))
	*pointer[uintptr](out) = 0
	d.guard.opening = !memory
	rc := lib.Xsqlite3_open_v2(d.tls, file, out, how.flags()|lib.SQLITE_OPEN_FULLMUTEX|lib.SQLITE_OPEN_NOFOLLOW|lib.SQLITE_OPEN_EXRESCODE, vfs)
	d.guard.opening = false
	d.db = *pointer[uintptr](out)
	if rc != lib.SQLITE_OK {
		return d.lastError(rc, 0)
	}
	d.applyLimits()
	if memory {
		d.guard.memory = true
		if err := d.pragma("PRAGMA max_page_count=" + strconv.Itoa(mostMemory/pageSize)); err != nil {
			return err
		}
	}
	d.guard.watch(d)
	return nil
}

// applyLimits bounds what a statement may use, and disables functions in the schema, which is not
// trusted.
func (d *DB) applyLimits() {
	lib.Xsqlite3_busy_timeout(d.tls, d.db, busyTime)
	for _, l := range [][2]int32{
		{lib.SQLITE_LIMIT_LENGTH, longestValue}, {lib.SQLITE_LIMIT_SQL_LENGTH, longestText}, {lib.SQLITE_LIMIT_COLUMN, mostColumns},
		{lib.SQLITE_LIMIT_WORKER_THREADS, 0},
	} {
		lib.Xsqlite3_limit(d.tls, d.db, l[0], l[1])
	}
	for _, c := range [][2]int32{
		{lib.SQLITE_DBCONFIG_DEFENSIVE, 1}, {lib.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0}, {lib.SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
	} {
		const slots = 2 * 8
		list := d.tls.Alloc(slots)
		lib.Xsqlite3_db_config(d.tls, d.db, c[0], libc.VaList(list, c[1], uintptr(0)))
		d.tls.Free(slots)
	}
}

func (d *DB) pragma(sql string) error {
	return d.each(context.Background(), sql, func(s *statement) error { return s.runToEnd() })
}

// Close closes the connection, and interrupts what runs there. Uncommitted changes are lost. It may
// be called twice.
func (d *DB) Close() {
	d.interrupt()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopping.Lock()
	defer d.stopping.Unlock()
	if d.tls == nil {
		return
	}
	if d.db != 0 {
		lib.Xsqlite3_close_v2(d.tls, d.db)
		d.db = 0
	}
	d.guard.remove(d.tls)
	d.tls.Close()
	d.tls = nil
}

// during runs something that ends with its context.
func (d *DB) during(ctx context.Context, do func() error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.db == 0 {
		return DBClosed()
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	d.guard.denied = ""
	d.run(true)
	stop := context.AfterFunc(ctx, d.interrupt)
	err := do()
	d.run(false)
	stop()
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

func (d *DB) run(on bool) {
	d.stopping.Lock()
	d.running = on
	d.stopping.Unlock()
}

// interrupt ends the statement that runs.
func (d *DB) interrupt() {
	d.stopping.Lock()
	defer d.stopping.Unlock()
	if d.running {
		tls := libc.NewTLS() // the other is in use
		lib.Xsqlite3_interrupt(tls, d.db)
		tls.Close()
	}
}

// A statement is a prepared statement. Closing it frees its bound values.
type statement struct {
	d     *DB
	ptr   uintptr
	bound []uintptr
}

// each prepares the statements of a text one after the other, and lets each be
// used before the next: what that needs may not be there before.
func (d *DB) each(ctx context.Context, sql string, use func(*statement) error) error {
	text, err := libc.CString(sql)
	if err != nil {
		return err
	}
	defer libc.Xfree(d.tls, text)
	word := int(unsafe.Sizeof(uintptr(0)))
	out := d.tls.Alloc(2 * word)
	defer d.tls.Free(2 * word)
	for from, end := text, text+uintptr(len(sql)); from < end; {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		*pointer[uintptr](out), *pointer[uintptr](out + uintptr(word)) = 0, end
		rc := lib.Xsqlite3_prepare_v2(d.tls, d.db, from, int32(end-from)+1, out, out+uintptr(word))
		if rc != lib.SQLITE_OK {
			return d.lastError(rc, int(from-text))
		}
		made, next := *pointer[uintptr](out), *pointer[uintptr](out + uintptr(word))
		if made != 0 {
			s := &statement{d: d, ptr: made}
			err := use(s)
			s.finalize()
			if err != nil {
				return err
			}
		}
		if next <= from {
			return nil
		}
		from = next
	}
	return nil
}

func (s *statement) finalize() {
	lib.Xsqlite3_finalize(s.d.tls, s.ptr)
	for _, p := range s.bound {
		lib.Xsqlite3_free(s.d.tls, p)
	}
}

// step advances to the next row, if there is one.
func (s *statement) step() (row bool, err error) {
	switch rc := lib.Xsqlite3_step(s.d.tls, s.ptr); rc {
	case lib.SQLITE_ROW:
		return true, nil
	case lib.SQLITE_DONE:
		return false, nil
	default:
		return false, s.d.lastError(rc, -1)
	}
}

// runToEnd runs the statement to its end.
func (s *statement) runToEnd() error {
	for {
		row, err := s.step()
		if err != nil || !row {
			return err
		}
	}
}

// columns returns the column names of the result.
func (s *statement) columns() []string {
	n := lib.Xsqlite3_column_count(s.d.tls, s.ptr)
	names := make([]string, 0, n)
	for i := range n {
		names = append(names, libc.GoString(lib.Xsqlite3_column_name(s.d.tls, s.ptr, i)))
	}
	return names
}

// params is how many values the statement takes.
func (s *statement) params() int { return int(lib.Xsqlite3_bind_parameter_count(s.d.tls, s.ptr)) }

// param is the name of one of them, from 1 on, with the sign before it; "" for
// none.
func (s *statement) param(i int) string {
	p := lib.Xsqlite3_bind_parameter_name(s.d.tls, s.ptr, int32(i))
	if p == 0 {
		return ""
	}
	return libc.GoString(p)
}

// bytesAt is a copy of a value of a row.
func (s *statement) bytesAt(i int32, blob bool) []byte {
	var p uintptr
	if blob {
		p = lib.Xsqlite3_column_blob(s.d.tls, s.ptr, i)
	} else {
		p = lib.Xsqlite3_column_text(s.d.tls, s.ptr, i)
	}
	n := lib.Xsqlite3_column_bytes(s.d.tls, s.ptr, i)
	if p == 0 || n <= 0 {
		return nil
	}
	return libc.GoBytes(p, int(n))
}

// copyIn copies bytes to memory of the library that lives as long as the statement.
func (s *statement) copyIn(b []byte) (uintptr, error) {
	p := lib.Xsqlite3_malloc64(s.d.tls, uint64(len(b))+1)
	if p == 0 {
		return 0, dbFailure(lib.SQLITE_NOMEM, "out of memory", -1)
	}
	copy(unsafe.Slice(pointer[byte](p), len(b)), b)
	runtime.KeepAlive(b)
	return p, nil
}

// bind binds a value: nil, int64, float64, string or bytes.
func (s *statement) bind(i int, v any) error {
	tls, n := s.d.tls, int32(i)
	var rc int32
	switch v := v.(type) {
	case nil:
		rc = lib.Xsqlite3_bind_null(tls, s.ptr, n)
	case int64:
		rc = lib.Xsqlite3_bind_int64(tls, s.ptr, n, v)
	case float64:
		rc = lib.Xsqlite3_bind_double(tls, s.ptr, n, v)
	case string, []byte:
		raw, blob := v.([]byte)
		if !blob {
			raw = []byte(v.(string))
		}
		if len(raw) > longestValue {
			return dbFailure(lib.SQLITE_TOOBIG, "string or blob too big", -1)
		}
		p, err := s.copyIn(raw)
		if err != nil {
			return err
		}
		s.bound = append(s.bound, p)
		if blob {
			rc = lib.Xsqlite3_bind_blob(tls, s.ptr, n, p, int32(len(raw)), 0)
		} else {
			rc = lib.Xsqlite3_bind_text(tls, s.ptr, n, p, int32(len(raw)), 0)
		}
	}
	if rc != lib.SQLITE_OK {
		return s.d.lastError(rc, -1)
	}
	return nil
}

// lastError returns the library's last error. from is the offset of the text in the script, which
// is added to the error's position; -1 for no text.
func (d *DB) lastError(rc int32, from int) error {
	if d.db == 0 {
		return dbFailure(rc, libc.GoString(lib.Xsqlite3_errstr(d.tls, rc)), -1)
	}
	offset := -1
	if from >= 0 {
		if o := lib.Xsqlite3_error_offset(d.tls, d.db); o >= 0 {
			offset = from + int(o)
		}
	}
	message := libc.GoString(lib.Xsqlite3_errmsg(d.tls, d.db))
	if d.guard.denied != "" && rc&0xff != lib.SQLITE_INTERRUPT {
		return dbFailure(lib.SQLITE_AUTH, d.guard.denied, -1)
	}
	return dbFailure(rc, message, offset)
}

// DBClosed is the error for use of a closed database.
func DBClosed() error {
	return &script.Failure{Name: "RangeError", Message: "Cannot use a closed database"}
}
