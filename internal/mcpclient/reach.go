package mcpclient

import (
	"iter"

	"github.com/google/jsonschema-go/jsonschema"
)

// children yields the schemas within s, in no order. None is nil.
func children(s *jsonschema.Schema) iter.Seq[*jsonschema.Schema] {
	return func(yield func(*jsonschema.Schema) bool) {
		for _, c := range [...]*jsonschema.Schema{
			s.Items, s.Contains, s.UnevaluatedItems, s.AdditionalProperties, s.PropertyNames,
			s.UnevaluatedProperties, s.Not, s.If, s.Then, s.Else,
		} {
			if c != nil && !yield(c) {
				return
			}
		}
		for _, list := range [...][]*jsonschema.Schema{s.PrefixItems, s.AllOf, s.AnyOf, s.OneOf} {
			for _, c := range list {
				if !yield(c) {
					return
				}
			}
		}
		for _, m := range [...]map[string]*jsonschema.Schema{s.Defs, s.DependentSchemas, s.Properties, s.PatternProperties} {
			for _, c := range m {
				if !yield(c) {
					return
				}
			}
		}
	}
}

// reached returns the definitions that s needs, nil for none.
func reached(s *jsonschema.Schema, defs map[string]*jsonschema.Schema) map[string]*jsonschema.Schema {
	var out map[string]*jsonschema.Schema
	var visit func(*jsonschema.Schema)
	visit = func(s *jsonschema.Schema) {
		if name := refName(s.Ref); s.Ref != "" && out[name] == nil {
			if out == nil {
				out = map[string]*jsonschema.Schema{}
			}
			out[name] = defs[name]
			visit(defs[name])
		}
		for c := range children(s) {
			visit(c)
		}
	}
	visit(s)
	return out
}
