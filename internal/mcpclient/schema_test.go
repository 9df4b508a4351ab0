package mcpclient

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/helve-dev/helve/tool"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "write the golden files anew")

// given returns a definition with a schema.
func given(schema string) Definition {
	return Definition{Server: "s", Tool: "t", Input: json.RawMessage(schema)}
}

// dynamic makes a tool of a schema.
func dynamic(t failer, s *jsonschema.Schema) tool.Tool {
	t.Helper()
	made, err := tool.Dynamic(tool.Spec{Name: "t", Schema: s},
		func(context.Context, *tool.Call) (*tool.Result, error) { return &tool.Result{}, nil })
	if err != nil {
		t.Fatalf("tool.Dynamic refuses what Schema returned: %v", err)
	}
	return made
}

func TestCorpus(t *testing.T) {
	a, err := txtar.ParseFile("testdata/foreign/schemas.txtar")
	if err != nil {
		t.Fatal(err)
	}
	got := &txtar.Archive{Comment: []byte("What becomes of each schema of schemas.txtar. Written by go test -update.\n\n")}
	passed := 0
	for _, f := range a.Files {
		s, err := given(string(f.Data)).Schema()
		if err != nil {
			got.Files = append(got.Files, txtar.File{Name: f.Name, Data: fmt.Appendf(nil, "refused: %v\n", err)})
			continue
		}
		passed++
		dynamic(t, s)
		raw, err := json.Marshal(s)
		if err != nil {
			t.Errorf("%s: %v", f.Name, err)
			continue
		}
		var b bytes.Buffer
		if err := json.Indent(&b, raw, "", " "); err != nil {
			t.Errorf("%s: %v", f.Name, err)
		}
		b.WriteByte('\n')
		got.Files = append(got.Files, txtar.File{Name: f.Name, Data: b.Bytes()})
		settled(t, f.Name, raw)
	}
	t.Logf("%d schemas, %d pass", len(a.Files), passed)
	const golden = "testdata/foreign/schemas.golden"
	if *update {
		if err := os.WriteFile(golden, txtar.Format(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(txtar.Format(got))); d != "" {
		t.Errorf("the golden file says otherwise (-want +got):\n%s", d)
	}
}

// settled checks that a schema that was read once says the same when it is
// read again.
func settled(t failer, name string, raw []byte) {
	t.Helper()
	again, err := given(string(raw)).Schema()
	if err != nil {
		t.Errorf("%s: what was accepted is refused the second time: %v", name, err)
		return
	}
	twice, err := json.Marshal(again)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if d := cmp.Diff(string(raw), string(twice)); d != "" {
		t.Errorf("%s: read twice it is another (-once +twice):\n%s", name, d)
	}
}

// TestKeywords has every word that the library knows be one that is dealt
// with: else it would be kept as an unknown one, and could not be written.
func TestKeywords(t *testing.T) {
	typ := reflect.TypeFor[jsonschema.Schema]()
	for i := range typ.NumField() {
		name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
		if name != "-" && !known(name) {
			t.Errorf("the keyword %s is not known", name)
		}
	}
	if known("x-order") || known("widget") {
		t.Error("a word that nobody knows is known")
	}
}

func TestLimits(t *testing.T) {
	many := `{"type":"object","properties":{"a":{"anyOf":[` + strings.Repeat(`{},`, maxNodes) + `{}]}}}`
	long := `{"type":"object","description":"` + strings.Repeat("x", maxSchema) + `"}`
	nested := `{"type":"object","x":` + strings.Repeat("[", maxNesting) + strings.Repeat("]", maxNesting) + `}`
	for _, c := range []struct{ name, schema, want string }{
		{"nodes", many, "its input schema holds more than 10000 schemas (at \"a\")"},
		{"size", long, "its input schema has 262178 bytes, and 262144 are the most"},
		{"nesting", nested, "its input schema is nested more than 256 deep"},
		{"garbage", "{", "its input schema is not JSON"},
		{"two", "{} {}", "its input schema is not JSON"},
	} {
		_, err := given(c.schema).Schema()
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
}

// TestArguments holds arguments against schemas that were read.
func TestArguments(t *testing.T) {
	for _, c := range []struct{ schema, in, out string }{
		{`{"type":"object","anyOf":[{"properties":{"a":{"type":"string"}},"required":["a"]},{"required":["b"]}]}`, `{"a":"x","c":1}`, `{"a":"x"}`},
		{`{"type":"object","anyOf":[{"properties":{"a":{"type":"string"}},"required":["a"]},{"required":["b"]}]}`, `{"b":[1]}`, `{"b":[1]}`},
		{`{"type":"object","anyOf":[{"properties":{"a":{"type":"string"}},"required":["a"]},{"required":["b"]}]}`, `{"c":1}`, ``},
		{`{"type":"object","properties":{"a":{"default":5}}}`, `{}`, `{}`},
		{`{"type":"object","properties":{"a":{"type":"number","multipleOf":0.01}}}`, `{"a":19.99}`, `{"a":19.99}`},
		{`{"type":"object","additionalProperties":{"type":"string"}}`, `{"k":"v"}`, `{"k":"v"}`},
		{`{"type":"object","additionalProperties":{"type":"string"}}`, `{"k":1}`, ``},
		{`{"$ref":"#/definitions/I","definitions":{"I":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}}}`, `{"n":1}`, `{"n":1}`},
		{`{"$ref":"#/definitions/I","definitions":{"I":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}}}`, `{}`, ``},
		{`{"type":"object","properties":{"n":{"type":"number","minimum":0,"exclusiveMinimum":true}}}`, `{"n":0}`, ``},
		{`{"type":"object","properties":{"n":{"oneOf":[{"type":"integer","multipleOf":2},{"type":"integer","multipleOf":3}]}}}`, `{"n":4}`, `{"n":4}`},
		{`{"type":"object","properties":{"s":{"type":"string","nullable":true}}}`, `{"s":null}`, `{"s":null}`},
		{`{"type":"object","required":["payload"]}`, `{"payload":{"x":1}}`, `{"payload":{"x":1}}`},
		{`{"type":"object","properties":{"a":{"type":"array","items":[{"type":"string"}],"additionalItems":false}}}`, `{"a":["x","y"]}`, ``},
		{`{"type":"object","properties":{"a":{},"b":{}},"dependencies":{"a":["b"]}}`, `{"a":1}`, ``},
	} {
		s, err := given(c.schema).Schema()
		if err != nil {
			t.Errorf("%s: %v", c.schema, err)
			continue
		}
		call := tool.Call{Input: json.RawMessage(c.in)}
		_, err = dynamic(t, s).Check(&call, false)
		switch {
		case err != nil && c.out != "":
			t.Errorf("%s: %s: %v", c.schema, c.in, err)
		case err == nil && string(call.Input) != c.out:
			t.Errorf("%s: %s became %s, want %q", c.schema, c.in, call.Input, c.out)
		}
	}
}
