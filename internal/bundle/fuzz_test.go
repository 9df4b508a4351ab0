package bundle_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helve-dev/helve/internal/bundle"
)

// FuzzName gives a file any name. It must not reach the program but as text:
// the program holds the file's own marker once, and nothing of the name runs.
func FuzzName(f *testing.F) {
	for _, name := range []string{
		"plain", `it's "quoted"`, "new\nline", "back\\slash", "`tick${1}`", "\u2028", "*/ alert() /*", "a?b", "a#b", "%41", "é世界", "-", "..x", "a.d", "</script>", "import", "\x7f\x01", "con", "a\r\nthrow 1//", " ", "node_modules", "x.node", "[a]", "{b}", "!",
	} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if name == "" || len(name) > 60 || strings.ContainsAny(name, "/\x00") || strings.ToValidUTF8(name, "") != name || !filepath.IsLocal(name+".ts") {
			return
		}
		file := "tools/" + name + ".ts"
		root := t.TempDir()
		write(t, filepath.Join(root, file), []byte("export const marker = [import.meta.path, __filename]\nexport const fail = () => { throw new Error('x') }\n"))
		o := bundle.Options{Root: root, Files: []string{file}}
		r, err := bundle.Build(context.Background(), o)
		if err != nil {
			t.Fatalf("%q: %v", name, err)
		}
		if !r.Files[0].Loads() {
			t.Fatalf("%q does not load: %v", name, r.Files[0].Problems)
		}
		if got := strings.Count(r.Code, "marker = "); got != 1 {
			t.Fatalf("%q: the program has the file %d times:\n%s", name, got, r.Code)
		}
		if syntaxErrors(t, r.Code) {
			t.Fatalf("%q: the program does not parse:\n%s", name, r.Code)
		}
		at := strings.Index(r.Code, "throw new Error(\"x\")")
		line := strings.Count(r.Code[:at], "\n") + 1
		column := at - strings.LastIndexByte(r.Code[:at], '\n')
		real, _ := filepath.EvalSymlinks(filepath.Join(root, file))
		if from, fromLine, _ := r.Position(line, column); from != real || fromLine != 2 {
			t.Fatalf("%q: position is %q:%d", name, from, fromLine)
		}
	})
}

// FuzzSource gives a file any text. Whatever it is, a file beside it loads.
func FuzzSource(f *testing.F) {
	for _, text := range []string{
		"export default 1", "import.meta", "/* ", "`${", "#!/x\n#!", "\ufeff#!x", "import x from './ok'", "import x from ''", "export * from '\\0'", "await 1",
		"require('../../../../etc/passwd')", "//# sourceMappingURL=/dev/zero", "import 'data:text/javascript,1'", "import('./' + x)", "import(`./${x}.ts`)", "import 'file:///etc/hosts'", "exp$rts.files = 1", "@d class X {}", "with (x) {}", "export = 1", "import x = require('fs')", "using x = y", "<a/>", "module.exports", "\x00",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 10_000 {
			return
		}
		root := t.TempDir()
		write(t, filepath.Join(root, "tools/any.ts"), []byte(text))
		write(t, filepath.Join(root, "tools/ok.ts"), []byte("export default 'fine'\n"))
		o := bundle.Options{Root: root, Files: []string{"tools/any.ts", "tools/ok.ts"}}
		r, err := bundle.Build(context.Background(), o)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if !r.Files[1].Loads() {
			t.Fatalf("%q: the other file does not load: %v", text, r.Files[1].Problems)
		}
		if syntaxErrors(t, r.Code) {
			t.Fatalf("%q: the program does not parse:\n%s", text, r.Code)
		}
		if !r.Inputs.Fresh(o) {
			t.Fatalf("%q: not fresh right after", text)
		}
		again, err := bundle.Build(context.Background(), o)
		if err != nil || again.Hash != r.Hash || again.Code != r.Code {
			t.Fatalf("%q: another build gives another program: %v", text, err)
		}
	})
}

// FuzzPosition asks a source map of any text for places; a map that a cache
// has spoiled must not end the program.
func FuzzPosition(f *testing.F) {
	for _, text := range []string{
		`{"sources":["a.ts"],"mappings":"AAAA;AACA,SAASA"}`, `{"sources":[],"mappings":"AAAA"}`, `{"sources":["a"],"mappings":"ggggggggB"}`,
		`{"sources":["a"],"mappings":"AAAAAAAA"}`, `{"sources":["a"],"mappings":"A!"}`, `{`, ``, `{"sources":["%zz"],"mappings":"AADA;;,,D","x_shift":[1]}`,
	} {
		f.Add(text, 1, 1)
	}
	f.Fuzz(func(t *testing.T, text string, line, column int) {
		r := bundle.Result{Map: []byte(text)}
		if file, l, c := r.Position(line, column); file == "" && (l != 0 || c != 0) {
			t.Errorf("no file, but %d:%d", l, c)
		}
	})
}
