package cli

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/helve-dev/helve/tool"
)

func argsSchema() *jsonschema.Schema {
	of := func(t string) *jsonschema.Schema { return &jsonschema.Schema{Type: t} }
	return &jsonschema.Schema{
		Type: "object", Required: []string{"path"},
		PropertyOrder: []string{"path", "n"},
		Properties: map[string]*jsonschema.Schema{
			"path": of("string"), "n": of("integer"), "on": of("boolean"), "list": of("array"), "o": of("object"),
			"maybe":  {Types: []string{"null", "string"}},
			"either": {AnyOf: []*jsonschema.Schema{of("integer"), of("string")}},
			"num":    {AnyOf: []*jsonschema.Schema{of("integer"), of("null")}},
			"any":    {},
		},
	}
}

func TestPairs(t *testing.T) {
	for _, tc := range []struct {
		name  string
		words []string
		want  string
	}{
		{"text", []string{"path=a b"}, `{"path":"a b"}`},
		{"text that looks like a number", []string{"path=12"}, `{"path":"12"}`},
		{"empty", []string{"path="}, `{"path":""}`},
		{"equals in the value", []string{"path=a=b=c"}, `{"path":"a=b=c"}`},
		{"colon in the value", []string{"path=a:=b"}, `{"path":"a:=b"}`},
		{"number", []string{"n=3"}, `{"n":3}`},
		{"not a number", []string{"n=three"}, `{"n":"three"}`},
		{"boolean", []string{"on=true"}, `{"on":true}`},
		{"list", []string{`list=["a"]`}, `{"list":["a"]}`},
		{"object", []string{`o={"a":1}`}, `{"o":{"a":1}}`},
		{"nullable text", []string{"maybe=1"}, `{"maybe":"1"}`},
		{"a union with text", []string{"either=1"}, `{"either":"1"}`},
		{"a union without text", []string{"num=1"}, `{"num":1}`},
		{"anything", []string{"any=1"}, `{"any":"1"}`},
		{"unknown", []string{"other=1"}, `{"other":"1"}`},
		{"explicit", []string{"path:=12", "other:=null"}, `{"path":12,"other":null}`},
		{"order is kept", []string{"z=1", "n=2", "a=3"}, `{"z":"1","n":2,"a":"3"}`},
		{"escapes", []string{"path=\"\n\x00"}, `{"path":"\"\n\u0000"}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := pairs(argsSchema(), tc.words)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, string(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPairsMistakes(t *testing.T) {
	for _, tc := range []struct {
		words []string
		want  string
	}{
		{[]string{"main.go"}, "arguments are key=value pairs, or one JSON object; did you mean path=main.go?"},
		{[]string{"path=a", "b"}, `"b" is no key=value pair; arguments are key=value pairs, or one JSON object`},
		{[]string{"=a", "b=c"}, `"=a" is no key=value pair; arguments are key=value pairs, or one JSON object`},
		{[]string{"path=a", "path=b"}, `"path" is given twice`},
		{[]string{"n:=three"}, `what follows n:= is not JSON: three`},
	} {
		_, err := pairs(argsSchema(), tc.words)
		if _, ok := errors.AsType[usageError](err); !ok {
			t.Errorf("%q: got %v, want a mistake of usage", tc.words, err)
			continue
		}
		if diff := cmp.Diff(tc.want, err.Error()); diff != "" {
			t.Error(diff)
		}
	}
}

func TestExitCodes(t *testing.T) {
	want := map[tool.Kind]int{
		tool.UnknownTool: 2, tool.InvalidInput: 2, tool.Denied: 3, tool.Rejected: 3, tool.Unattended: 4,
		tool.Failed: 1, tool.Canceled: 130, tool.Internal: 70,
	}
	got := map[tool.Kind]int{}
	for _, k := range tool.Kinds() {
		got[k] = exitOf(k)
		if got[k] == 0 {
			t.Errorf("kind %s has no exit code", k)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, k := range []tool.Kind{"", "something new"} {
		if code := exitOf(k); code != 70 {
			t.Errorf("the unknown kind %q exits with %d", k, code)
		}
	}
}

func TestSafe(t *testing.T) {
	for in, want := range map[string]string{
		"plain\n\ttext":                         "plain\n\ttext",
		"func f() {\n                deep\n}\n": "func f() {\n                deep\n}\n",
		"a\n\x1b[2Jb\nc":                        "a\n\\x1b[2Jb\nc",
		"x\u202ey":                              "x\\u{202e}y",
	} {
		if got := safe(in); got != want {
			t.Errorf("safe(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestPropertyNames(t *testing.T) {
	got := propertyNames(argsSchema())
	want := []string{"path", "n", "any", "either", "list", "maybe", "num", "o", "on"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
