package world

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"helve/internal/vm"
)

// openDB opens a database as a script does.
func (r *room) openDB(path string, how ...string) map[string]any {
	r.tb.Helper()
	arg := map[string]any{"path": path}
	for _, h := range how {
		arg[h] = true
	}
	var got struct{ ID int }
	if err := json.Unmarshal([]byte(r.must("sqlite.open", arg)), &got); err != nil {
		r.tb.Fatal(err)
	}
	return map[string]any{"id": got.ID}
}

// sql is a request about a database.
func sql(db map[string]any, text string, list ...any) map[string]any {
	if list == nil {
		list = []any{}
	}
	return map[string]any{"id": db["id"], "sql": text, "list": list}
}

func TestDatabaseValues(t *testing.T) {
	r := newRoom(t, `{"*": "deny"}`) // a database in memory is nobody's business
	db := r.openDB(":memory:")
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
		got := r.must("sqlite.query", sql(db, c.sql, c.list...))
		if strings.HasPrefix(c.want, "[") {
			_, got, _ = strings.Cut(got, `"rows":`)
			got = strings.TrimSuffix(got, "}")
		}
		if !json.Valid([]byte(got)) || got != c.want {
			t.Errorf("%s: %s, want %s", c.sql, got, c.want)
		}
	}
	if asked := r.questions(); asked != nil {
		t.Errorf("asked about %v", asked)
	}
}

func TestDatabaseNames(t *testing.T) {
	r := newRoom(t, `{}`)
	db := r.openDB(":memory:")
	query := func(strict bool, names map[string]any) string {
		data, err := r.do("sqlite.query", map[string]any{"id": db["id"], "sql": "select $a, :b, @c", "names": names, "strict": strict})
		if err != nil {
			return err.Error()
		}
		_, rows, _ := strings.Cut(string(data.JSON), `"rows":`)
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

func TestDatabaseChanges(t *testing.T) {
	r := newRoom(t, `{}`)
	db := r.openDB(":memory:")
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
		got := r.must("sqlite."+c.op, sql(db, c.sql))
		if c.want == "" || c.sql == "begin" {
			continue
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.sql, diff)
		}
	}
}

func TestDatabaseMistakes(t *testing.T) {
	r := newRoom(t, `{"*": "allow"}`)
	db := r.openDB(":memory:")
	r.must("sqlite.exec", sql(db, "create table t(a integer primary key, b not null unique); insert into t values(1, 1)"))
	r.write("folder/x", "")
	r.write("text", strings.Repeat("this is no database\n", 100))
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
		{"exec", " ", "", "SQL string mustn't be blank", ""},
		{"exec", "-- hi", "", "Query contained no valid SQL statement; likely empty query.", ""},
		{"open none.db readonly", "", "SQLITE_CANTOPEN", "unable to open database file", `{"errno":14}`},
		{"open none.db", "", "SQLITE_CANTOPEN", "unable to open database file", `{"errno":14}`},
		{"open folder create", "", "SQLITE_CANTOPEN", "unable to open database file", `{"errno":14}`},
		{"open no/such/folder.db create", "", "SQLITE_CANTOPEN", "unable to open database file", `{"errno":14}`},
	} {
		op, arg := c.op, sql(db, c.sql)
		if rest, ok := strings.CutPrefix(c.op, "open "); ok {
			name, how, _ := strings.Cut(rest, " ")
			op, arg = "open", map[string]any{"path": r.path(name), "readonly": how == "readonly", "create": how == "create"}
		}
		_, err := r.do("sqlite."+op, arg)
		var fail *vm.Failure
		if !errors.As(err, &fail) || fail.Code != c.code || fail.Message != c.message || string(fail.Data) != c.data {
			t.Errorf("%s %s: %+v", c.op, c.sql, err)
		}
	}
	if _, err := r.do("sqlite.query", sql(db, "select ?, ?", 1)); err == nil || err.Error() != "SQLite query expected 2 values, received 1" {
		t.Error(err)
	}
	text := r.openDB(r.path("text"))
	if got := r.code("sqlite.query", sql(text, "select * from sqlite_schema")); got != "SQLITE_NOTADB" {
		t.Error(got)
	}
	r.must("sqlite.close", db)
	r.must("sqlite.close", db)
	if _, err := r.do("sqlite.state", db); err == nil || err.Error() != "Cannot use a closed database" {
		t.Error(err)
	}
}

