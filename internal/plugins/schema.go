package plugins

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// The kinds of values that keywords of JSON Schema have, as named in messages.
const (
	aText         = "a text"
	aNumber       = "a number"
	aWholeNumber  = "a whole number"
	trueOrFalse   = "true or false"
	aList         = "a list"
	aListOfTexts  = `a list of texts such as ["a"]`
	aType         = "the name of a type, or a list of them"
	aSchema       = `a schema such as {"type": "string"}`
	aListOfSchema = "a list of schemas"
	someSchemas   = "a schema or a list of them"
	namedSchemas  = `an object with a schema for each name, such as {"a": {"type": "string"}}`
	dependent     = "an object"
	anything      = "anything"
)

// keywordHolds returns the kind of value of a JSON Schema keyword; "" for any other word.
func keywordHolds(word string) string {
	switch word {
	case "type":
		return aType
	case "title", "description", "pattern", "format", "contentEncoding", "contentMediaType", "$id", "$ref", "$schema", "$comment", "$anchor":
		return aText
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf":
		return aNumber
	case "minLength", "maxLength", "minItems", "maxItems", "minContains", "maxContains", "minProperties", "maxProperties":
		return aWholeNumber
	case "uniqueItems", "readOnly", "writeOnly", "deprecated":
		return trueOrFalse
	case "enum", "examples":
		return aList
	case "required":
		return aListOfTexts
	case "not", "if", "then", "else", "contains", "propertyNames", "contentSchema",
		"additionalProperties", "additionalItems", "unevaluatedProperties", "unevaluatedItems":
		return aSchema
	case "allOf", "anyOf", "oneOf", "prefixItems":
		return aListOfSchema
	case "items":
		return someSchemas
	case "properties", "patternProperties", "dependentSchemas", "$defs", "definitions":
		return namedSchemas
	case "dependencies", "dependentRequired":
		return dependent
	}
	return holdsAnything(word)
}

// holdsAnything reports whether any value is accepted for a keyword, because it is unknown or
// ignored, or belongs to a dialect.
func holdsAnything(word string) string {
	switch word {
	case "default", "const", "nullable", "example", "discriminator", "xml", "externalDocs", "id", "strict":
		return anything
	}
	if strings.HasPrefix(word, "$") || strings.HasPrefix(word, "x-") {
		return anything
	}
	return ""
}

// checkSchema says what is wrong with the schema of arguments, and where: the schema package
// accepts some mistakes and reports others in terms of Go.
func checkSchema(raw json.RawMessage) error {
	var whole map[string]any
	if err := json.Unmarshal(raw, &whole); err != nil {
		return fmt.Errorf("it is no JSON object: %s", line(err.Error(), maxQuote))
	}
	if word := misplaced(whole); word != "" {
		name := line(word, 40)
		return fmt.Errorf(`%q is no key of one; arguments are named in "properties", as in {"type": "object", "properties": {"a": {"type": "string"}}}`, name)
	}
	return checkKeys("", whole)
}

// misplaced finds an argument in the place of a schema keyword.
func misplaced(whole map[string]any) string {
	if _, ok := whole["properties"]; ok {
		return ""
	}
	for _, word := range slices.Sorted(maps.Keys(whole)) {
		name, _ := whole[word].(string)
		_, object := whole[word].(map[string]any)
		if keywordHolds(word) == "" && (object || typeName(name)) {
			return word
		}
	}
	return ""
}

func typeName(s string) bool {
	switch s {
	case "array", "boolean", "integer", "null", "number", "object", "string":
		return true
	}
	return false
}

// checkAny checks a value in the place of a schema.
func checkAny(at string, v any) error {
	switch v := v.(type) {
	case nil, bool:
		return nil
	case map[string]any:
		return checkKeys(at, v)
	}
	return unfit(at, v, aSchema)
}

func checkKeys(at string, schema map[string]any) error {
	for _, word := range slices.Sorted(maps.Keys(schema)) {
		place := word
		if at != "" {
			place = at + "." + word
		}
		if v := schema[word]; v != nil {
			if err := checkKey(place, keywordHolds(word), v); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkKey checks the value of one keyword.
func checkKey(at, want string, v any) error {
	switch want {
	case "", anything:
		return nil
	case aType:
		return checkType(at, v)
	case aSchema:
		return checkAny(at, v)
	case namedSchemas, dependent:
		return checkNamed(at, want, v)
	case someSchemas, aListOfSchema:
		return checkList(at, want, v)
	}
	if !fitting(v, want) {
		return unfit(at, v, want)
	}
	return nil
}

// fitting reports whether a value that is not a schema has the wanted kind.
func fitting(v any, want string) bool {
	switch v := v.(type) {
	case []any:
		return want == aList || want == aListOfTexts && !slices.ContainsFunc(v, func(one any) bool { return !isText(one) })
	case float64:
		return want == aNumber || want == aWholeNumber && v == math.Trunc(v)
	}
	return jsonKind(v) == want
}

// checkList checks a list of schemas, or one alone where that may be.
func checkList(at, want string, v any) error {
	list, isList := v.([]any)
	switch {
	case !isList && want == someSchemas:
		return checkAny(at, v)
	case !isList:
		return unfit(at, v, want)
	}
	for i, one := range list {
		if err := checkAny(fmt.Sprintf("%s[%d]", at, i), one); err != nil {
			return err
		}
	}
	return nil
}

// checkNamed checks schemas that have names. A list in the place of one is
// names that belong together.
func checkNamed(at, want string, v any) error {
	named, ok := v.(map[string]any)
	if !ok {
		return unfit(at, v, want)
	}
	for _, name := range slices.Sorted(maps.Keys(named)) {
		place := at + "." + name
		check := checkAny
		if _, list := named[name].([]any); list && want == dependent {
			check = func(at string, v any) error { return checkKey(at, aListOfTexts, v) }
		}
		if err := check(place, named[name]); err != nil {
			return err
		}
	}
	return nil
}

func checkType(at string, v any) error {
	names, isList := v.([]any)
	if !isList {
		names = []any{v}
	}
	for _, one := range names {
		name, ok := one.(string)
		if !ok {
			return unfit(at, v, aType)
		}
		if !typeName(name) {
			return fmt.Errorf(`"%s" is %q, and there are the types "string", "number", "integer", "boolean", "array", "object" and "null"`, line(at, maxQuote), line(name, 40))
		}
	}
	return nil
}

func unfit(at string, v any, want string) error {
	return fmt.Errorf(`"%s" is %s, and %s is wanted`, line(at, maxQuote), jsonKind(v), want)
}

func isText(v any) bool { _, ok := v.(string); return ok }

// jsonKind names what a JSON value is.
func jsonKind(v any) string {
	switch v.(type) {
	case map[string]any:
		return "an object"
	case []any:
		return aList
	case string:
		return aText
	case bool:
		return trueOrFalse
	case nil:
		return "null"
	}
	return aNumber
}
