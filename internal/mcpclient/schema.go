package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/tool"

	"github.com/google/jsonschema-go/jsonschema"
)

const (
	maxDepth = 64     // schemas inside each other
	maxNodes = 10_000 // schemas in a schema
	rounds   = 4      // of reading, see reader.assumed
)

// Schema returns the schema of the tool's input that models see and arguments are validated
// against. It always describes an object, lists its keys, uses draft 2020-12 only, has no external
// references, and is accepted by [tool.Dynamic].
//
// Keywords of older drafts and other dialects are translated. A keyword that is not understood is
// left out: the server validates its arguments itself, so only an early error is lost. Defaults are
// moved to the description, since the server fills them in. Arguments that match the server's
// schema match the returned one, except that keys it does not name are dropped, unless it
// explicitly allows any.
//
// An error means that the tool cannot be used, and says why, for people: the schema is too large,
// has a dangling reference, or does not say what to send.
func (d Definition) Schema() (*jsonschema.Schema, error) {
	if err := sized(d.Input); err != nil {
		return nil, err
	}
	var root map[string]any
	if len(d.Input) > 0 {
		v, err := decode(d.Input)
		if err != nil {
			return nil, errors.New("its input schema is not JSON")
		}
		switch v := v.(type) {
		case nil:
		case map[string]any:
			root = v
		case bool:
			if !v {
				return nil, errors.New("its input schema is one that nothing fits")
			}
		default:
			return nil, fmt.Errorf("its input schema is %s, and an object is wanted", kindOf(v))
		}
	}
	s, err := read(root)
	if err != nil {
		return nil, err
	}
	never := func(context.Context, *tool.Call) (*tool.Result, error) { return nil, errors.New("not run") }
	if _, err := tool.Dynamic(tool.Spec{Name: "x", Schema: s}, never); err != nil {
		return nil, fmt.Errorf("its input schema can not be used: %w", err)
	}
	return s, nil
}

// kindOf names the kind of a decoded value.
func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case string:
		return "a text"
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	}
	return "a number"
}

// facts are what has become of a schema that was read.
type facts struct {
	// loose: it takes values that it did not take as it was written.
	loose bool
	// deep: it has more constraints than the check of a union's branches considers.
	deep bool
}

func (f *facts) add(o facts) {
	f.loose = f.loose || o.loose
	f.deep = f.deep || o.deep
}

// A reader makes a schema of what a server sent.
type reader struct {
	root    map[string]any
	id      string // what the schema calls itself
	old     bool   // a draft in which keywords beside $ref say nothing
	anchors map[string]any

	nodes  int
	weight int      // of the patterns so far
	path   []string // the keys that lead to where the reader is

	names map[string]string // of definitions, by JSON pointer
	taken map[string]int    // names that are used, and how often they were wanted
	queue []target
	defs  map[string]*jsonschema.Schema
	found map[string]facts // of definitions
	// assumed holds the results of the last round. Whether a reference leads to a loose schema must
	// be known before that schema has been read, so the whole is read again until nothing changes.
	assumed map[string]facts
	// wary has every reference count as loose and deep: the last resort.
	wary bool
}

// A target is a schema that is referred to and has to be read.
type target struct {
	name string
	node any
}

// read reads a whole schema.
func read(root map[string]any) (*jsonschema.Schema, error) {
	root = inlined(root)
	r := &reader{root: root, old: isOld(root), assumed: map[string]facts{}}
	r.id, _ = root["$id"].(string)
	for round := range rounds {
		r.wary = round == rounds-1
		s, err := r.round()
		if err != nil {
			return nil, err
		}
		if r.wary || maps.Equal(r.found, r.assumed) {
			return s, nil
		}
		r.assumed = r.found
	}
	return nil, errors.New("unreachable")
}

