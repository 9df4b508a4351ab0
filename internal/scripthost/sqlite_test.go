package scripthost

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/helve-dev/helve/internal/script"
)

// open opens a database for a test; the empty name is one in memory.
func open(tb testing.TB, name string, how DBOptions) *DB {
	tb.Helper()
	d, err := OpenDB(name, how)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(d.Close)
	return d
}

// sqliteFolder is a folder of the test's without links on the way.
func sqliteFolder(tb testing.TB) string {
	tb.Helper()
	dir, err := filepath.EvalSymlinks(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	return dir
}

// with is a query with the values of a list.
func with(tb testing.TB, sql string, list ...any) DBQuery {
	tb.Helper()
	q := DBQuery{SQL: sql}
	for _, v := range list {
		q.List = append(q.List, raw(tb, v))
	}
	return q
}

func raw(tb testing.TB, v any) json.RawMessage {
	tb.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

// rows are those of a query, as JSON.
func rows(tb testing.TB, d *DB, q DBQuery) string {
	tb.Helper()
	got, err := d.Query(tb.Context(), q)
	if err != nil {
		tb.Fatalf("%s: %v", q.SQL, err)
	}
	return string(got)
}

// mustExec runs a text that has to go well.
func mustExec(tb testing.TB, d *DB, sql string) {
	tb.Helper()
	if _, err := d.Exec(tb.Context(), sql); err != nil {
		tb.Fatalf("%s: %v", sql, err)
	}
}

// code is that of a failure; "" for none.
func code(err error) string {
	if fail, ok := errors.AsType[*script.Failure](err); ok {
		return fail.Code
	}
	return ""
}

func TestValues(t *testing.T) {
	d := open(t, "", DBOptions{})
	for _, c := range []struct {
		sql  string
		list []any
		want string
	}{
		{"select 1 as a, -5 as b", nil, `{"columns":["a","b"],"rows":[[1,-5]]}`},
		{"select 9007199254740993, -9007199254740992", nil, `[[{"int":"9007199254740993"},{"int":"-9007199254740992"}]]`},
		{"select 1.5, 1.0, 1e999, -1e999, 1e300", nil, `[[1.5,{"real":"1"},{"real":"Infinity"},{"real":"-Infinity"},{"real":"1e+300"}]]`},
		{"select 'plain', 'é\"\n', '', null", nil, `[["plain","é\"\n","",null]]`},
		{"select x'000102', x''", nil, `[[{"bytes":"AAEC"},{"bytes":""}]]`},
		{"select ?, ?, ?, ?", []any{"a\x00b", true, false, nil}, `[["a\u0000b",1,0,null]]`},
		{"select ?, ?", []any{map[string]any{"int": "9223372036854775807"}, map[string]any{"bytes": "AAEC"}}, `[[{"int":"9223372036854775807"},{"bytes":"AAEC"}]]`},
		{"select ?, typeof(?2)", []any{1.25, map[string]any{"real": "1"}}, `[[1.25,"real"]]`},
		{"select typeof(?)", []any{map[string]any{"bytes": ""}}, `[["blob"]]`},
		{"select ?2, ?1", []any{"one", "two"}, `[["two","one"]]`},
		{"select $x, $y", []any{"one", "two"}, `[["one","two"]]`},
		{"select ?", nil, `[[null]]`},
		{"create table if not exists t(a)", nil, `{"columns":[],"rows":[]}`},
		{"select 1; select 2", nil, `[[1]]`},
	} {
		got := rows(t, d, with(t, c.sql, c.list...))
		if strings.HasPrefix(c.want, "[") {
			_, got, _ = strings.Cut(got, `"rows":`)
			got = strings.TrimSuffix(got, "}")
		}
		if !json.Valid([]byte(got)) || got != c.want {
			t.Errorf("%s: %s, want %s", c.sql, got, c.want)
		}
	}
}

func TestNames(t *testing.T) {
	d := open(t, "", DBOptions{})
	query := func(strict bool, names map[string]any) string {
		q := DBQuery{SQL: "select $a, :b, @c", Names: map[string]json.RawMessage{}, Strict: strict}
		for name, v := range names {
			q.Names[name] = raw(t, v)
		}
		data, err := d.Query(t.Context(), q)
		if err != nil {
			return err.Error()
		}
		_, rows, _ := strings.Cut(string(data), `"rows":`)
		return rows
	}
	for _, c := range []struct {
		strict bool
		names  map[string]any
		want   string
	}{
		{false, map[string]any{"a": 1, "b": 2, "c": 3}, `[[1,2,3]]}`},
		{false, map[string]any{"a": 1, "\x00b": 2, "z": 3}, `[[1,2,null]]}`},
		{true, map[string]any{"a": 1, "b": 2}, `Missing parameter "c"`},
	} {
		if got := query(c.strict, c.names); got != c.want {
			t.Errorf("%v: %s, want %s", c.names, got, c.want)
		}
	}
}

func TestChanges(t *testing.T) {
	d := open(t, "", DBOptions{})
	for _, c := range []struct{ op, sql, want string }{
		{"exec", "create table t(a integer primary key, b)", `{"changes":0,"lastInsertRowid":0}`},
		{"exec", "insert into t(b) values(1); insert into t(b) values (2),(3); -- end", `{"changes":3,"lastInsertRowid":3}`},
		{"run", "update t set b=9", `{"changes":3,"lastInsertRowid":3}`},
		{"run", "select * from t", `{"changes":0,"lastInsertRowid":3}`},
		{"exec", "create table u(x); insert into u values(1)", `{"changes":1,"lastInsertRowid":1}`},
		{"run", "insert into t(a) values(9007199254740993)", `{"changes":1,"lastInsertRowid":{"int":"9007199254740993"}}`},
		{"prepare", "insert into t(b) values(?3) returning a, b", `{"columns":["a","b"],"params":3}`},
		{"state", "", `{"inTransaction":false}`},
		{"exec", "begin", `{"changes":0,"lastInsertRowid":9007199254740993}`},
		{"state", "", `{"inTransaction":true}`},
		{"exec", "rollback", ``},
		{"state", "", `{"inTransaction":false}`},
		{"exec", "vacuum", ``},
	} {
		got, err := sqliteAsk(t, d, c.op, c.sql)
		if err != nil {
			t.Fatalf("%s: %v", c.sql, err)
		}
		if c.want == "" || c.sql == "begin" {
			continue
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.sql, diff)
		}
	}
}

// sqliteAsk asks something of a database, and gives the JSON of the answer.
func sqliteAsk(tb testing.TB, d *DB, op, sql string) (string, error) {
	tb.Helper()
	var told any
	var err error
	switch op {
	case "exec":
		told, err = d.Exec(tb.Context(), sql)
	case "run":
		told, err = d.Run(tb.Context(), with(tb, sql))
	case "prepare":
		columns, params, failed := d.Prepare(tb.Context(), sql)
		told, err = map[string]any{"columns": columns, "params": params}, failed
	case "state":
		inside, failed := d.InTransaction(tb.Context())
		told, err = map[string]bool{"inTransaction": inside}, failed
	}
	return string(raw(tb, told)), err
}

func TestMistakes(t *testing.T) {
	d := open(t, "", DBOptions{})
	mustExec(t, d, "create table t(a integer primary key, b not null unique); insert into t values(1, 1)")
	for _, c := range []struct{ op, sql, code, message, data string }{
		{"prepare", "selec 1", "SQLITE_ERROR", `near "selec": syntax error`, `{"errno":1,"offset":0}`},
		{"prepare", "select a,\n bb from t", "SQLITE_ERROR", "no such column: bb", `{"errno":1,"offset":11}`},
		{"exec", "select 1; select * from nope", "SQLITE_ERROR", "no such table: nope", `{"errno":1}`},
		{"exec", "insert into t values(7,7); selec", "SQLITE_ERROR", `near "selec": syntax error`, `{"errno":1,"offset":27}`},
		{"run", "insert into t values(1, 2)", "SQLITE_CONSTRAINT_PRIMARYKEY", "UNIQUE constraint failed: t.a", `{"errno":1555}`},
		{"run", "insert into t values(2, 1)", "SQLITE_CONSTRAINT_UNIQUE", "UNIQUE constraint failed: t.b", `{"errno":2067}`},
		{"run", "insert into t values(2, null)", "SQLITE_CONSTRAINT_NOTNULL", "NOT NULL constraint failed: t.b", `{"errno":1299}`},
		{"prepare", "", "", "Invalid SQL statement", ""},
		{"prepare", "-- nothing", "", "Invalid SQL statement", ""},
		{"exec", "-- hi", "", "Query contained no valid SQL statement; likely empty query.", ""},
	} {
		_, err := sqliteAsk(t, d, c.op, c.sql)
		var fail *script.Failure
		if !errors.As(err, &fail) || fail.Code != c.code || fail.Message != c.message || string(fail.Data) != c.data {
			t.Errorf("%s %s: %+v", c.op, c.sql, err)
		}
	}
	if _, err := d.Query(t.Context(), with(t, "select ?, ?", 1)); err == nil || err.Error() != "SQLite query expected 2 values, received 1" {
		t.Error(err)
	}
	dir := sqliteFolder(t)
	if _, err := OpenDB(filepath.Join(dir, "none.db"), DBOptions{}); code(err) != "SQLITE_CANTOPEN" {
		t.Error(err)
	}
	d.Close()
	d.Close()
	if _, err := d.InTransaction(t.Context()); err == nil || err.Error() != "Cannot use a closed database" {
		t.Error(err)
	}
}

// A database leads to no file but its own, whatever it is told.
func TestReachesNoOtherFile(t *testing.T) {
	dir, out := sqliteFolder(t), sqliteFolder(t)
	secret := filepath.Join(out, "secret.db")
	other := open(t, secret, DBOptions{Create: true})
	mustExec(t, other, "create table t(a); insert into t values('hidden')")
	other.Close()
	made := filepath.Join(out, "made.db")
	for _, path := range []string{"", filepath.Join(dir, "a.db")} {
		d := open(t, path, DBOptions{Create: true})
		mustExec(t, d, "create table mine(a)")
		for _, text := range []string{
			"ATTACH '" + secret + "' AS o",
			"/* x */ aTTach/**/DATABASE '" + secret + "' as o",
			"ATTACH 'file:" + secret + "' AS o",
			"ATTACH 'file:" + secret + "?mode=ro' AS o",
			"ATTACH 'file:" + secret + "?vfs=unix' AS o",
			"ATTACH ('" + filepath.Dir(secret) + "/' || 'secret.db') AS o",
			"ATTACH ':memory:' AS o",
			"select 1; --\n;;ATTACH '" + secret + "' AS o",
			"VACUUM INTO '" + made + "'",
			"VACUUM main INTO ('" + made + "')",
			"select load_extension('" + secret + "')",
			"select fts3_tokenizer('simple')",
			"PRAGMA temp_store_directory='" + out + "'",
			"PRAGMA temp_store_directory",
			"PRAGMA data_store_directory='" + out + "'",
		} {
			if _, err := d.Exec(t.Context(), text); code(err) != "SQLITE_AUTH" && code(err) != "SQLITE_ERROR" {
				t.Errorf("%s: %v", text, err)
			}
		}
		if _, err := d.Query(t.Context(), with(t, "ATTACH ? AS o", secret)); code(err) != "SQLITE_AUTH" {
			t.Error(err)
		}
		for _, name := range []string{"sqlite_schema", "t"} {
			if data, err := d.Query(t.Context(), with(t, "select * from o."+name)); err == nil {
				t.Errorf("reached %s", data)
			}
		}
		_, err := d.Exec(t.Context(), "ATTACH '"+secret+"' AS o")
		if err == nil || !strings.Contains(err.Error(), "Open it as a Database of its own") {
			t.Error(err)
		}
		mustExec(t, d, "VACUUM") // works in a file without a name
	}
	if _, err := os.Lstat(made); err == nil {
		t.Error("a file was made outside")
	}
}

// A journal may name another that is to be removed with it. Whoever writes a
// journal of their own must not have a file removed by that.
func TestJournalRemovesNothing(t *testing.T) {
	own := filepath.Join(sqliteFolder(t), "a.db")
	d := open(t, own, DBOptions{Create: true})
	mustExec(t, d, "create table t(a); insert into t values(1)")
	d.Close()
	victim := filepath.Join(sqliteFolder(t), "x.db-mj0123AB9EF") // SQLite itself looks at the name, and at who is named in it
	if err := os.WriteFile(victim, []byte(own+"-journal"+"\x00"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(own+"-journal", hotJournal(victim, 2), 0o644); err != nil {
		t.Fatal(err)
	}
	d = open(t, own, DBOptions{})
	if _, err := d.Query(t.Context(), with(t, "select * from t")); err != nil {
		t.Log(err)
	}
	if _, err := os.Lstat(victim); err != nil {
		t.Error("a file outside was removed")
	}
}

// hotJournal is a rollback journal without pages that names another journal.
func hotJournal(super string, pages uint32) []byte {
	magic := []byte{0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7}
	var b bytes.Buffer
	b.Write(magic)
	for _, n := range []uint32{0, 0, pages, 512, 4096} { // records, seed, pages, sector, page
		_ = binary.Write(&b, binary.BigEndian, n)
	}
	b.Write(make([]byte, 512-b.Len()))
	_ = binary.Write(&b, binary.BigEndian, uint32(4096*0x40000000/4096+1)) // the page that is never used
	b.WriteString(super)
	var sum uint32
	for _, c := range []byte(super) {
		sum += uint32(c)
	}
	_ = binary.Write(&b, binary.BigEndian, uint32(len(super)))
	_ = binary.Write(&b, binary.BigEndian, sum)
	b.Write(magic)
	return b.Bytes()
}

func TestBounds(t *testing.T) {
	d := open(t, "", DBOptions{})
	endless := "with recursive n(i) as (select 1 union all select i+1 from n) select "
	for _, c := range []struct{ sql, want string }{
		{endless + "zeroblob(1000000) from n", "The answer is too large"},
		{"select zeroblob(1000000000)", "too big"},
		{"select replace(hex(zeroblob(100000)), '0', hex(zeroblob(100)))", "too big"},
		{"create table big as " + endless + "zeroblob(1000000) from n", "full"},
	} {
		_, err := d.Query(t.Context(), with(t, c.sql))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.sql, err)
		}
	}
	mustExec(t, d, "pragma max_page_count=1000000; pragma page_size=65536; pragma mmap_size=1000000; pragma cache_size=1000000; pragma temp_store=2")
	for pragma, want := range map[string]string{"max_page_count": "16384", "page_size": "4096", "temp_store": "0"} {
		if got := rows(t, d, with(t, "pragma "+pragma)); !strings.Contains(got, "[["+want+"]]") {
			t.Errorf("%s: %s", pragma, got)
		}
	}
	if got := rows(t, d, DBQuery{SQL: endless + "i from n", Limit: 3}); got != `{"columns":["i"],"rows":[[1],[2],[3]]}` {
		t.Error(got)
	}
}

// A statement without an end ends with its context, and the database stays.
func TestEndsWithItsContext(t *testing.T) {
	d := open(t, "", DBOptions{})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := d.Run(ctx, with(t, "with recursive n(i) as (select 1 union all select i+1 from n) select count(*) from n"))
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if got := rows(t, d, with(t, "select 1")); got != `{"columns":["1"],"rows":[[1]]}` {
		t.Error(got)
	}
}

func TestCodes(t *testing.T) {
	for rc, want := range map[int32]string{1: "SQLITE_ERROR", 5: "SQLITE_BUSY", 261: "SQLITE_BUSY_RECOVERY", 516: "SQLITE_ABORT_ROLLBACK", 8714: "SQLITE_IOERR_IN_PAGE",
		2067: "SQLITE_CONSTRAINT_UNIQUE", 3091: "SQLITE_CONSTRAINT_DATATYPE", 1550: "SQLITE_CANTOPEN_SYMLINK", 26: "SQLITE_NOTADB", 0: "SQLITE_ERROR", 99: "SQLITE_ERROR", 25601: "SQLITE_ERROR"} {
		if got := codeOf(rc); got != want {
			t.Errorf("%d: %s, want %s", rc, got, want)
		}
	}
}

func BenchmarkRows(b *testing.B) {
	d := open(b, "", DBOptions{})
	q := DBQuery{SQL: "with recursive n(i) as (select 1 union all select i+1 from n where i < 10000) select i, 'some text', i * 1.5 from n"}
	for b.Loop() {
		if _, err := d.Query(b.Context(), q); err != nil {
			b.Fatal(err)
		}
	}
}
