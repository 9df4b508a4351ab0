package bundle_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helve-dev/helve/internal/bundle"
)

// deepSettings would exhaust the compiler's stack.
func deepSettings() []byte {
	const many = 3_000_000
	return []byte(`{"a": ` + strings.Repeat("[", many) + strings.Repeat("]", many) + "}")
}

// Settings of TypeScript that cannot be read are done without, wherever the
// compiler would come across them.
func TestDeepSettingsOfTypeScript(t *testing.T) {
	tests := []struct{ name, deep, file, text string }{
		{"of the folder", "tsconfig.json", "", ""},
		{"of the folder for JavaScript", "jsconfig.json", "", ""},
		{"of a folder below", "lib/tsconfig.json", "", ""},
		{"extended", "base.txt", "tsconfig.json", `{ "extends": "./base.txt" }`},
		{"extended without an ending", "base.json", "tsconfig.json", `{ /* " */ "extends": ["./base"] }`},
		{"of a package", "node_modules/p/tsconfig.json", "tsconfig.json", `{ "extends": "p" }`},
		{"of a folder that paths lead to", "far/away/tsconfig.json", "tsconfig.json", `{ "compilerOptions": { "paths": { "p/*": ["./far/*"] } } }`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			write(t, filepath.Join(root, "tools/a.ts"), []byte(`import "../lib/b"; try { require("p/away/x") } catch {} export default 1`))
			write(t, filepath.Join(root, "lib/b.ts"), []byte(`export {}`))
			write(t, filepath.Join(root, tt.deep), deepSettings())
			if tt.file != "" {
				write(t, filepath.Join(root, tt.file), []byte(tt.text))
			}
			r, err := bundle.Build(context.Background(), bundle.Options{Root: root, Files: []string{"tools/a.ts"}})
			if err != nil {
				t.Fatal(err)
			}
			if !r.Files[0].Loads() || len(r.Problems) != 1 || r.Problems[0].File != filepath.Join(root, tt.deep) {
				t.Error(r.Files[0].Problems, r.Problems)
			}
		})
	}
}

// Settings of a package that cannot be read are the mistake of who imports it.
func TestDeepSettingsOfPackages(t *testing.T) {
	for _, deep := range []string{"node_modules/p/package.json", "node_modules/p/lib/package.json", "lib/package.json"} {
		t.Run(deep, func(t *testing.T) {
			root := t.TempDir()
			write(t, filepath.Join(root, "tools/a.ts"), []byte("\nimport 'p'; import '../lib/b'"))
			write(t, filepath.Join(root, "tools/b.ts"), []byte("export default 1"))
			write(t, filepath.Join(root, "lib/b.ts"), []byte("export {}"))
			write(t, filepath.Join(root, "node_modules/p/package.json"), []byte(`{ "main": "lib" }`))
			write(t, filepath.Join(root, "node_modules/p/lib/index.js"), []byte(""))
			write(t, filepath.Join(root, deep), deepSettings())
			r, err := bundle.Build(context.Background(), bundle.Options{Root: root, Files: []string{"tools/a.ts", "tools/b.ts"}})
			if err != nil {
				t.Fatal(err)
			}
			if f := r.Files[0]; f.Loads() || f.Problems[0].Line != 2 || !strings.Contains(f.Problems[0].Text, "too large") {
				t.Error(f)
			}
			if !r.Files[1].Loads() {
				t.Error(r.Files[1])
			}
		})
	}
	root := t.TempDir()
	write(t, filepath.Join(root, "a.ts"), nil)
	for _, name := range []string{"package.json", ".pnp.cjs"} {
		write(t, filepath.Join(root, name), []byte(strings.Repeat("[", 500_000)))
		if _, err := bundle.Build(context.Background(), bundle.Options{Root: root, Files: []string{"a.ts"}}); err == nil || !strings.Contains(err.Error(), "nested too deeply") {
			t.Error(name, err)
		}
		write(t, filepath.Join(root, name), []byte("{}"))
	}
}

// What is not part of what is trusted is not imported.
func TestUntrustedParts(t *testing.T) {
	for _, spec := range []string{"../plans/x.ts", "../.git/hooks/x.js", "../Plans/x.ts", "../a.log"} {
		root := t.TempDir()
		write(t, filepath.Join(root, "tools/a.ts"), []byte("\nimport x from '"+spec+"'; export default x"))
		write(t, filepath.Join(root, "tools", spec), []byte("export default 1"))
		r, err := bundle.Build(context.Background(), bundle.Options{Root: root, Files: []string{"tools/a.ts"}})
		if err != nil {
			t.Fatal(err)
		}
		f := r.Files[0]
		if f.Loads() || f.Problems[0].Line != 2 || !strings.Contains(f.Problems[0].Text, `may not be imported: it is not part of what is trusted`) {
			t.Error(spec, f)
		}
	}
	root := t.TempDir()
	write(t, filepath.Join(root, "tools/a.ts"), []byte("import '../lib/plans/x'"))
	write(t, filepath.Join(root, "lib/plans/x.ts"), nil)
	if r := build(t, bundle.Options{Root: root, Files: []string{"tools/a.ts"}}); !r.Files[0].Loads() {
		t.Error(r.Files[0])
	}
}
