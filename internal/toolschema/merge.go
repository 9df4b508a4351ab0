package toolschema

import (
	"errors"
	"fmt"
	"slices"
)

// modern returns a schema with the keywords of older drafts, and OpenAPI's,
// written as today's. Schemas within it stay as they are.
func modern(s *object) *object {
	out := s.clone()
	out.rename("oneOf", "anyOf")
	if _, ok := out.vals["items"].([]any); ok {
		out.rename("items", "prefixItems")
		out.rename("additionalItems", "items")
	}
	out.remove("additionalItems")
	for _, bound := range []string{"inimum", "aximum"} {
		plain, strict := "m"+bound, "exclusiveM"+bound
		if on, ok := out.vals[strict].(bool); ok {
			out.remove(strict)
			if on {
				out.rename(plain, strict)
			}
		}
	}
	if on, _ := out.vals["nullable"].(bool); on {
		out = nullable(out)
	}
	out.remove("nullable")
	return out
}

// nullable lets a schema take null besides.
func nullable(s *object) *object {
	null := newObject()
	null.set("type", "null")
	switch {
	case s.has("$ref") || s.has("allOf"):
		inner, outer := newObject(), newObject()
		for _, key := range s.keys {
			if annotates(key) {
				outer.set(key, s.vals[key])
			} else if key != "nullable" {
				inner.set(key, s.vals[key])
			}
		}
		outer.set("anyOf", []any{inner, null})
		return outer
	case s.has("type"):
		if types := typesOf(s); types != nil && !slices.Contains(types, any("null")) {
			s.set("type", append(types, "null"))
		}
		if s.has("const") {
			s.remove("enum")
			s.set("const", []any{s.vals["const"]})
			s.rename("const", "enum")
		}
		if values := s.list("enum"); len(values) > 0 && !slices.ContainsFunc(values, func(v any) bool { return v == nil }) {
			s.set("enum", append(slices.Clone(values), nil))
		}
	case s.has("anyOf"):
		if options := s.list("anyOf"); len(options) > 0 {
			s.set("anyOf", append(slices.Clone(options), null))
		}
	}
	return s
}

// mergeRefs returns a schema in which its own reference and the members of its
// allOf are merged. A pointer that is being expanded already says nothing new.
func (f *fitter) mergeRefs(s *object, at *location, within []string) (*object, error) {
	members := s.list("allOf")
	if ref, ok := s.vals["$ref"].(string); ok {
		to := newObject()
		to.set("$ref", ref)
		members = append([]any{to}, members...)
	}
	if len(members) == 0 && !s.has("$ref") && !s.has("allOf") {
		return s, nil
	}
	own := s.clone()
	own.remove("$ref")
	own.remove("allOf")
	all := conjunction{out: own}
	for _, m := range members {
		part, err := f.member(m, at, within)
		if err != nil {
			return nil, err
		}
		if part != nil {
			all.add(part)
		}
	}
	return all.schema(), nil
}

// member returns what a member of allOf adds; nil if it adds nothing.
func (f *fitter) member(v any, at *location, within []string) (*object, error) {
	if f.steps++; f.steps > maxSteps {
		return nil, errSize
	}
	if len(within) > maxDepth {
		return nil, tooDeep(at.path)
	}
	s, ok := v.(*object)
	if !ok {
		if v == true {
			return nil, nil
		}
		return nil, fmt.Errorf("the schema at %s has a part that no value fits: take it out", at.path)
	}
	s = modern(s)
	ref, ok := s.vals["$ref"].(string)
	if !ok {
		return f.mergeRefs(s, at, append(slices.Clone(within), ""))
	}
	pointer, err := f.pointer(ref, at.path)
	if err != nil {
		return nil, err
	}
	s.remove("$ref")
	if !slices.Contains(within, pointer) && (!f.isRecursive(pointer) || at.unfolded < f.manner.unfold) {
		if f.isRecursive(pointer) {
			at.unfolded++
		}
		target, err := f.lookup(pointer)
		if err != nil {
			return nil, err
		}
		part, err := f.member(target, at, append(slices.Clone(within), pointer))
		if err != nil {
			return nil, err
		}
		if part != nil {
			both := conjunction{out: s}
			both.add(part)
			s = both.schema()
		}
	}
	return f.mergeRefs(s, at, append(slices.Clone(within), ""))
}

