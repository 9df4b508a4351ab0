package tool

import (
	"errors"
	"fmt"
	"iter"
	"net/url"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// Limits for a schema, which may come from an untrusted program.
const (
	maxSchemas     = 10_000  // schemas in a schema
	maxSchemaDepth = 64      // schemas inside each other
	maxExpanded    = 100_000 // schemas once every reference is written out
)

// children yields the direct subschemas of s, in no order. One may be nil.
func children(s *jsonschema.Schema) iter.Seq[*jsonschema.Schema] {
	return func(yield func(*jsonschema.Schema) bool) {
		for _, c := range [...]*jsonschema.Schema{
			s.Items, s.AdditionalItems, s.Contains, s.UnevaluatedItems, s.AdditionalProperties, s.PropertyNames,
			s.UnevaluatedProperties, s.Not, s.If, s.Then, s.Else, s.ContentSchema,
		} {
			if c != nil && !yield(c) {
				return
			}
		}
		for _, list := range [...][]*jsonschema.Schema{s.PrefixItems, s.ItemsArray, s.AllOf, s.AnyOf, s.OneOf} {
			for _, c := range list {
				if !yield(c) {
					return
				}
			}
		}
		for _, m := range [...]map[string]*jsonschema.Schema{
			s.Defs, s.Definitions, s.DependencySchemas, s.Properties, s.PatternProperties, s.DependentSchemas,
		} {
			for _, c := range m {
				if !yield(c) {
					return
				}
			}
		}
	}
}

// inPlace yields the subschemas of s that apply to the same value as s.
func inPlace(s *jsonschema.Schema) iter.Seq[*jsonschema.Schema] {
	return func(yield func(*jsonschema.Schema) bool) {
		for _, c := range [...]*jsonschema.Schema{s.Not, s.If, s.Then, s.Else} {
			if c != nil && !yield(c) {
				return
			}
		}
		for _, list := range [...][]*jsonschema.Schema{s.AllOf, s.AnyOf, s.OneOf} {
			for _, c := range list {
				if !yield(c) {
					return
				}
			}
		}
		for _, m := range [...]map[string]*jsonschema.Schema{s.DependencySchemas, s.DependentSchemas} {
			for _, c := range m {
				if !yield(c) {
					return
				}
			}
		}
	}
}

// bounded returns an error unless s is small enough to be walked and refers to nothing outside of
// itself. It must run before anything that recurses over s, which may contain itself.
func bounded(s *jsonschema.Schema) error {
	n := 0
	var visit func(s *jsonschema.Schema, depth int) error
	visit = func(s *jsonschema.Schema, depth int) error {
		n++
		switch {
		case s == nil:
			return errors.New("the schema holds an empty place where a schema belongs")
		case depth > maxSchemaDepth:
			return fmt.Errorf("the schema is nested more than %d deep", maxSchemaDepth)
		case n > maxSchemas:
			return fmt.Errorf("the schema holds more than %d schemas", maxSchemas)
		}
		for _, ref := range [...]string{s.Ref, s.DynamicRef} {
			if ref != "" && !strings.HasPrefix(ref, "#") {
				return fmt.Errorf("the schema refers to %s, which is outside of it", shortQuote(ref))
			}
		}
		for c := range children(s) {
			if err := visit(c, depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	return visit(s, 0)
}

// refs resolves the references of one schema.
type refs struct {
	root  *jsonschema.Schema
	found map[string]*jsonschema.Schema
}

// target returns the schema that ref, which starts with #, refers to, or nil if there is none.
func (r *refs) target(ref string) *jsonschema.Schema {
	if s, ok := r.found[ref]; ok {
		return s
	}
	s := r.root
	pointer, _ := url.PathUnescape(strings.TrimPrefix(ref, "#"))
	switch {
	case strings.HasPrefix(pointer, "/"):
		s = resolvePointer(r.root, strings.Split(pointer[1:], "/"))
	case pointer != "":
		s = anchored(r.root, pointer)
	}
	if r.found == nil {
		r.found = map[string]*jsonschema.Schema{}
	}
	r.found[ref] = s
	return s
}

func anchored(s *jsonschema.Schema, name string) *jsonschema.Schema {
	if s.Anchor == name || s.DynamicAnchor == name {
		return s
	}
	for c := range children(s) {
		if found := anchored(c, name); found != nil {
			return found
		}
	}
	return nil
}

// resolvePointer returns the schema that a JSON pointer leads to.
func resolvePointer(s *jsonschema.Schema, tokens []string) *jsonschema.Schema {
	unescape := strings.NewReplacer("~1", "/", "~0", "~")
	for len(tokens) > 0 && s != nil {
		word := tokens[0]
		tokens = tokens[1:]
		if one, ok := subschema(s, word); ok {
			s = one
			continue
		}
		if len(tokens) == 0 {
			return nil
		}
		name := unescape.Replace(tokens[0])
		tokens = tokens[1:]
		if m, ok := subschemaMap(s, word); ok {
			s = m[name]
			continue
		}
		list := subschemaList(s, word)
		i, err := strconv.Atoi(name)
		if err != nil || i < 0 || i >= len(list) {
			return nil
		}
		s = list[i]
	}
	return s
}

func subschema(s *jsonschema.Schema, word string) (*jsonschema.Schema, bool) {
	switch word {
	case "items":
		return s.Items, s.ItemsArray == nil
	case "additionalItems":
		return s.AdditionalItems, true
	case "contains":
		return s.Contains, true
	case "additionalProperties":
		return s.AdditionalProperties, true
	case "propertyNames":
		return s.PropertyNames, true
	case "not":
		return s.Not, true
	case "if":
		return s.If, true
	case "then":
		return s.Then, true
	case "else":
		return s.Else, true
	}
	return nil, false
}

func subschemaMap(s *jsonschema.Schema, word string) (map[string]*jsonschema.Schema, bool) {
	switch word {
	case "$defs":
		return s.Defs, true
	case "definitions":
		return s.Definitions, true
	case "properties":
		return s.Properties, true
	case "patternProperties":
		return s.PatternProperties, true
	case "dependentSchemas":
		return s.DependentSchemas, true
	}
	return nil, false
}

func subschemaList(s *jsonschema.Schema, word string) []*jsonschema.Schema {
	switch word {
	case "allOf":
		return s.AllOf
	case "anyOf":
		return s.AnyOf
	case "oneOf":
		return s.OneOf
	case "prefixItems":
		return s.PrefixItems
	case "items":
		return s.ItemsArray
	}
	return nil
}

// A measure counts the schemas in s with all its references expanded.
type measure struct {
	refs *refs
	next func(*jsonschema.Schema) iter.Seq[*jsonschema.Schema]
	// size is the size of the schemas seen; 0 while one is being counted.
	size map[*jsonschema.Schema]int
	loop bool // a schema leads back to itself
}

func (m *measure) sizeOf(s *jsonschema.Schema) int {
	if n, ok := m.size[s]; ok {
		m.loop = m.loop || n == 0
		return n
	}
	m.size[s] = 0
	n := 1
	add := func(c *jsonschema.Schema) { n = min(n+m.sizeOf(c), 2*maxExpanded) }
	for _, ref := range [...]string{s.Ref, s.DynamicRef} {
		if ref == "" {
			continue
		}
		if t := m.refs.target(ref); t != nil {
			add(t)
		}
	}
	for c := range m.next(s) {
		add(c)
	}
	m.size[s] = n
	return n
}

// tame returns an error unless expanding the references of s ends and stays small. A schema that
// contains itself one level down, as that of a tree does, is allowed and reported as recursive.
func tame(s *jsonschema.Schema, r *refs) (recursive bool, err error) {
	still := measure{refs: r, next: inPlace, size: map[*jsonschema.Schema]int{}}
	var visit func(*jsonschema.Schema) error
	visit = func(s *jsonschema.Schema) error {
		if still.sizeOf(s) > maxSchemas {
			return fmt.Errorf("the schema grows to more than %d schemas when its references are followed", maxSchemas)
		}
		if still.loop {
			return errors.New("the schema refers to itself without end")
		}
		for c := range children(s) {
			if err := visit(c); err != nil {
				return err
			}
		}
		return nil
	}
	if err := visit(s); err != nil {
		return false, err
	}
	all := measure{refs: r, next: children, size: map[*jsonschema.Schema]int{}}
	if n := all.sizeOf(s); n > maxExpanded {
		return false, fmt.Errorf("the schema grows to more than %d schemas when its references are followed", maxExpanded)
	}
	return all.loop, nil
}
