package lspclient

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helve-dev/helve/lsp"
)

func ids(servers []Server) (all []string) {
	for _, s := range servers {
		all = append(all, s.Name)
	}
	return all
}

func byID(t *testing.T, servers []Server, id string) Server {
	t.Helper()
	at := slices.IndexFunc(servers, func(s Server) bool { return s.Name == id })
	if at < 0 {
		t.Fatalf("there is no server %q", id)
	}
	return servers[at]
}

func TestBuiltinOrder(t *testing.T) {
	want := strings.Split("deno,typescript,vue,eslint,oxlint,biome,gopls,ruby-lsp,ty,pyright,elixir-ls,zls,csharp,fsharp,"+
		"sourcekit-lsp,rust,clangd,svelte,astro,jdtls,kotlin-ls,yaml-ls,lua-ls,php intelephense,prisma,dart,ocaml-lsp,bash,"+
		"terraform,texlab,dockerfile,gleam,clojure-lsp,nixd,tinymist,haskell-language-server", ",")
	if d := cmp.Diff(want, ids(Builtin())); d != "" {
		t.Error(d)
	}
}

func TestMergeKeepsBuiltins(t *testing.T) {
	known := ids(Builtin())
	for name, own := range map[string][]lsp.Server{"nothing": nil, "empty": {}} {
		merged, err := Merge(own)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(known, ids(merged)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	merged, err := Merge([]lsp.Server{
		{Name: "mine", Command: []string{"mine-ls"}, Extensions: []string{".mine"}, Wall: true},
		{Name: "gopls", Disabled: true},
		{Name: "never heard of", Disabled: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := append(slices.DeleteFunc(known, func(id string) bool { return id == "gopls" }), "mine")
	if d := cmp.Diff(want, ids(merged)); d != "" {
		t.Error(d)
	}
	mine := byID(t, merged, "mine")
	if !mine.Wall || !mine.matches("/p/a.mine") || mine.matches("/p/a.go") {
		t.Errorf("a server of one's own came out as %+v", mine)
	}
}

func TestMergeOverrides(t *testing.T) {
	merged, err := Merge([]lsp.Server{
		{Name: "typescript", Command: []string{"tsgo", "--lsp", "--stdio"}},
		{Name: "terraform", Extensions: []string{".tofu"}, Environment: map[string]string{"A": "1"}, Wall: true,
			Initialization: json.RawMessage(`{"experimentalFeatures":{"validateOnSave":false},"more":[1]}`)},
		{Name: "terraform", Environment: map[string]string{"B": "2"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	ts, before := byID(t, merged, "typescript"), byID(t, Builtin(), "typescript")
	if d := cmp.Diff([]string{"tsgo", "--lsp", "--stdio"}, ts.Command); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(before.Extensions, ts.Extensions); d != "" {
		t.Error(d)
	}
	tf := byID(t, merged, "terraform")
	if d := cmp.Diff(map[string]string{"A": "1", "B": "2", "CHECKPOINT_DISABLE": "1"}, tf.Environment); d != "" {
		t.Error(d)
	}
	if tf.matches("main.tf") || !tf.matches("main.tofu") || !tf.Wall {
		t.Errorf("terraform came out as %+v", tf)
	}
	sameJSON(t, tf.Initialization, `{"experimentalFeatures":{"prefillRequiredFields":true,"validateOnSave":false},"more":[1]}`)
	if d := cmp.Diff([]string{"terraform-ls", "serve"}, tf.Command); d != "" {
		t.Error(d)
	}
	if byID(t, Builtin(), "terraform").Environment["A"] != "" {
		t.Error("the known servers were changed")
	}
}

func TestMergeRefuses(t *testing.T) {
	for _, c := range []struct {
		own  lsp.Server
		want error
		text string
	}{
		{lsp.Server{Name: "mine", Command: []string{"mine"}}, errExtensions, "lsp.mine: For custom LSP servers, 'extensions' array is required."},
		{lsp.Server{Name: "mine", Extensions: []string{".x"}}, errCommand, "lsp.mine: For custom LSP servers, 'command' is required: the program and its arguments."},
		{lsp.Server{Name: "mine", Extensions: []string{".x"}, Command: []string{""}}, errCommand, ""},
		{lsp.Server{Command: []string{"x"}, Extensions: []string{".x"}}, errNoID, ""},
		{lsp.Server{Name: "gopls", Initialization: json.RawMessage(`{`)}, nil, "lsp.gopls: initialization: it is not JSON"},
	} {
		_, err := Merge([]lsp.Server{c.own})
		if err == nil || c.want != nil && !errors.Is(err, c.want) || c.text != "" && err.Error() != c.text {
			t.Errorf("%+v: %v", c.own, err)
		}
	}
}

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		extensions []string
		file       string
		want       bool
	}{
		{[]string{".ts"}, "/p/a.ts", true},
		{[]string{".ts"}, "/p/a.TS", true},
		{[]string{".TS"}, "/p/a.d.ts", true},
		{[]string{".ts"}, "/p/a.tsx", false},
		{[]string{".ts"}, "/p/ts", false},
		{[]string{".ts"}, "/p.ts/a", false},
		{[]string{".html.erb"}, "/p/a.html.erb", true},
		{[]string{".html.erb"}, "/p/a.erb", false},
		{[]string{"Dockerfile"}, "/p/Dockerfile", true},
		{[]string{"Dockerfile"}, "/p/dockerfile", true},
		{[]string{"Dockerfile"}, "/p/web.Dockerfile", true},
		{[]string{"Dockerfile"}, "/p/Dockerfiles", false},
		{[]string{"Makefile"}, "/p/Makefile/a.c", false},
		{[]string{"ts"}, "/p/a.ts", true},
		{[]string{"ts"}, "/p/ats", false},
		{[]string{".c++"}, "/p/a.c++", true},
		{[]string{""}, "/p/a.ts", false},
		{[]string{}, "/p/anything", true},
		{nil, "/p/anything", false},
	} {
		if got := (Server{Server: lsp.Server{Extensions: c.extensions}}).matches(filepath.FromSlash(c.file)); got != c.want {
			t.Errorf("%q of %q: %v", c.file, c.extensions, got)
		}
	}
}

func TestMergeJSON(t *testing.T) {
	for _, c := range []struct{ base, over, want string }{
		{`{"a":1}`, ``, `{"a":1}`},
		{``, `{"a":1}`, `{"a":1}`},
		{`{"a":1,"b":{"c":1,"d":2}}`, `{"b":{"c":3},"e":null}`, `{"a":1,"b":{"c":3,"d":2},"e":null}`},
		{`{"a":{"b":1}}`, `{"a":[1]}`, `{"a":[1]}`},
		{`{"a":[1]}`, `{"a":{"b":1}}`, `{"a":{"b":1}}`},
		{`{"a":1}`, `null`, `null`},
		{`{"a":12345678901234567890}`, `{"b":1.50}`, `{"a":12345678901234567890,"b":1.50}`},
	} {
		got, err := mergeJSON(json.RawMessage(c.base), json.RawMessage(c.over))
		if err != nil || string(got) != c.want {
			t.Errorf("%s over %s: %s, %v", c.over, c.base, got, err)
		}
	}
	if _, err := mergeJSON(json.RawMessage(`{}`), json.RawMessage(`{"a":}`)); err == nil {
		t.Error("what is not JSON was merged")
	}
}

// sameJSON compares values, not spellings.
func sameJSON(t *testing.T, got json.RawMessage, want string) {
	t.Helper()
	var a, b any
	if len(got) > 0 {
		if err := json.Unmarshal(got, &a); err != nil {
			t.Errorf("%s: %v", got, err)
		}
	}
	if want != "" {
		if err := json.Unmarshal([]byte(want), &b); err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff(b, a); d != "" {
		t.Error(d)
	}
}
