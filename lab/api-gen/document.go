package main

import (
	"encoding/json"
	"fmt"
)

// A document is what is read of an OpenAPI 3.1 document; the rest of it does
// not matter to a client.
type document struct {
	Paths      map[string]map[string]*operation `json:"paths"`
	Components struct {
		Schemas map[string]*schema `json:"schemas"`
	} `json:"components"`
}

// An operation is a method of a path.
type operation struct {
	ID          string              `json:"operationId"`
	Summary     string              `json:"summary"`
	Description string              `json:"description"`
	Parameters  []parameter         `json:"parameters"`
	Body        *body               `json:"requestBody"`
	Responses   map[string]response `json:"responses"`
}

// A parameter is a part of the path, the query or the header.
type parameter struct {
	Name        string  `json:"name"`
	In          string  `json:"in"`
	Required    bool    `json:"required"`
	Description string  `json:"description"`
	Explode     *bool   `json:"explode"`
	Schema      *schema `json:"schema"`
}

type body struct {
	Required bool             `json:"required"`
	Content  map[string]media `json:"content"`
}

type response struct {
	Content map[string]media `json:"content"`
}

type media struct {
	Schema *schema `json:"schema"`
}

// A schema is a JSON Schema as far as a client can make use of one.
type schema struct {
	Type        types              `json:"type"`
	Ref         string             `json:"$ref"`
	Description string             `json:"description"`
	Format      string             `json:"format"`
	Default     any                `json:"default"`
	Enum        []any              `json:"enum"`
	Const       any                `json:"const"`
	Items       *schema            `json:"items"`
	Properties  map[string]*schema `json:"properties"`
	Required    []string           `json:"required"`
	Additional  additional         `json:"additionalProperties"`
	OneOf       []*schema          `json:"oneOf"`
	AnyOf       []*schema          `json:"anyOf"`
}

// types are the types a value may have: one of JSON's, or a list of them.
type types []string

// UnmarshalJSON takes both ways to write it.
func (t *types) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*t = types{one}
		return nil
	}
	var list []string
	if err := json.Unmarshal(b, &list); err != nil {
		return fmt.Errorf("a type is a name or a list of names, not %s", b)
	}
	*t = list
	return nil
}

// additional are the properties that have no name of their own: a schema, or
// whether there may be any.
type additional struct {
	allowed bool
	schema  *schema
}

// UnmarshalJSON takes both ways to write it.
func (a *additional) UnmarshalJSON(b []byte) error {
	if json.Unmarshal(b, &a.allowed) == nil {
		return nil
	}
	a.allowed = true
	return json.Unmarshal(b, &a.schema)
}

// readDocument reads what the server says of itself.
func readDocument(text []byte) (*document, error) {
	d := &document{}
	if err := json.Unmarshal(text, d); err != nil {
		return nil, fmt.Errorf("the document: %w", err)
	}
	return d, nil
}

// methods are those that operations may have, in the order they are written.
func methods() []string { return []string{"get", "post", "put", "patch", "delete"} }
