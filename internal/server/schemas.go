package server

import (
	"slices"

	"github.com/danielgtaylor/huma/v2"
)

// neverNull says that lists are never null, which huma takes them to be able
// to be unless a variable of its package says otherwise.
func neverNull(doc *huma.OpenAPI) {
	for _, schema := range doc.Components.Schemas.Map() {
		solid(schema)
	}
	for _, item := range doc.Paths {
		for _, op := range []*huma.Operation{item.Get, item.Post, item.Delete} {
			if op == nil {
				continue
			}
			for _, p := range op.Parameters {
				solid(p.Schema)
			}
			for _, r := range op.Responses {
				for _, m := range r.Content {
					solid(m.Schema)
				}
			}
		}
	}
}

func solid(s *huma.Schema) {
	if s == nil {
		return
	}
	if s.Type == huma.TypeArray {
		s.Nullable = false
	}
	solid(s.Items)
	if more, ok := s.AdditionalProperties.(*huma.Schema); ok {
		solid(more)
	}
	for _, p := range s.Properties {
		solid(p)
	}
	for _, p := range slices.Concat(s.OneOf, s.AnyOf, s.AllOf) {
		solid(p)
	}
}

// leaveRoom lets what goes out have further fields one day. What comes in may
// have none that are not known: they would be taken for something they are not.
func leaveRoom(doc *huma.OpenAPI) {
	schemas, strict := doc.Components.Schemas, map[*huma.Schema]bool{}
	for _, item := range doc.Paths {
		if item.Post == nil || item.Post.RequestBody == nil {
			continue
		}
		for _, m := range item.Post.RequestBody.Content {
			collectSchemas(schemas, m.Schema, strict)
		}
	}
	for _, schema := range schemas.Map() {
		if closed, ok := schema.AdditionalProperties.(bool); ok && !closed && !strict[schema] {
			schema.AdditionalProperties = nil
		}
	}
}

// collectSchemas collects a schema and all that it is made of.
func collectSchemas(schemas huma.Registry, s *huma.Schema, seen map[*huma.Schema]bool) {
	if s != nil && s.Ref != "" {
		s = schemas.SchemaFromRef(s.Ref)
	}
	if s == nil || seen[s] {
		return
	}
	seen[s] = true
	collectSchemas(schemas, s.Items, seen)
	if more, ok := s.AdditionalProperties.(*huma.Schema); ok {
		collectSchemas(schemas, more, seen)
	}
	for _, p := range s.Properties {
		collectSchemas(schemas, p, seen)
	}
}
