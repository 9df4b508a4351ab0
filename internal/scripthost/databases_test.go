package scripthost

import (
	"encoding/json"
	"errors"
	"fmt"
	"github.com/helve-dev/helve/internal/script"
	"os"
	"path/filepath"
	"strings"
	"testing"
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

func TestDatabaseMistakes(t *testing.T) {
	r := newRoom(t, `{"*": "allow"}`)
	db := r.openDB(":memory:")
	r.write("folder/x", "")
	r.write("text", strings.Repeat("this is no database\n", 100))
	for _, c := range []struct {
		op   string
		arg  map[string]any
		want script.Failure
	}{
		{"prepare", sql(db, "selec 1"), script.Failure{Code: "SQLITE_ERROR", Message: `near "selec": syntax error`, Data: json.RawMessage(`{"errno":1,"offset":0}`)}},
		{"query", sql(db, "select ?, ?", 1), script.Failure{Message: "SQLite query expected 2 values, received 1"}},
		{"exec", sql(db, " "), script.Failure{Message: "SQL string mustn't be blank"}},
		{"open", arg{"path": r.path("none.db"), "readonly": true}, cannotOpen()},
		{"open", arg{"path": r.path("none.db")}, cannotOpen()},
		{"open", arg{"path": r.path("folder"), "create": true}, cannotOpen()},
		{"open", arg{"path": r.path("no/such/folder.db"), "create": true}, cannotOpen()},
	} {
		_, err := r.do("sqlite."+c.op, c.arg)
		var fail *script.Failure
		if !errors.As(err, &fail) || fail.Code != c.want.Code || fail.Message != c.want.Message || string(fail.Data) != string(c.want.Data) {
			t.Errorf("%s %v: %+v", c.op, c.arg, err)
		}
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

// cannotOpen is how SQLite words that a file is not there.
func cannotOpen() script.Failure {
	return script.Failure{Code: "SQLITE_CANTOPEN", Message: "unable to open database file", Data: json.RawMessage(`{"errno":14}`)}
}

// What a script asks of a database is answered as the modules expect it.
func TestDatabaseAnswers(t *testing.T) {
	r := newRoom(t, `{"*": "deny"}`) // a database in memory is nobody's business
	db := r.openDB(":memory:")
	for _, c := range []struct{ op, sql, want string }{
		{"exec", "create table t(a integer primary key, b); insert into t(b) values(1)", `{"changes":1,"lastInsertRowid":1}`},
		{"run", "update t set b=9", `{"changes":1,"lastInsertRowid":1}`},
		{"prepare", "insert into t(b) values(?3) returning a, b", `{"columns":["a","b"],"params":3}`},
		{"query", "select a, b from t", `{"columns":["a","b"],"rows":[[1,9]]}`},
		{"state", "", `{"inTransaction":false}`},
	} {
		if got := r.must("sqlite."+c.op, sql(db, c.sql)); got != c.want {
			t.Errorf("%s: %s", c.sql, got)
		}
	}
	more := arg{"id": db["id"], "sql": "select value, $a from json_each('[1,2,3]')", "limit": 1, "names": arg{"a": "x"}, "strict": true}
	if got := r.must("sqlite.query", more); got != `{"columns":["value","$a"],"rows":[[1,"x"]]}` {
		t.Error(got)
	}
	if asked := r.questions(); asked != nil {
		t.Errorf("asked about %v", asked)
	}
}

func TestDatabasesAreBounded(t *testing.T) {
	r := newRoom(t, `{}`)
	for i := range mostDatabases {
		if got := r.code("sqlite.open", map[string]any{"path": ":memory:"}); got != "ok" {
			t.Fatal(i, got)
		}
	}
	if got := r.code("sqlite.open", map[string]any{"path": ":memory:"}); got != "EMFILE" {
		t.Error(got)
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
