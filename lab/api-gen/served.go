package main

import "github.com/helve-dev/helve/internal/server"

// served is the document of a server that serves nothing.
func served() ([]byte, error) {
	s, err := server.New(server.Options{})
	if err != nil {
		return nil, err
	}
	return s.OpenAPI(), s.Close()
}
