package bundle_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"helve/internal/bundle"
)

// A file that would exhaust the stack is refused; files that are only long
// are not.
func TestNesting(t *testing.T) {
	const many = 20_000
	tests := []struct {
		name, text string
		loads      bool
	}{
		{"brackets", "export default " + strings.Repeat("[", many), false},
		{"brackets with comments", "export default " + strings.Repeat("(/*)*/", many), false},
		{"brackets with strings", "export default " + strings.Repeat("[']',", many), false},
		{"brackets with expressions", "export default " + strings.Repeat("[/]/,", many), false},
		{"templates", "export default " + strings.Repeat("`}${", many), false},
		{"objects", "export default " + strings.Repeat("{a:", many), false},
		{"not", "export default " + strings.Repeat("!", many) + "1", false},
		{"signs", "export default " + strings.Repeat("- ", many) + "1", false},
		{"arrows", "export default " + strings.Repeat("a=>", many) + "1", false},
		{"arrows on lines", "export default " + strings.Repeat("a=>\n", many) + "1", false},
		{"choices", "export default " + strings.Repeat("a?b:", many) + "1", false},
		{"words", "export default " + strings.Repeat("typeof ", many) + "1", false},
		{"if", strings.Repeat("if(1)\n", many) + ";", false},
		{"else", strings.Repeat("if(1);else\n", many) + ";", false},
		{"else with blocks", strings.Repeat("if(1) {} else ", many) + ";", false},
		{"else on lines", strings.Repeat("if (1) a()\nelse ", many) + ";", false},
		{"types", "type X = " + strings.Repeat("A<", many), false},
		{"statements", strings.Repeat("if (x) { a = b ? c : d; }\n", 6_000), true},
		{"no semicolons", strings.Repeat("const f = async (x: string) => x\nfoo(!x, y)\nif (f) foo()\nelse bar`a`\n", 1), true},
		{"many lines without semicolons", "let a\n" + strings.Repeat("a = !a\na = (x: number) => x ? -1 : 2\na = `${a} and ${`b`}`\n", 6_000), true},
		{"long list", "export default [" + strings.Repeat("{ a: 'it\\'s', b: /[/(]/g, c: -1 },\n", 6_000) + "]", true},
		{"long sum", "export default " + strings.Repeat("'a' + b.c(d) / 2 + \n", 6_000) + "1", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			write(t, filepath.Join(root, "a.ts"), []byte(tt.text))
			r, err := bundle.Build(context.Background(), bundle.Options{Root: root, Files: []string{"a.ts"}})
			if err != nil {
				t.Fatal(err)
			}
			f := r.Files[0]
			if tt.loads != f.Loads() || !tt.loads && f.Problems[0].Text != "nested too deeply" {
				t.Errorf("loads is %v: %v", f.Loads(), f.Problems)
			}
		})
	}
}
