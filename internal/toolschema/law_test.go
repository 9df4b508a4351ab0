package toolschema

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"
)

// A draw makes schemas and values that are likely to fit them.
type draw struct{ t *rapid.T }

func (d draw) pick(label string, n int) int { return rapid.IntRange(0, n-1).Draw(d.t, label) }

func (d draw) yes(label string) bool { return rapid.Bool().Draw(d.t, label) }

// schema draws a schema; refs may be to $defs a, b and c.
func (d draw) schema(depth int) any {
	n := 18
	if depth <= 0 {
		n = 8
	}
	switch d.pick("kind", n) {
	case 0:
		return map[string]any{"type": "string", "minLength": d.pick("min", 2), "description": "words"}
	case 1:
		return map[string]any{"type": "integer", "exclusiveMinimum": d.pick("min", 3), "maximum": 9}
	case 2:
		return map[string]any{"type": []any{"string", "null", "integer"}, "enum": []any{"a", nil, 1}, "maxLength": 2}
	case 3:
		return map[string]any{"const": "a"}
	case 4:
		return d.yes("open")
	case 5:
		return map[string]any{"$ref": "#/$defs/" + string("abc"[d.pick("ref", 3)])}
	case 6:
		return map[string]any{"type": "boolean", "default": true}
	case 7:
		return map[string]any{"not": map[string]any{"type": "string"}}
	case 8, 9:
		return d.object(depth)
	case 10:
		return map[string]any{"type": "array", "items": d.schema(depth - 1), "maxItems": 1 + d.pick("max", 3)}
	case 11:
		out := map[string]any{"type": "array", "prefixItems": []any{d.schema(depth - 1), d.schema(depth - 1)}}
		switch d.pick("rest", 3) {
		case 0:
			out["items"] = false
		case 1:
			out["items"] = d.schema(depth - 1)
		}
		return out
	case 12:
		return map[string]any{"anyOf": []any{d.schema(depth - 1), d.schema(depth - 1)}, "title": "either"}
	case 13:
		return map[string]any{"oneOf": []any{d.schema(depth - 1), d.schema(depth - 1)}}
	case 14:
		return map[string]any{"allOf": []any{d.schema(depth - 1), d.schema(depth - 1)}}
	case 15:
		return map[string]any{"if": d.schema(depth - 1), "then": d.schema(depth - 1)}
	case 16:
		return map[string]any{"type": []any{"array", "object", "null"}, "items": d.schema(depth - 1)}
	}
	return map[string]any{"allOf": []any{map[string]any{"$ref": "#/$defs/a"}}, "description": "d", "maxProperties": 2}
}

func (d draw) object(depth int) map[string]any {
	props := map[string]any{}
	for i := range d.pick("properties", 3) {
		props[fmt.Sprintf("p%d", i)] = d.schema(depth - 1)
	}
	out := map[string]any{"type": "object", "properties": props, "required": []any{"p0"}}
	switch d.pick("more", 5) {
	case 0:
		out["additionalProperties"] = false
	case 1:
		out["additionalProperties"] = d.schema(depth - 1)
	case 2:
		out["patternProperties"] = map[string]any{"^q": d.schema(depth - 1)}
		out["additionalProperties"] = false
	case 3:
		out["unevaluatedProperties"] = false
	}
	return out
}

func (d draw) root() map[string]any {
	out := d.object(3)
	switch d.pick("root", 4) {
	case 0:
		// The members of a union at the root know their own properties only.
		var members []any
		for range 1 + d.pick("members", 3) {
			m := d.object(2)
			m["additionalProperties"] = false
			delete(m, "patternProperties")
			members = append(members, m)
		}
		out = map[string]any{[]string{"anyOf", "oneOf"}[d.pick("union", 2)]: members}
	case 1:
		out = map[string]any{"allOf": []any{d.object(2), d.object(2), map[string]any{"$ref": "#/$defs/a"}}}
	}
	out["$defs"] = map[string]any{"a": d.object(1), "b": d.schema(1), "c": d.schema(0)}
	return out
}

