// Command api-gen writes the clients of the HTTP API from what the server says
// of itself: the Go client's types and methods, the TypeScript client, and the
// OpenAPI document for those who make their own.
//
//	make api          writes the files that differ
//	make api --check  only says which would
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/helve-dev/helve/internal/server"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "api-gen:", err)
		}
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("api-gen", flag.ContinueOnError)
	flags.SetOutput(out)
	check := flags.Bool("check", false, "write nothing; fail where a file is not what it would be")
	root := flags.String("root", ".", "the folder of the module")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%q: no arguments are taken; see --help", flags.Arg(0))
	}
	doc, err := served()
	if err != nil {
		return err
	}
	files, err := generate(doc)
	if err != nil {
		return err
	}
	return write(*root, files, *check, out)
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
// and would not be now; or says which these are.
func write(root string, files map[string][]byte, check bool, out io.Writer) error {
	old, err := filepath.Glob(filepath.Join(root, "client", "*_gen.go"))
	if err != nil {
		return err
	}
	for _, path := range old {
		if name := "client/" + filepath.Base(path); files[name] == nil {
			files[name] = nil
		}
	}
	var differ []string
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(root, filepath.FromSlash(name))
		have, err := os.ReadFile(path)
		switch {
		case err == nil && files[name] != nil && bytes.Equal(have, files[name]):
			continue
		case check:
			differ = append(differ, name)
			continue
		case files[name] == nil:
			err = os.Remove(path)
		default:
			err = errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, files[name], 0o644))
		}
		if err != nil {
			return err
		}
		fmt.Fprintln(out, "wrote", name)
	}
	if len(differ) > 0 {
		return fmt.Errorf("not up to date: %s\nrun: make api", strings.Join(differ, ", "))
	}
	return nil
}

// served is the document of a server that serves nothing.
func served() ([]byte, error) {
	s, err := server.New(server.Options{})
	if err != nil {
		return nil, err
	}
	return s.OpenAPI(), s.Close()
}
