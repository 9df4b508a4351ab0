package tool_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	oracle "github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"github.com/helve-dev/helve/tool"
)

// strangers are schemas as other programs send them.
func strangers() []string {
	return []string{
		`{"type":"object","properties":{"n":{"type":"number"},"s":{"type":"string","minLength":1,"maxLength":3,"pattern":"^[a-z]*$"}},"required":["n"]}`,
		`{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}],"default":null},"b":{"type":["integer","string"],"default":3}},"additionalProperties":false}`,
		`{"type":"object","properties":{"kids":{"type":"array","maxItems":3,"items":{"$ref":"#"}},"v":{"enum":[1,"a",null,[true]]}},"additionalProperties":false}`,
		`{"type":"object","properties":{"op":{"oneOf":[{"type":"object","properties":{"k":{"const":"x"},"v":{"type":"integer"}},"required":["k"],"additionalProperties":false},{"type":"object","properties":{"k":{"const":"y"},"w":{"type":"boolean","default":true}},"required":["k"],"additionalProperties":false}]}},"required":["op"]}`,
		`{"type":"object","additionalProperties":{"type":"integer","exclusiveMinimum":0,"maximum":9},"patternProperties":{"^x":{"type":"boolean"}}}`,
		`{"type":"object","allOf":[{"properties":{"z":{"type":"string"},"a":{"type":"integer"}}},{"$ref":"#/$defs/q"}],"properties":{"m":{"type":"boolean","nullable":true}},"$defs":{"q":{"required":["a"]}}}`,
		`{"type":"object","properties":{"t":{"type":"array","prefixItems":[{"type":"string"},{"type":"integer"}],"items":{"type":"boolean"},"minItems":1},"no":{"not":{"type":"string"}}},"minProperties":1}`,
	}
}

// everyTool returns the tools of the tests and those made of strangers.
func everyTool(t testing.TB) []tool.Tool {
	all := tools(t)
	var out []tool.Tool
	for _, name := range slices.Sorted(maps.Keys(all)) {
		out = append(out, all[name])
	}
	out = append(out, make1[oddInput]("odd"))
	for i, s := range strangers() {
		out = append(out, dynamic(t, "stranger"+string(rune('a'+i)), s))
	}
	return out
}

// anything draws any JSON value.
func anything(t *rapid.T, depth int) any {
	most := 6
	if depth <= 0 {
		most = 4
	}
	switch rapid.IntRange(0, most).Draw(t, "kind") {
	case 0:
		return nil
	case 1:
		return rapid.Bool().Draw(t, "bool")
	case 2:
		return json.Number(rapid.SampledFrom([]string{"0", "-0", "1", "5", "1.0", "1e1", "2.5", "-3", "300", "9007199254740991", "9007199254740993", "1e300"}).Draw(t, "number"))
	case 3, 4:
		return rapid.SampledFrom([]string{"", " ", "a", "abc", "abcd", "x", "y", "5", "1.5", "true", "[]", "{}", `["a"]`, "é\u2028<\x01"}).Draw(t, "string")
	case 5:
		return drawList(t, func() any { return anything(t, depth-1) })
	}
	return map[string]any{rapid.SampledFrom([]string{"a", "k", "x", "file_path"}).Draw(t, "key"): anything(t, depth-1)}
}

func drawList(t *rapid.T, item func() any) []any {
	list := []any{}
	for range rapid.IntRange(0, 3).Draw(t, "length") {
		list = append(list, item())
	}
	return list
}

// like draws a value that mostly has the shape of s.
func like(t *rapid.T, s *jsonschema.Schema, depth int) any {
	if s == nil || depth <= 0 || rapid.IntRange(0, 19).Draw(t, "stray") == 13 {
		return anything(t, 2)
	}
	if s.Enum != nil {
		return rapid.SampledFrom(s.Enum).Draw(t, "enum")
	}
	if s.Const != nil {
		return *s.Const
	}
	if branches := slices.Concat(s.AnyOf, s.OneOf); len(branches) > 0 {
		return like(t, rapid.SampledFrom(branches).Draw(t, "branch"), depth)
	}
	switch s.Type {
	case "object":
		m := map[string]any{}
		for _, key := range slices.Sorted(maps.Keys(s.Properties)) {
			if rapid.IntRange(0, 9).Draw(t, "leave out") != 7 {
				m[key] = like(t, s.Properties[key], depth-1)
			}
		}
		for range rapid.IntRange(0, 2).Draw(t, "more") {
			m[rapid.SampledFrom([]string{"a", "x1", "zz", "FILEPATH", "file_path"}).Draw(t, "key")] = like(t, s.AdditionalProperties, depth-1)
		}
		return m
	case "array":
		return drawList(t, func() any { return like(t, s.Items, depth-1) })
	case "integer", "number":
		return rapid.IntRange(-2, 12).Draw(t, "integer")
	case "string":
		return rapid.SampledFrom([]string{"a", "abc", "text", "x"}).Draw(t, "string")
	case "boolean":
		return rapid.Bool().Draw(t, "boolean")
	}
	return anything(t, 2)
}

