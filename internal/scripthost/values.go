package scripthost

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	lib "modernc.org/sqlite/lib"

	"github.com/helve-dev/helve/internal/script"
	"github.com/helve-dev/helve/internal/text"
)

// valueOf is a value of a script's as SQLite takes it.
func valueOf(raw json.RawMessage) (any, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	switch raw[0] {
	case 'n':
		return nil, nil
	case 't':
		return int64(1), nil
	case 'f':
		return int64(0), nil
	case '"':
		var s string
		err := json.Unmarshal(raw, &s)
		return s, err
	case '{':
		return markedValue(raw)
	}
	if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
		return n, nil
	}
	n, err := strconv.ParseFloat(string(raw), 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return nil, notBindable()
	}
	return n, nil
}

// markedValue reads what JSON has no way to write.
func markedValue(raw json.RawMessage) (any, error) {
	var v struct {
		Bytes     *[]byte
		Int, Real *string
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		return nil, fmt.Errorf("a value of a statement can not be read: %w", err)
	}
	switch {
	case v.Int != nil:
		n, err := strconv.ParseInt(*v.Int, 10, 64)
		if err != nil {
			return nil, &script.Failure{Name: "RangeError", Message: fmt.Sprintf("BigInt value '%s' is out of range", briefValue(*v.Int))}
		}
		return n, nil
	case v.Real != nil:
		n, err := strconv.ParseFloat(*v.Real, 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			return nil, fmt.Errorf("a value of a statement can not be read: %w", err)
		}
		return n, nil
	case v.Bytes != nil:
		return *v.Bytes, nil
	}
	return nil, notBindable()
}

// notBindable is the error for a value of a type that SQLite does not have.
func notBindable() error {
	return &script.Failure{Name: "TypeError", Message: "Binding expected string, TypedArray, boolean, number, bigint or null"}
}

// briefValue shortens what a script chose the length of.
func briefValue(s string) string {
	if short, cut := text.Cut(s, 200); cut {
		return short + "…"
	}
	return s
}

// appendValue adds a value of the row that a statement is at, as scripts get it.
func (s *statement) appendValue(i int32, out []byte) []byte {
	switch lib.Xsqlite3_column_type(s.d.tls, s.ptr, i) {
	case lib.SQLITE_INTEGER:
		return appendInt(out, lib.Xsqlite3_column_int64(s.d.tls, s.ptr, i))
	case lib.SQLITE_FLOAT:
		return appendReal(out, lib.Xsqlite3_column_double(s.d.tls, s.ptr, i))
	case lib.SQLITE_TEXT:
		return appendText(out, s.bytesAt(i, false))
	case lib.SQLITE_BLOB:
		out = append(out, `{"bytes":"`...)
		out = base64.StdEncoding.AppendEncode(out, s.bytesAt(i, true))
		return append(out, `"}`...)
	}
	return append(out, "null"...)
}

// appendInt adds a whole number, marked where JavaScript would round it.
func appendInt(out []byte, n int64) []byte {
	const safe = 1<<53 - 1
	if -safe <= n && n <= safe {
		return strconv.AppendInt(out, n, 10)
	}
	out = append(out, `{"int":"`...)
	return append(strconv.AppendInt(out, n, 10), `"}`...)
}

// appendReal appends a number, marked if it could be taken for an integer or JSON cannot represent
// it.
func appendReal(out []byte, n float64) []byte {
	digits := strconv.FormatFloat(n, 'g', -1, 64)
	switch {
	case math.IsInf(n, 1):
		digits = "Infinity"
	case math.IsInf(n, -1):
		digits = "-Infinity"
	case n != math.Trunc(n):
		return append(out, digits...)
	}
	return append(append(append(out, `{"real":"`...), digits...), `"}`...)
}

// appendText adds text as JSON.
func appendText(out, s []byte) []byte {
	for _, c := range s {
		if c < 0x20 || c >= 0x80 || c == '"' || c == '\\' {
			quoted, err := json.Marshal(string(s))
			if err != nil {
				return append(out, "null"...)
			}
			return append(out, quoted...)
		}
	}
	out = append(out, '"')
	out = append(out, s...)
	return append(out, '"')
}

// DBCannotOpen is the error for a file that cannot be opened as a database.
func DBCannotOpen() error {
	return dbFailure(lib.SQLITE_CANTOPEN, "unable to open database file", -1)
}

// dbFailure is an error as bun:sqlite words it.
func dbFailure(rc int32, message string, offset int) error {
	data := fmt.Sprintf(`{"errno":%d}`, rc)
	if offset >= 0 {
		data = fmt.Sprintf(`{"errno":%d,"offset":%d}`, rc, offset)
	}
	return &script.Failure{Message: message, Code: codeOf(rc), Data: json.RawMessage(data)}
}

// codeOf returns the name of an error code, by its kind and, if known, its detail.
func codeOf(rc int32) string {
	kinds := strings.Fields("ERROR INTERNAL PERM ABORT BUSY LOCKED NOMEM READONLY INTERRUPT IOERR CORRUPT NOTFOUND FULL CANTOPEN PROTOCOL" +
		" EMPTY SCHEMA TOOBIG CONSTRAINT MISMATCH MISUSE NOLFS AUTH FORMAT RANGE NOTADB NOTICE WARNING")
	kind, detail := int(rc&0xff), int(rc>>8)
	if kind < 1 || kind > len(kinds) {
		return "SQLITE_ERROR"
	}
	name := "SQLITE_" + kinds[kind-1]
	if details := strings.Fields(detailsOf(kinds[kind-1])); 1 <= detail && detail <= len(details) {
		name += "_" + details[detail-1]
	}
	return name
}

// detailsOf are those of a kind, in the order of their numbers.
func detailsOf(kind string) string {
	switch kind {
	case "ERROR":
		return "MISSING_COLLSEQ RETRY SNAPSHOT RESERVESIZE KEY UNABLE"
	case "ABORT":
		return "- ROLLBACK"
	case "BUSY":
		return "RECOVERY SNAPSHOT TIMEOUT"
	case "LOCKED":
		return "SHAREDCACHE VTAB"
	case "READONLY":
		return "RECOVERY CANTLOCK ROLLBACK DBMOVED CANTINIT DIRECTORY"
	case "IOERR":
		return "READ SHORT_READ WRITE FSYNC DIR_FSYNC TRUNCATE FSTAT UNLOCK RDLOCK DELETE BLOCKED NOMEM ACCESS CHECKRESERVEDLOCK LOCK CLOSE" +
			" DIR_CLOSE SHMOPEN SHMSIZE SHMLOCK SHMMAP SEEK DELETE_NOENT MMAP GETTEMPPATH CONVPATH VNODE AUTH BEGIN_ATOMIC COMMIT_ATOMIC" +
			" ROLLBACK_ATOMIC DATA CORRUPTFS IN_PAGE"
	case "CORRUPT":
		return "VTAB SEQUENCE INDEX"
	case "CANTOPEN":
		return "NOTEMPDIR ISDIR FULLPATH CONVPATH DIRTYWAL SYMLINK"
	case "CONSTRAINT":
		return "CHECK COMMITHOOK FOREIGNKEY FUNCTION NOTNULL PRIMARYKEY TRIGGER UNIQUE VTAB ROWID PINNED DATATYPE"
	}
	return ""
}
