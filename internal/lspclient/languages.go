package lspclient

import (
	"path/filepath"
	"strings"
)

// languages are the protocol's names of languages, each with the extensions
// of its files, or their whole names.
const languages = `
typescript ts mts cts ets
typescriptreact tsx mtsx ctsx
javascript js mjs cjs
javascriptreact jsx
python py pyi
go go
rust rs
c c h
cpp cpp cxx cc c++ hpp hh hxx h++
csharp cs
java java
kotlin kt kts
ruby rb rake gemspec ru
php php
swift swift
shellscript sh bash zsh ksh
json json
jsonc jsonc
yaml yaml yml
markdown md markdown
html html htm
css css
scss scss
sass sass
less less
vue vue
svelte svelte
astro astro
graphql graphql gql
prisma prisma
lua lua
zig zig zon
elixir ex exs
erlang erl hrl
fsharp fs fsi fsx fsscript
haskell hs lhs
ocaml ml mli
clojure clj cljs cljc edn
dart dart
terraform tf
terraform-vars tfvars
hcl hcl
nix nix
sql sql
xml xml
latex tex latex
bibtex bib bibtex
typst typ typc
gleam gleam
r r
powershell ps1 psm1
dockerfile dockerfile
makefile makefile
d d
groovy groovy
scala scala
objective-c m objc
objective-cpp mm objcpp
perl pl pm
perl6 pm6
diff diff patch
ini ini
bat bat
coffeescript coffee
handlebars hbs handlebars
jade pug jade
razor razor cshtml
erb erb
shaderlab shader
xsl xsl
pascal pas pascal
abap abap
git-commit gitcommit
git-rebase gitrebase
`

// languageID returns the protocol's language identifier of a file. Servers depend on it, so files
// of a known server have one: headers count as C or C++.
func languageID(file string) string {
	base := strings.ToLower(filepath.Base(file))
	ext := base
	if at := strings.LastIndexByte(base, '.'); at >= 0 {
		ext = base[at+1:]
	}
	if ext == "" || strings.ContainsAny(ext, " \n") {
		return "plaintext"
	}
	for line := range strings.Lines(languages) {
		id, extensions, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		for e := range strings.SplitSeq(extensions, " ") {
			if e == ext {
				return id
			}
		}
	}
	return "plaintext"
}
