package bundle_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/helve-dev/helve/internal/bundle"
	"github.com/helve-dev/helve/internal/leaktest"

	"github.com/evanw/esbuild/pkg/api"
	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func syntaxErrors(t *testing.T, code string) bool {
	t.Helper()
	out := api.Transform("(function (exports, require, module) {"+code+"\n})", api.TransformOptions{Loader: api.LoaderJS, LogLevel: api.LogLevelSilent})
	return len(out.Errors) > 0
}

// folder is a config folder of a few files that use each other, settings and
// a package, all older than a file's time could be in doubt.
func folder(t testing.TB) bundle.Options {
	t.Helper()
	root := filepath.Join(t.TempDir(), "root")
	for name, text := range map[string]string{
		"tools/a.ts":                     "import { h } from '../lib/h'\nimport p from 'p'\nexport default () => h(p)\n",
		"tools/b.ts":                     "import gone from 'gone'\nexport default gone\n",
		"tools/c.ts":                     "import t from '../lib/t.txt'\nimport v from 'v'\nexport default [t, v]\n",
		"lib/h.ts":                       "export const h = (x: string) => x\n",
		"lib/t.txt":                      "text\n",
		"tsconfig.json":                  `{ "extends": "./base.json" }`,
		"base.json":                      `{}`,
		"node_modules/p/package.json":    `{ "main": "main.js" }`,
		"node_modules/p/main.js":         "module.exports = 'p'\n",
		"node_modules/p/other.js":        "module.exports = 'other'\n",
		"unrelated/file.ts":              "",
		"lib/unrelated-to-any-import.ts": "",
	} {
		write(t, filepath.Join(root, name), []byte(text))
	}
	age(t, root)
	return bundle.Options{Root: root, Files: []string{"tools/a.ts", "tools/b.ts", "tools/c.ts"}, Virtual: map[string]string{"v": "module.exports = 1"}}
}

