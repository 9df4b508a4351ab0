package bundle_test

import (
	"context"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/helve-dev/helve/internal/bundle"
)

// A file that would take the compilers long is refused; files with as much of
// what takes no time are not.
func TestLength(t *testing.T) {
	const many = 250_000
	numbered := func(count int, text string) string {
		var b strings.Builder
		for i := range count {
			b.WriteString(strings.ReplaceAll(text, "#", strconv.Itoa(i)))
		}
		return b.String()
	}
	tests := []struct {
		name, text, why string
	}{
		{"sequence", "export const x = () => (1" + strings.Repeat(",1", many) + ")", "an expression is too long"},
		{"sequence in an index", "export const x = () => a[1" + strings.Repeat(",1", many) + "]", "an expression is too long"},
		{"sequence of a statement", "f()" + strings.Repeat(",f()", many), "an expression is too long"},
		{"sequence of a statement after another", "var a\n++b" + strings.Repeat(",f()", many), "an expression is too long"},
		{"sequence in a block with a name", "a:{1" + strings.Repeat(",x?1:1", many) + "}", "an expression is too long"},
		{"sequence behind a head", "if (a) (1" + strings.Repeat(",1", many) + ")", "an expression is too long"},
		{"many sequences", strings.Repeat("x = (1"+strings.Repeat(",1", 9_000)+");\n", 20), "an expression is too long"},
		{"texts", "export default 'a'" + strings.Repeat("+'a'", many), "an expression is too long"},
		{"texts on lines", "export default 'a'" + strings.Repeat("\n+ 'a'", many), "an expression is too long"},
		{"templates", "export default `${a}`" + strings.Repeat("+`${a}`", 20_000), "an expression is too long"},
		{"names", "export default () => {" + numbered(60_000, "let a#=1;") + "}", "too many names"},
		{"names of a list", "export default () => { var " + numbered(60_000, "a#,") + "b }", "too many names"},
		{"cases", "switch (a) {" + strings.Repeat("case 1: a();", 40_000) + "}", "too many cases"},
		{"list", "export default [" + strings.Repeat("1,", many) + "]", ""},
		{"list behind a word", "export default () => { return [" + strings.Repeat("1,", many) + "] }", ""},
		{"object", "export default {" + numbered(50_000, "a#: x ? 1 : 2,") + "}", ""},
		{"arguments", "export default () => f(" + strings.Repeat("1,", 50_000) + "1)", ""},
		{"declarations", "var " + numbered(15_000, "a# = {}, ") + "b = function() {}(), c; f(c)", ""},
		{"statements", strings.Repeat("f(1), f(2)\nf(3);", 20_000), ""},
		{"other cases", "switch (a) {" + numbered(20_000, "case #: a();\n") + "}", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			write(t, filepath.Join(root, "a.ts"), []byte(tt.text))
			r := build(t, bundle.Options{Root: root, Files: []string{"a.ts"}})
			f := r.Files[0]
			if f.Loads() != (tt.why == "") || tt.why != "" && (f.Problems[0].Line == 0 || !strings.HasPrefix(f.Problems[0].Text, tt.why)) {
				t.Errorf("loads is %v: %v", f.Loads(), f.Problems)
			}
		})
	}
}

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
		{"members", "export default a" + strings.Repeat(".a", 10*many), false},
		{"members in brackets", "export default " + strings.Repeat("(", 50) + "a" + strings.Repeat(strings.Repeat(".a", 400)+")", 50), false},
		{"members on lines", "export default a" + strings.Repeat("\n  .a(x => x)", 10*many), false},
		{"calls", "export default a" + strings.Repeat("()", 10*many), false},
		{"indexes", "export default a" + strings.Repeat("[0]", 10*many), false},
		{"tags", "export default a" + strings.Repeat("``", 10*many), false},
		{"optional members", "export default a" + strings.Repeat("?.b", 10*many), false},
		{"optional calls", "export default a" + strings.Repeat("?.()", 10*many), false},
		{"namespaces", "namespace A" + strings.Repeat(".a", 8_000) + "{ export let x = 1 }", false},
		{"short chains", strings.Repeat("a.b(c)[0]`e`.f?.d\n", 3_000) + ";[" + strings.Repeat("a.b.c(), ...d.e, 1.5, ", 3_000) + "]", true},
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
