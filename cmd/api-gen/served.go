package main

import (
	"errors"

	"helve/internal/server"
)

// served is the document of a server that serves nothing.
func served() ([]byte, error) {
	s, err := server.New(server.Options{})
	if err != nil {
		return nil, err
	}
	doc, err := s.OpenAPI()
	return doc, errors.Join(err, s.Close())
}
