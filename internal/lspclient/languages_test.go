package lspclient

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestLanguageID(t *testing.T) {
	const known = `ts/mts/cts/ets typescript; tsx/mtsx/ctsx typescriptreact; js/mjs/cjs javascript; jsx javascriptreact;
py python; go go; rs rust; c c; cpp/cxx/cc/c++ cpp; cs csharp; java java; kt/kts kotlin; rb/rake/gemspec/ru ruby; php php;
swift swift; sh/bash/zsh/ksh shellscript; json json; yaml/yml yaml; md/markdown markdown; html/htm html; css css; scss scss;
sass sass; less less; vue vue; svelte svelte; astro astro; lua lua; zig/zon zig; ex/exs elixir; erl/hrl erlang;
fs/fsi/fsx/fsscript fsharp; hs/lhs haskell; ml/mli ocaml; clj/cljs/cljc/edn clojure; dart dart; tf terraform;
tfvars terraform-vars; hcl hcl; nix nix; sql sql; xml xml; tex/latex latex; bib/bibtex bibtex; typ/typc typst; gleam gleam; r r;
ps1/psm1 powershell; dockerfile dockerfile; makefile makefile; d d; groovy groovy; scala scala; m objective-c; mm objective-cpp;
pl/pm perl; pm6 perl6; diff/patch diff; ini ini; bat bat; coffee coffeescript; hbs/handlebars handlebars; pug/jade jade;
razor/cshtml razor; erb erb; shader shaderlab; xsl xsl; pas/pascal pascal; abap abap; gitcommit git-commit; gitrebase git-rebase;
pyi python; h c; hpp/hh/hxx/h++ cpp; jsonc jsonc; graphql/gql graphql; prisma prisma; objc objective-c; objcpp objective-cpp`
	for entry := range strings.SplitSeq(known, ";") {
		extensions, want, ok := strings.Cut(strings.TrimSpace(entry), " ")
		if !ok {
			t.Fatalf("%q is no entry", entry)
		}
		for e := range strings.SplitSeq(extensions, "/") {
			for _, name := range []string{"a." + e, "a.b." + strings.ToUpper(e)} {
				if got := languageID(filepath.Join("folder.go", name)); got != want {
					t.Errorf("%s: %s, not %s", name, got, want)
				}
			}
		}
	}
	for name, want := range map[string]string{
		"Dockerfile": "dockerfile", "Makefile": "makefile", "makefile": "makefile",
		"README": "plaintext", "a.unheard-of": "plaintext", "a.": "plaintext", "": "plaintext", ".gitignore": "plaintext",
		"a.ts mts": "plaintext", "a.typescript": "plaintext", "x.go\nrust": "plaintext",
	} {
		if got := languageID(name); got != want {
			t.Errorf("%q: %s, not %s", name, got, want)
		}
	}
}

func TestKnownServersHaveLanguages(t *testing.T) {
	for _, s := range Builtin() {
		for _, e := range s.Extensions {
			name := e
			if strings.HasPrefix(e, ".") {
				name = "a" + e
			}
			if languageID(name) == "plaintext" {
				t.Errorf("%s files of %s have no language", e, s.Name)
			}
		}
	}
}

func FuzzLanguageID(f *testing.F) {
	for _, name := range []string{"a.ts", "Makefile", "a.c++", ".", "a.b.c", " ", "x.\n"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		id := languageID(name)
		if id == "" || strings.ContainsAny(id, " \n") || id != "plaintext" && !strings.Contains(languages, "\n"+id+" ") {
			t.Errorf("%q: %q", name, id)
		}
	})
}
