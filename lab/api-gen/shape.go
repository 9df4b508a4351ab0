package main

import (
	"maps"
	"slices"
	"strings"
)

const refPrefix = "#/components/schemas/"

// shape reads a schema. What has fields and no name of its own gets hint.
func (r *reader) shape(s *schema, hint string) *shape {
	if s == nil {
		return &shape{}
	}
	nullable := slices.Contains(s.Type, "null")
	out := r.bare(s, hint)
	if nullable && !out.nullable {
		out.nullable = true
	}
	return out
}

func (r *reader) bare(s *schema, hint string) *shape {
	switch {
	case s.Ref != "":
		return r.refer(s.Ref)
	case len(s.OneOf)+len(s.AnyOf) > 0:
		return r.union(append(slices.Clone(s.OneOf), s.AnyOf...), hint)
	}
	var only []string
	for _, t := range s.Type {
		if t != "null" {
			only = append(only, t)
		}
	}
	if len(only) != 1 {
		return &shape{}
	}
	switch only[0] {
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
func (r *reader) object(s *schema, hint string) *shape {
	if len(s.Properties) > 0 {
		r.record(hint, s)
		return &shape{kind: named, name: hint}
	}
	elem := &shape{}
	if s.Additional.schema != nil {
		elem = r.shape(s.Additional.schema, hint+"Value")
	}
	return &shape{kind: table, elem: elem}
}

// union reads alternatives. One of them being null makes the rest nullable.
func (r *reader) union(of []*schema, hint string) *shape {
	out := &shape{kind: union}
	for _, s := range of {
		if len(s.Type) == 1 && s.Type[0] == "null" {
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
func (r *reader) record(name string, s *schema) {
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
func words(s *schema) (list []string) {
	for _, e := range append(slices.Clone(s.Enum), s.Const) {
		if w, ok := e.(string); ok {
			list = append(list, w)
		}
	}
	return list
}

// nonZero tells whether leaving a value out means something else than its
// zero value, so that the two have to be told apart.
func nonZero(s *schema) bool {
	if s == nil {
		return false
	}
	switch d := s.Default.(type) {
	case bool:
		return d
	default:
		return false // numbers and texts: zero asks for the default too
	}
}

func (s *schema) description() string {
	if s == nil {
		return ""
	}
	return s.Description
}