func TestDatabaseFilesAreAskedAbout(t *testing.T) {
	r := newRoom(t, `{"read": {"*": "allow", "secret*": "deny"}, "edit": {"*": "deny", "ours*": "allow", "secret*": "allow"}, "external_directory": "deny"}`)
	for _, name := range []string{"ours.db", "theirs.db", "secret.db"} {
		r.write(name, "")
	}
	outside := filepath.Join(r.out, "x.db")
	if err := os.WriteFile(outside, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, r.path("ours-link.db")); err != nil {
		t.Skip(err)
	}
	for _, c := range []struct {
		path string
		how  string
		want string
	}{
		{r.path("ours.db"), "create", "ok"},
		{r.path("ours-new.db"), "create", "ok"},
		{r.path("ours.db"), "readonly", "ok"},
		{r.path("theirs.db"), "readonly", "ok"},
		{r.path("theirs.db"), "", "EACCES permission"},
		{r.path("theirs-new.db"), "create", "EACCES permission"},
		{r.path("secret.db"), "readonly", "EACCES permission"},
		{r.path("secret.db"), "", "EACCES permission"}, // who writes it reads it too
		{outside, "readonly", "EACCES permission"},
		{outside, "create", "EACCES permission"},
		{r.path("ours-link.db"), "create", "EACCES permission"},
		{r.path("ours-link.db"), "readonly", "EACCES permission"},
	} {
		got := r.code("sqlite.open", map[string]any{"path": c.path, "readonly": c.how == "readonly", "create": c.how == "create"})
		if got != c.want {
			t.Errorf("%s %s: %s, want %s", filepath.Base(c.path), c.how, got, c.want)
		}
	}
	if r.text(r.path("theirs-new.db")) != "(none)" {
		t.Error("a file was made that nobody allowed")
	}
	if err := RefusedIn(r.ctx); err == nil {
		t.Error("the refusals were not noted")
	}
}

func TestDatabaseReadonly(t *testing.T) {
	r := newRoom(t, `{"*": "allow"}`)
	db := r.openDB(r.path("a.db"), "create")
	r.must("sqlite.exec", sql(db, "pragma journal_mode=wal; create table t(a); insert into t values(1)"))
	other := r.openDB(r.path("a.db"), "readonly")
	if got := r.must("sqlite.query", sql(other, "select a from t")); got != `{"columns":["a"],"rows":[[1]]}` {
		t.Error(got)
	}
	if got := r.code("sqlite.run", sql(other, "insert into t values(2)")); got != "SQLITE_READONLY" {
		t.Error(got)
	}
}

