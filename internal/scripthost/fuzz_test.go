package scripthost

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// Whatever is run in a database, no file is touched but its own.
func FuzzStatement(f *testing.F) {
	for _, text := range []string{
		"select 1", "attach 'other' as o", "vacuum into 'other'", "vacuum", "pragma journal_mode=wal; create table t(a)", "create virtual table f using fts5(a)",
		"create trigger t after insert on x begin select load_extension('a'); end", "pragma temp_store_directory='.'", "select * from pragma_database_list", "explain attach 'a' as b",
		"savepoint a; create temp table t as select 1; release a", "pragma writable_schema=1; update sqlite_schema set sql='x'", ";;--\n/*", "select ?1, :a",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		dir, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		t.Chdir(dir)
		own := filepath.Join(dir, "own", "x.db")
		if err := os.Mkdir(filepath.Dir(own), 0o755); err != nil {
			t.Fatal(err)
		}
		d, err := OpenDB(own, DBOptions{Create: true})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		_, err = d.Exec(ctx, text)
		if err == nil && strings.Contains(strings.ToLower(text), "attach 'other'") && !strings.ContainsAny(text, "-/") {
			t.Error("attached")
		}
		d.Close()
		left, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range left {
			if e.Name() != "own" {
				t.Errorf("%q has made %s", text, e.Name())
			}
		}
		left, err = os.ReadDir(filepath.Dir(own))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range left {
			if !slices.Contains([]string{"x.db", "x.db-journal", "x.db-wal", "x.db-shm"}, e.Name()) {
				t.Errorf("%q has made %s", text, e.Name())
			}
		}
	})
}

// Values come back as they were.
func FuzzValue(f *testing.F) {
	f.Add("text \x00 \"é\\", int64(math.MaxInt64), 1.5, []byte{0, 255})
	f.Add("", int64(-1<<53), math.Inf(-1), []byte{})
	f.Add("\u2028\xff", int64(0), math.Copysign(0, -1), []byte("x"))
	f.Fuzz(func(t *testing.T, text string, whole int64, real float64, blob []byte) {
		d, err := OpenDB("", DBOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		var out []byte
		err = d.firstStatement(t.Context(), "select ?, ?, ?, ?", func(st *statement) error {
			for i, v := range []any{text, whole, real, blob} {
				if err := st.bind(i+1, v); err != nil {
					return err
				}
			}
			var err error
			out, err = DBQuery{}.rows(st, nil)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		var row []json.RawMessage
		if err := json.Unmarshal(out, &row); err != nil || len(row) != 4 {
			t.Fatalf("%s: %v", out, err)
		}
		var got []any
		for _, raw := range row {
			v, err := valueOf(raw)
			if err != nil {
				t.Fatalf("%s: %v", raw, err)
			}
			got = append(got, v)
		}
		if utf8.ValidString(text) && got[0] != text || got[1] != whole || string(got[3].([]byte)) != string(blob) {
			t.Errorf("%q %d %q came back as %v", text, whole, blob, got)
		}
		if n, ok := got[2].(float64); !math.IsNaN(real) && (!ok || n != real) {
			t.Errorf("%v came back as %v", real, got[2])
		}
	})
}
