package mcpclient

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/helve-dev/helve/tool"

	"github.com/google/jsonschema-go/jsonschema"
	reference "github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"
)

// A schemer draws schemas and values that may fit them.
type schemer struct {
	t   *rapid.T
	old bool // draft-07
}

func (g schemer) pick(label string, from ...string) string {
	return rapid.SampledFrom(from).Draw(g.t, label)
}

func (g schemer) chance(label string, oneIn int) bool {
	return rapid.IntRange(1, oneIn).Draw(g.t, label) == 1
}

func (g schemer) key() string { return g.pick("key", "a", "b", "c", "x-1") }

// root draws the schema of an object with definitions.
func (g schemer) root() map[string]any {
	m := g.object(3)
	m["type"] = "object"
	if g.chance("combined", 2) {
		g.combine(m, 2, true)
	}
	defs := "$defs"
	if g.old {
		m["$schema"] = "http://json-schema.org/draft-07/schema#"
		defs = "definitions"
	}
	m[defs] = map[string]any{"d": g.schema(2), "e": g.schema(1), "o": g.object(1)}
	return m
}

func (g schemer) schema(depth int) any {
	kinds := []string{"string", "number", "integer", "boolean", "null", "enum", "const", "types", "any"}
	if depth > 0 {
		kinds = append(kinds, "object", "object", "array", "combined", "combined", "ref", "bool")
	}
	var m map[string]any
	switch kind := g.pick("kind", kinds...); kind {
	case "bool":
		return !g.chance("never", 4)
	case "object":
		m = g.object(depth)
		m["type"] = "object"
	case "array":
		m = g.array(depth)
	case "combined":
		m = map[string]any{}
		g.combine(m, depth, false)
	case "ref":
		at := "#/$defs/"
		if g.old {
			at = "#/definitions/"
		}
		m = map[string]any{"$ref": at + g.pick("def", "d", "e")}
		if g.chance("beside", 4) {
			m["minLength"] = 2
		}
	case "any":
		m = map[string]any{"description": "any"}
	default:
		m = g.scalar(kind)
	}
	if g.chance("default", 6) {
		m["default"] = g.value(m, 1)
	}
	return m
}