// round reads the schema and everything it refers to once.
func (r *reader) round() (*jsonschema.Schema, error) {
	r.nodes, r.weight, r.path = 0, 0, nil
	r.names, r.taken, r.queue = map[string]string{}, map[string]int{}, nil
	r.defs, r.found = map[string]*jsonschema.Schema{}, map[string]facts{}
	s, _, err := r.schema(r.root, 0)
	if err != nil {
		return nil, err
	}
	for len(r.queue) > 0 {
		t := r.queue[0]
		r.queue = r.queue[1:]
		def, f, err := r.schema(t.node, 1)
		if err != nil {
			return nil, err
		}
		r.defs[t.name], r.found[t.name] = def, f
	}
	if err := r.object(s); err != nil {
		return nil, err
	}
	s.Defs = reached(s, r.defs)    // a part that gave way may have needed more
	for pointer := range r.names { // what it stands for has moved
		first, _, _ := strings.Cut(strings.TrimPrefix(pointer, "/"), "/")
		delete(s.Extra, first)
	}
	if len(s.Extra) == 0 {
		s.Extra = nil
	}
	return s, nil
}

// bad returns an error that says where and why the schema cannot be used.
func (r *reader) bad(format string, args ...any) error {
	if len(r.path) > 0 {
		format += " (at %s)"
		args = append(args, quoted(strings.Join(r.path, ".")))
	}
	return fmt.Errorf(format, args...)
}

// object makes the root schema that of an object with a list of keys.
func (r *reader) object(s *jsonschema.Schema) error {
	kinds := s.Types
	if s.Type != "" {
		kinds = []string{s.Type}
	}
	if kinds != nil && !slices.Contains(kinds, "object") {
		return fmt.Errorf("its input schema is that of type %s, and one of an object is wanted", kinds[0])
	}
	s.Type, s.Types = "object", nil
	if s.Properties == nil {
		s.Properties = map[string]*jsonschema.Schema{}
	}
	if s.AdditionalProperties != nil {
		return nil
	}
	h := hoist{defs: r.defs, seen: map[*jsonschema.Schema]bool{}, to: s}
	h.visit(s)
	s.AdditionalProperties = neverSchema()
	if h.open {
		s.AdditionalProperties = &jsonschema.Schema{}
	}
	return nil
}

// neverSchema returns the schema that nothing fits.
func neverSchema() *jsonschema.Schema { return &jsonschema.Schema{Not: &jsonschema.Schema{}} }

func isNothing(s *jsonschema.Schema) bool { return s != nil && s.Not != nil && isAny(s.Not) }

// isAny reports whether s has no constraints.
func isAny(s *jsonschema.Schema) bool { return reflect.ValueOf(*s).IsZero() }

// A hoist gives the schema of the whole the keys that only its parts name, so
// that it can be closed.
type hoist struct {
	defs map[string]*jsonschema.Schema
	seen map[*jsonschema.Schema]bool
	to   *jsonschema.Schema
	open bool // a part says that it takes any key
}

func (h *hoist) visit(s *jsonschema.Schema) {
	if s == nil || h.seen[s] {
		return
	}
	h.seen[s] = true
	for _, rest := range [...]*jsonschema.Schema{s.AdditionalProperties, s.UnevaluatedProperties} {
		h.open = h.open || rest != nil && !isNothing(rest)
	}
	for name := range s.Properties {
		h.key(name)
	}
	h.keys(s.Required)
	for name, needs := range s.DependentRequired {
		h.key(name)
		h.keys(needs)
	}
	for expr := range s.PatternProperties {
		if _, ok := h.to.PatternProperties[expr]; !ok {
			if h.to.PatternProperties == nil {
				h.to.PatternProperties = map[string]*jsonschema.Schema{}
			}
			h.to.PatternProperties[expr] = &jsonschema.Schema{}
		}
	}
	for name, sub := range s.DependentSchemas {
		h.key(name)
		h.visit(sub)
	}
	for _, sub := range [...]*jsonschema.Schema{h.defs[refName(s.Ref)], s.If, s.Then, s.Else} {
		h.visit(sub)
	}
	for _, list := range [...][]*jsonschema.Schema{s.AllOf, s.AnyOf, s.OneOf} {
		for _, sub := range list {
			h.visit(sub)
		}
	}
}

func (h *hoist) keys(names []string) {
	for _, name := range names {
		h.key(name)
	}
}

func (h *hoist) key(name string) {
	if h.to.Properties[name] == nil && !text.HasHidden(name) {
		h.to.Properties[name] = &jsonschema.Schema{}
	}
}
