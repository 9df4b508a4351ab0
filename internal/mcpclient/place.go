package mcpclient

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/helve-dev/helve/internal/text"

	"github.com/google/jsonschema-go/jsonschema"
)

// A place is one schema while it is being read.
type place struct {
	*reader
	m     map[string]any // as it was sent
	s     *jsonschema.Schema
	depth int
	facts facts
}

// schema reads one schema: an object, a boolean, or what servers write for
// them.
func (r *reader) schema(v any, depth int) (*jsonschema.Schema, facts, error) {
	r.nodes++
	switch {
	case depth > maxDepth:
		return nil, facts{}, r.bad("its input schema is nested more than %d deep", maxDepth)
	case r.nodes > maxNodes:
		return nil, facts{}, r.bad("its input schema holds more than %d schemas", maxNodes)
	}
	var m map[string]any
	switch v := v.(type) {
	case nil:
	case map[string]any:
		m = v
	case bool:
		if !v {
			return neverSchema(), facts{}, nil
		}
	default:
		ok := false
		if m, ok = meant(v); !ok {
			return nil, facts{}, r.bad("its input schema has %s where a schema belongs", what(v))
		}
	}
	p := &place{reader: r, m: m, s: &jsonschema.Schema{}, depth: depth}
	if _, ok := m["$ref"].(string); ok && r.old {
		p.m = maps.Clone(m)
		maps.DeleteFunc(p.m, func(key string, _ any) bool { return !aside(key) || key == "type" })
	}
	for _, part := range [...]func() error{p.refs, p.kinds, p.scalars, p.strings, p.arrays, p.objects, p.dependents, p.logic} {
		if err := part(); err != nil {
			return nil, facts{}, err
		}
	}
	p.words()
	p.unknown()
	p.nullable()
	if p.facts.loose { // what is evaluated may not be what it was
		p.s.UnevaluatedItems, p.s.UnevaluatedProperties = nil, nil
	}
	return p.s, p.facts, nil
}

// meant returns the schema for two common mistakes: the bare name of a type, and an empty list,
// which is how some languages write an empty object.
func meant(v any) (map[string]any, bool) {
	switch v := v.(type) {
	case string:
		_, known := typeOf(v)
		return map[string]any{"type": v}, known
	case []any:
		return nil, len(v) == 0
	}
	return nil, false
}

// what names a value in a reason.
func what(v any) string {
	if s, ok := v.(string); ok {
		return "the text " + quoted(s)
	}
	return kindOf(v)
}

// sub reads a schema within this one, and takes its facts for this one's.
func (p *place) sub(v any) (*jsonschema.Schema, error) {
	s, f, err := p.schema(v, p.depth+1)
	p.facts.add(f)
	return s, err
}

// single reads the schema of a keyword into the place for it.
func (p *place) single(to **jsonschema.Schema, key string) error {
	v, ok := p.m[key]
	if !ok {
		return nil
	}
	switch x := v.(type) {
	case bool, map[string]any:
	case string:
		v, ok = x == "true", x == "true" || x == "false"
	case []any:
		ok = len(x) == 0
	default:
		ok = false
	}
	if !ok {
		p.facts.loose = true
		return nil
	}
	s, err := p.sub(v)
	*to = s
	return err
}

// list reads the schemas of a keyword. One that is not in a list counts as a
// list of one.
func (p *place) list(key string) ([]*jsonschema.Schema, facts, error) {
	var all facts
	v, ok := p.m[key]
	if !ok {
		return nil, all, nil
	}
	items, ok := v.([]any)
	if _, one := v.(map[string]any); one {
		items, ok = []any{v}, true
	}
	if !ok || len(items) == 0 {
		all.loose = true
		return nil, all, nil
	}
	out := make([]*jsonschema.Schema, 0, len(items))
	for _, item := range items {
		s, f, err := p.schema(item, p.depth+1)
		if err != nil {
			return nil, all, err
		}
		all.add(f)
		out = append(out, s)
	}
	return out, all, nil
}

