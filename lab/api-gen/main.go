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
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
	if *check {
		return compare(*root, files)
	}
	return write(*root, files, out)
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

// strays are files that we have written once and would not write now.
func strays(root string, files map[string][]byte) (list []string, err error) {
	found, err := filepath.Glob(filepath.Join(root, "client", "*_gen.go"))
	for _, path := range found {
		name := "client/" + filepath.Base(path)
		if files[name] == nil {
			list = append(list, name)
		}
	}
	return list, err
}

// compare says which files are not what they would be.
func compare(root string, files map[string][]byte) error {
	differ, err := strays(root, files)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		have, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err != nil || !bytes.Equal(have, files[name]) {
			differ = append(differ, name)
		}
	}
	if len(differ) > 0 {
		return fmt.Errorf("not up to date: %s\nrun: make api", strings.Join(differ, ", "))
	}
	return nil
}

// write replaces the files that differ.
func write(root string, files map[string][]byte, out io.Writer) error {
	old, err := strays(root, files)
	if err != nil {
		return err
	}
	for _, name := range old {
		if err := os.Remove(filepath.Join(root, filepath.FromSlash(name))); err != nil {
			return err
		}
		fmt.Fprintln(out, "removed", name)
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(root, filepath.FromSlash(name))
		if have, err := os.ReadFile(path); err == nil && bytes.Equal(have, files[name]) {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, files[name], 0o644); err != nil {
			return err
		}
		fmt.Fprintln(out, "wrote", name)
	}
	return nil
}