// value draws a value that has a chance to fit.
func (d draw) value(depth int) any {
	n := 8
	if depth <= 0 {
		n = 6
	}
	switch d.pick("value", n) {
	case 0:
		return "a"
	case 1:
		return json.Number("1")
	case 2:
		return nil
	case 3:
		return true
	case 4:
		return json.Number("5")
	case 5:
		return ""
	case 6:
		out := []any{}
		for range d.pick("elements", 3) {
			out = append(out, d.value(depth-1))
		}
		return out
	}
	return d.arguments(depth)
}

func (d draw) arguments(depth int) map[string]any {
	out := map[string]any{}
	for _, name := range []string{"p0", "p1", "q", "r"} {
		if d.yes("has " + name) {
			out[name] = d.value(depth - 1)
		}
	}
	return out
}

func compile(schema []byte) (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(schema)))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", doc); err != nil {
		return nil, err
	}
	return c.Compile("schema.json")
}

// What a schema takes, the fitted one takes too.
func TestNeverStricter(t *testing.T) {
	fitting := 0
	rapid.Check(t, func(rt *rapid.T) {
		d := draw{rt}
		raw, err := json.Marshal(d.root())
		if err != nil {
			rt.Fatal(err)
		}
		before, err := compile(raw)
		if err != nil {
			rt.Skip(err)
		}
		var after []*jsonschema.Schema
		var texts []string
		for _, dialect := range dialects() {
			out, err := fit(t, dialect, string(raw))
			if err != nil {
				if !strings.Contains(err.Error(), "fits") {
					rt.Fatalf("%s: %v", raw, err)
				}
				continue
			}
			s, err := compile([]byte(out))
			if err != nil {
				rt.Fatalf("%s: %v", out, err)
			}
			after, texts = append(after, s), append(texts, out)
		}
		for range 12 {
			v := d.arguments(3)
			if before.Validate(v) != nil {
				continue
			}
			fitting++
			for i, s := range after {
				if err := s.Validate(v); err != nil {
					rt.Fatalf("stricter\nof  %s\nis  %s\nfor %v: %v", raw, texts[i], v, err)
				}
			}
		}
	})
	if fitting == 0 {
		t.Error("no value fitted any schema")
	}
}

// The dialects keep to their words.
func TestWords(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		raw, err := json.Marshal(draw{rt}.root())
		if err != nil {
			rt.Fatal(err)
		}
		for _, d := range []Dialect{OpenAI, Simple} {
			out, err := fit(t, d, string(raw))
			if err != nil {
				continue
			}
			for _, word := range []string{"oneOf", "allOf", "not", "if", "prefixItems", "patternProperties", "unevaluatedProperties"} {
				if strings.Contains(out, `"`+word+`":`) {
					rt.Fatalf("%s has %s: %s", d, word, out)
				}
			}
			for _, word := range []string{"$ref", "$defs", "const", "additionalProperties", `type":[`} {
				if d == Simple && strings.Contains(out, `"`+word) {
					rt.Fatalf("%s has %s: %s", d, word, out)
				}
			}
		}
	})
}

// Schemas whose parts were exchanged for each other, and for references to
// anywhere, keep the laws.
func TestTangled(t *testing.T) {
	part := regexp.MustCompile(`\{[^{}]*\}`)
	ref := regexp.MustCompile(`"\$ref":"[^"]*"`)
	var all []string
	for _, schema := range realistic(t) {
		all = append(all, string(schema))
	}
	slices.Sort(all)
	rapid.Check(t, func(rt *rapid.T) {
		s := rapid.SampledFrom(all).Draw(rt, "schema")
		refs := append(ref.FindAllString(s, -1), `"$ref":"#"`, `"allOf":[{"$ref":"#"},{"$ref":"#"}]`, `"anyOf":[{"$ref":"#"},{}]`)
		parts := part.FindAllString(s, -1)
		for range rapid.IntRange(1, 4).Draw(rt, "changes") {
			at := rapid.SampledFrom(part.FindAllStringIndex(s, -1)).Draw(rt, "at")
			other := rapid.SampledFrom(parts).Draw(rt, "part")
			to := "{" + rapid.SampledFrom(refs).Draw(rt, "ref") + "}"
			by := rapid.SampledFrom([]string{to, other, `{"allOf":[` + other + `,` + to + `],"nullable":true}`}).Draw(rt, "by")
			s = s[:at[0]] + by + s[at[1]:]
		}
		for _, d := range dialects() {
			_, _ = fit(t, d, s)
		}
	})
}
