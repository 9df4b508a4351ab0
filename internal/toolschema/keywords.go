package toolschema

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A form is what the value of a keyword looks like.
type form int

const (
	unknown   form = iota // left out
	isText                // a string
	isFlag                // a boolean
	isNumber              // any number
	isCount               // a whole number, not negative
	isAny                 // any value
	isList                // an array of any values
	isValues              // an array of values, not empty
	isSchema              // a schema
	isSchemas             // an array of schemas
	isNamed               // schemas by name
	isNames               // names by name
	isType                // a type or an array of types
	isPattern             // a regular expression
	isFormat              // the name of a format
)

// annotates reports whether a keyword says something without asking for it.
func annotates(key string) bool {
	switch key {
	case "title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly":
		return true
	}
	return false
}

// formOf returns the form of a keyword in a dialect. required is not here:
// it depends on properties.
func (f *fitter) formOf(key string) form {
	switch key {
	case "title", "description":
		return isText
	case "default":
		return isAny
	case "type":
		return isType
	case "enum":
		return isValues
	case "properties":
		return isNamed
	case "items":
		return isSchema
	case "anyOf":
		return isSchemas
	case "minimum", "maximum":
		return isNumber
	case "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties":
		return isCount
	case "format":
		return isFormat
	}
	if f.dialect == Simple {
		return unknown
	}
	return f.fullerForm(key)
}

// fullerForm is formOf for keywords that Simple does not know.
func (f *fitter) fullerForm(key string) form {
	switch key {
	case "const":
		return isAny
	case "exclusiveMinimum", "exclusiveMaximum", "multipleOf":
		return isNumber
	case "uniqueItems", "deprecated", "readOnly", "writeOnly":
		return isFlag
	case "examples":
		return isList
	case "pattern":
		return isPattern
	case "additionalProperties":
		return isSchema
	}
	if f.dialect == Anthropic {
		switch key {
		case "prefixItems":
			return isSchemas
		case "patternProperties":
			return isNamed
		case "propertyNames":
			return isSchema
		case "dependentRequired":
			return isNames
		case "contentEncoding", "contentMediaType":
			return isText
		}
	}
	return unknown
}

// typesOf returns the types that a schema names; nil if it names none, or one
// that does not exist.
func typesOf(s *object) []any {
	list, ok := s.vals["type"].([]any)
	if !ok && s.has("type") {
		list = []any{s.vals["type"]}
	}
	var out []any
	for _, t := range list {
		switch t {
		case "object", "array", "string", "number", "integer", "boolean", "null":
			if !slices.Contains(out, t) {
				out = append(out, t)
			}
		default:
			return nil
		}
	}
	return out
}

// keywordValue returns the value of a keyword that holds no schemas, if it is of the
// right form.
func (f *fitter) keywordValue(kind form, s *object, key string) (any, bool) {
	v := s.vals[key]
	ok := false
	switch kind {
	case isAny:
		ok = true
	case isText:
		_, ok = v.(string)
	case isFlag:
		_, ok = v.(bool)
	case isList:
		_, ok = v.([]any)
	case isNumber:
		ok = isDecimal(v, key == "multipleOf")
	case isCount:
		ok = isNatural(v)
	case isPattern:
		pattern, isString := v.(string)
		ok = isString && common(pattern)
	case isFormat:
		ok = f.takesFormat(v)
	case isNames:
		ok = namesByName(v)
	case isType:
		types := typesOf(s)
		if len(types) == 1 {
			return types[0], true
		}
		return types, len(types) > 0
	}
	return v, ok
}

func isDecimal(v any, positive bool) bool {
	n, _ := v.(json.Number)
	d, err := n.Float64()
	return err == nil && (d > 0 || !positive)
}

// takesFormat reports whether a dialect knows a format. Gemini refuses a
// schema for one that it does not know.
func (f *fitter) takesFormat(v any) bool {
	name, ok := v.(string)
	return ok && (f.dialect != Simple || name == "date-time")
}

func isNatural(v any) bool {
	n, _ := v.(json.Number)
	_, err := strconv.ParseUint(string(n), 10, 31)
	return err == nil
}

func namesByName(v any) bool {
	o, ok := v.(*object)
	if !ok {
		return false
	}
	for _, key := range o.keys {
		names, ok := o.vals[key].([]any)
		if !ok || slices.ContainsFunc(names, func(n any) bool { _, isName := n.(string); return !isName }) {
			return false
		}
	}
	return true
}

// common reports whether a regular expression means the same to all engines.
func common(pattern string) bool {
	if _, err := regexp.Compile(pattern); err != nil || strings.Contains(pattern, "[[:") || strings.Count(pattern, "(?") != strings.Count(pattern, "(?:") {
		return false
	}
	for i := 0; i < len(pattern); i++ {
		if pattern[i] != '\\' {
			continue
		}
		if i++; i < len(pattern) && !strings.ContainsRune(`dDwWsSbBnrtfv.*+?^$()[]{}|\/-`, rune(pattern[i])) {
			return false
		}
	}
	return true
}

// distinct leaves out values that occurred before.
func distinct(values []any) []any {
	seen := map[string]bool{}
	return slices.DeleteFunc(slices.Clone(values), func(v any) bool {
		t := canonicalText(v)
		again := seen[t]
		seen[t] = true
		return again
	})
}

// ofType reports whether a value is of a type.
func ofType(v any, typ any) bool {
	switch v := v.(type) {
	case nil:
		return typ == "null"
	case bool:
		return typ == "boolean"
	case string:
		return typ == "string"
	case []any:
		return typ == "array"
	case *object:
		return typ == "object"
	case json.Number:
		n, err := v.Float64()
		return typ == "number" || typ == "integer" && (err != nil || n == math.Trunc(n))
	}
	return false
}

func tooDeep(path string) error {
	return fmt.Errorf("the schema at %s is more than %d levels deep: make it flatter", short(path), maxDepth)
}
