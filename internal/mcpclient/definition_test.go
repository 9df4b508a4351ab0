package mcpclient

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/helve-dev/helve/internal/text"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"pgregory.net/rapid"
)

func TestName(t *testing.T) {
	for _, c := range []struct{ server, tool, want string }{
		{"my.special-server", "tool-a", "my_special-server_tool-a"},
		{"my.special-server", "tool.b", "my_special-server_tool_b"},
		{"a b", "ü/\n", "a_b____"},
		{"", "", "_"},
	} {
		if got := ToolName(c.server, c.tool); got != c.want {
			t.Errorf("Name(%q, %q) = %q, want %q", c.server, c.tool, got, c.want)
		}
	}
}

func FuzzName(f *testing.F) {
	f.Add("my.special-server", "tool.b")
	f.Add("ü\x00", "\xff\u202e")
	f.Fuzz(func(t *testing.T, server, tool string) {
		got := ToolName(server, tool)
		if !strings.HasPrefix(got, ToolPrefix(server)) {
			t.Errorf("%q does not begin with %q", got, ToolPrefix(server))
		}
		if len(got) != utf8.RuneCountInString(server)+1+utf8.RuneCountInString(tool) {
			t.Errorf("%q has another length", got)
		}
		const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
		if strings.Trim(got, letters) != "" {
			t.Errorf("%q has other characters", got)
		}
		if cleanName(got) != got {
			t.Errorf("%q becomes %q", got, cleanName(got))
		}
	})
}

func TestDefinitionOf(t *testing.T) {
	no := false
	got, err := DefinitionOf("s", &mcp.Tool{
		Name: "t", Description: "a\u202eb\x1b", Annotations: &mcp.ToolAnnotations{Title: "T\nT", OpenWorldHint: &no, IdempotentHint: true},
		InputSchema: map[string]any{"type": "object", "b": 1.0, "a": "<"},
	})
	want := Definition{
		Server: "s", Tool: "t", Title: "T T", Description: `a\u{202e}b\x1b`,
		Input: json.RawMessage(`{"a":"<","b":1,"type":"object"}`), Destructive: true, Idempotent: true,
	}
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	got, err = DefinitionOf("s", &mcp.Tool{Name: "t", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}})
	if err != nil || !got.ReadOnly || got.Destructive || !got.OpenWorld || string(got.Input) != "null" {
		t.Errorf("%+v, %v", got, err)
	}
	long, err := DefinitionOf("s", &mcp.Tool{Name: "t", Description: strings.Repeat("é", 10_000)})
	if err != nil || long.Description != strings.Repeat("é", 8192)+"\n[3616 more bytes of this text were left out]" {
		t.Errorf("%d bytes, %v", len(long.Description), err)
	}
}

func TestDefinitionRefused(t *testing.T) {
	for _, c := range []struct {
		tool *mcp.Tool
		want string
	}{
		{nil, "there is no definition"},
		{&mcp.Tool{}, "the tool has no name"},
		{&mcp.Tool{Name: strings.Repeat("n", 127)}, `the name "` + strings.Repeat("n", 80) + `…" has 129 characters with the server's, and 128 are the most`},
		{&mcp.Tool{Name: "t", InputSchema: strings.Repeat("x", maxSchema)}, "its input schema has 262146 bytes, and 262144 are the most"},
		{&mcp.Tool{Name: "t", InputSchema: func() {}}, "its input schema is not JSON"},
		{&mcp.Tool{Name: "t", InputSchema: json.RawMessage("{")}, "its input schema is not JSON"},
		{&mcp.Tool{Name: "t", InputSchema: json.RawMessage(strings.Repeat("[", 300) + strings.Repeat("]", 300))}, "its input schema is nested more than 256 deep"},
	} {
		if _, err := DefinitionOf("s", c.tool); err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

func TestHash(t *testing.T) {
	d := sample()
	seen := map[string]string{d.Hash(): "itself"}
	for name, change := range map[string]func(*Definition){
		"server":      func(d *Definition) { d.Server = "x" },
		"tool":        func(d *Definition) { d.Tool = "x" },
		"description": func(d *Definition) { d.Description += " " },
		"title":       func(d *Definition) { d.Title += "x" },
		"origin":      func(d *Definition) { d.Origin = "x" },
		"read-only":   func(d *Definition) { d.ReadOnly = !d.ReadOnly },
		"destructive": func(d *Definition) { d.Destructive = !d.Destructive },
		"idempotent":  func(d *Definition) { d.Idempotent = !d.Idempotent },
		"open-world":  func(d *Definition) { d.OpenWorld = !d.OpenWorld },
		"schema":      func(d *Definition) { d.Input = json.RawMessage(`{"type":"object"}`) },
		"shifted":     func(d *Definition) { d.Server, d.Tool = d.Server+d.Tool[:1], d.Tool[1:] },
	} {
		other := d
		change(&other)
		if was, ok := seen[other.Hash()]; ok {
			t.Errorf("%s and %s have one hash", name, was)
		}
		seen[other.Hash()] = name
	}
	d.Input = json.RawMessage(` { "properties" : {"path":{"description":"\u0077here","type":"string"}},"type":"object"}`)
	if d.Hash() != sample().Hash() {
		t.Error("another spelling of the schema has another hash")
	}
}

// TestReadable: no text is longer than it may be, none hides anything, and
// none is cut without a word.
func TestReadable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.Just("\xff\x00"), rapid.Just("\u202e")).Draw(t, "s")
		s = strings.Repeat(s, rapid.IntRange(0, 20).Draw(t, "n"))
		got := readable(s, 100)
		if text.HasHidden(got) || !utf8.ValidString(got) {
			t.Fatalf("%q hides something", got)
		}
		if len(got) > 160 {
			t.Fatalf("%d bytes", len(got))
		}
		if len(shown(s)) > 100 && !strings.HasSuffix(got, "were left out]") {
			t.Fatalf("cut without a word: %q", got)
		}
	})
}