// root returns the schema of the arguments as one object without a union;
// nil if no object fits.
func (f *fitter) root(v any, at *location) (*object, error) {
	if f.steps++; f.steps > maxSteps {
		return nil, errSize
	}
	if at.depth > maxDepth {
		return nil, tooDeep(at.path)
	}
	switch v {
	case true:
		v = newObject()
	case false:
		return nil, nil
	}
	s, ok := v.(*object)
	if !ok {
		return nil, errors.New("the schema is not an object: describe the arguments of the tool as an object")
	}
	s, err := f.mergeRefs(modern(s), at, nil)
	if err != nil {
		return nil, err
	}
	if types := typesOf(s); types != nil && !slices.Contains(types, any("object")) {
		return nil, nil
	}
	options := s.list("anyOf")
	s = onlyObject(s)
	if len(options) == 0 {
		return s, nil
	}
	var objects []*object
	for _, o := range options {
		inner := location{path: at.path, depth: at.depth + 1, unfolded: at.unfolded}
		branch, err := f.root(o, &inner)
		if err != nil {
			return nil, err
		}
		if branch != nil {
			objects = append(objects, branch)
		}
	}
	if len(objects) == 0 {
		return nil, nil
	}
	return union(s, objects), nil
}

// onlyObject returns a schema that takes objects, without what providers do
// not take at the root.
func onlyObject(s *object) *object {
	out := s.clone()
	for _, key := range []string{"enum", "const", "default", "anyOf"} {
		out.remove(key)
	}
	if !out.has("type") {
		out.keys = append([]string{"type"}, out.keys...)
	}
	out.vals["type"] = "object"
	return out
}

// union returns one object for what fits a schema and one of several more.
func union(s *object, branches []*object) *object {
	out := s.clone()
	out.set("properties", unionProperties(s, branches))
	common := slices.Clone(branches[0].list("required"))
	closed := !s.has("additionalProperties")
	for _, b := range branches {
		required := map[string]bool{}
		for _, v := range b.list("required") {
			if name, ok := v.(string); ok {
				required[name] = true
			}
		}
		common = slices.DeleteFunc(common, func(v any) bool {
			name, ok := v.(string)
			return !ok || !required[name]
		})
		closed = closed && b.vals["additionalProperties"] == false && !b.has("patternProperties")
	}
	if len(common) > 0 {
		out.set("required", append(slices.Clone(s.list("required")), common...))
	}
	if closed {
		out.set("additionalProperties", false)
	}
	return out
}

// unionProperties returns the properties of a schema and those of several
// more of which one holds.
func unionProperties(s *object, branches []*object) *object {
	options, order := map[string][]any{}, []string{}
	for _, b := range branches {
		props, _ := b.vals["properties"].(*object)
		if props == nil {
			continue
		}
		for _, name := range props.keys {
			if options[name] == nil {
				order = append(order, name)
			}
			options[name] = append(options[name], props.vals[name])
		}
	}
	props := newObject()
	if own, ok := s.vals["properties"].(*object); ok {
		props = own.clone()
	}
	for _, name := range order {
		either := choice(options[name])
		if !props.has(name) {
			props.set(name, either)
		} else if len(options[name]) == len(branches) && canonicalText(props.vals[name]) != canonicalText(either) {
			both := newObject()
			both.set("allOf", []any{props.vals[name], either})
			props.set(name, both)
		}
	}
	return props
}

// choice returns a schema for what fits one of several.
func choice(options []any) any {
	var distinct []any
	seen := map[string]bool{}
	var values []any
	plain := true
	for _, o := range options {
		if t := canonicalText(o); !seen[t] {
			seen[t] = true
			distinct = append(distinct, o)
			more, ok := onlyValues(o)
			values, plain = append(values, more...), plain && ok
		}
	}
	if len(distinct) == 1 {
		return distinct[0]
	}
	out := newObject()
	if plain {
		out.set("enum", values)
	} else {
		out.set("anyOf", distinct)
	}
	return out
}

// onlyValues returns the values that a schema lists, if it does nothing else.
func onlyValues(v any) ([]any, bool) {
	s, ok := v.(*object)
	if !ok {
		return nil, false
	}
	for _, key := range s.keys {
		if key != "const" && key != "enum" && key != "type" && key != "title" {
			return nil, false
		}
	}
	if s.has("const") {
		return []any{s.vals["const"]}, true
	}
	values := s.list("enum")
	return values, len(values) > 0
}
