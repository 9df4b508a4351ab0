package mcpclient

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/mcp"
)

// The limits of a server's questions to a person.
const (
	maxQuestions = 4  // at once; they are put one after the other
	maxAsked     = 10 // while a call runs
	maxDeclines  = 2  // while a call runs: after them nothing more is asked
	maxFields    = 50 // of a form
	maxOptions   = 200
	maxQuestion  = 8 << 10 // bytes of a text
)

// A form is an elicitation with the schemas of its fields, in the same order.
type form struct {
	mcp.Elicitation
	schemas []*jsonschema.Schema
}

// result converts an answer to the protocol's form.
func (q form) result(a mcp.ElicitationAnswer) (*sdk.ElicitResult, error) {
	switch a.Action {
	case "accept":
	case "cancel":
		return &sdk.ElicitResult{Action: "cancel"}, nil
	default:
		return &sdk.ElicitResult{Action: "decline"}, nil
	}
	if q.URL != "" {
		return &sdk.ElicitResult{Action: "accept"}, nil
	}
	content := map[string]any{}
	for i, f := range q.Fields {
		v, given := a.Values[f.Name]
		if !given || v == nil || v == "" && f.Type != "string" {
			v, given = f.Default, f.Default != nil
		}
		if !given {
			if f.Required {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("%s was not filled in", f.Name)}
			}
			continue
		}
		v, err := parseValue(f, q.schemas[i], v)
		if err != nil {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("%s: %v", f.Name, err)}
		}
		content[f.Name] = v
	}
	return &sdk.ElicitResult{Action: "accept", Content: content}, nil
}

// elicitation reads what a server asks.
func elicitation(p *sdk.ElicitParams) (form, error) {
	if p == nil {
		return form{}, errors.New("nothing is asked")
	}
	var q form
	q.Message, _ = text.Cut(p.Message, maxQuestion)
	if p.Mode == "url" {
		if len(p.URL) > maxQuestion {
			return q, errors.New("the URL is too long")
		}
		q.URL = p.URL
		return q, nil
	}
	raw, err := json.Marshal(p.RequestedSchema)
	if err != nil {
		return q, fmt.Errorf("schema: %w", err)
	}
	var schema *jsonschema.Schema
	if err := json.Unmarshal(raw, &schema); err != nil {
		return q, fmt.Errorf("schema: %w", err)
	}
	if schema == nil {
		return q, nil
	}
	if len(schema.Properties) > maxFields {
		return q, fmt.Errorf("a form may have %d fields", maxFields)
	}
	for _, name := range order(schema) {
		one := schema.Properties[name]
		if one == nil {
			one = &jsonschema.Schema{Type: "string"}
		}
		f, err := field(name, one)
		if err != nil {
			return q, err
		}
		f.Required = slices.Contains(schema.Required, name)
		q.Fields, q.schemas = append(q.Fields, f), append(q.schemas, one)
	}
	return q, nil
}

// order returns the names of the properties, the required ones first; the
// order in which they were written is lost on the way.
func order(s *jsonschema.Schema) []string {
	var names []string
	for name := range s.Properties {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		ra, rb := slices.Index(s.Required, a), slices.Index(s.Required, b)
		switch {
		case ra >= 0 && rb >= 0:
			return ra - rb
		case ra >= 0:
			return -1
		case rb >= 0:
			return 1
		case a < b:
			return -1
		}
		return 1
	})
	return names
}

// field reads one property of a form.
func field(name string, s *jsonschema.Schema) (mcp.Field, error) {
	f := mcp.Field{Name: name, Type: s.Type, Format: s.Format}
	f.Title, _ = text.Cut(s.Title, maxQuestion)
	f.Description, _ = text.Cut(s.Description, maxQuestion)
	switch s.Type {
	case "number", "integer", "boolean":
	case "string", "":
		f.Type, f.Options = "string", options(s, s.OneOf)
		if len(f.Options) > 0 {
			f.Type = "enum"
		}
	case "array":
		if s.Items == nil {
			return f, fmt.Errorf("%s: a list needs items", name)
		}
		f.Type, f.Options = "multi-enum", options(s.Items, s.Items.AnyOf)
		if len(f.Options) == 0 {
			f.Options = options(s.Items, s.Items.OneOf)
		}
	default:
		return f, fmt.Errorf("%s: a form can not ask for the type %q", name, s.Type)
	}
	if len(f.Options) > maxOptions {
		return f, fmt.Errorf("%s: a field may have %d options", name, maxOptions)
	}
	if s.Default != nil {
		var d any
		if json.Unmarshal(s.Default, &d) == nil {
			if d, err := parseValue(f, s, d); err == nil {
				f.Default = d
			}
		}
	}
	return f, nil
}

