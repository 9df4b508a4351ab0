package helve_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// A room is a package of the module, parsed.
type room struct {
	path  string // as in the table; "." for the root
	files map[string]*ast.File
}

func rooms(t *testing.T) (map[string]*room, *token.FileSet) {
	t.Helper()
	fset := token.NewFileSet()
	all := map[string]*room{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && path != "." && (strings.HasPrefix(name, ".") || name == "testdata" || name == "examples" || name == "docs") {
			return fs.SkipDir
		}
		if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil && path != "." {
			return fs.SkipDir // a module of its own
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(fset, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		dir := filepath.ToSlash(filepath.Dir(path))
		if all[dir] == nil {
			all[dir] = &room{path: dir, files: map[string]*ast.File{}}
		}
		all[dir].files[path] = f
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all, fset
}

// module is the path that every import of ours begins with.
const module = "github.com/helve-dev/helve"

// layers reads the table of ARCHITECTURE.md.
func layers(t *testing.T) map[string]int {
	t.Helper()
	doc, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]int{}
	for _, row := range regexp.MustCompile("(?m)^\\| (\\d) \\| `([^`]+)`").FindAllStringSubmatch(string(doc), -1) {
		all[row[2]], _ = strconv.Atoi(row[1])
	}
	return all
}

// A package imports nothing of a layer above its own.
func TestLayers(t *testing.T) {
	all, _ := rooms(t)
	layer := layers(t)
	for path, r := range all {
		if _, ok := layer[path]; !ok {
			t.Errorf("package %s is not in the table of ARCHITECTURE.md", path)
			continue
		}
		for file, f := range r.files {
			for _, imp := range f.Imports {
				name := strings.Trim(imp.Path.Value, `"`)
				if name == module {
					name += "/."
				}
				if name, ours := strings.CutPrefix(name, module+"/"); ours && layer[name] > layer[path] {
					t.Errorf("%s, of layer %d, imports %s, of layer %d", file, layer[path], name, layer[name])
				}
			}
		}
	}
	for path := range layer {
		if all[path] == nil {
			t.Errorf("the table names package %s, which does not exist", path)
		}
	}
}

// The root does not link what is added by value, be it by way of other packages.
func TestNotLinked(t *testing.T) {
	all, _ := rooms(t)
	added := regexp.MustCompile(`go-sdk|oauth2|esbuild|quickjs|internal/(mcpclient|auth|custom|bundle|script|scripthost)$`)
	seen := map[string]bool{}
	var follow func(path string)
	follow = func(path string) {
		if all[path] == nil || seen[path] {
			return
		}
		seen[path] = true
		for file, f := range all[path].files {
			for _, imp := range f.Imports {
				name := strings.Trim(imp.Path.Value, `"`)
				if added.MatchString(name) {
					t.Errorf("%s, which the root links, imports %s", file, name)
				}
				follow(strings.TrimPrefix(name, module+"/"))
			}
		}
	}
	follow(".")
}

func TestDocumented(t *testing.T) {
	all, fset := rooms(t)
	for path, r := range all {
		documented := false
		explained := interfaceMethods(r.files)
		for _, f := range r.files {
			documented = documented || f.Doc != nil
			for _, d := range f.Decls {
				for _, name := range undocumented(d) {
					if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv != nil && explained[name] {
						continue
					}
					t.Errorf("%s: %s has no comment", fset.Position(d.Pos()), name)
				}
			}
		}
		if !documented {
			t.Errorf("package %s has no comment", path)
		}
	}
}

// interfaceMethods are the methods that an interface of the package explains
// for all who have them.
func interfaceMethods(files map[string]*ast.File) map[string]bool {
	names := map[string]bool{}
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			if t, ok := n.(*ast.InterfaceType); ok {
				for _, m := range t.Methods.List {
					if len(m.Names) > 0 && m.Doc != nil {
						names[m.Names[0].Name] = true
					}
				}
			}
			return true
		})
	}
	return names
}

// undocumented returns the exported names of a declaration that lack a
// comment. A comment on a group of constants or variables counts for all.
func undocumented(d ast.Decl) (names []string) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && d.Doc == nil && exportedReceiver(d) {
			names = append(names, d.Name.Name)
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() && d.Doc == nil && s.Doc == nil {
					names = append(names, s.Name.Name)
				}
			case *ast.ValueSpec:
				for _, n := range s.Names {
					if n.IsExported() && d.Doc == nil && s.Doc == nil && s.Comment == nil {
						names = append(names, n.Name)
					}
				}
			}
		}
	}
	return names
}

func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	typ := d.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	id, ok := typ.(*ast.Ident)
	return ok && id.IsExported()
}

func TestNoHiddenState(t *testing.T) {
	all, fset := rooms(t)
	for _, r := range all {
		for _, f := range r.files {
			for _, d := range f.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
					t.Errorf("%s: init() runs before anybody asked for it", fset.Position(fn.Pos()))
				}
				if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.VAR {
					for _, s := range g.Specs {
						if v := s.(*ast.ValueSpec); !constant(g, v) {
							t.Errorf("%s: package variable %s: make it a constant, a function or a field", fset.Position(v.Pos()), v.Names[0].Name)
						}
					}
				}
			}
		}
	}
}

// constant reports whether a package variable is one that nobody has a
// reason to change: an error value, an embedded file, a type assertion.
func constant(g *ast.GenDecl, v *ast.ValueSpec) bool {
	if v.Names[0].Name == "_" {
		return true
	}
	for _, doc := range []*ast.CommentGroup{g.Doc, v.Doc} {
		if doc == nil {
			continue
		}
		for _, c := range doc.List {
			if strings.HasPrefix(c.Text, "//go:embed ") {
				return true
			}
		}
	}
	for _, value := range v.Values {
		call, ok := value.(*ast.CallExpr)
		if !ok {
			return false
		}
		fn, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || fn.Sel.Name != "New" && fn.Sel.Name != "Errorf" {
			return false
		}
	}
	return len(v.Values) > 0
}