func (g schemer) scalar(kind string) map[string]any {
	m := map[string]any{"type": kind}
	switch kind {
	case "string":
		if g.chance("pattern", 4) {
			m["pattern"] = g.pick("expr", "^a", "^[ab]*$", "b")
		}
		if g.chance("length", 4) {
			m["minLength"], m["maxLength"] = 1, rapid.IntRange(1, 3).Draw(g.t, "max")
		}
		if g.chance("format", 8) {
			m["format"] = "email"
		}
	case "number", "integer":
		if g.chance("limit", 3) {
			m[g.pick("low", "minimum", "exclusiveMinimum")] = rapid.IntRange(-2, 1).Draw(g.t, "low")
		}
		if g.chance("limit", 3) {
			m[g.pick("high", "maximum", "exclusiveMaximum")] = rapid.IntRange(1, 4).Draw(g.t, "high")
		}
		if g.chance("multiple", 4) {
			m["multipleOf"] = rapid.SampledFrom([]any{1, 2, 3, 0.1, 0.5}).Draw(g.t, "of")
		}
	case "enum":
		m = map[string]any{"enum": []any{"a", 1, nil, []any{1}, g.value(map[string]any{}, 1)}}
		slices.SortFunc(m["enum"].([]any), func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		m["enum"] = slices.CompactFunc(m["enum"].([]any), func(a, b any) bool { return fmt.Sprint(a) == fmt.Sprint(b) })
	case "const":
		m = map[string]any{"const": g.value(map[string]any{}, 1)}
	case "types":
		m["type"] = []any{"string", g.pick("other", "null", "integer", "boolean")}
	}
	return m
}

func (g schemer) array(depth int) map[string]any {
	m := map[string]any{"type": "array"}
	if g.chance("prefix", 3) {
		first, rest := "prefixItems", "items"
		if g.old {
			first, rest = "items", "additionalItems"
		}
		m[first] = []any{g.schema(depth - 1), g.schema(depth - 1)}
		if g.chance("rest", 2) {
			m[rest] = g.schema(depth - 1)
		}
	} else {
		m["items"] = g.schema(depth - 1)
	}
	if g.chance("contains", 5) {
		m["contains"] = g.schema(depth - 1)
		if !g.old && g.chance("most", 2) {
			m["maxContains"] = 1
		}
	}
	if g.chance("unique", 5) {
		m["uniqueItems"] = true
	}
	if g.chance("size", 4) {
		m["minItems"], m["maxItems"] = 1, 2
	}
	return m
}

func (g schemer) object(depth int) map[string]any {
	m := map[string]any{}
	props := map[string]any{}
	for range rapid.IntRange(0, 3).Draw(g.t, "props") {
		props[g.key()] = g.schema(depth - 1)
	}
	m["properties"] = props
	if g.chance("required", 3) {
		m["required"] = []any{g.key()}
	}
	if g.chance("rest", 3) {
		m["additionalProperties"] = g.schema(0)
		if g.chance("closed", 2) {
			m["additionalProperties"] = g.chance("open", 2)
		}
	}
	if g.chance("patterns", 6) {
		m["patternProperties"] = map[string]any{g.pick("expr", "^x-", "^a", "b|c"): g.schema(0)}
	}
	if g.chance("count", 8) {
		m[g.pick("bound", "minProperties", "maxProperties")] = rapid.IntRange(1, 2).Draw(g.t, "n")
	}
	if g.chance("names", 8) {
		m["propertyNames"] = map[string]any{"maxLength": rapid.IntRange(1, 3).Draw(g.t, "n")}
	}
	if g.chance("depends", 6) {
		word, needs := "dependentRequired", any([]any{g.key()})
		if g.old {
			word = "dependencies"
			if g.chance("schema", 2) {
				needs = g.object(0)
			}
		}
		m[word] = map[string]any{g.key(): needs}
	}
	return m
}

// combine adds what combines schemas. For the whole the parts are of objects,
// or nothing would fit.
func (g schemer) combine(m map[string]any, depth int, whole bool) {
	sub := func() any {
		if whole {
			return g.object(depth - 1)
		}
		return g.schema(depth - 1)
	}
	switch word := g.pick("word", "allOf", "anyOf", "oneOf", "not", "if", "unevaluated"); word {
	case "not":
		m["not"] = sub()
	case "if":
		m["if"], m["then"], m["else"] = sub(), sub(), sub()
	case "unevaluated":
		m["anyOf"] = []any{sub(), sub()}
		if !g.old {
			m[g.pick("which", "unevaluatedProperties", "unevaluatedItems")] = g.schema(0)
		}
	default:
		m[word] = []any{sub(), sub(), sub()}[:rapid.IntRange(1, 3).Draw(g.t, "n")]
	}
}

// value draws a value that has a fair chance to fit a schema.
func (g schemer) value(s any, depth int) any {
	m, _ := s.(map[string]any)
	if list, ok := m["enum"].([]any); ok && len(list) > 0 {
		return rapid.SampledFrom(list).Draw(g.t, "option")
	}
	if v, ok := m["const"]; ok {
		return v
	}
	for _, word := range []string{"allOf", "anyOf", "oneOf"} {
		if list, ok := m[word].([]any); ok && m["type"] == nil {
			return g.value(rapid.SampledFrom(list).Draw(g.t, "branch"), depth)
		}
	}
	kind, _ := m["type"].(string)
	if kind == "" || g.chance("other", 12) {
		kind = g.pick("kind", "string", "number", "integer", "boolean", "null", "object", "array")
	}
	switch kind {
	case "string":
		return g.pick("text", "", "a", "ab", "abb", "b", "ä")
	case "number":
		return rapid.SampledFrom([]any{0, 1, 2, 0.3, 1.5, -1, 3}).Draw(g.t, "n")
	case "integer":
		return rapid.IntRange(-2, 6).Draw(g.t, "i")
	case "boolean":
		return rapid.Bool().Draw(g.t, "bool")
	case "array":
		return g.items(m, depth)
	case "object":
		return g.members(m, depth)
	}
	return nil
}

func (g schemer) items(m map[string]any, depth int) any {
	out := []any{}
	if depth <= 0 {
		return out
	}
	for i := range rapid.IntRange(0, 3).Draw(g.t, "len") {
		item := m["items"]
		for _, word := range []string{"prefixItems", "items"} {
			if list, ok := m[word].([]any); ok && i < len(list) {
				item = list[i]
			}
		}
		out = append(out, g.value(item, depth-1))
	}
	return out
}

func (g schemer) members(m map[string]any, depth int) map[string]any {
	out := map[string]any{}
	if depth <= 0 {
		return out
	}
	props, _ := m["properties"].(map[string]any)
	for _, name := range []string{"a", "b", "c", "x-1"} {
		if g.chance("there", 2) {
			out[name] = g.value(props[name], depth-1)
		}
	}
	return out
}

// foreignNames reports whether a schema says something about a key.
func foreignNames(s *jsonschema.Schema, key string) bool {
	for expr := range s.PatternProperties {
		if ok, _ := regexp.MatchString(expr, key); ok {
			return true
		}
	}
	return s.Properties[key] != nil
}

// judge compiles a schema with the reference validator.
func judge(t *rapid.T, schema []byte) *reference.Schema {
	doc, err := reference.UnmarshalJSON(strings.NewReader(string(schema)))
	if err != nil {
		t.Fatal(err)
	}
	c := reference.NewCompiler()
	c.DefaultDraft(reference.Draft2020)
	if err := c.AddResource("mem:///schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("mem:///schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func foreignAsJSON(t *rapid.T, v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func fromJSON(t *rapid.T, raw []byte) any {
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// TestArgumentsStillFit: what fits the schema of a server fits the schema we
// make of it, and arrives as it was sent, but for keys that are named nowhere.
func TestArgumentsStillFit(t *testing.T) {
	fitting, all := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		g := schemer{t: t, old: rapid.Bool().Draw(t, "old")}
		root := g.root()
		raw := foreignAsJSON(t, root)
		s, err := given(string(raw)).Schema()
		if err != nil {
			if strings.Contains(err.Error(), "without end") || strings.Contains(err.Error(), "more than") {
				t.Skip(err)
			}
			t.Fatalf("%s\nis refused: %v", raw, err)
		}
		want := judge(t, raw)
		made := dynamic(t, s)
		for range 8 {
			in := g.members(root, 3)
			if isNothing(s.AdditionalProperties) {
				maps.DeleteFunc(in, func(key string, _ any) bool { return !foreignNames(s, key) })
			}
			args := foreignAsJSON(t, in)
			all++
			if want.Validate(fromJSON(t, args)) != nil {
				continue
			}
			fitting++
			call := tool.Call{Input: args}
			if _, err := made.Check(&call, false); err != nil {
				t.Fatalf("%s\nbecame %s\nand refuses %s: %v", raw, foreignAsJSON(t, s), args, err)
			}
			if !reflect.DeepEqual(fromJSON(t, args), fromJSON(t, call.Input)) {
				t.Fatalf("%s\nbecame %s\nand makes %s of %s", raw, foreignAsJSON(t, s), call.Input, args)
			}
		}
	})
	t.Logf("%d of %d arguments fit", fitting, all)
	if fitting*10 < all {
		t.Errorf("only %d of %d arguments fit, which shows little", fitting, all)
	}
}
