package toolschema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func dialects() []Dialect { return []Dialect{Anthropic, OpenAI, Simple} }

// fit checks what holds of every result.
func fit(t testing.TB, d Dialect, schema string) (string, error) {
	t.Helper()
	out, err := Fit(d, json.RawMessage(schema))
	if err != nil {
		if out != nil {
			t.Fatalf("%s: a result and an error: %v", d, err)
		}
		return "", err
	}
	if len(out) > maxSize {
		t.Fatalf("%s: %d bytes", d, len(out))
	}
	var root struct {
		Type       string          `json:"type"`
		Properties json.RawMessage `json:"properties"`
	}
	if err := json.Unmarshal(out, &root); err != nil {
		t.Fatalf("%s: %v in %s", d, err, out)
	}
	if root.Type != "object" || !bytes.HasPrefix(root.Properties, []byte("{")) {
		t.Fatalf("%s: the root is not an object: %s", d, out)
	}
	again, err := Fit(d, out)
	if err != nil || !bytes.Equal(again, out) {
		t.Fatalf("%s: fitted again it is another\nof  %s\nwas %s\nis  %s\n%v", d, schema, out, again, err)
	}
	return string(out), nil
}

func TestFit(t *testing.T) {
	const node = `{"$ref":"#/definitions/node","definitions":{"node":{"type":"object","properties":{"name":{"type":"string"},"child":{"$ref":"#/definitions/node"}}}}}`
	tests := []struct {
		name, in                  string
		anthropic, openai, simple string // the same as the one before where empty
	}{
		{"empty", `{}`, `{"type":"object","properties":{}}`, "", ""},
		{"true", `true`, `{"type":"object","properties":{}}`, "", ""},
		{
			"identity is stripped", `{"$schema":"x","$id":"y","$comment":"z","type":"object","properties":{"a":{"$anchor":"b","type":"string"}}}`,
			`{"type":"object","properties":{"a":{"type":"string"}}}`, "", "",
		},
		{
			"reference written out", `{"type":"object","properties":{"a":{"$ref":"#/$defs/x","description":"mine"}},"$defs":{"x":{"description":"theirs","type":"string"}}}`,
			`{"type":"object","properties":{"a":{"description":"mine","type":"string"}}}`, "", "",
		},
		{
			"anchors and ids", `{"$id":"http://x/y","type":"object","properties":{"a":{"$ref":"#b"},"c":{"$ref":"http://x/y#/$defs/d"}},"$defs":{"d":{"$anchor":"b","type":"string"}}}`,
			`{"type":"object","properties":{"a":{"type":"string"},"c":{"type":"string"}}}`, "", "",
		},
		{
			"recursion", node,
			`{"type":"object","properties":{"name":{"type":"string"},"child":{"$ref":"#/$defs/node"}},"$defs":{"node":{"type":"object","properties":{"name":{"type":"string"},"child":{"$ref":"#/$defs/node"}}}}}`, "",
			`{"type":"object","properties":{"name":{"type":"string"},"child":{"type":"object","properties":{"name":{"type":"string"},"child":{"type":"object","properties":{"name":{"type":"string"},"child":{"type":"object","properties":{"name":{"type":"string"},"child":{"type":"object"}}}}}}}}}`,
		},
		{
			"recursion of the root", `{"type":"object","properties":{"next":{"$ref":"#"}}}`,
			`{"type":"object","properties":{"next":{"$ref":"#/$defs/root"}},"$defs":{"root":{"type":"object","properties":{"next":{"$ref":"#/$defs/root"}}}}}`, "",
			`{"type":"object","properties":{"next":{"type":"object","properties":{"next":{"type":"object","properties":{"next":{"type":"object","properties":{"next":{"type":"object"}}}}}}}}}`,
		},
		{
			"union at the root", `{"oneOf":[{"type":"object","properties":{"kind":{"const":"a"},"x":{"type":"string"}},"required":["kind","x"],"additionalProperties":false},{"type":"object","properties":{"kind":{"const":"b"},"x":{"type":"number"}},"required":["kind"],"additionalProperties":false},{"type":"null"}]}`,
			`{"type":"object","properties":{"kind":{"enum":["a","b"]},"x":{"anyOf":[{"type":"string"},{"type":"number"}]}},"required":["kind"],"additionalProperties":false}`, "",
			`{"type":"object","properties":{"kind":{"enum":["a","b"],"type":"string"},"x":{"anyOf":[{"type":"string"},{"type":"number"}]}},"required":["kind"]}`,
		},
		{
			"either is required", `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"anyOf":[{"required":["a"]},{"required":["b"]}]}`,
			`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}}}`, "", "",
		},
		{
			"allOf", `{"allOf":[{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"a":{"minLength":2},"b":{"type":"null"}},"required":["b"]}]}`,
			`{"type":"object","properties":{"a":{"type":"string","minLength":2},"b":{"type":"null"}},"required":["a","b"]}`, "", "",
		},
		{
			"types", `{"type":["object","null"],"properties":{"a":{"description":"d","type":["string","null"],"enum":["x",null],"maxLength":3},"b":{"type":["string"]},"c":{"type":"any"}}}`,
			`{"type":"object","properties":{"a":{"description":"d","type":["string","null"],"enum":["x",null],"maxLength":3},"b":{"type":"string"},"c":{}}}`, "",
			`{"type":"object","properties":{"a":{"description":"d","anyOf":[{"type":"string","maxLength":3,"enum":["x"]},{"type":"null"}]},"b":{"type":"string"},"c":{}}}`,
		},
		{
			"nullable", `{"type":"object","properties":{"a":{"type":"string","nullable":true,"enum":["x"]},"b":{"allOf":[{"$ref":"#/definitions/s"}],"nullable":true,"description":"d"}},"definitions":{"s":{"type":"string"}}}`,
			`{"type":"object","properties":{"a":{"type":["string","null"],"enum":["x",null]},"b":{"description":"d","anyOf":[{"type":"string"},{"type":"null"}]}}}`, "",
			`{"type":"object","properties":{"a":{"anyOf":[{"type":"string","enum":["x"]},{"type":"null"}]},"b":{"description":"d","anyOf":[{"type":"string"},{"type":"null"}]}}}`,
		},
		{
			"tuples", `{"type":"object","properties":{"p":{"type":"array","items":[{"type":"number"},{"type":"number"}],"additionalItems":false},"q":{"type":"array","prefixItems":[{"type":"string"}]}}}`,
			`{"type":"object","properties":{"p":{"type":"array","prefixItems":[{"type":"number"},{"type":"number"}],"items":false},"q":{"type":"array","prefixItems":[{"type":"string"}]}}}`,
			`{"type":"object","properties":{"p":{"type":"array","maxItems":2,"items":{"type":"number"}},"q":{"type":"array","items":{}}}}`, "",
		},
		{
			"booleans", `{"type":"object","properties":{"a":true,"b":false,"c":{"type":"array","items":true},"d":{"anyOf":[false,{"type":"string"}]}},"required":["a","b"]}`,
			`{"type":"object","properties":{"a":{},"c":{"type":"array","items":true},"d":{"anyOf":[{"type":"string"}]}},"required":["a"]}`, "", "",
		},
		{
			"bounds", `{"type":"object","properties":{"a":{"type":"number","minimum":1,"exclusiveMinimum":true,"maximum":9,"multipleOf":2},"b":{"type":"string","minLength":1,"pattern":"^a+$","format":"uri"},"c":{"type":"string","pattern":"(?!x)","format":"date-time"}}}`,
			`{"type":"object","properties":{"a":{"type":"number","exclusiveMinimum":1,"maximum":9,"multipleOf":2},"b":{"type":"string","minLength":1,"pattern":"^a+$","format":"uri"},"c":{"type":"string","format":"date-time"}}}`, "",
			`{"type":"object","properties":{"a":{"type":"number","minimum":1,"maximum":9},"b":{"type":"string","minLength":1},"c":{"type":"string","format":"date-time"}}}`,
		},
		{
			"what is not taken", `{"type":"object","properties":{"a":{"not":{"type":"null"},"x-order":1}},"patternProperties":{"^x":{"type":"string"}},"additionalProperties":false,"if":{},"then":false,"dependentSchemas":{},"unevaluatedProperties":false,"required":["a","gone"]}`,
			`{"type":"object","properties":{"a":{}},"patternProperties":{"^x":{"type":"string"}},"additionalProperties":false,"required":["a"]}`,
			`{"type":"object","properties":{"a":{}},"required":["a"]}`, "",
		},
		{
			"one value", `{"type":"object","properties":{"a":{"const":1},"b":{"enum":[1,"x",1]}}}`,
			`{"type":"object","properties":{"a":{"const":1},"b":{"enum":[1,"x"]}}}`, "",
			`{"type":"object","properties":{"a":{"enum":[1],"type":"integer"},"b":{"enum":[1,"x"]}}}`,
		},
		{
			"demands beside a union", `{"type":"object","properties":{"a":{"description":"d","type":"string","anyOf":[{"minLength":1},{"enum":["x"]}]},"b":{"type":"object","properties":{"c":{}},"anyOf":[{"minProperties":1},{"maxProperties":3}]}}}`,
			`{"type":"object","properties":{"a":{"description":"d","type":"string","anyOf":[{"minLength":1},{"enum":["x"]}]},"b":{"type":"object","properties":{"c":{}},"anyOf":[{"minProperties":1},{"maxProperties":3}]}}}`, "",
			`{"type":"object","properties":{"a":{"description":"d","anyOf":[{"minLength":1},{"enum":["x"],"type":"string"}]},"b":{"type":"object","properties":{"c":{}}}}}`,
		},
		{
			"a record", `{"type":"object","properties":{"env":{"type":"object","propertyNames":{"type":"string"},"additionalProperties":{"type":"string"}}}}`,
			`{"type":"object","properties":{"env":{"type":"object","propertyNames":{"type":"string"},"additionalProperties":{"type":"string"}}}}`,
			`{"type":"object","properties":{"env":{"type":"object","additionalProperties":{"type":"string"}}}}`,
			`{"type":"object","properties":{"env":{"type":"object"}}}`,
		},
	}
	for _, tt := range tests {
		want := ""
		for i, expected := range []string{tt.anthropic, tt.openai, tt.simple} {
			if expected != "" {
				want = expected
			}
			d := dialects()[i]
			got, err := fit(t, d, tt.in)
			if err != nil || got != want {
				t.Errorf("%s for %s:\ngot  %s %v\nwant %s", tt.name, d, got, err, want)
			}
		}
	}
}

