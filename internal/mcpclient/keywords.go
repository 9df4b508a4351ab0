package mcpclient

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/helve-dev/helve/internal/text"

	"github.com/google/jsonschema-go/jsonschema"
)

// known reports whether a keyword is supported, or differs from one only in case, which decoders
// may ignore.
func known(key string) bool {
	words := [...]string{
		"$id", "id", "$schema", "$ref", "$comment", "$defs", "definitions", "$anchor", "$dynamicAnchor", "$dynamicRef",
		"$recursiveAnchor", "$recursiveRef", "$vocabulary", "title", "description", "default", "deprecated", "readOnly",
		"writeOnly", "examples", "type", "enum", "const", "multipleOf", "minimum", "maximum", "exclusiveMinimum",
		"exclusiveMaximum", "minLength", "maxLength", "pattern", "prefixItems", "items", "additionalItems", "minItems",
		"maxItems", "uniqueItems", "contains", "minContains", "maxContains", "unevaluatedItems", "minProperties",
		"maxProperties", "required", "dependentRequired", "properties", "patternProperties", "additionalProperties",
		"propertyNames", "unevaluatedProperties", "allOf", "anyOf", "oneOf", "not", "if", "then", "else",
		"dependentSchemas", "dependencies", "contentEncoding", "contentMediaType", "contentSchema", "format",
		"nullable", "discriminator",
	}
	return slices.ContainsFunc(words[:], func(w string) bool { return strings.EqualFold(w, key) })
}

// number reads a number, also one that was sent as a text.
func (p *place) number(key string) (f float64, ok bool) {
	v, there := p.m[key]
	switch v := v.(type) {
	case json.Number:
		f, _ = float(v)
		_, err := v.Float64()
		ok = err == nil
	case string:
		var err error
		f, err = strconv.ParseFloat(strings.TrimSpace(v), 64)
		ok = err == nil && !math.IsInf(f, 0) && !math.IsNaN(f)
	}
	if there && !ok {
		_, flag := v.(bool) // of an exclusive limit in an old draft
		p.facts.loose = p.facts.loose || !flag
	}
	return f, ok
}

// size reads a number of things.
func (p *place) size(key string) *int {
	f, ok := p.number(key)
	if !ok {
		return nil
	}
	if f < 0 || f != math.Trunc(f) || f > math.MaxInt32 {
		p.facts.loose = true
		return nil
	}
	n := int(f)
	return &n
}

// scalars reads what limits values of any kind, and numbers.
func (p *place) scalars() error {
	p.values()
	if f, ok := p.number("multipleOf"); ok {
		p.facts.deep = true
		if f >= 1 && f == math.Trunc(f) && f <= 1<<53 {
			p.s.MultipleOf = &f
		} else { // fractions have no remainder that one could trust
			p.facts.loose = true
		}
	}
	p.limit("minimum", "exclusiveMinimum", &p.s.Minimum, &p.s.ExclusiveMinimum)
	p.limit("maximum", "exclusiveMaximum", &p.s.Maximum, &p.s.ExclusiveMaximum)
	return nil
}

// values reads the list of values that fit.
func (p *place) values() {
	if v, ok := p.m["enum"]; ok {
		list, isList := v.([]any)
		if !isList && kindOf(v) != "an object" && v != nil {
			list = []any{v}
		}
		out, exact := plain(list)
		if len(list) > 0 && exact {
			p.s.Enum, _ = out.([]any)
		} else {
			p.facts.loose = true
		}
	}
	if v, ok := p.m["const"]; ok {
		out, exact := plain(v)
		if exact {
			p.s.Const = &out
			p.facts.deep = p.facts.deep || p.s.Enum != nil
		} else {
			p.facts.loose = true
		}
	}
}

// limit reads a numeric limit. In old drafts a boolean says whether it is exclusive.
func (p *place) limit(inclusive, exclusive string, with, without **float64) {
	at, ok := p.number(inclusive)
	flag, _ := p.m[exclusive].(bool)
	beyond, okBeyond := p.number(exclusive)
	if flag && ok {
		beyond, okBeyond, ok = at, true, false
	}
	if okBeyond && math.Abs(beyond) >= 1<<53 { // floats cannot distinguish it from the next integer
		p.facts.loose = true
		if !ok {
			at, ok = beyond, true
		}
		okBeyond = false
	}
	if ok {
		*with = &at
	}
	if okBeyond {
		*without = &beyond
	}
}

// strings reads what limits texts.
func (p *place) strings() error {
	p.s.MinLength, p.s.MaxLength = p.size("minLength"), p.size("maxLength")
	v, ok := p.m["pattern"]
	if !ok {
		return nil
	}
	expr, _ := v.(string)
	switch p.pattern(expr) {
	case checked:
		p.s.Pattern = expr
	case other: // for the model to read
		p.s.Pattern, p.facts.loose = expr, true
	default:
		p.facts.loose = p.facts.loose || expr != ""
	}
	return nil
}

