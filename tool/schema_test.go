package tool_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

var update = flag.Bool("update", false, "write the golden files")

// oddInput has a field of every sort that a tag or a type changes.
type oddInput struct {
	Count    int               `json:"count" default:"5" coerce:"number"`
	Small    int8              `json:"small,omitempty"`
	Ratio    float64           `json:"ratio,omitempty" min:"0" max:"1"`
	Level    int               `json:"level,omitempty" enum:"1,2,3"`
	Flags    []string          `json:"flags,omitempty" enum:"a,b"`
	Grid     [][]int           `json:"grid,omitempty"`
	Loose    map[string]any    `json:"loose,omitempty"`
	Raw      json.RawMessage   `json:"raw,omitempty"`
	Env      map[string]string `json:"env,omitempty"`
	Any      any               `json:"any,omitempty"`
	Nested   *oddNested        `json:"nested,omitempty"`
	Untagged bool
	Hidden   string `json:"-"`
	hidden   string
	oddBase
}

type oddBase struct {
	Base string `json:"base,omitempty" jsonschema:"from an embedded struct"`
}

type oddNested struct {
	Mode string   `json:"mode,omitempty" enum:"fast,slow" default:"slow"`
	List []string `json:"list" default:"[\"x\"]" minItems:"1"`
}

func TestDerivedSchema(t *testing.T) {
	t.Parallel()
	_ = oddInput{}.hidden
	for name, one := range map[string]tool.Tool{
		"read": make1[readInput]("read"), "webfetch": make1[webfetchInput]("webfetch"), "none": make1[struct{}]("none"),
		"todowrite": make1[todowriteInput]("todowrite"), "batch": make1[batchInput]("batch"), "odd": make1[oddInput]("odd"),
	} {
		t.Run(name, func(t *testing.T) {
			flat, err := json.Marshal(one.Spec().Schema)
			if err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			if err := json.Indent(&got, flat, "", "  "); err != nil {
				t.Fatal(err)
			}
			got.WriteByte('\n')
			golden := filepath.Join("testdata", "schema", name+".json")
			if *update {
				if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), got.String()); d != "" {
				t.Errorf("the schema has changed (-want +got):\n%s", d)
			}
		})
	}
}

func TestSpec(t *testing.T) {
	t.Parallel()
	own := schemaOf(t, `{"properties":{"b":{"type":"string"},"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"pattern":"(?=a)"}}}`)
	before, err := json.Marshal(own)
	if err != nil {
		t.Fatal(err)
	}
	d, err := tool.Dynamic(tool.Spec{Name: "d", Schema: own}, raw)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Check(&tool.Call{Input: json.RawMessage(`{"a":"zzz"}`)}, true); err != nil {
		t.Errorf("a pattern that Go cannot compile must not count: %v", err)
	}
	after, err := json.Marshal(own)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(before), string(after)); d != "" {
		t.Errorf("the caller's schema was changed:\n%s", d)
	}
	if d.Spec().Schema == own || d.Spec().Schema.Type != "object" || d.Spec().Permission != "d" {
		t.Errorf("the spec is not filled in: %+v", d.Spec())
	}
	if p := tool.New(tool.Spec{Name: "write", Permission: "edit"}, echo[writeInput]).Spec().Permission; p != "edit" {
		t.Errorf("the permission became %q", p)
	}
}

func TestFingerprint(t *testing.T) {
	t.Parallel()
	made := func(name, doc string) string {
		return tool.New(tool.Spec{Name: name, Description: doc}, echo[skillInput]).Fingerprint()
	}
	base := made("a", "b")
	if base != made("a", "b") || len(base) != 64 {
		t.Errorf("not stable: %s", base)
	}
	other := tool.New(tool.Spec{Name: "a", Description: "b"}, echo[patchInput]).Fingerprint()
	for _, f := range []string{made("ab", ""), made("a", "c"), other} {
		if f == base {
			t.Errorf("two tools have one fingerprint")
		}
	}
}

func TestNewPanics(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]func(){
		"no name":     func() { make1[skillInput]("") },
		"bad name":    func() { make1[skillInput]("a b") },
		"long name":   func() { make1[skillInput](strings.Repeat("a", 129)) },
		"no struct":   func() { make1[int]("x") },
		"no function": func() { tool.New[skillInput](tool.Spec{Name: "x"}, nil) },
		"bad min": func() {
			make1[struct {
				A int `min:"x"`
			}]("x")
		},
		"min of text": func() {
			make1[struct {
				A string `min:"1"`
			}]("x")
		},
		"bad default": func() {
			make1[struct {
				A int `default:"x"`
			}]("x")
		},
		"odd default": func() {
			make1[struct {
				A string `enum:"a,b" default:"c"`
			}]("x")
		},
		"bad coerce": func() {
			make1[struct {
				A string `coerce:"number"`
			}]("x")
		},
		"bad enum": func() {
			make1[struct {
				A bool `enum:"a"`
			}]("x")
		},
		"bad minItems": func() {
			make1[struct {
				A string `minItems:"1"`
			}]("x")
		},
		"bytes": func() { make1[struct{ A []byte }]("x") },
		"as string": func() {
			make1[struct {
				A int `json:"a,string"`
			}]("x")
		},
		"function": func() { make1[struct{ A func() }]("x") },
		"bad schema": func() {
			tool.New(tool.Spec{Name: "x", Schema: &jsonschema.Schema{Type: "array"}}, echo[skillInput])
		},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			f()
		})
	}
}

