package builtin_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helve-dev/helve/internal/builtin"
	"github.com/helve-dev/helve/internal/files"
	"github.com/helve-dev/helve/tool"
	"github.com/helve-dev/helve/tooltest"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestScripts(t *testing.T) {
	tooltest.Scripts(t, "testdata", keepers, librarian(t), internet(t), school, polyglot, staffed, planned)
}

// specs returns what every tool is, in order.
func specs() (out []tool.Spec) {
	for _, t := range builtin.All(builtin.Rooms{Files: &files.Workspace{}}) {
		out = append(out, t.Spec())
	}
	return out
}

func toolNames() (names []string) {
	for _, s := range specs() {
		names = append(names, s.Name)
	}
	return names
}

// TestForgotten reads the folder and finds what somebody who added a tool
// has left out.
func TestForgotten(t *testing.T) {
	made, listed := constructors(t)
	if len(made) == 0 || len(listed) == 0 {
		t.Fatalf("found %d constructors and %d entries of All", len(made), len(listed))
	}
	for _, name := range made {
		if !slices.Contains(listed, name) {
			t.Errorf("%s() makes a tool and is not in All", name)
		}
	}
	names := toolNames()
	for _, name := range names {
		if doc, err := os.ReadFile(name + ".md"); err != nil || len(bytes.TrimSpace(doc)) == 0 {
			t.Errorf("%s has no description in %s.md: %v", name, name, err)
		}
		if script, err := os.ReadFile(filepath.Join("testdata", name+".txtar")); err != nil || !calls(string(script), name) {
			t.Errorf("%s has no script in testdata/%s.txtar that calls it: %v", name, name, err)
		}
	}
	for _, pattern := range []string{"*.md", "testdata/*.txtar", "testdata/spec/*.json"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Errorf("%s: no files: %v", pattern, err)
		}
		for _, file := range files {
			base := filepath.Base(file)
			name := strings.TrimSuffix(base, filepath.Ext(base))
			if !slices.Contains(names, name) && !slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(name, n+"-") }) {
				t.Errorf("%s belongs to no tool", file)
			}
		}
	}
}

func calls(script, name string) bool {
	return slices.ContainsFunc(strings.Split(script, "\n"), func(line string) bool {
		line = strings.TrimPrefix(line, "! ") + " "
		return strings.HasPrefix(line, "call "+name+" ")
	})
}

// constructors returns the functions of the folder that make a tool, and
// those that All calls.
func constructors(t *testing.T) (made, listed []string) {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv != nil {
				continue
			}
			if fn.Name.Name == "All" {
				listed = called(fn.Body)
			}
			if res := fn.Type.Results; res != nil && res.NumFields() == 1 && isTool(res.List[0].Type) {
				made = append(made, fn.Name.Name)
			}
		}
	}
	return made, listed
}

func isTool(e ast.Expr) bool {
	sel, ok := e.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != "Tool" {
		return false
	}
	pkg, ok := sel.X.(*ast.Ident)
	return ok && pkg.Name == "tool"
}

func called(body ast.Node) (names []string) {
	ast.Inspect(body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if id, ok := call.Fun.(*ast.Ident); ok {
				names = append(names, id.Name)
			}
		}
		return true
	})
	return names
}

// TestShown compares what a model is shown of each tool with what it was
// shown before. A change here is a change of the prompt.
func TestShown(t *testing.T) {
	for _, s := range specs() {
		got, err := json.MarshalIndent(map[string]any{
			"name": s.Name, "description": s.Description, "schema": s.Schema,
		}, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, '\n')
		file := filepath.Join("testdata", "spec", s.Name+".json")
		if *update {
			if err := os.WriteFile(file, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Errorf("%v (write it with -update)", err)
			continue
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s is shown otherwise than before (-before +now); if that is meant, run with -update:\n%s", s.Name, diff)
		}
	}
}
