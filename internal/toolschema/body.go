package toolschema

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
)

// schema fits a schema. never is set if no value fits it.
func (f *fitter) schema(v any, at location) (out any, never bool, err error) {
	if v == true {
		return newObject(), false, nil
	}
	if v == false {
		return nil, true, nil
	}
	s, ok := v.(*object)
	if !ok {
		return nil, false, fmt.Errorf("the schema at %s is neither an object nor a boolean: write it as JSON Schema", at.path)
	}
	if at.depth > maxDepth {
		return nil, false, tooDeep(at.path)
	}
	s = modern(s)
	if ref, ok := f.onlyRef(s); ok {
		return f.reference(s, ref, at)
	}
	s, err = f.mergeRefs(s, &at, nil)
	if err != nil {
		return nil, false, err
	}
	return f.body(s, at)
}

// onlyRef returns the reference that a schema is, if it asks for nothing
// else. Some write it as the one member of allOf.
func (f *fitter) onlyRef(s *object) (string, bool) {
	for _, key := range s.keys {
		if key != "$ref" && key != "allOf" && f.formOf(key) != unknown && !annotates(key) {
			return "", false
		}
	}
	members := s.list("allOf")
	if ref, ok := s.vals["$ref"].(string); ok {
		return ref, len(members) == 0
	}
	if len(members) != 1 {
		return "", false
	}
	one, ok := members[0].(*object)
	if !ok || len(one.keys) != 1 {
		return "", false
	}
	ref, ok := one.vals["$ref"].(string)
	return ref, ok
}

// reference fits a schema that refers to another and at most describes it.
func (f *fitter) reference(s *object, ref string, at location) (any, bool, error) {
	pointer, err := f.pointer(ref, at.path)
	if err != nil {
		return nil, false, err
	}
	target, err := f.lookup(pointer)
	if err != nil {
		return nil, false, err
	}
	described := newObject()
	for _, key := range s.keys {
		if annotates(key) {
			described.set(key, s.vals[key])
		}
	}
	if f.keeps(pointer) {
		if f.dialect != Anthropic {
			described = newObject()
		}
		described.set("$ref", "#/$defs/"+escapeStep(f.definitionName(pointer)))
		out, _, err := f.body(described, at)
		return out, false, err
	}
	inner, ok := target.(*object)
	if !ok {
		return f.schema(target, at)
	}
	if f.isRecursive(pointer) {
		if at.unfolded >= f.manner.unfold {
			if typ, ok := inner.vals["type"].(string); ok {
				described.set("type", typ)
			}
			out, _, err := f.body(described, at)
			return out, false, err
		}
		at.unfolded++
	}
	at.depth++
	for _, key := range inner.keys {
		if !described.has(key) {
			described.set(key, inner.vals[key])
		}
	}
	return f.schema(described, at)
}

// body fits a schema that has been expanded, keyword by keyword.
func (f *fitter) body(s *object, at location) (*object, bool, error) {
	s = f.replaceUnsupported(s)
	out := newObject()
	for _, key := range s.keys {
		if f.size += len(key) + 4; f.size > maxSize {
			return nil, false, errSize
		}
		never, err := f.keyword(out, s, key, at)
		if err != nil || never {
			return nil, never, err
		}
	}
	f.require(out, s)
	types := typesOf(out)
	if f.dialect != Anthropic && slices.Contains(types, any("array")) && !out.has("items") {
		out.set("items", newObject())
	}
	if f.dialect == Simple {
		alone(out)
		return f.separate(out)
	}
	return out, false, nil
}

// keyword fits one keyword of a schema into out.
func (f *fitter) keyword(out, s *object, key string, at location) (never bool, err error) {
	if key == "$ref" || key == "required" {
		out.set(key, s.vals[key]) // written by reference; require looks at the other
		return false, nil
	}
	switch kind := f.formOf(key); kind {
	case unknown:
	case isValues:
		return false, f.values(out, s, key, at)
	case isSchema:
		return false, f.inner(out, s, key, at)
	case isSchemas:
		return f.list(out, s, key, at)
	case isNamed:
		return false, f.fitProperties(out, s, key, at)
	default:
		if v, ok := f.keywordValue(kind, s, key); ok {
			f.size += sizeOf(v)
			out.set(key, v)
		}
	}
	return false, nil
}

// values takes over the values of enum.
func (f *fitter) values(out, s *object, key string, at location) error {
	values, ok := s.vals[key].([]any)
	if !ok {
		return nil
	}
	if len(values) == 0 {
		return fmt.Errorf("the enum at %s is empty, so no value fits: list the values, or take it out", at.path)
	}
	f.size += sizeOf(values)
	out.set(key, distinct(values))
	return nil
}

// inner fits the schema of items, additionalProperties or propertyNames.
func (f *fitter) inner(out, s *object, key string, at location) error {
	if s.vals[key] == true {
		out.set(key, true)
		return nil
	}
	inner, never, err := f.schema(s.vals[key], at.in(key))
	switch {
	case err != nil:
		return err
	case !never:
		out.set(key, inner)
	case key != "items" || f.dialect == Anthropic:
		out.set(key, false)
	}
	return nil
}

// list fits the members of anyOf and prefixItems.
func (f *fitter) list(out, s *object, key string, at location) (never bool, err error) {
	members, ok := s.vals[key].([]any)
	if !ok || len(members) == 0 {
		return false, nil
	}
	var fitted []any
	open := false
	for i, m := range members {
		inner, never, err := f.schema(m, at.in(key, strconv.Itoa(i)))
		if err != nil {
			return false, err
		}
		if never && key == "prefixItems" {
			inner, never = newObject(), false
		}
		if !never {
			fitted = append(fitted, inner)
			o, ok := inner.(*object)
			open = open || ok && len(o.keys) == 0
		}
	}
	if key == "anyOf" && open {
		return false, nil
	}
	if len(fitted) == 0 {
		return true, nil
	}
	if key == "anyOf" {
		fitted = distinct(fitted)
	}
	out.set(key, fitted)
	return false, nil
}

