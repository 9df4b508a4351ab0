package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

const refPrefix = "#/components/schemas/"

// shape reads a schema. What has fields and no name of its own gets hint.
func (r *reader) shape(s *jsonschema.Schema, hint string) *shape {
	if s == nil {
		return &shape{}
	}
	nullable := slices.Contains(s.Types, "null")
	out := r.bare(s, hint)
	if nullable && !out.nullable {
		out.nullable = true
	}
	return out
}

func (r *reader) bare(s *jsonschema.Schema, hint string) *shape {
	switch {
	case s.Ref != "":
		return r.refer(s.Ref)
	case len(s.OneOf)+len(s.AnyOf) > 0:
		return r.union(append(slices.Clone(s.OneOf), s.AnyOf...), hint)
	}
	kind := s.Type
	if only := slices.DeleteFunc(slices.Clone(s.Types), func(t string) bool { return t == "null" }); len(only) == 1 {
		kind = only[0]
	}
	switch kind {
	case "string":
		if s.Format == "date-time" {
			return &shape{kind: moment}
		}
		return &shape{kind: text, words: words(s)}
	case "integer":
		return &shape{kind: whole}
	case "number":
		return &shape{kind: number}
	case "boolean":
		return &shape{kind: truth}
	case "array":
		return &shape{kind: list, elem: r.shape(s.Items, hint+"Item")}
	case "object":
		return r.object(s, hint)
	}
	return &shape{}
}

// object reads an object: a record of its own where it has fields, else a
// table.
func (r *reader) object(s *jsonschema.Schema, hint string) *shape {
	if len(s.Properties) > 0 {
		r.record(hint, s)
		return &shape{kind: named, name: hint}
	}
	elem := &shape{}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Not == nil {
		elem = r.shape(s.AdditionalProperties, hint+"Value")
	}
	return &shape{kind: table, elem: elem}
}

// union reads alternatives. One of them being null makes the rest nullable.
func (r *reader) union(of []*jsonschema.Schema, hint string) *shape {
	out := &shape{kind: union}
	for _, s := range of {
		if s.Type == "null" {
			out.nullable = true
			continue
		}
		out.among = append(out.among, r.shape(s, hint))
	}
	if len(out.among) == 1 {
		one := *out.among[0]
		one.nullable = one.nullable || out.nullable
		return &one
	}
	return out
}

// refer reads a named schema when it is met first.
func (r *reader) refer(ref string) *shape {
	name := strings.TrimPrefix(ref, refPrefix)
	s := r.doc.Components.Schemas[name]
	if s == nil || name == ref {
		r.fail("%s leads nowhere", ref)
		return &shape{}
	}
	title := goName(name)
	if r.made[title] == nil {
		r.record(title, s)
	}
	return &shape{kind: named, name: title}
}

// record reads a named schema. The name is taken first: a schema may contain
// itself.
func (r *reader) record(name string, s *jsonschema.Schema) {
	rec := &record{name: name, doc: s.Description}
	r.made[name] = rec
	if len(s.Properties) == 0 {
		rec.alias = r.shape(s, name+"Value")
		return
	}
	for _, prop := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[prop]
		if strings.HasPrefix(prop, "$") {
			continue
		}
		rec.fields = append(rec.fields, field{
			name: prop, doc: p.Description, shape: r.shape(p, name+goName(prop)),
			required: slices.Contains(s.Required, prop), fallback: nonZero(p),
		})
	}
}

// words are the texts a schema allows, if it names them.
func words(s *jsonschema.Schema) (list []string) {
	all := slices.Clone(s.Enum)
	if s.Const != nil {
		all = append(all, *s.Const)
	}
	for _, e := range all {
		if w, ok := e.(string); ok {
			list = append(list, w)
		}
	}
	return list
}

// nonZero tells whether leaving a value out means something else than its zero
// value, so that the two have to be told apart. Where it is a number or a text,
// zero asks for the default too.
func nonZero(s *jsonschema.Schema) bool { return s != nil && string(s.Default) == "true" }

func description(s *jsonschema.Schema) string {
	if s == nil {
		return ""
	}
	return s.Description
}