// FuzzSchema: whatever a server sends, its schema is refused with a reason or
// becomes one that tools can be made of, that can be written, and that stays
// what it is.
func FuzzSchema(f *testing.F) {
	f.Add([]byte(`{"type":"object","properties":{"a":{"type":"int","default":1,"nullable":true}},"required":"a"}`))
	f.Add([]byte(`{"$ref":"#/definitions/a","definitions":{"a":{"allOf":[{"$ref":"#"},{"oneOf":[{"multipleOf":2},false]}]}}}`))
	f.Add([]byte(`{"patternProperties":{"^(?=a)":{},"[":{}},"not":{"if":{"pattern":"("}},"items":[{}],"dependencies":{"a":["b"],"c":{}}}`))
	f.Fuzz(func(t *testing.T, raw []byte) { sound(t, raw) })
}

// failer is what tests and properties have in common.
type failer interface {
	Helper()
	Errorf(string, ...any)
	Fatalf(string, ...any)
}

// sound checks what holds for every schema.
func sound(t failer, raw []byte) {
	d := given(string(raw))
	d.Hash()
	s, err := d.Schema()
	if err != nil {
		if text.HasHidden(err.Error()) || len(err.Error()) > 500 {
			t.Errorf("the reason is %q", err)
		}
		return
	}
	dynamic(t, s)
	out, err := json.Marshal(s)
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	if len(out) < maxSchema/2 { // one that grew may be too large to be read again
		settled(t, string(raw), out)
	}
}

// TestAnySchema: keywords in any place with any value are no trouble.
func TestAnySchema(t *testing.T) {
	words := []string{
		"type", "properties", "required", "additionalProperties", "patternProperties", "items", "prefixItems", "additionalItems",
		"anyOf", "oneOf", "allOf", "not", "if", "then", "else", "$ref", "$defs", "definitions", "dependencies", "enum", "const",
		"minimum", "exclusiveMinimum", "multipleOf", "maxLength", "pattern", "format", "default", "title", "description",
		"examples", "nullable", "contains", "maxContains", "unevaluatedProperties", "unevaluatedItems", "$id", "$anchor",
		"$dynamicRef", "$schema", "uniqueItems", "propertyNames", "minProperties", "x-more", "Type", "a", "b",
	}
	leaves := []any{
		nil, true, false, 0, 1, -1, 2.5, 1e300, "", "string", "object", "a", "#", "#/$defs/a", "#/definitions/b", "#a", "^a", "(", "^(?=a)",
		"http://json-schema.org/draft-07/schema#", "u:a", "\u202e",
	}
	var draw func(t *rapid.T, depth int) any
	draw = func(t *rapid.T, depth int) any {
		kind := rapid.IntRange(0, 5).Draw(t, "kind")
		switch {
		case depth == 0 || kind == 0:
			return rapid.SampledFrom(leaves).Draw(t, "leaf")
		case kind == 1:
			list := []any{}
			for range rapid.IntRange(0, 3).Draw(t, "n") {
				list = append(list, draw(t, depth-1))
			}
			return list
		}
		m := map[string]any{}
		for range rapid.IntRange(0, 4).Draw(t, "n") {
			m[rapid.SampledFrom(words).Draw(t, "word")] = draw(t, depth-1)
		}
		return m
	}
	rapid.Check(t, func(t *rapid.T) { sound(t, foreignAsJSON(t, draw(t, 5))) })
}
