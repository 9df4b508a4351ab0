package custom

import (
	"encoding/json"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helve-dev/helve/plugin"
)

func TestWhere(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("paths are written otherwise")
	}
	for _, c := range []struct{ spec, path, name string }{
		{"./a.ts", "/base/a.ts", ""},
		{"../a.ts", "/a.ts", ""},
		{"/abs/a.ts", "/abs/a.ts", ""},
		{"file:///abs/a%20b.ts", "/abs/a b.ts", ""},
		{"file:./a.ts", "/base/a.ts", ""},
		{"name", "", "name"},
		{"name@1.2.3", "", "name"},
		{"name@latest", "", "name"},
		{"@scope/name", "", "@scope/name"},
		{"@scope/name@^1", "", "@scope/name"},
		{"npm:name@1", "", "name"},
		{".opencode/plugins/a.ts", "/base/.opencode/plugins/a.ts", ""},
		{".base/a.ts", "/base/.base/a.ts", ""},
		{"plugins/a.ts", "/base/plugins/a.ts", ""},
		{"name@npm:other@1", "", "name"},
		{"@scope/name@git+ssh://git@host/u/repo.git#v1", "", "@scope/name"},
		{"github:user/repo#tag", "", "repo"},
		{"user/repo", "", "repo"},
		{"git+https://host/user/repo.git", "", "repo"},
		{"git+ssh://git@host/user/repo.git", "", "repo"},
		{"name.js", "", "name.js"},
	} {
		path, name := where(plugin.Entry{Spec: c.spec, Base: "/base"})
		if path != c.path || name != c.name {
			t.Errorf("%s: %q %q", c.spec, path, name)
		}
	}
	if path, _ := where(plugin.Entry{Spec: ".opencode/plugins/a.ts", Base: "/p/.opencode"}); path != "/p/.opencode/plugins/a.ts" {
		t.Errorf("from the config folder itself: %q", path)
	}
}

func TestMayDefine(t *testing.T) {
	for _, c := range []struct {
		file, id string
		want     bool
	}{
		{"tools/a.ts", "a", true}, {"tools/a.ts", "a_b", true}, {"tools/a.ts", "ab", false}, {"tools/a_b.ts", "a", false},
		{"tools/a.b.ts", "a.b", true}, {"tool/x", "x", true}, {"tools/a.ts", "", false},
	} {
		if got := (userFile{name: c.file}).mayDefine(c.id); got != c.want {
			t.Errorf("%s %s: %v", c.file, c.id, got)
		}
	}
}

func TestMainFile(t *testing.T) {
	for _, c := range []struct{ name, files, want string }{
		{"exports", "-- package.json --\n{\"exports\": {\".\": {\"types\": \"./t.d.ts\", \"import\": \"./m.js\"}}, \"main\": \"c.js\"}\n-- m.js --\n-- c.js --\n", "m.js"},
		{"server first", "-- package.json --\n{\"exports\": {\".\": \"./m.js\", \"./server\": \"./s.js\"}}\n-- m.js --\n-- s.js --\n", "s.js"},
		{"text", "-- package.json --\n{\"exports\": \"./m.js\"}\n-- m.js --\n", "m.js"},
		{"conditions", "-- package.json --\n{\"exports\": {\"node\": [\"./gone.js\", \"./n.js\"]}}\n-- n.js --\n", "n.js"},
		{"module", "-- package.json --\n{\"module\": \"e.js\", \"main\": \"c.js\"}\n-- e.js --\n-- c.js --\n", "e.js"},
		{"no ending", "-- package.json --\n{\"main\": \"lib/c\"}\n-- lib/c.js --\n", "lib/c.js"},
		{"folder", "-- package.json --\n{\"main\": \"lib\"}\n-- lib/index.js --\n", "lib/index.js"},
		{"none", "-- index.ts --\n", "index.ts"},
		{"not JSON", "-- package.json --\n{\n-- index.js --\n", "index.js"},
		{"outside", "-- package.json --\n{\"main\": \"../x.js\"}\n", ""},
	} {
		dir := realTemp(t)
		plant(t, dir, c.files)
		plant(t, filepath.Dir(dir), "-- x.js --\n")
		if got := mainFile(dir); got != c.want {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}

// Whatever a config or a package.json says, no file outside of the package is named.
func FuzzExported(f *testing.F) {
	f.Add("name@1", `{".": {"import": "./a.js"}}`)
	f.Add("@a/b", `["./a", "../b", {"node": "/etc/passwd"}]`)
	f.Add("../x", `"x"`)
	f.Fuzz(func(t *testing.T, spec, exports string) {
		exported(json.RawMessage(exports))
		name := packageName(spec)
		if validPackage(name) && !filepath.IsLocal(filepath.FromSlash(name)) {
			t.Errorf("%q is taken for a package", name)
		}
	})
}

func TestExported(t *testing.T) {
	for in, want := range map[string][]string{
		``: nil, `null`: {""}, `5`: nil, `"a"`: {"a"}, `{".": null}`: {""}, `{"import": {"node": "a", "default": "b"}, "require": "c"}`: {"a", "b", "c"},
	} {
		if diff := cmp.Diff(want, exported(json.RawMessage(in))); diff != "" {
			t.Errorf("%s: %s", in, diff)
		}
	}
}