// arrays reads what limits lists.
func (p *place) arrays() error {
	prefix, f, err := p.list("prefixItems")
	if err != nil {
		return err
	}
	p.facts.add(f)
	rest := "items"
	if _, ok := p.m["items"].([]any); ok {
		rest = "additionalItems"
		if list, _ := p.m["items"].([]any); len(list) > 0 {
			if prefix, f, err = p.list("items"); err != nil {
				return err
			}
			p.facts.add(f)
		}
	}
	p.s.PrefixItems = prefix
	if err := p.single(&p.s.Items, rest); err != nil {
		return err
	}
	p.s.MinItems, p.s.MaxItems = p.size("minItems"), p.size("maxItems")
	p.s.UniqueItems, _ = p.m["uniqueItems"].(bool)
	p.facts.deep = p.facts.deep || p.s.UniqueItems
	if v, ok := p.m["contains"]; ok {
		s, f, err := p.schema(v, p.depth+1)
		if err != nil {
			return err
		}
		p.facts.add(facts{loose: f.loose, deep: true})
		p.s.Contains, p.s.MinContains = s, p.size("minContains")
		if !f.loose {
			p.s.MaxContains = p.size("maxContains")
		}
	}
	if _, ok := p.m["unevaluatedItems"]; ok {
		p.facts.deep = true
	}
	return p.single(&p.s.UnevaluatedItems, "unevaluatedItems")
}

// objects reads what limits objects.
func (p *place) objects() (err error) {
	if p.s.Properties, err = p.named("properties"); err != nil {
		return err
	}
	p.required()
	if err := p.single(&p.s.AdditionalProperties, "additionalProperties"); err != nil {
		return err
	}
	if err := p.patterns(); err != nil {
		return err
	}
	p.s.MinProperties, p.s.MaxProperties = p.size("minProperties"), p.size("maxProperties")
	if err := p.single(&p.s.PropertyNames, "propertyNames"); err != nil {
		return err
	}
	if err := p.single(&p.s.UnevaluatedProperties, "unevaluatedProperties"); err != nil {
		return err
	}
	if p.s.MinProperties != nil || p.s.MaxProperties != nil || p.s.PropertyNames != nil || p.s.UnevaluatedProperties != nil {
		p.facts.deep = true
	}
	return nil
}

// required reads which keys there must be: a list here or, in the oldest
// draft, a flag in the schema of the key.
func (p *place) required() {
	names, wrong := texts(p.m["required"])
	_, flag := p.m["required"].(bool)
	p.facts.loose = p.facts.loose || wrong && !flag
	props, _ := p.m["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(props)) {
		sub, _ := props[name].(map[string]any)
		if yes, _ := sub["required"].(bool); yes {
			names = append(names, name)
		}
	}
	p.s.Required = once(names)
}

// texts returns the texts in a list, or the one that is not in a list, and
// whether there was anything else.
func texts(v any) (out []string, wrong bool) {
	switch v := v.(type) {
	case nil:
	case string:
		out = []string{v}
	case []any:
		for _, x := range v {
			if s, ok := x.(string); ok {
				out = append(out, s)
			} else {
				wrong = true
			}
		}
	default:
		wrong = true
	}
	return out, wrong
}

// once removes duplicates from a list.
func once(list []string) []string {
	seen := make(map[string]bool, len(list))
	return slices.DeleteFunc(list, func(s string) bool {
		twice := seen[s]
		seen[s] = true
		return twice
	})
}

// patterns reads the schemas of keys that match a pattern.
func (p *place) patterns() error {
	all, ok := p.m["patternProperties"].(map[string]any)
	if len(all) == 0 {
		_, there := p.m["patternProperties"]
		p.facts.loose = p.facts.loose || there && !ok
		return nil
	}
	p.facts.deep = true
	out := map[string]*jsonschema.Schema{}
	for _, expr := range slices.Sorted(maps.Keys(all)) {
		kind := p.pattern(expr)
		if text.HasHidden(expr) {
			kind = foreignBroken
		}
		if kind != checked { // which keys it means is not known
			p.facts.loose = true
			p.s.AdditionalProperties = &jsonschema.Schema{}
		}
		if kind == foreignBroken {
			continue
		}
		s, err := p.sub(all[expr])
		if err != nil {
			return err
		}
		out[expr] = s
	}
	if len(out) > 0 {
		p.s.PatternProperties = out
	}
	return nil
}

// dependents reads what follows from the presence of a key.
func (p *place) dependents() error {
	schemas, lists := map[string]any{}, map[string][]string{}
	for _, key := range [...]string{"dependencies", "dependentSchemas", "dependentRequired"} {
		m, ok := p.m[key].(map[string]any)
		if !ok {
			_, there := p.m[key]
			p.facts.loose = p.facts.loose || there
			continue
		}
		for name, v := range m {
			switch v.(type) {
			case map[string]any, bool:
				_, twice := schemas[name]
				p.facts.loose = p.facts.loose || twice
				schemas[name] = v
			default:
				names, wrong := texts(v)
				p.facts.loose = p.facts.loose || wrong
				lists[name] = once(append(lists[name], names...))
			}
		}
	}
	p.facts.deep = p.facts.deep || len(schemas) > 0 || len(lists) > 0
	if len(lists) > 0 {
		p.s.DependentRequired = lists
	}
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		s, err := p.sub(schemas[name])
		if err != nil {
			return err
		}
		if p.s.DependentSchemas == nil {
			p.s.DependentSchemas = map[string]*jsonschema.Schema{}
		}
		p.s.DependentSchemas[name] = s
	}
	return nil
}
