package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// tests are the test functions of packages: by the folder of the package and
// the name, the file that has it.
type tests map[string]map[string]string

// findTests reads the test files of packages, those for other systems too.
func findTests(root string, packages []string) (tests, error) {
	all := tests{}
	for _, pkg := range packages {
		all[pkg] = map[string]string{}
		files, err := filepath.Glob(filepath.Join(root, pkg, "*_test.go"))
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			for _, name := range functions(text) {
				all[pkg][name] = filepath.ToSlash(filepath.Join(pkg, filepath.Base(file)))
			}
		}
	}
	return all, nil
}

// functions are the names of the tests, fuzz targets and examples in a file;
// none where it can not be read as Go.
func functions(text []byte) (names []string) {
	f, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Recv != nil || fn.Name.Name == "TestMain" {
			continue
		}
		for _, kind := range []string{"Test", "Fuzz", "Example"} {
			if strings.HasPrefix(fn.Name.Name, kind) {
				names = append(names, fn.Name.Name)
			}
		}
	}
	return names
}

// named are the functions of a package that a pattern of the table means.
func (t tests) named(pkg, pattern string) (names []string) {
	name, _, _ := strings.Cut(pattern, "/")
	want := whole(name)
	for have := range t[pkg] {
		if want.MatchString(have) {
			names = append(names, have)
		}
	}
	slices.Sort(names)
	return names
}
