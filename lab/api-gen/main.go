// Command api-gen writes the clients of the HTTP API from what the server says
// of itself: the Go client's types and methods, the TypeScript client, and the
// OpenAPI document for those who make their own. It runs in the module's folder.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/helve-dev/helve/internal/server"
	"github.com/helve-dev/helve/lab/internal/proof"
)

func main() { proof.Main("api-gen", run) }

func run(_ context.Context, args []string, out, _ io.Writer) error {
	if len(args) > 0 {
		return errors.New("usage: api-gen")
	}
	doc, err := served()
	if err != nil {
		return err
	}
	files, err := generate(doc)
	if err != nil {
		return err
	}
	changed, err := write(".", files)
	for _, name := range changed {
		fmt.Fprintln(out, "wrote", name)
	}
	return err
}

// generate writes all files, by their path from the module's folder.
func generate(doc []byte) (map[string][]byte, error) {
	parsed, err := readDocument(doc)
	if err != nil {
		return nil, err
	}
	a, err := understand(parsed)
	if err != nil {
		return nil, err
	}
	files, err := goFiles(a)
	if err != nil {
		return nil, err
	}
	if files["examples/typescript/helve.ts"], err = tsFile(a); err != nil {
		return nil, err
	}
	files["docs/openapi.json"], err = pretty(doc)
	return files, err
}

// pretty is a document for people, whose keys always stand in the same order.
func pretty(doc []byte) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(v)
	return b.Bytes(), err
}

// write replaces the files that differ, and removes those that were written once
// and would not be now. It returns which these are.
func write(root string, files map[string][]byte) (changed []string, err error) {
	old, err := filepath.Glob(filepath.Join(root, "client", "*_gen.go"))
	if err != nil {
		return nil, err
	}
	for _, path := range old {
		if name := "client/" + filepath.Base(path); files[name] == nil {
			changed, err = append(changed, name), errors.Join(err, os.Remove(path))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(root, filepath.FromSlash(name))
		if have, failed := os.ReadFile(path); failed == nil && bytes.Equal(have, files[name]) {
			continue
		}
		changed, err = append(changed, name), errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, files[name], 0o644))
	}
	return changed, err
}

// served is the document of a server that serves nothing.
func served() ([]byte, error) {
	s, err := server.New(server.Options{})
	if err != nil {
		return nil, err
	}
	return s.OpenAPI(), s.Close()
}