// fitProperties fits the schemas of properties and patternProperties.
func (f *fitter) fitProperties(out, s *object, key string, at location) error {
	props, ok := s.vals[key].(*object)
	if !ok {
		return nil
	}
	fitted := newObject()
	for _, name := range props.keys {
		if f.size += len(name) + 4; f.size > maxSize {
			return errSize
		}
		inner, never, err := f.schema(props.vals[name], at.in(key, escapeStep(name)))
		if err != nil {
			return err
		}
		if !never {
			fitted.set(name, inner)
		} else if key == "patternProperties" {
			fitted.set(name, false)
		}
	}
	out.set(key, fitted)
	return nil
}

// replaceUnsupported writes what a dialect does not take in the nearest words it takes.
func (f *fitter) replaceUnsupported(s *object) *object {
	s = s.clone()
	if patterns, ok := s.vals["patternProperties"].(*object); s.has("patternProperties") {
		if !ok || f.dialect != Anthropic || slices.ContainsFunc(patterns.keys, func(p string) bool { return !common(p) }) {
			s.remove("patternProperties")
			s.remove("additionalProperties")
		}
	}
	if prefix := s.list("prefixItems"); f.dialect != Anthropic && s.has("prefixItems") {
		s = flat(s, prefix)
	}
	if f.dialect != Simple {
		return s
	}
	s.rename("exclusiveMinimum", "minimum")
	s.rename("exclusiveMaximum", "maximum")
	if v, ok := s.vals["const"]; ok {
		s.remove("enum")
		s.set("const", []any{v})
		s.rename("const", "enum")
	}
	if values := s.list("enum"); len(values) > 0 && !s.has("type") {
		for _, typ := range []string{"string", "boolean", "integer", "number", "null"} {
			if !slices.ContainsFunc(values, func(v any) bool { return !ofType(v, typ) }) {
				s.set("type", typ)
				break
			}
		}
	}
	return s
}

// flat writes a tuple as an array of whatever its places hold.
func flat(s *object, prefix []any) *object {
	s.remove("prefixItems")
	rest, more := s.vals["items"]
	most, _ := s.vals["maxItems"].(json.Number)
	n, err := strconv.Atoi(string(most))
	bounded := err == nil && n <= len(prefix)
	if len(prefix) == 0 {
		return s
	}
	s.remove("items")
	options := slices.Clone(prefix)
	switch {
	case rest == false && !bounded:
		s.set("maxItems", json.Number(strconv.Itoa(len(prefix))))
	case bounded || rest == false:
	case more:
		options = append(options, rest)
	default:
		return s
	}
	s.set("items", choice(options))
	return s
}

// require leaves only names of properties in required.
func (f *fitter) require(out, s *object) {
	if !out.has("required") {
		return
	}
	props, _ := out.vals["properties"].(*object)
	var names []any
	seen := map[string]bool{}
	for _, v := range s.list("required") {
		if name, ok := v.(string); ok && props != nil && props.has(name) && !seen[name] {
			seen[name] = true
			names = append(names, v)
			f.size += len(name) + 3
		}
	}
	if len(names) == 0 {
		out.remove("required")
		return
	}
	out.set("required", names)
}

// alone leaves a union without other demands beside it: some servers refuse
// these. What describes properties or items says more than the union.
func alone(s *object) {
	if !s.has("anyOf") {
		return
	}
	if s.has("properties") || s.has("items") {
		s.remove("anyOf")
		return
	}
	for _, key := range slices.Clone(s.keys) {
		if key != "anyOf" && !annotates(key) {
			s.remove(key)
		}
	}
}

// separate writes a schema of several types as a union of schemas of one.
func (f *fitter) separate(s *object) (*object, bool, error) {
	types, ok := s.vals["type"].([]any)
	if !ok {
		return s, false, nil
	}
	var options []any
	for _, typ := range types {
		one := newObject()
		one.set("type", typ)
		for _, key := range s.keys {
			if speaksOf(key, typ) {
				one.set(key, s.vals[key])
			}
		}
		if values := s.list("enum"); values != nil {
			mine := slices.DeleteFunc(slices.Clone(values), func(v any) bool { return !ofType(v, typ) })
			if len(mine) == 0 {
				continue
			}
			if typ != "null" {
				one.set("enum", mine)
			}
		}
		f.size += sizeOf(one)
		options = append(options, one)
	}
	if len(options) == 0 {
		return nil, true, nil
	}
	out := newObject()
	for _, key := range s.keys {
		if annotates(key) {
			out.set(key, s.vals[key])
		}
	}
	if only, ok := options[0].(*object); ok && len(options) == 1 {
		for _, key := range only.keys {
			out.set(key, only.vals[key])
		}
		return out, false, nil
	}
	out.set("anyOf", options)
	return out, false, nil
}

// speaksOf reports whether a keyword asks something of values of a type.
func speaksOf(key string, typ any) bool {
	switch key {
	case "minLength", "maxLength", "format":
		return typ == "string"
	case "minimum", "maximum":
		return typ == "number" || typ == "integer"
	case "items", "minItems", "maxItems":
		return typ == "array"
	case "properties", "required", "minProperties", "maxProperties":
		return typ == "object"
	}
	return false
}