// options reads the values that may be chosen, plain or with titles.
func options(s *jsonschema.Schema, titled []*jsonschema.Schema) []mcp.FieldOption {
	var out []mcp.FieldOption
	titles, _ := s.Extra["enumNames"].([]any)
	for i, v := range s.Enum {
		o := mcp.FieldOption{Value: fmt.Sprint(v), Title: fmt.Sprint(v)}
		if i < len(titles) {
			o.Title = fmt.Sprint(titles[i])
		}
		out = append(out, o)
	}
	for _, t := range titled {
		if t != nil && t.Const != nil {
			out = append(out, mcp.FieldOption{Value: fmt.Sprint(*t.Const), Title: t.Title})
		}
	}
	return out
}

// parseValue checks what was filled in, and converts it to the type of the field.
func parseValue(f mcp.Field, s *jsonschema.Schema, v any) (any, error) {
	switch f.Type {
	case "number", "integer":
		return parseNumber(f, s, v)
	case "boolean":
		return boolean(v)
	case "multi-enum":
		return several(f, s, v)
	}
	text, ok := v.(string)
	if !ok {
		return nil, errors.New("a text is wanted")
	}
	if f.Type == "enum" && !offers(f, text) {
		return nil, fmt.Errorf("%q is none of the options", text)
	}
	n := utf8.RuneCountInString(text)
	if s.MinLength != nil && n < *s.MinLength || s.MaxLength != nil && n > *s.MaxLength {
		return nil, errors.New("the text is too short or too long")
	}
	return text, nil
}

func parseNumber(f mcp.Field, s *jsonschema.Schema, v any) (any, error) {
	n, ok := toFloat(v)
	if !ok || math.IsNaN(n) || math.IsInf(n, 0) {
		return nil, errors.New("a number is wanted")
	}
	if f.Type == "integer" && n != math.Trunc(n) {
		return nil, errors.New("a whole number is wanted")
	}
	if s.Minimum != nil && n < *s.Minimum || s.Maximum != nil && n > *s.Maximum {
		return nil, errors.New("the number is out of range")
	}
	return n, nil
}

func boolean(v any) (any, error) {
	switch v := v.(type) {
	case bool:
		return v, nil
	case string:
		if b, err := strconv.ParseBool(v); err == nil {
			return b, nil
		}
	}
	return nil, errors.New("yes or no is wanted")
}

func offers(f mcp.Field, value string) bool {
	return slices.ContainsFunc(f.Options, func(o mcp.FieldOption) bool { return o.Value == value })
}

// several checks a choice of more than one.
func several(f mcp.Field, s *jsonschema.Schema, v any) (any, error) {
	var list []any
	switch v := v.(type) {
	case []any:
		list = v
	case []string:
		for _, s := range v {
			list = append(list, s)
		}
	default:
		return nil, errors.New("a list is wanted")
	}
	for _, v := range list {
		if s, ok := v.(string); !ok || !offers(f, s) {
			return nil, fmt.Errorf("%v is none of the options", v)
		}
	}
	if s.MinItems != nil && len(list) < *s.MinItems || s.MaxItems != nil && len(list) > *s.MaxItems {
		return nil, errors.New("there are too few or too many in the list")
	}
	return list, nil
}

// toFloat reads a number of any kind.
func toFloat(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case int:
		return float64(v), true
	case int64:
		return float64(v), true
	case json.Number:
		n, err := v.Float64()
		return n, err == nil
	case string:
		n, err := strconv.ParseFloat(v, 64)
		return n, err == nil
	}
	return 0, false
}