// A database leads to no file but its own, whatever it is told.
func TestDatabaseReachesNoOtherFile(t *testing.T) {
	r := newRoom(t, `{"*": "allow", "external_directory": "deny"}`)
	secret := filepath.Join(r.out, "secret.db")
	there := newRoom(t, `{"*": "allow"}`)
	other := there.openDB(there.path("o.db"), "create")
	there.must("sqlite.exec", sql(other, "create table t(a); insert into t values('hidden')"))
	there.must("sqlite.close", other)
	data, err := os.ReadFile(there.path("o.db"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(secret, data, 0o644); err != nil {
		t.Fatal(err)
	}
	made := filepath.Join(r.out, "made.db")
	for _, path := range []string{":memory:", r.path("a.db")} {
		db := r.openDB(path, "create")
		r.must("sqlite.exec", sql(db, "create table mine(a)"))
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
			"PRAGMA temp_store_directory='" + r.out + "'",
			"PRAGMA temp_store_directory",
			"PRAGMA data_store_directory='" + r.out + "'",
		} {
			if got := r.code("sqlite.exec", sql(db, text)); got != "SQLITE_AUTH" && got != "SQLITE_ERROR" {
				t.Errorf("%s: %s", text, got)
			}
		}
		if got := r.code("sqlite.query", sql(db, "ATTACH ? AS o", secret)); got != "SQLITE_AUTH" {
			t.Error(got)
		}
		for _, name := range []string{"sqlite_schema", "t"} {
			if data, err := r.do("sqlite.query", sql(db, "select * from o."+name)); err == nil {
				t.Errorf("reached %s", data.JSON)
			}
		}
		_, err := r.do("sqlite.exec", sql(db, "ATTACH '"+secret+"' AS o"))
		if err == nil || !strings.Contains(err.Error(), "Open it as a Database of its own") {
			t.Error(err)
		}
		r.must("sqlite.exec", sql(db, "VACUUM")) // works in a file without a name
	}
	if r.text(made) != "(none)" {
		t.Error("a file was made outside")
	}
}

// A journal may name another that is to be removed with it. Whoever writes a
// journal of their own must not have a file removed by that.
func TestDatabaseJournalRemovesNothing(t *testing.T) {
	r := newRoom(t, `{"*": "allow", "external_directory": "deny"}`)
	db := r.openDB(r.path("a.db"), "create")
	r.must("sqlite.exec", sql(db, "create table t(a); insert into t values(1)"))
	r.must("sqlite.close", db)
	victim := filepath.Join(r.out, "x.db-mj0123AB9EF") // SQLite itself looks at the name, and at who is named in it
	if err := os.WriteFile(victim, []byte(r.path("a.db-journal")+"\x00"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(r.path("a.db-journal"), hotJournal(victim, 2), 0o644); err != nil {
		t.Fatal(err)
	}
	db = r.openDB(r.path("a.db"))
	if _, err := r.do("sqlite.query", sql(db, "select * from t")); err != nil {
		t.Log(err)
	}
	if r.text(victim) == "(none)" {
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

func TestDatabaseIsBounded(t *testing.T) {
	r := newRoom(t, `{}`)
	db := r.openDB(":memory:")
	endless := "with recursive n(i) as (select 1 union all select i+1 from n) select "
	for _, c := range []struct{ sql, want string }{
		{endless + "zeroblob(1000000) from n", "The answer is too large"},
		{"select zeroblob(1000000000)", "too big"},
		{"select replace(hex(zeroblob(100000)), '0', hex(zeroblob(100)))", "too big"},
		{"create table big as " + endless + "zeroblob(1000000) from n", "full"},
	} {
		_, err := r.do("sqlite.query", sql(db, c.sql))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.sql, err)
		}
	}
	r.must("sqlite.exec", sql(db, "pragma max_page_count=1000000; pragma page_size=65536; pragma mmap_size=1000000; pragma cache_size=1000000; pragma temp_store=2"))
	for pragma, want := range map[string]string{"max_page_count": "16384", "page_size": "4096", "temp_store": "0"} {
		if got := r.must("sqlite.query", sql(db, "pragma "+pragma)); !strings.Contains(got, "[["+want+"]]") {
			t.Errorf("%s: %s", pragma, got)
		}
	}
	if got := r.must("sqlite.query", map[string]any{"id": db["id"], "sql": endless + "i from n", "limit": 3}); got != `{"columns":["i"],"rows":[[1],[2],[3]]}` {
		t.Error(got)
	}
	for i := range mostDatabases - 1 {
		if got := r.code("sqlite.open", map[string]any{"path": ":memory:"}); got != "ok" {
			t.Fatal(i, got)
		}
	}
	if got := r.code("sqlite.open", map[string]any{"path": ":memory:"}); got != "EMFILE" {
		t.Error(got)
	}
}

// A statement without an end ends with its call, and the database stays.
func TestDatabaseEndsWithItsContext(t *testing.T) {
	r := newRoom(t, `{}`)
	db := r.openDB(":memory:")
	before := r.ctx
	ctx, cancel := context.WithTimeout(r.ctx, 50*time.Millisecond)
	defer cancel()
	r.ctx = ctx
	_, err := r.do("sqlite.run", sql(db, "with recursive n(i) as (select 1 union all select i+1 from n) select count(*) from n"))
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	r.ctx = before
	if got := r.must("sqlite.query", sql(db, "select 1")); got != `{"columns":["1"],"rows":[[1]]}` {
		t.Error(got)
	}
}

func TestDatabasesOfTheirOwnTemp(t *testing.T) {
	r := newRoom(t, `{"*": "deny"}`)
	dir, err := r.world.temp.folder()
	if err != nil {
		t.Fatal(err)
	}
	db := r.openDB(filepath.Join(dir, "x.db"), "create")
	r.must("sqlite.exec", sql(db, "create table t(a)"))
	if asked := r.questions(); asked != nil {
		t.Errorf("asked about %v", asked)
	}
}

func TestDatabaseCodes(t *testing.T) {
	for rc, want := range map[int32]string{1: "SQLITE_ERROR", 5: "SQLITE_BUSY", 261: "SQLITE_BUSY_RECOVERY", 516: "SQLITE_ABORT_ROLLBACK", 8714: "SQLITE_IOERR_IN_PAGE",
		2067: "SQLITE_CONSTRAINT_UNIQUE", 3091: "SQLITE_CONSTRAINT_DATATYPE", 1550: "SQLITE_CANTOPEN_SYMLINK", 26: "SQLITE_NOTADB", 0: "SQLITE_ERROR", 99: "SQLITE_ERROR", 25601: "SQLITE_ERROR"} {
		if got := sqliteCode(rc); got != want {
			t.Errorf("%d: %s, want %s", rc, got, want)
		}
	}
}

func BenchmarkDatabaseRows(b *testing.B) {
	d, err := openDatabase("", 0)
	if err != nil {
		b.Fatal(err)
	}
	defer d.close()
	s := &databases{open: map[int]*database{1: d}}
	text := "with recursive n(i) as (select 1 union all select i+1 from n where i < 10000) select i, 'some text', i * 1.5 from n"
	arg, err := json.Marshal(map[string]any{"id": 1, "sql": text})
	if err != nil {
		b.Fatal(err)
	}
	ctx := For(b.Context(), nil, "bench")
	for b.Loop() {
		if _, err := s.query(ctx, vm.Data{JSON: arg}); err != nil {
			b.Fatal(fmt.Errorf("query: %w", err))
		}
	}
}

// What scripts see of it, through bun:sqlite; the answers are Bun's.
func TestDatabaseScripts(t *testing.T) {
	cases := map[string]scriptCase{
		"types": {`return db.query("select 1 as a, 1.5 as b, 1.0 as c, 'x' as d, null as f, 9007199254740993 as g").get()`,
			`{"a":1,"b":1.5,"c":1,"d":"x","f":null,"g":9007199254740992}`},
		"bytes":      {`return [...db.query("select ? as a").get(new Uint8Array([1, 2])).a]`, `[1,2]`},
		"big":        {`const big = new Database(":memory:", {safeIntegers: true}); const r = big.query("select 1 as a, 1.0 as b").get(); return [typeof r.a, typeof r.b]`, `["bigint","number"]`},
		"names":      {`return db.query("select $a as a, :b as b").get({$a: 1, ":b": 2})`, `{"a":1,"b":2}`},
		"plain name": {`return db.query("select $a as a").get({a: 1})`, `{"a":1}`},
		"strict":     {`try { new Database(":memory:", {strict: true}).query("select $a, $b").get({a: 1}) } catch (e) { return [e.name, e.message] }`, `["Error","Missing parameter \"b\""]`},
		"too few":    {`try { db.query("select ?, ?").get(1) } catch (e) { return [e.name, e.message] }`, `["Error","SQLite query expected 2 values, received 1"]`},
		"run":        {`db.run("create table t(a)"); return db.run("insert into t values(1); insert into t values(2)")`, `{"changes":2,"lastInsertRowid":2}`},
		"mistake":    {`try { db.prepare("selec 1") } catch (e) { return [e.name, e.message, e.code, e.errno, e.byteOffset] }`, `["SQLiteError","near \"selec\": syntax error","SQLITE_ERROR",1,0]`},
		"unique": {`db.run("create table t(a primary key); insert into t values(1)"); try { db.run("insert into t values(1)") } catch (e) { return [e.name, e.message, e.code, e.errno] }`,
			`["SQLiteError","UNIQUE constraint failed: t.a","SQLITE_CONSTRAINT_PRIMARYKEY",1555]`},
		"transaction": {`db.run("create table t(a)"); const add = db.transaction((n) => { db.run("insert into t values(?)", [n]); if (n > 1) throw new Error("no") });
			add(1); try { add(2) } catch {} return [db.query("select a from t").values(), db.inTransaction]`, `[[[1]],false]`},
		"state": {`db.run("begin"); const a = db.inTransaction; db.run("rollback"); return [a, db.inTransaction]`, `[true,false]`},
		"file": {`const f = new Database("x.db", {create: true}); f.run("create table t(a)"); f.close();
			try { new Database("x.db", {readonly: true}).run("insert into t values(1)") } catch (e) { return [e.code, e.errno, e.message] }`, `["SQLITE_READONLY",8,"attempt to write a readonly database"]`},
		"denied": {`try { new Database("denied.db") } catch (e) { return [e.name, e.code, e.syscall, /rule/.test(e.message)] }`, `["Error","EACCES","permission",true]`},
		"attach": {`try { db.run("attach 'y.db' as y") } catch (e) { return [e.name, e.code, e.message] }`,
			`["SQLiteError","SQLITE_AUTH","Another database can not be attached, or written by VACUUM INTO. Open it as a Database of its own."]`},
		"none": {`try { new Database("none.db", {readonly: true}) } catch (e) { return [e.name, e.code, e.message, e.errno] }`, `["SQLiteError","SQLITE_CANTOPEN","unable to open database file",14]`},
	}
	r := newRoom(t, `{"*": "allow", "edit": {"*": "allow", "denied.db": "deny"}}`)
	r.evaluateAll(`const { Database } = require("bun:sqlite"); const db = new Database(":memory:"); `, cases)
}

// evaluateAll evaluates scripts in one engine, each after the same beginning.
func (r *room) evaluateAll(begin string, cases map[string]scriptCase) {
	r.tb.Helper()
	var all strings.Builder
	all.WriteString("const told = {}; ")
	for name, c := range cases {
		fmt.Fprintf(&all, "told[%q] = await (async () => { %s %s })();\n", name, begin, c.script)
	}
	got := r.evaluate(all.String() + " return told")
	var told map[string]json.RawMessage
	if err := json.Unmarshal([]byte(got), &told); err != nil {
		r.tb.Fatal(got)
	}
	for name, c := range cases {
		if string(told[name]) != c.want {
			r.tb.Errorf("%s: %s\nwant %s", name, told[name], c.want)
		}
	}
}

// A scriptCase is a script and the JSON of what it returns.
type scriptCase struct{ script, want string }