func TestFitErrors(t *testing.T) {
	deep := strings.Repeat(`{"type":"object","properties":{"a":`, 70) + `{}` + strings.Repeat(`}}`, 70)
	tests := []struct{ name, in, want string }{
		{"not JSON", `{`, "not JSON"},
		{"two values", `{} {}`, "not one JSON value"},
		{"a string", `"x"`, "not an object"},
		{"another root", `{"type":"string"}`, "cannot be expressed"},
		{"no object in a union", `{"anyOf":[{"type":"string"},false]}`, "cannot be expressed"},
		{"false", `false`, "cannot be expressed"},
		{"remote", `{"type":"object","properties":{"a":{"$ref":"https://x/y.json"}}}`, "somewhere else"},
		{"dangling", `{"type":"object","properties":{"a":{"$ref":"#/$defs/none"}}}`, "does not have"},
		{"empty enum", `{"type":"object","properties":{"a":{"enum":[]}}}`, "is empty"},
		{"not a schema", `{"type":"object","properties":{"a":3}}`, "neither an object"},
		{"deep", deep, "levels deep"},
		{"very deep", strings.Repeat("[", 100000), "levels deep"},
		{"large", `{"description":"` + strings.Repeat("x", maxSize) + `"}`, "256 KiB"},
		{"nothing fits", `{"type":"object","properties":{"a":{"allOf":[false]}}}`, "no value fits"},
	}
	for _, tt := range tests {
		for _, d := range dialects() {
			_, err := fit(t, d, tt.in)
			if err == nil || !strings.Contains(err.Error(), strings.Replace(tt.want, "cannot", "can not", 1)) {
				t.Errorf("%s for %s: %v", tt.name, d, err)
			}
		}
	}
	if _, err := Fit("x", json.RawMessage(`{}`)); err == nil {
		t.Error("a dialect that does not exist is taken")
	}
}

