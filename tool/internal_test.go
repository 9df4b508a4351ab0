package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
	"pgregory.net/rapid"
)

// Every field of a schema that holds schemas must be walked, also those of a
// later version of the library.
func TestChildrenAreComplete(t *testing.T) {
	t.Parallel()
	var s jsonschema.Schema
	v := reflect.ValueOf(&s).Elem()
	want := map[*jsonschema.Schema]string{}
	for i := range v.NumField() {
		kid := &jsonschema.Schema{}
		switch f := v.Field(i); f.Interface().(type) {
		case *jsonschema.Schema:
			f.Set(reflect.ValueOf(kid))
		case []*jsonschema.Schema:
			f.Set(reflect.ValueOf([]*jsonschema.Schema{kid}))
		case map[string]*jsonschema.Schema:
			f.Set(reflect.ValueOf(map[string]*jsonschema.Schema{"k": kid}))
		default:
			continue
		}
		want[kid] = v.Type().Field(i).Name
	}
	for c := range children(&s) {
		delete(want, c)
	}
	if len(want) > 0 {
		t.Errorf("not walked: %v", want)
	}
}

func TestReferences(t *testing.T) {
	t.Parallel()
	var s jsonschema.Schema
	if err := json.Unmarshal([]byte(`{"title":"root","$defs":{"a/b":{"title":"1"},"c%":{"$anchor":"here","title":"2"}},
		"properties":{"p":{"items":{"title":"3"},"prefixItems":[{"title":"4"}],"not":{"if":{"title":"5"},"then":{"title":"6"},"else":{"title":"7"}}}},
		"definitions":{"d":{"items":[{"title":"8"}],"additionalItems":{"title":"9"},"contains":{"title":"10"}}},
		"allOf":[{"title":"11"}],"anyOf":[{"title":"12"}],"oneOf":[{"title":"13"}],"additionalProperties":{"title":"14"},
		"propertyNames":{"title":"15"},"patternProperties":{"x":{"title":"16"}},"dependentSchemas":{"y":{"title":"17"}}}`), &s); err != nil {
		t.Fatal(err)
	}
	r := refs{root: &s}
	for ref, want := range map[string]string{
		"#": "root", "#/$defs/a~1b": "1", "#/$defs/c%25": "2", "#here": "2", "#/properties/p/items": "3",
		"#/properties/p/prefixItems/0": "4", "#/properties/p/not/if": "5", "#/properties/p/not/then": "6",
		"#/properties/p/not/else": "7", "#/definitions/d/items/0": "8", "#/definitions/d/additionalItems": "9",
		"#/definitions/d/contains": "10", "#/allOf/0": "11", "#/anyOf/0": "12", "#/oneOf/0": "13",
		"#/additionalProperties": "14", "#/propertyNames": "15", "#/patternProperties/x": "16", "#/dependentSchemas/y": "17",
		"#nowhere": "", "#/": "", "#/$defs": "", "#/$defs/x": "", "#/allOf/1": "", "#/allOf/-1": "", "#/title/x": "", "#/not/if": "",
	} {
		got := ""
		if s := r.target(ref); s != nil {
			got = s.Title
		}
		if got != want {
			t.Errorf("%s is %q, want %q", ref, got, want)
		}
	}
}

func TestEqual(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{`1`, `1.0`, true}, {`10e-1`, `1`, true}, {`-0`, `0`, true}, {`1`, `-1`, false}, {`1`, `"1"`, false},
		{`0.1`, `0.10000000000000000001`, false}, {`120`, `1.2e2`, true}, {`0e5`, `0`, true},
		{`[1,{"a":2,"b":null}]`, `[1.0,{"b":null,"a":2}]`, true}, {`[1,2]`, `[2,1]`, false},
		{`{"a":1}`, `{"b":1}`, false}, {`true`, `false`, false}, {`null`, `null`, true}, {`"a"`, `"\u0061"`, true},
	} {
		a, _ := (&parser{s: c.a}).parse()
		b, _ := (&parser{s: c.b}).parse()
		if equal(a, b) != c.want {
			t.Errorf("%s and %s: want %v", c.a, c.b, c.want)
		}
	}
}

func TestObjectOfManyKeys(t *testing.T) {
	t.Parallel()
	s := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}, AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}}}
	var in, want []string
	for i := range 100 {
		name := fmt.Sprintf("k%03d", i)
		if i%2 == 0 {
			s.Properties[name] = &jsonschema.Schema{Type: "integer"}
			s.Required = append(s.Required, name)
			want = append(want, fmt.Sprintf("%q:%d", name, i))
		}
		in = append([]string{fmt.Sprintf("%q:%d", name, i)}, in...)
	}
	d, err := Dynamic(Spec{Name: "x", Schema: s}, func(context.Context, *Call) (*Result, error) { return &Result{}, nil })
	if err != nil {
		t.Fatal(err)
	}
	c := Call{Input: json.RawMessage("{" + strings.Join(in, ",") + "}")}
	if _, err := d.Check(&c, false); err != nil || string(c.Input) != "{"+strings.Join(want, ",")+"}" {
		t.Errorf("got %s, %v", c.Input, err)
	}
}

// The parser and the printer agree with encoding/json about every text.
func TestStringsAgree(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		inside := rapid.StringOf(rapid.SampledFrom([]rune("a\"\\/bfnrtu0dD8cE\x7f\u2028é😀"))).Draw(t, "text")
		quotedText := `"` + inside + rapid.SampledFrom([]string{"", "\xff", "\xed\xa0\x80", `\ud83d\ude00`, `\ud83d`, `\u0000`}).Draw(t, "end") + `"`
		var want string
		err := json.Unmarshal([]byte(quotedText), &want)
		v, bad := (&parser{s: quotedText}).parse()
		if (err == nil) != (bad == nil) {
			t.Fatalf("%q: encoding/json says %v, we say %v", quotedText, err, bad)
		}
		if err != nil {
			return
		}
		if v.text != want || !utf8.ValidString(v.text) {
			t.Fatalf("%q: got %q, want %q", quotedText, v.text, want)
		}
		var back string
		if err := json.Unmarshal(v.appendJSON(nil), &back); err != nil || back != want {
			t.Fatalf("%q became %s: %v", want, v.appendJSON(nil), err)
		}
	})
}