// age makes all of a tree an hour old.
func age(t testing.TB, root string) {
	t.Helper()
	old := time.Now().Add(-time.Hour)
	err := filepath.WalkDir(root, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chtimes(path, old, old)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func build(t testing.TB, o bundle.Options) *bundle.Result {
	t.Helper()
	r, err := bundle.Build(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestSameInputsSameResult(t *testing.T) {
	o := folder(t)
	first := build(t, o)
	for range 5 {
		again := build(t, o)
		if diff := gocmp.Diff(first, again, cmpopts.IgnoreUnexported(bundle.Result{}), cmpopts.IgnoreFields(bundle.Fingerprint{}, "Taken")); diff != "" {
			t.Fatal(diff)
		}
	}
}

// TestChanges changes one thing at a time. What a build reads changes the
// hash; what it looks for and finds, or no longer finds, makes the result
// stale; anything else does neither.
func TestChanges(t *testing.T) {
	put := func(name, text string) func(testing.TB, *bundle.Options) {
		return func(t testing.TB, o *bundle.Options) { write(t, filepath.Join(o.Root, name), []byte(text)) }
	}
	remove := func(name string) func(testing.TB, *bundle.Options) {
		return func(t testing.TB, o *bundle.Options) {
			if err := os.RemoveAll(filepath.Join(o.Root, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	tests := []struct {
		name        string
		change      func(testing.TB, *bundle.Options)
		stale, hash bool
	}{
		{"nothing", func(testing.TB, *bundle.Options) {}, false, false},
		{"same text written again", put("lib/h.ts", "export const h = (x: string) => x\n"), false, false},
		{"file beside that nobody imports", put("lib/new.ts", "x"), false, false},
		{"file elsewhere", put("unrelated/other.ts", "x"), false, false},
		{"package nobody imports", put("node_modules/q/index.js", "x"), false, false},
		{"a file", put("tools/a.ts", "export default 1"), true, true},
		{"a helper, same size", put("lib/h.ts", "export const h = (x: string) => 1\n"), true, true},
		{"a comment", put("lib/h.ts", "export const h = (x: string) => x // same\n"), true, true},
		{"a text", put("lib/t.txt", "other\n"), true, true},
		{"a helper that comes first", put("lib/h.tsx", "export const h = 1"), true, true},
		{"a helper is gone", remove("lib/h.ts"), true, true},
		{"the missing package is there", put("node_modules/gone/index.js", "module.exports = 1"), true, true},
		{"it is there further up", put("../node_modules/gone/index.js", "module.exports = 1"), true, true},
		{"a package nearer by", put("tools/node_modules/p/index.js", "module.exports = 1"), true, true},
		{"a package's settings", put("node_modules/p/package.json", `{ "main": "other.js" }`), true, true},
		{"a package's code", put("node_modules/p/main.js", "module.exports = 'q'\n"), true, true},
		{"a package is gone", remove("node_modules/p"), true, true},
		{"settings", put("tsconfig.json", `{}`), true, true},
		{"settings that are extended", put("base.json", `{ "compilerOptions": { "baseUrl": "." } }`), true, true},
		{"new settings", put("tools/tsconfig.json", `{}`), true, true},
		{"new package settings", put("package.json", `{ "type": "module" }`), true, true},
		{"new package settings above", put("../package.json", `{ "type": "module" }`), true, true},
		{"a virtual module", func(_ testing.TB, o *bundle.Options) { o.Virtual = map[string]string{"v": "module.exports = 2"} }, true, true},
		{"one file less", func(_ testing.TB, o *bundle.Options) { o.Files = o.Files[:2] }, true, true},
		{"another order", func(_ testing.TB, o *bundle.Options) { o.Files = []string{"tools/b.ts", "tools/a.ts", "tools/c.ts"} }, true, true},
		{"a file becomes a link", func(t testing.TB, o *bundle.Options) {
			write(t, filepath.Join(o.Root, "lib/moved.ts"), []byte("import { h } from '../lib/h'\nimport p from 'p'\nexport default () => h(p)\n"))
			remove("tools/a.ts")(t, o)
			if err := os.Symlink("../lib/moved.ts", filepath.Join(o.Root, "tools/a.ts")); err != nil {
				t.Fatal(err)
			}
		}, true, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o := folder(t)
			before := build(t, o)
			if !before.Inputs.Fresh(o) {
				t.Fatal("not fresh before the change")
			}
			tt.change(t, &o)
			if got := !before.Inputs.Fresh(o); got != tt.stale {
				t.Errorf("stale is %v, want %v", got, tt.stale)
			}
			if got := build(t, o).Hash != before.Hash; got != tt.hash {
				t.Errorf("another hash is %v, want %v", got, tt.hash)
			}
		})
	}
}

// A file that is written right before and right after the build, with the
// same size and time, must be read to see that it differs.
func TestFreshDoesNotTrustRecentTimes(t *testing.T) {
	o := folder(t)
	path := filepath.Join(o.Root, "lib/h.ts")
	now := time.Now()
	if err := os.Chtimes(path, now, now); err != nil {
		t.Fatal(err)
	}
	r := build(t, o)
	write(t, path, []byte("export const h = (x: string) => y\n"))
	if err := os.Chtimes(path, now, now); err != nil {
		t.Fatal(err)
	}
	if r.Inputs.Fresh(o) {
		t.Error("a change of the same size and time was not seen")
	}
}

func TestResultSurvivesJSON(t *testing.T) {
	o := folder(t)
	r := build(t, o)
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var back bundle.Result
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(r, &back, cmpopts.IgnoreUnexported(bundle.Result{}), cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
	if !back.Inputs.Fresh(o) {
		t.Error("not fresh after the way through JSON")
	}
	for line := 1; line <= strings.Count(r.Code, "\n"); line++ {
		for _, column := range []int{0, 1, 5, 20} {
			file, l, c := r.Position(line, column)
			file2, l2, c2 := back.Position(line, column)
			if file != file2 || l != l2 || c != c2 {
				t.Fatalf("%d:%d is %s:%d:%d, and %s:%d:%d after", line, column, file, l, c, file2, l2, c2)
			}
		}
	}
}

func TestOptionsAreChecked(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, "file"), nil)
	for name, o := range map[string]bundle.Options{
		"relative root":   {Root: "x"},
		"no root":         {Root: filepath.Join(root, "none")},
		"root is a file":  {Root: filepath.Join(root, "file")},
		"file above root": {Root: root, Files: []string{"../x.ts"}},
		"absolute file":   {Root: root, Files: []string{"/x.ts"}},
		"twice":           {Root: root, Files: []string{"x.ts", "x.ts"}},
		"not text":        {Root: root, Files: []string{"x\xff.ts"}},
		"relative folder": {Root: root, Also: []string{"x"}},
	} {
		if _, err := bundle.Build(context.Background(), o); !errors.Is(err, bundle.ErrOptions) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNothingIsABundleToo(t *testing.T) {
	r := build(t, bundle.Options{Root: t.TempDir()})
	if got := strings.TrimSpace(r.Code); !strings.Contains(got, "exports.files = []") || syntaxErrors(t, got) {
		t.Error(got)
	}
}

func TestContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := bundle.Build(ctx, folder(t)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// Nothing is written: neither to the folder nor beside it.
func TestWritesNothing(t *testing.T) {
	o := folder(t)
	list := func() (all []string) {
		err := filepath.WalkDir(filepath.Dir(o.Root), func(path string, d os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			all = append(all, fmt.Sprint(path, info.ModTime(), info.Size()))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	before := list()
	build(t, o)
	if diff := gocmp.Diff(before, list()); diff != "" {
		t.Error(diff)
	}
}