// named reads the schemas that a keyword gives by name.
func (p *place) named(key string) (map[string]*jsonschema.Schema, error) {
	v, ok := p.m[key]
	if !ok || v == nil {
		return nil, nil
	}
	m, ok := v.(map[string]any)
	if list, _ := v.([]any); list != nil && len(list) == 0 {
		ok = true // how some languages write an empty object
	}
	if !ok {
		return nil, p.bad("its input schema has %s for %s, and an object is wanted", kindOf(v), key)
	}
	out := make(map[string]*jsonschema.Schema, len(m))
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if text.HasHidden(name) {
			return nil, p.bad("its input schema has a key with characters that can not be seen: %s", quoted(name))
		}
		p.path = append(p.path, name)
		s, err := p.sub(m[name])
		if err != nil {
			return nil, err
		}
		p.path = p.path[:len(p.path)-1]
		out[name] = s
	}
	return out, nil
}

// refs reads the references, which all become references to definitions of
// the whole.
func (p *place) refs() error {
	for _, key := range [...]string{"$ref", "$dynamicRef", "$recursiveRef"} {
		ref, ok := p.m[key].(string)
		if !ok {
			continue
		}
		name, err := p.refer(ref)
		if err != nil {
			return err
		}
		to := "#/$defs/" + name
		if p.s.Ref == "" {
			p.s.Ref = to
		} else {
			p.nodes++
			p.s.AllOf = append(p.s.AllOf, &jsonschema.Schema{Ref: to})
		}
		p.facts.add(p.assumed[name])
		p.facts.add(facts{loose: p.wary, deep: p.wary})
	}
	return nil
}

// typeOf returns the JSON type that a word means, "" for any.
func typeOf(word string) (string, bool) {
	switch strings.ToLower(word) {
	case "string", "str", "text":
		return "string", true
	case "integer", "int", "int32", "int64", "long":
		return "integer", true
	case "number", "float", "double", "decimal":
		return "number", true
	case "boolean", "bool":
		return "boolean", true
	case "array", "list", "tuple":
		return "array", true
	case "object", "dict", "map", "record":
		return "object", true
	case "null", "none", "nil":
		return "null", true
	case "any":
		return "", true
	}
	return "", false
}