func TestNames(t *testing.T) {
	long := strings.Repeat("n", 65)
	for _, name := range []string{"$top", "filter[id]", "", "a b", "ä", long} {
		schema := fmt.Sprintf(`{"type":"object","properties":{%q:{}}}`, name)
		if _, err := fit(t, Anthropic, schema); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q", name)) {
			t.Errorf("%q: %v", name, err)
		}
		if _, err := fit(t, OpenAI, schema); err != nil {
			t.Errorf("%q: %v", name, err)
		}
		if _, err := fit(t, Anthropic, `{"properties":{"in":`+schema+`}}`); err != nil {
			t.Errorf("%q further in: %v", name, err)
		}
	}
}

// A schema whose references double it at every step stays small where they
// may be kept, and is refused where not.
func TestDoubling(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"type":"object","properties":{"a":{"$ref":"#/$defs/d0"}},"$defs":{`)
	for i := range 30 {
		fmt.Fprintf(&b, `"d%d":{"type":"object","properties":{"x":{"$ref":"#/$defs/d%d"},"y":{"$ref":"#/$defs/d%d"}}},`, i, i+1, i+1)
	}
	b.WriteString(`"d30":{"type":"string"}}}`)
	for _, d := range []Dialect{Anthropic, OpenAI} {
		if out, err := fit(t, d, b.String()); err != nil || len(out) > 1<<13 {
			t.Errorf("%s: %d bytes, %v", d, len(out), err)
		}
	}
	if _, err := fit(t, Simple, b.String()); !errors.Is(err, errSize) {
		t.Errorf("simple: %v", err)
	}
	b.Reset()
	b.WriteString(`{"allOf":[{"$ref":"#/$defs/d0"}],"$defs":{`)
	for i := range 30 {
		fmt.Fprintf(&b, `"d%d":{"allOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]},`, i, i+1, i+1)
	}
	b.WriteString(`"d30":{"type":"object"}}}`)
	for _, d := range dialects() {
		if _, err := fit(t, d, b.String()); !errors.Is(err, errSize) {
			t.Errorf("%s: 2^30 members of allOf: %v", d, err)
		}
	}
}

// Many schemas that hold each other are cut sooner, not refused.
func TestEntangled(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"type":"object","properties":{"a":{"$ref":"#/$defs/d0"}},"$defs":{`)
	for i := range 40 {
		fmt.Fprintf(&b, `"d%d":{"type":"object","properties":{`, i)
		for k := range 40 {
			fmt.Fprintf(&b, `"p%d":{"$ref":"#/$defs/d%d"},`, k, k)
		}
		b.WriteString(`"z":{}}},`)
	}
	b.WriteString(`"end":{}}}`)
	for _, d := range dialects() {
		if _, err := fit(t, d, b.String()); err != nil {
			t.Errorf("%s: %v", d, err)
		}
	}
}

// The schemas of helve's own tools are taken as they are but for what says
// where they come from, and they still take what they took.
func TestOwnTools(t *testing.T) {
	files, err := filepath.Glob("../builtin/testdata/spec/*.json")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var spec struct {
			Schema json.RawMessage `json:"schema"`
		}
		if err := json.Unmarshal(raw, &spec); err != nil {
			t.Fatal(err)
		}
		doc, err := parse(spec.Schema)
		if err != nil {
			t.Fatal(err)
		}
		doc.(*object).remove("$schema")
		want := canonicalText(doc)
		for _, d := range dialects() {
			got, err := fit(t, d, string(spec.Schema))
			if err != nil {
				t.Errorf("%s for %s: %v", file, d, err)
			} else if d != Simple && got != want {
				t.Errorf("%s for %s:\ngot  %s\nwant %s", file, d, got, want)
			}
		}
	}
}

// realistic returns schemas in the shapes that generators write.
func realistic(t testing.TB) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob("testdata/real/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	out := map[string][]byte{}
	for _, file := range files {
		if out[file], err = os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func TestRealistic(t *testing.T) {
	for file, schema := range realistic(t) {
		for _, d := range dialects() {
			out, err := fit(t, d, string(schema))
			if err != nil {
				t.Errorf("%s for %s: %v", file, d, err)
				continue
			}
			if _, err := compile([]byte(out)); err != nil {
				t.Errorf("%s for %s: %v", file, d, err)
			}
			t.Logf("%s for %s: %s", file, d, out)
		}
	}
}

func FuzzFit(f *testing.F) {
	for _, schema := range realistic(f) {
		f.Add(schema)
	}
	f.Fuzz(func(t *testing.T, schema []byte) {
		for _, d := range dialects() {
			_, _ = fit(t, d, string(schema))
		}
	})
}