// judge compiles the schema that a tool shows for an independent validator.
func judge(t testing.TB, one tool.Tool) *oracle.Schema {
	t.Helper()
	b, err := json.Marshal(one.Spec().Schema)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := oracle.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	c := oracle.NewCompiler()
	if err := c.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func fits(t *rapid.T, s *oracle.Schema, input []byte) error {
	v, err := oracle.UnmarshalJSON(bytes.NewReader(input))
	if err != nil {
		t.Fatalf("%s: %v", input, err)
	}
	return s.Validate(v)
}

// Check and an independent validator agree: what Check lets through fits the
// schema that the tool shows, and what fits is let through. Checking again
// changes nothing, and repairs are always told.
func TestCheckAgrees(t *testing.T) {
	t.Parallel()
	accepted := 0
	for _, one := range everyTool(t) {
		name := one.Spec().Name
		schema := judge(t, one)
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				input, err := json.Marshal(like(t, one.Spec().Schema, 4))
				if err != nil {
					t.Fatal(err)
				}
				repair := rapid.Bool().Draw(t, "repair")
				valid := fits(t, schema, input) == nil
				got, repairs, refused := checked(one, string(input), repair)
				if refused != nil {
					if valid {
						t.Fatalf("%s fits, but was refused: %v", input, refused)
					}
					return
				}
				accepted++
				// The word nullable is not one of JSON Schema.
				if err := fits(t, schema, []byte(got)); err != nil && !strings.Contains(got, `"m":null`) {
					t.Fatalf("%s was let through as %s, but does not fit: %v", input, got, err)
				}
				sound(t, one, string(input), got)
				lossy := slices.ContainsFunc(repairs, func(r tool.Repair) bool { return r.Dropped })
				repairs = slices.DeleteFunc(repairs, func(r tool.Repair) bool { return r.Dropped })
				if _, _, strict := checked(one, string(input), false); (strict != nil) != (len(repairs) > 0) {
					t.Fatalf("%s: strict gives %v, repairs are %v", input, strict, repairs)
				}
				exact := one.CheckExact(&tool.Call{Input: input})
				if (exact != nil) != (lossy || len(repairs) > 0) {
					t.Fatalf("%s: exact gives %v, dropped is %v, repairs are %v", input, exact, lossy, repairs)
				}
			})
		})
	}
	if accepted == 0 {
		t.Error("nothing was let through")
	}
}

// sound checks what holds for everything that was let through.
func sound(t interface {
	Helper()
	Fatalf(string, ...any)
}, one tool.Tool, input, got string) {
	t.Helper()
	if !json.Valid([]byte(got)) {
		t.Fatalf("%q became %q, which is not JSON", input, got)
	}
	again, repairs, err := checked(one, got, false)
	if err != nil || repairs != nil || again != got {
		t.Fatalf("%q became %q, and then %q: %v", input, got, again, err)
	}
	if _, err := one.Run(context.Background(), &tool.Call{Input: json.RawMessage(got)}); err != nil {
		t.Fatalf("%q cannot be decoded: %v", got, err)
	}
}

func FuzzCheck(f *testing.F) {
	all := everyTool(f)
	for i, one := range all {
		for _, in := range []string{
			`{"filePath":"a","offset":"12"}`, `{"file_path":"a",}`, "```json\n{\"todos\":\"[]\"}\n```", `{"a":{"b":[1.50e3,null,"\ud800\u00e9"]},"a":1}`,
			`{"op":{"k":"y"}}`, `{"kids":[{"kids":[]}],"n":0}`, "\ufeff {}", `{"v":[true],"t":["x",1,true],"xs":true,"q":3}`,
		} {
			f.Add(uint8(i), in, one.Spec().Name != "read")
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, input string, repair bool) {
		one := all[int(which)%len(all)]
		got, repairs, err := checked(one, input, repair)
		if err != nil {
			if got != input || repairs != nil || err.Error() == "" || len(err.Issues) == 0 || err.Code == "" {
				t.Fatalf("%q became %q: %#v", input, got, err)
			}
			if tool.Text(err.Issues)[0] != '[' || !json.Valid([]byte(tool.Text(err.Issues))) {
				t.Fatalf("the issues are not JSON: %s", tool.Text(err.Issues))
			}
			return
		}
		sound(t, one, input, got)
		if len(repairs) == 0 && strings.Trim(input, " \t\r\n") != "" && !json.Valid([]byte(input)) {
			t.Fatalf("%q is not JSON, but became %q without repair", input, got)
		}
	})
}

func FuzzDynamic(f *testing.F) {
	for _, s := range strangers() {
		f.Add(s, `{"a":1,"n":2,"op":{"k":"x"},"t":["x"]}`)
	}
	f.Add(`{"properties":{"a":{"$ref":"#/properties/b"},"b":{"$ref":"#/properties/a"}}}`, `{"a":1}`)
	f.Add(`{"properties":{"a":{"$ref":"#x","default":{}},"b":{"$anchor":"x","properties":{"a":{"$ref":"#"}}}}}`, `{"a":{}}`)
	f.Fuzz(func(t *testing.T, schema, input string) {
		s := new(jsonschema.Schema)
		if json.Unmarshal([]byte(schema), s) != nil {
			return
		}
		one, err := tool.Dynamic(tool.Spec{Name: "x", Schema: s}, raw)
		if err != nil {
			if e, ok := errors.AsType[*tool.Error](err); !ok || e.Code != "bad-schema" {
				t.Fatalf("%s: %v", schema, err)
			}
			return
		}
		got, _, refused := checked(one, input, true)
		if refused == nil && !json.Valid([]byte(got)) {
			t.Fatalf("%s: %q became %q", schema, input, got)
		}
		if one.Fingerprint() == "" {
			t.Fatal("no fingerprint")
		}
	})
}
