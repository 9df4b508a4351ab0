package plugins

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestCheckSchema(t *testing.T) {
	const types = `, and there are the types "string", "number", "integer", "boolean", "array", "object" and "null"`
	const flat = ` is no key of one; arguments are named in "properties", as in {"type": "object", "properties": {"a": {"type": "string"}}}`
	for _, c := range []struct{ schema, want string }{
		{`{}`, ""},
		{`{"type": "object", "properties": {"type": {"type": ["string", "null"]}, "required": {}, "a": true}, "required": ["type"], "additionalProperties": false}`, ""},
		{`{"$defs": {"n": {"type": "integer", "minimum": 1.5, "minLength": 2}}, "properties": {"a": {"$ref": "#/$defs/n"}}, "x-mine": {"type": "odd"}}`, ""},
		{`{"properties": {"a": {"enum": [{"type": "odd"}], "default": {"type": "odd"}, "const": {"type": "odd"}, "own": {"type": "odd"}}}}`, ""},
		{`{"anyOf": [{"required": ["a"]}], "dependencies": {"a": ["b"], "b": {"type": "object"}}, "nullable": true, "title": null}`, ""},

		{`{"properties": {"a": {"type": "strng"}}}`, `"properties.a.type" is "strng"` + types},
		{`{"type": "Object"}`, `"type" is "Object"` + types},
		{`{"properties": {"a": {"items": {"anyOf": [{}, {"type": ["string", "nil"]}]}}}}`, `"properties.a.items.anyOf[1].type" is "nil"` + types},
		{`{"$defs": {"n": {"not": {"type": "int"}}}}`, `"$defs.n.not.type" is "int"` + types},
		{`{"dependencies": {"b": {"type": "int"}}}`, `"dependencies.b.type" is "int"` + types},
		{`{"type": 5}`, `"type" is a number, and the name of a type, or a list of them is wanted`},
		{`{"required": "a"}`, `"required" is a text, and a list of texts such as ["a"] is wanted`},
		{`{"properties": {"a": {"type": "string", "required": true}}}`, `"properties.a.required" is true or false, and a list of texts such as ["a"] is wanted`},
		{`{"required": [1]}`, `"required" is a list, and a list of texts such as ["a"] is wanted`},
		{`{"properties": ["a"]}`, `"properties" is a list, and an object with a schema for each name, such as {"a": {"type": "string"}} is wanted`},
		{`{"properties": {"a": "string"}}`, `"properties.a" is a text, and a schema such as {"type": "string"} is wanted`},
		{`{"allOf": {}}`, `"allOf" is an object, and a list of schemas is wanted`},
		{`{"properties": {"a": {"minLength": "2"}}}`, `"properties.a.minLength" is a text, and a whole number is wanted`},
		{`{"properties": {"a": {"maxItems": 1.5}}}`, `"properties.a.maxItems" is a number, and a whole number is wanted`},
		{`{"properties": {"a": {"enum": "b"}}}`, `"properties.a.enum" is a text, and a list is wanted`},
		{`{"properties": {"a": {"description": ["b"]}}}`, `"properties.a.description" is a list, and a text is wanted`},

		{`{"a": {"type": "string"}}`, `"a"` + flat},
		{`{"b": "string", "description": {"type": "string"}}`, `"b"` + flat},
		{`{"type": "object", "propertes": {"a": {}}}`, `"propertes"` + flat},
	} {
		err := checkSchema(json.RawMessage(c.schema))
		if got := errorText(err); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.schema, got, c.want)
		}
		_, err = read([]byte(`{"description": "A.", "parameters": `+c.schema+`}`), "/t/x.py", "h")
		if c.want == "" && err != nil || c.want != "" && errorText(err) != `its "parameters" are no JSON Schema: `+c.want {
			t.Errorf("%s: a program that says so: %v", c.schema, err)
		}
	}
}

// A place that is far down is named within bounds.
func TestCheckSchemaPlace(t *testing.T) {
	name := strings.Repeat("x", 1000)
	err := checkSchema(json.RawMessage(`{"properties": {"` + name + `": {"type": "` + name + `"}}}`))
	if err == nil || len(err.Error()) > 2*maxQuote {
		t.Errorf("got %v", err)
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
