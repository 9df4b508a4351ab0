package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// maxSafe is the largest integer that every JSON reader can hold exactly.
const maxSafe = 1<<53 - 1

// derive returns the schema of an input struct, and what its tags say beyond that.
func derive(t reflect.Type) (*jsonschema.Schema, map[*jsonschema.Schema]extra, error) {
	if t.Kind() != reflect.Struct {
		return nil, nil, fmt.Errorf("the input %v is not a struct", t)
	}
	s, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[json.RawMessage](): {Type: "object", AdditionalProperties: &jsonschema.Schema{}},
	}})
	if err != nil {
		return nil, nil, err
	}
	d := deriver{extras: map[*jsonschema.Schema]extra{}}
	if err := d.refine(t, s); err != nil {
		return nil, nil, err
	}
	s.Schema = "https://json-schema.org/draft/2020-12/schema"
	return s, d.extras, nil
}

// A deriver completes the schema that the library infers from types alone.
type deriver struct {
	extras map[*jsonschema.Schema]extra
}

func (d *deriver) refine(t reflect.Type, s *jsonschema.Schema) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	// A model should not have to send Go's nil.
	if i := slices.Index(s.Types, "null"); i >= 0 && len(s.Types) == 2 {
		s.Type, s.Types = s.Types[1-i], nil
	}
	if t == reflect.TypeFor[json.RawMessage]() {
		return nil
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return errors.New("a list of bytes has no form in JSON that a model could write")
		}
		return d.refine(t.Elem(), s.Items)
	case reflect.Map:
		return d.refine(t.Elem(), s.AdditionalProperties)
	case reflect.Struct:
		if s.Type == "object" {
			return d.fields(t, s)
		}
	}
	if s.Type == "integer" {
		s.Minimum = closer(s.Minimum, -maxSafe)
		s.Maximum = closer(s.Maximum, maxSafe)
	}
	return nil
}

// closer returns limit if it is set, and else otherwise.
func closer(limit *float64, otherwise float64) *float64 {
	if limit != nil {
		return limit
	}
	return &otherwise
}

func (d *deriver) fields(t reflect.Type, s *jsonschema.Schema) error {
	if s.Properties == nil {
		s.Properties = map[string]*jsonschema.Schema{}
	}
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || !f.IsExported() || name == "-" && options == "" {
			continue
		}
		if name == "" {
			name = f.Name
		}
		fs := s.Properties[name]
		if fs == nil {
			continue
		}
		if slices.Contains(strings.Split(options, ","), "string") {
			return fmt.Errorf("field %s: the json option string is not supported", f.Name)
		}
		if err := d.refine(f.Type, fs); err != nil {
			return fmt.Errorf("field %s: %w", f.Name, err)
		}
		if err := d.tags(f.Tag, fs); err != nil {
			return fmt.Errorf("field %s: %w", f.Name, err)
		}
	}
	// A field with a default is always there.
	var required []string
	for _, name := range s.PropertyOrder {
		if s.Properties[name].Default != nil || slices.Contains(s.Required, name) {
			required = append(required, name)
		}
	}
	s.Required = required
	return nil
}

func (d *deriver) tags(tag reflect.StructTag, s *jsonschema.Schema) error {
	var x extra
	for _, t := range [...]struct {
		name string
		set  func(string) error
	}{
		{"enum", func(v string) error { return setEnum(s, v) }},
		{"min", func(v string) error { return setLimit(s, &s.Minimum, v) }},
		{"max", func(v string) error { return setLimit(s, &s.Maximum, v) }},
		{"minItems", func(v string) error { return setMinItems(s, v) }},
		{"minItemsMessage", func(v string) error { x.minItemsMessage = v; return nil }},
		{"coerce", func(v string) error { return x.setCoerce(s, v) }},
		{"default", func(v string) error { return d.setDefault(s, v) }},
	} {
		v, ok := tag.Lookup(t.name)
		if !ok {
			continue
		}
		if err := t.set(v); err != nil {
			return fmt.Errorf("tag %s:%q: %w", t.name, v, err)
		}
	}
	if x != (extra{}) {
		d.extras[s] = x
	}
	return nil
}

func setEnum(s *jsonschema.Schema, v string) error {
	for s.Type == "array" {
		s = s.Items
	}
	for _, word := range strings.Split(v, ",") {
		switch s.Type {
		case "string":
			s.Enum = append(s.Enum, word)
		case "integer", "number":
			n, err := strconv.ParseFloat(word, 64)
			if err != nil {
				return err
			}
			s.Enum = append(s.Enum, n)
		default:
			return errors.New("only text and numbers can be listed")
		}
	}
	return nil
}

func setLimit(s *jsonschema.Schema, limit **float64, v string) error {
	n, err := strconv.ParseFloat(v, 64)
	if err != nil {
		return err
	}
	if s.Type != "integer" && s.Type != "number" {
		return errors.New("only a number has limits")
	}
	*limit = &n
	return nil
}

func setMinItems(s *jsonschema.Schema, v string) error {
	n, err := strconv.Atoi(v)
	if err != nil {
		return err
	}
	if s.Type != "array" {
		return errors.New("only a list has items")
	}
	s.MinItems = &n
	return nil
}

func (x *extra) setCoerce(s *jsonschema.Schema, v string) error {
	if v != "number" || s.Type != "integer" && s.Type != "number" {
		return errors.New("only numbers can be coerced, to number")
	}
	x.coerce = true
	return nil
}

// setDefault parses a default: text as it is, anything else as JSON. It must fit what the other
// tags say.
func (d *deriver) setDefault(s *jsonschema.Schema, v string) error {
	raw := []byte(v)
	if s.Type == "string" {
		raw = appendQuoted(nil, v)
	}
	p := parser{s: string(raw)}
	got, bad := p.parse()
	if bad != nil {
		return errors.New(bad.why)
	}
	c := compiler{refs: &refs{root: s}, nodes: map[*jsonschema.Schema]*node{}}
	var w walker
	if w.walk(c.compileNode(s), got); w.count > 0 {
		return errors.New(w.issues[0].Message)
	}
	s.Default = raw
	return nil
}
