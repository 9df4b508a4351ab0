package scripthost

import (
	"fmt"
	"strconv"
	"strings"
	"unsafe"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

// A guard confines a database to the one file for which permission was given. SQLite asks it about
// each statement that it parses, and all file access of SQLite goes through it. Because of the
// second, no statement, schema or journal can open or remove another file.
type guard struct {
	vfs, name uintptr // of the library's memory; 0 if there are none
	file      string  // as the library names it; "" in memory
	opening   bool    // the file that is opened next is the one
	memory    bool
	denied    string // why the last request came to nothing

	// The library holds only the addresses of these, which the garbage collector does not see.
	xOpen   func(*libc.TLS, uintptr, uintptr, uintptr, int32, uintptr) int32
	xDelete func(*libc.TLS, uintptr, uintptr, int32) int32
	xAuth   func(*libc.TLS, uintptr, int32, uintptr, uintptr, uintptr, uintptr) int32
}

// address is that of a function, for the library to call.
func address[F any](f *F) uintptr { return *(*uintptr)(unsafe.Pointer(f)) }

// function is the function of the library at an address.
func function[F any](p uintptr) F { return *(*F)(unsafe.Pointer(&struct{ p uintptr }{p})) }

// install makes a way to files for one database, and returns its name.
func (g *guard) install(tls *libc.TLS) (uintptr, error) {
	usual := lib.Xsqlite3_vfs_find(tls, 0)
	if usual == 0 {
		return 0, dbFailure(lib.SQLITE_ERROR, "there is no way to files", -1)
	}
	below := *pointer[lib.Tsqlite3_vfs](usual)
	g.vfs = lib.Xsqlite3_malloc64(tls, uint64(unsafe.Sizeof(below)))
	if g.vfs == 0 {
		return 0, dbFailure(lib.SQLITE_NOMEM, "out of memory", -1)
	}
	var err error
	if g.name, err = libc.CString(fmt.Sprintf("helve-%x", g.vfs)); err != nil {
		return 0, err
	}
	open := function[func(*libc.TLS, uintptr, uintptr, uintptr, int32, uintptr) int32](below.FxOpen)
	remove := function[func(*libc.TLS, uintptr, uintptr, int32) int32](below.FxDelete)
	g.xOpen = func(tls *libc.TLS, vfs, name, file uintptr, flags int32, out uintptr) int32 {
		if !g.mayOpen(name, flags) {
			*pointer[uintptr](file) = 0 // nothing to close
			return lib.SQLITE_CANTOPEN
		}
		return open(tls, vfs, name, file, flags, out)
	}
	g.xDelete = func(tls *libc.TLS, vfs, name uintptr, sync int32) int32 {
		if name == 0 || !g.beside(libc.GoString(name)) {
			return lib.SQLITE_IOERR_DELETE
		}
		return remove(tls, vfs, name, sync)
	}
	own := below
	own.FpNext, own.FzName = 0, g.name
	own.FxOpen, own.FxDelete = address(&g.xOpen), address(&g.xDelete)
	*pointer[lib.Tsqlite3_vfs](g.vfs) = own
	if rc := lib.Xsqlite3_vfs_register(tls, g.vfs, 0); rc != lib.SQLITE_OK {
		return 0, dbFailure(rc, "the way to files can not be made", -1)
	}
	return g.name, nil
}

// mayOpen reports whether a file may be opened: the database, the files SQLite keeps beside it, and
// unnamed temporary files.
func (g *guard) mayOpen(name uintptr, flags int32) bool {
	if name == 0 {
		return true
	}
	file := libc.GoString(name)
	if g.opening && flags&lib.SQLITE_OPEN_MAIN_DB != 0 {
		g.opening, g.file = false, file
		return true
	}
	return g.file != "" && file == g.file && flags&lib.SQLITE_OPEN_MAIN_DB != 0 || g.beside(file)
}

// beside reports whether a file is one that SQLite keeps beside the database.
func (g *guard) beside(file string) bool {
	return g.file != "" && (file == g.file+"-journal" || file == g.file+"-wal")
}

// remove takes the way away, after the database was closed.
func (g *guard) remove(tls *libc.TLS) {
	if g.vfs != 0 {
		lib.Xsqlite3_vfs_unregister(tls, g.vfs)
		lib.Xsqlite3_free(tls, g.vfs)
	}
	if g.name != 0 {
		libc.Xfree(tls, g.name)
	}
	g.vfs, g.name = 0, 0
}

// watch has the library ask about the statements of a database.
func (g *guard) watch(d *DB) {
	g.xAuth = func(_ *libc.TLS, _ uintptr, action int32, one, two, _, _ uintptr) int32 {
		return g.authorize(action, one, two)
	}
	lib.Xsqlite3_set_authorizer(d.tls, d.db, address(&g.xAuth), 0)
}

// authorize decides about one thing that a statement would do.
func (g *guard) authorize(action int32, one, two uintptr) int32 {
	said := func(p uintptr) string {
		if p == 0 {
			return ""
		}
		return libc.GoString(p)
	}
	switch action {
	case lib.SQLITE_ATTACH:
		// The empty name is a file without one; VACUUM works in such a file.
		// More memory than one database may have is not to be had this way.
		if one == 0 || said(one) != "" {
			return g.deny("Another database can not be attached, or written by VACUUM INTO. Open it as a Database of its own.")
		}
	case lib.SQLITE_FUNCTION:
		switch name := strings.ToLower(said(two)); name {
		case "load_extension", "fts3_tokenizer":
			return g.deny("The function " + name + " is not available here.")
		}
	case lib.SQLITE_PRAGMA:
		return g.pragma(strings.ToLower(said(one)), said(two), two != 0)
	}
	return lib.SQLITE_OK
}

func (g *guard) deny(why string) int32 {
	g.denied = why
	return lib.SQLITE_DENY
}

// pragma decides about a setting. Those of the whole process may not be changed; those that would
// only take more memory do nothing.
func (g *guard) pragma(name, value string, set bool) int32 {
	switch name {
	case "temp_store_directory", "data_store_directory":
		return g.deny("PRAGMA " + name + " is not available here: where temporary files lie is not for scripts to say.")
	case "soft_heap_limit", "hard_heap_limit", "threads", "mmap_size", "temp_store":
		if set {
			return lib.SQLITE_IGNORE
		}
	case "max_page_count", "page_size":
		if set && g.memory {
			return lib.SQLITE_IGNORE
		}
	case "cache_size", "default_cache_size":
		// In pages, or in KiB where it is less than nothing.
		if n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64); set && (err != nil || n > mostMemory/pageSize || n < -mostMemory/1024) {
			return lib.SQLITE_IGNORE
		}
	}
	return lib.SQLITE_OK
}
