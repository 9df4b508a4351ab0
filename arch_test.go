package helve_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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

// table reads who may import whom from ARCHITECTURE.md.
func table(t *testing.T) map[string][]string {
	t.Helper()
	doc, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	ticked := regexp.MustCompile("`([^`]+)`")
	may, layer := map[string][]string{}, map[string]string{}
	for _, row := range regexp.MustCompile(`(?m)^\| \d \|.*$`).FindAllString(string(doc), -1) {
		cells := strings.Split(row, "|")
		name := strings.Trim(cells[2], " `")
		may[name], layer[name] = []string{}, strings.TrimSpace(cells[1])
		for _, m := range ticked.FindAllStringSubmatch(cells[len(cells)-2], -1) {
			may[name] = append(may[name], m[1])
		}
	}
	for name, below := range may {
		for _, other := range below {
			if layer[other] > layer[name] {
				t.Errorf("%s of layer %s may import %s of layer %s", name, layer[name], other, layer[other])
			}
		}
	}
	if len(may) < 10 {
		t.Fatalf("only %d packages were found in the table", len(may))
	}
	return may
}

// module is the path that every import of ours begins with.
const module = "github.com/helve-dev/helve"

func TestLayers(t *testing.T) {
	all, _ := rooms(t)
	may := table(t)
	for path, r := range all {
		allowed, ok := may[path]
		if !ok {
			t.Errorf("package %s is not in the table of ARCHITECTURE.md", path)
			continue
		}
		for file, f := range r.files {
			for _, imp := range f.Imports {
				name := strings.Trim(imp.Path.Value, `"`)
				if name != module && !strings.HasPrefix(name, module+"/") {
					continue
				}
				name = strings.TrimPrefix(strings.TrimPrefix(name, module), "/")
				if name == "" {
					name = "."
				}
				if !slices.Contains(allowed, name) {
					t.Errorf("%s imports %s, which the table does not allow", file, name)
				}
			}
		}
	}
	for path := range may {
		if all[path] == nil {
			t.Errorf("the table names package %s, which does not exist", path)
		}
	}
}

func TestDocumented(t *testing.T) {
	all, fset := rooms(t)
	for path, r := range all {
		documented := false
		for _, f := range r.files {
			documented = documented || f.Doc != nil
			for _, d := range f.Decls {
				for _, name := range undocumented(d) {
					t.Errorf("%s: %s has no comment", fset.Position(d.Pos()), name)
				}
			}
		}
		if !documented {
			t.Errorf("package %s has no comment", path)
		}
	}
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
