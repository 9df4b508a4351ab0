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

// An Elicitation is a server's request to a person: to fill in a form, or to open an address. Its
// texts are the server's: escape them before they are shown, and say which server asks.
type Elicitation struct {
	Message string
	URL     string // to be opened; there are no fields then
	Fields  []Field
}

// A Field is one thing that a form asks for.
type Field struct {
	Name        string
	Title       string
	Description string
	Type        string   // string, number, integer, boolean, enum or multi-enum
	Options     []Option // of an enum
	Default     any      // nil for none
	Required    bool
	Format      string // of a string: email, uri, date or date-time
	schema      *jsonschema.Schema
}

// An Option is a value that may be chosen.
type Option struct{ Value, Title string }

// An ElicitationAnswer is a person's answer to an Elicitation.
type ElicitationAnswer struct {
	Action string         // accept, decline or cancel; decline when empty
	Values map[string]any // by the name of the field; texts that stand for numbers and booleans are taken for them
}

// result converts an answer to the protocol's form.
func (q Elicitation) result(a ElicitationAnswer) (*sdk.ElicitResult, error) {
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
	for _, f := range q.Fields {
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
		v, err := f.parseValue(v)
		if err != nil {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("%s: %v", f.Name, err)}
		}
		content[f.Name] = v
	}
	return &sdk.ElicitResult{Action: "accept", Content: content}, nil
}

// elicitation reads what a server asks.
func elicitation(p *sdk.ElicitParams) (Elicitation, error) {
	if p == nil {
		return Elicitation{}, errors.New("nothing is asked")
	}
	var q Elicitation
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
		f, err := field(name, schema.Properties[name])
		if err != nil {
			return q, err
		}
		f.Required = slices.Contains(schema.Required, name)
		q.Fields = append(q.Fields, f)
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
func field(name string, s *jsonschema.Schema) (Field, error) {
	if s == nil {
		s = &jsonschema.Schema{Type: "string"}
	}
	f := Field{Name: name, Type: s.Type, Format: s.Format, schema: s}
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
			if d, err := f.parseValue(d); err == nil {
				f.Default = d
			}
		}
	}
	return f, nil
}

// options reads the values that may be chosen, plain or with titles.
func options(s *jsonschema.Schema, titled []*jsonschema.Schema) []Option {
	var out []Option
	titles, _ := s.Extra["enumNames"].([]any)
	for i, v := range s.Enum {
		o := Option{Value: fmt.Sprint(v), Title: fmt.Sprint(v)}
		if i < len(titles) {
			o.Title = fmt.Sprint(titles[i])
		}
		out = append(out, o)
	}
	for _, t := range titled {
		if t != nil && t.Const != nil {
			out = append(out, Option{Value: fmt.Sprint(*t.Const), Title: t.Title})
		}
	}
	return out
}

// parseValue checks what was filled in, and converts it to the type of the field.
func (f Field) parseValue(v any) (any, error) {
	switch f.Type {
	case "number", "integer":
		return f.parseNumber(v)
	case "boolean":
		return boolean(v)
	case "multi-enum":
		return f.several(v)
	}
	s, ok := v.(string)
	if !ok {
		return nil, errors.New("a text is wanted")
	}
	if f.Type == "enum" && !f.offers(s) {
		return nil, fmt.Errorf("%q is none of the options", s)
	}
	n := utf8.RuneCountInString(s)
	if c := f.schema; c != nil && (c.MinLength != nil && n < *c.MinLength || c.MaxLength != nil && n > *c.MaxLength) {
		return nil, errors.New("the text is too short or too long")
	}
	return s, nil
}

func (f Field) parseNumber(v any) (any, error) {
	n, ok := toFloat(v)
	if !ok || math.IsNaN(n) || math.IsInf(n, 0) {
		return nil, errors.New("a number is wanted")
	}
	if f.Type == "integer" && n != math.Trunc(n) {
		return nil, errors.New("a whole number is wanted")
	}
	if s := f.schema; s != nil && (s.Minimum != nil && n < *s.Minimum || s.Maximum != nil && n > *s.Maximum) {
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

func (f Field) offers(value string) bool {
	return slices.ContainsFunc(f.Options, func(o Option) bool { return o.Value == value })
}

// several checks a choice of more than one.
func (f Field) several(v any) (any, error) {
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
		if s, ok := v.(string); !ok || !f.offers(s) {
			return nil, fmt.Errorf("%v is none of the options", v)
		}
	}
	if s := f.schema; s != nil && (s.MinItems != nil && len(list) < *s.MinItems || s.MaxItems != nil && len(list) > *s.MaxItems) {
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
