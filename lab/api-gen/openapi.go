package main

import (
	"encoding/json"
	"fmt"

	"github.com/google/jsonschema-go/jsonschema"
)

// A document is what is read of an OpenAPI 3.1 document; the rest of it does
// not matter to a client.
type document struct {
	Paths      map[string]map[string]*operation `json:"paths"`
	Components struct {
		Schemas map[string]*jsonschema.Schema `json:"schemas"`
	} `json:"components"`
}

// An operation is a method of a path.
type operation struct {
	ID          string                               `json:"operationId"`
	Summary     string                               `json:"summary"`
	Description string                               `json:"description"`
	Parameters  []parameter                          `json:"parameters"`
	Body        *struct{ Content content }           `json:"requestBody"`
	Responses   map[string]struct{ Content content } `json:"responses"`
}

// A parameter is a part of the path, the query or the header.
type parameter struct {
	Name        string             `json:"name"`
	In          string             `json:"in"`
	Required    bool               `json:"required"`
	Description string             `json:"description"`
	Explode     *bool              `json:"explode"`
	Schema      *jsonschema.Schema `json:"schema"`
}

// content is a body, by its type.
type content map[string]struct{ Schema *jsonschema.Schema }

// readDocument reads what the server says of itself.
func readDocument(text []byte) (*document, error) {
	d := &document{}
	if err := json.Unmarshal(text, d); err != nil {
		return nil, fmt.Errorf("the document: %w", err)
	}
	return d, nil
}