func TestDynamicRefuses(t *testing.T) {
	t.Parallel()
	loop := &jsonschema.Schema{Type: "object"}
	loop.Items = loop
	wide := &jsonschema.Schema{Type: "object"}
	for range 10_000 {
		wide.AnyOf = append(wide.AnyOf, &jsonschema.Schema{})
	}
	deep := &jsonschema.Schema{}
	for range 64 {
		deep = &jsonschema.Schema{Items: deep}
	}
	// Each definition holds the next twice, in place or one level down.
	bomb := func(format string) *jsonschema.Schema {
		var b strings.Builder
		b.WriteString(`{"type":"object","properties":{"x":{"$ref":"#/$defs/d0"}},"$defs":{"d40":{}`)
		for i := range 40 {
			fmt.Fprintf(&b, `,"d%d":`, i)
			fmt.Fprintf(&b, format, i+1, i+1)
		}
		b.WriteString("}}")
		return schemaOf(t, b.String())
	}
	for name, s := range map[string]*jsonschema.Schema{
		"array":         {Type: "array"},
		"types":         {Types: []string{"object", "null"}},
		"false":         schemaOf(t, `false`),
		"remote":        schemaOf(t, `{"type":"object","properties":{"a":{"$ref":"https://example.com/x.json"}}}`),
		"relative":      schemaOf(t, `{"type":"object","properties":{"a":{"$ref":"x.json#/a"}}}`),
		"self":          schemaOf(t, `{"type":"object","$ref":"#"}`),
		"self in allOf": schemaOf(t, `{"type":"object","properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"allOf":[{"$ref":"#/$defs/b"}]},"b":{"anyOf":[{"$ref":"#/$defs/a"}]}}}`),
		"pointer loop":  loop,
		"wide":          wide,
		"deep":          {Type: "object", Items: deep},
		"nil":           {Type: "object", AllOf: []*jsonschema.Schema{nil}},
		"bomb in place": bomb(`{"allOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]}`),
		"bomb below":    bomb(`{"properties":{"a":{"$ref":"#/$defs/d%d"},"b":{"$ref":"#/$defs/d%d"}}}`),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := tool.Dynamic(tool.Spec{Name: "x", Schema: s}, raw)
			if e, ok := errors.AsType[*tool.Error](err); !ok || e.Code != "bad-schema" || e.Kind != tool.Failed {
				t.Errorf("got %#v", err)
			}
		})
	}
	for _, name := range []string{"", "a b", "../bash", "é", strings.Repeat("x", 129)} {
		if _, err := tool.Dynamic(tool.Spec{Name: name}, raw); err == nil {
			t.Errorf("the name %q was taken", name)
		}
	}
	if _, err := tool.Dynamic(tool.Spec{Name: "x"}, nil); err == nil {
		t.Error("a tool without a function was taken")
	}
}

type nobody struct{}

func (nobody) Ask(context.Context, *tool.Call, ...permission.Request) error { return nil }
func (nobody) Allowed(*tool.Call, permission.Request) bool                  { return true }
func (nobody) Filter(*tool.Call, string) (func(...string) bool, string)     { return nil, "" }
func (nobody) Progress(*tool.Call, string, map[string]any)                  {}

func TestRun(t *testing.T) {
	t.Parallel()
	failed := tool.Failf("No.")
	one := tool.New(tool.Spec{Name: "one"}, func(ctx context.Context, c *tool.Call, in skillInput) (*tool.Result, error) {
		switch in.Name {
		case "nil":
			return nil, nil
		case "error":
			return nil, failed
		}
		return &tool.Result{Output: in.Name}, c.Ask(ctx, permission.Request{})
	})
	run := func(input string) (*tool.Result, error) {
		return one.Run(t.Context(), &tool.Call{Input: json.RawMessage(input), Host: nobody{}})
	}
	res, err := run(`{"name":"x"}`)
	if err != nil || res.Output != "x" || res.Metadata == nil {
		t.Errorf("got %+v, %v", res, err)
	}
	if _, err := run(`{"name":"nil"}`); tool.KindOf(err) != tool.Internal {
		t.Errorf("neither result nor error: got %v", err)
	}
	if _, err := run(`{"name":"error"}`); err != error(failed) {
		t.Errorf("the error was changed: %v", err)
	}
	if _, err := run(`{"name":`); tool.KindOf(err) != tool.InvalidInput {
		t.Errorf("unchecked input: got %v", err)
	}
}