// kinds reads the types.
func (p *place) kinds() error {
	var words []any
	switch v := p.m["type"].(type) {
	case nil:
		return nil
	case string:
		words = []any{v}
	case []any:
		words = v
	}
	var kinds []string
	for _, w := range words {
		word, _ := w.(string)
		kind, ok := typeOf(word)
		if !ok || kind == "" { // it could be anything
			p.facts.loose = true
			return nil
		}
		if !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	switch len(kinds) {
	case 0:
		p.facts.loose = true
	case 1:
		p.s.Type = kinds[0]
	default:
		p.s.Types = kinds
	}
	return nil
}

// logic reads what combines schemas. Inside a not, an if and a oneOf a schema
// that takes more would make the whole take less, so these give way.
func (p *place) logic() error {
	for _, part := range [...]struct {
		key string
		to  *[]*jsonschema.Schema
	}{{"allOf", &p.s.AllOf}, {"anyOf", &p.s.AnyOf}} {
		subs, f, err := p.list(part.key)
		if err != nil {
			return err
		}
		p.facts.add(f)
		// Other constraints of a null branch do not matter.
		odd := func(s *jsonschema.Schema) bool {
			return s.Type == "null" && (s.Enum != nil || s.Const != nil || s.Ref != "" || s.AllOf != nil || s.AnyOf != nil || s.OneOf != nil)
		}
		p.facts.deep = p.facts.deep || slices.ContainsFunc(subs, odd)
		*part.to = append(*part.to, subs...)
	}
	if err := p.oneOf(); err != nil {
		return err
	}
	if err := p.not(); err != nil {
		return err
	}
	return p.conditional()
}

// conditional reads if, then and else.
func (p *place) conditional() error {
	v, ok := p.m["if"]
	if !ok {
		return nil
	}
	cond, f, err := p.schema(v, p.depth+1)
	if err != nil || f.loose {
		p.facts.loose = true
		return err
	}
	p.s.If, p.facts.deep = cond, true
	if err := p.single(&p.s.Then, "then"); err != nil {
		return err
	}
	return p.single(&p.s.Else, "else")
}

// not reads the schema that must not fit.
func (p *place) not() error {
	v, ok := p.m["not"]
	if !ok {
		return nil
	}
	s, f, err := p.schema(v, p.depth+1)
	if err != nil || f.loose {
		p.facts.loose = true
		return err
	}
	p.s.Not, p.facts.deep = s, true
	return nil
}

// oneOf reads the schemas of which exactly one must match. If two branches cannot be distinguished
// with certainty, it becomes an anyOf.
func (p *place) oneOf() error {
	subs, f, err := p.list("oneOf")
	if err != nil || len(subs) == 0 {
		p.facts.add(f)
		return err
	}
	p.facts.add(f)
	null := func(s *jsonschema.Schema) bool { return s.Type == "null" }
	// That null may fit a second branch as well is not looked at.
	p.facts.deep = p.facts.deep || slices.ContainsFunc(subs, null)
	switch {
	case !f.loose && !f.deep:
		p.s.OneOf = subs
	case p.s.AnyOf == nil:
		p.s.AnyOf, p.facts.loose = subs, true
	default:
		p.nodes++
		p.s.AllOf, p.facts.loose = append(p.s.AllOf, &jsonschema.Schema{AnyOf: subs}), true
	}
	return nil
}

// nullable allows null, in the terms of this draft.
func (p *place) nullable() {
	if yes, _ := p.m["nullable"].(bool); !yes {
		return
	}
	s := p.s
	p.facts.loose = true
	if s.Ref != "" || s.AllOf != nil || s.AnyOf != nil || s.OneOf != nil || s.Not != nil || s.If != nil || s.Const != nil {
		p.nodes += 2
		p.s = &jsonschema.Schema{Title: s.Title, Description: s.Description}
		s.Title, s.Description = "", ""
		p.s.AnyOf = []*jsonschema.Schema{s, {Type: "null"}}
		return
	}
	if s.Type != "" && s.Type != "null" {
		s.Type, s.Types = "", []string{s.Type, "null"}
	} else if s.Types != nil && !slices.Contains(s.Types, "null") {
		s.Types = append(s.Types, "null")
	}
	if s.Enum != nil && !slices.Contains(s.Enum, nil) {
		s.Enum = append(s.Enum, nil)
	}
}

// words reads the annotations, which are only for people and models.
func (p *place) words() {
	s := p.s
	s.Title, _ = p.m["title"].(string)
	s.Title = line(s.Title, maxTitle)
	said, _ := p.m["description"].(string)
	s.Description = readable(said, maxDescription)
	if v, ok := p.m["default"]; ok && v != nil {
		p.note("default: " + brief(v))
	}
	if v, ok := p.m["multipleOf"].(json.Number); ok && s.MultipleOf == nil {
		p.note("a multiple of " + brief(v))
	}
	s.Format, _ = p.m["format"].(string)
	p.facts.loose = p.facts.loose || s.Format != "" // some hold values against it; we do not
	s.ContentEncoding, _ = p.m["contentEncoding"].(string)
	s.ContentMediaType, _ = p.m["contentMediaType"].(string)
	s.Deprecated, _ = p.m["deprecated"].(bool)
	s.ReadOnly, _ = p.m["readOnly"].(bool)
	s.WriteOnly, _ = p.m["writeOnly"].(bool)
	if list, _ := p.m["examples"].([]any); len(list) > 0 {
		s.Examples, _ = visible(list).([]any)
	}
}

// note appends a remark of ours to the description.
func (p *place) note(said string) {
	if p.s.Description != "" {
		p.s.Description += " "
	}
	p.s.Description += "(" + said + ")"
}

// brief returns a value as a remark may repeat it.
func brief(v any) string {
	b, err := encode(v)
	if err != nil {
		return "?"
	}
	head, cut := text.Cut(text.VisibleJSON(string(b)), 200)
	if cut {
		head += "…"
	}
	return head
}

// unknown keeps the keywords that mean nothing here.
func (p *place) unknown() {
	for key, v := range p.m {
		if known(key) || text.HasHidden(key) {
			continue
		}
		if p.s.Extra == nil {
			p.s.Extra = map[string]any{}
		}
		p.s.Extra[key] = visible(v)
	}
}

// visible returns a decoded value with plain numbers and texts that can be
// seen.
func visible(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, x := range v {
			out[shown(k)] = visible(x)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = visible(x)
		}
		return out
	case string:
		return shown(v)
	case json.Number:
		if f, exact := float(v); exact {
			return f
		}
		return v.String()
	}
	return v
}
