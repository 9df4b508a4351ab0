package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/tool"
)

// maxInput bounds what is read from standard input as arguments.
const maxInput = 64 << 20

// pairs builds the arguments of a call from key=value and key:=json words. A value is a string if
// the schema allows one or has no type, and JSON otherwise.
func pairs(schema *jsonschema.Schema, words []string) (json.RawMessage, error) {
	out := []byte{'{'}
	seen := map[string]bool{}
	for _, w := range words {
		key, value, ok := strings.Cut(w, "=")
		key, explicit := strings.CutSuffix(key, ":")
		if !ok || key == "" {
			return nil, notAPair(schema, words, w)
		}
		if seen[key] {
			return nil, usagef("%q is given twice", key)
		}
		seen[key] = true
		if explicit && !json.Valid([]byte(value)) {
			return nil, usagef("what follows %s:= is not JSON: %s", key, value)
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(out, quoted(key)...), ':')
		if explicit || !wantsText(schema, key) && json.Valid([]byte(value)) {
			out = append(out, value...)
		} else {
			out = append(out, quoted(value)...)
		}
	}
	return append(out, '}'), nil
}

func quoted(s string) []byte {
	b, err := json.Marshal(s)
	if err != nil { // a string always encodes
		return []byte(`""`)
	}
	return b
}

// notAPair explains a word that is neither JSON nor key=value.
func notAPair(schema *jsonschema.Schema, words []string, w string) error {
	const want = "arguments are key=value pairs, or one JSON object"
	if schema != nil && len(words) == 1 && len(schema.Required) == 1 {
		return usagef("%s; did you mean %s=%s?", want, schema.Required[0], w)
	}
	return usagef("%q is no key=value pair; %s", w, want)
}

// wantsText reports whether the schema has a string for a key, or no type.
func wantsText(schema *jsonschema.Schema, key string) bool {
	if schema == nil || schema.Properties[key] == nil {
		return true
	}
	return takesText(schema.Properties[key])
}

func takesText(s *jsonschema.Schema) bool {
	switch {
	case s.Type != "":
		return s.Type == "string"
	case len(s.Types) > 0:
		return slices.Contains(s.Types, "string")
	}
	branches := slices.Concat(s.AnyOf, s.OneOf)
	return len(branches) == 0 || slices.ContainsFunc(branches, takesText)
}

// input works out the arguments of a call from the command line and standard
// input. It returns false where there is nothing to go by.
func (a *app) input(spec *tool.Spec, words []string) (json.RawMessage, bool, error) {
	var schema *jsonschema.Schema
	if spec != nil {
		schema = spec.Schema
	}
	switch {
	case len(words) == 1 && words[0] == "-":
		in, err := a.readInput()
		return in, true, err
	case len(words) == 1 && strings.HasPrefix(strings.TrimSpace(words[0]), "{"), len(words) == 1 && strings.HasPrefix(words[0], "["):
		return json.RawMessage(words[0]), true, nil
	case len(words) > 0:
		in, err := pairs(schema, words)
		return in, true, err
	case schema != nil && len(schema.Properties) == 0:
		return json.RawMessage("{}"), true, nil
	case !isTerminal(a.Stdin):
		in, err := a.readInput()
		if err == nil && len(in) == 0 {
			in = json.RawMessage("{}")
		}
		return in, true, err
	}
	return json.RawMessage("{}"), schema == nil || len(schema.Required) == 0, nil
}

func (a *app) readInput() (json.RawMessage, error) {
	in, err := io.ReadAll(io.LimitReader(a.Stdin, maxInput+1))
	if err != nil {
		return nil, fmt.Errorf("reading the arguments: %w", err)
	}
	if len(in) > maxInput {
		return nil, usagef("the arguments are longer than %d bytes", maxInput)
	}
	if strings.TrimSpace(string(in)) == "" {
		return nil, nil
	}
	return in, nil
}

// teach shows how a tool is called, from its schema.
func teach(spec tool.Spec) string {
	var b strings.Builder
	fmt.Fprintf(&b, "helve call %s", spec.Name)
	for _, key := range propertyNames(spec.Schema) {
		p := spec.Schema.Properties[key]
		pair := key + "=" + strings.ToUpper(key)
		if !takesText(p) {
			pair = key + ":=" + sample(p)
			if strings.ContainsAny(pair, "[{") {
				pair = "'" + pair + "'"
			}
		}
		if !slices.Contains(spec.Schema.Required, key) {
			pair = "[" + pair + "]"
		}
		b.WriteString(" " + pair)
	}
	b.WriteString("\n")
	tw := columns(&b)
	for _, key := range propertyNames(spec.Schema) {
		p := spec.Schema.Properties[key]
		need := "optional"
		if slices.Contains(spec.Schema.Required, key) {
			need = "required"
		}
		fmt.Fprintf(tw, "  %s\t%s\t%s\t%s\n", key, typeWord(p), need, text.VisibleLine(p.Description))
	}
	tw.Flush()
	return b.String()
}

// sample is a value of about the right shape.
func sample(s *jsonschema.Schema) string {
	switch typeWord(s) {
	case "array":
		if s.Items != nil {
			return "[" + sample(s.Items) + "]"
		}
		return "[]"
	case "object":
		parts := make([]string, 0, len(s.Properties))
		for _, key := range propertyNames(s) {
			if slices.Contains(s.Required, key) {
				parts = append(parts, string(quoted(key))+":"+sample(s.Properties[key]))
			}
		}
		return "{" + strings.Join(parts, ",") + "}"
	case "boolean":
		return "true"
	case "integer", "number":
		return "1"
	}
	return `"…"`
}

func typeWord(s *jsonschema.Schema) string {
	switch {
	case s.Type != "":
		return s.Type
	case len(s.Types) > 0:
		types := slices.DeleteFunc(slices.Clone(s.Types), func(t string) bool { return t == "null" })
		return strings.Join(types, "|")
	}
	return "any"
}

// propertyNames gives the keys of an object in the order of its schema.
func propertyNames(s *jsonschema.Schema) []string {
	if s == nil {
		return nil
	}
	names := slices.Clone(s.PropertyOrder)
	var rest []string
	for name := range s.Properties {
		if !slices.Contains(names, name) {
			rest = append(rest, name)
		}
	}
	slices.Sort(rest)
	names = append(names, rest...)
	return slices.DeleteFunc(names, func(n string) bool { return s.Properties[n] == nil })
}
