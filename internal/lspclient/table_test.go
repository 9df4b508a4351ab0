package lspclient

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/helve-dev/helve/internal/disk"
	"github.com/helve-dev/helve/lsp"

	"github.com/google/go-cmp/cmp"
)

// A row is what is expected of a known server. In init, $PROJECT is the folder
// of the project with slashes, and $URI that of the root.
type row struct {
	id      string
	files   string // name=language, one for each extension
	markers string // each alone makes a folder the root; "" where none does
	others  string // programs that have to be there too
	argv    string
	init    string
	trust   bool // it is not started in a project that is not trusted
}

func rows() []row {
	const locks = "package-lock.json bun.lockb bun.lock pnpm-lock.yaml yarn.lock"
	const scripts = "a.ts=typescript a.tsx=typescriptreact a.js=javascript a.jsx=javascriptreact a.mjs=javascript "
	const allScripts = scripts + "a.cjs=javascript a.mts=typescript a.cts=typescript "
	const python = "pyproject.toml setup.py setup.cfg requirements.txt Pipfile pyrightconfig.json"
	const tsdk = `{"typescript":{"tsdk":"$PROJECT/node_modules/typescript/lib"}}`
	return []row{
		{id: "deno", files: scripts, markers: "deno.json deno.jsonc", argv: "deno lsp"},
		{id: "typescript", files: allScripts, markers: locks, argv: "typescript-language-server --stdio",
			init: `{"disableAutomaticTypingAcquisition":true,"preferences":{"providePrefixAndSuffixTextForRename":false},"tsserver":{"path":"$PROJECT/node_modules/typescript/lib/tsserver.js"}}`},
		{id: "vue", files: "a.vue=vue", markers: locks, argv: "vue-language-server --stdio", trust: true,
			init: `{"vue":{"hybridMode":false},"typescript":{"tsdk":"$PROJECT/node_modules/typescript/lib"}}`},
		{id: "eslint", files: allScripts + "a.vue=vue", markers: locks, argv: "vscode-eslint-language-server --stdio", trust: true,
			init: `{"validate":"on","run":"onType","nodePath":null,"quiet":false,"format":false,"onIgnoredFiles":"off","options":{},
				"experimental":{},"problems":{"shortenToSingleLine":false},"codeActionOnSave":{"enable":false,"mode":"all"},
				"codeAction":{"disableRuleComment":{"enable":true,"location":"separateLine"},"showDocumentation":{"enable":true}},
				"rulesCustomizations":[],"workingDirectory":{"mode":"location"},"workspaceFolder":{"uri":"$URI","name":"sub"}}`},
		{id: "oxlint", files: allScripts + "a.vue=vue a.astro=astro a.svelte=svelte", markers: locks + " .oxlintrc.json package.json",
			argv: "oxlint --lsp", trust: true},
		{id: "biome", files: allScripts + "a.json=json a.jsonc=jsonc a.vue=vue a.astro=astro a.svelte=svelte a.css=css a.graphql=graphql a.gql=graphql a.html=html",
			markers: locks + " biome.json biome.jsonc", argv: "biome lsp-proxy --stdio", init: `{"biome":{"requireConfiguration":true}}`},
		{id: "gopls", files: "a.go=go", markers: "go.work go.mod go.sum", others: "go", argv: "gopls", init: `{"pullDiagnostics":true}`},
		{id: "ruby-lsp", files: "a.rb=ruby a.rake=ruby a.gemspec=ruby a.ru=ruby", markers: "Gemfile", argv: "rubocop --lsp", trust: true},
		{id: "ty", files: "a.py=python a.pyi=python", markers: python + " ty.toml", argv: "ty server"},
		{id: "pyright", files: "a.py=python a.pyi=python", markers: python, argv: "pyright-langserver --stdio"},
		{id: "elixir-ls", files: "a.ex=elixir a.exs=elixir", markers: "mix.exs mix.lock", argv: "elixir-ls", trust: true},
		{id: "zls", files: "a.zig=zig a.zon=zig", markers: "build.zig", others: "zig", argv: "zls", trust: true},
		{id: "csharp", files: "a.cs=csharp", markers: "x.sln x.slnx x.csproj global.json", argv: "csharp-ls", trust: true},
		{id: "fsharp", files: "a.fs=fsharp a.fsi=fsharp a.fsx=fsharp a.fsscript=fsharp", markers: "x.sln x.slnx x.fsproj global.json",
			argv: "fsautocomplete", init: `{"AutomaticWorkspaceInit":true}`, trust: true},
		{id: "sourcekit-lsp", files: "a.swift=swift a.objc=objective-c a.objcpp=objective-cpp",
			markers: "Package.swift x.xcodeproj x.xcworkspace", argv: "sourcekit-lsp", trust: true},
		{id: "rust", files: "a.rs=rust", markers: "Cargo.toml Cargo.lock", argv: "rust-analyzer", trust: true},
		{id: "clangd", files: "a.c=c a.cpp=cpp a.cc=cpp a.cxx=cpp a.c++=cpp a.h=c a.hpp=cpp a.hh=cpp a.hxx=cpp a.h++=cpp",
			markers: "compile_commands.json compile_flags.txt .clangd CMakeLists.txt Makefile", argv: "clangd --background-index --clang-tidy"},
		{id: "svelte", files: "a.svelte=svelte", markers: locks, argv: "svelteserver --stdio", trust: true},
		{id: "astro", files: "a.astro=astro", markers: locks, argv: "astro-ls --stdio", init: tsdk, trust: true},
		{id: "jdtls", files: "a.java=java", markers: "pom.xml build.gradle build.gradle.kts .project .classpath settings.gradle settings.gradle.kts",
			others: "java", argv: "jdtls", trust: true},
		{id: "kotlin-ls", files: "a.kt=kotlin a.kts=kotlin", argv: "kotlin-lsp --stdio", trust: true,
			markers: "settings.gradle settings.gradle.kts gradlew gradlew.bat build.gradle build.gradle.kts pom.xml"},
		{id: "yaml-ls", files: "a.yaml=yaml a.yml=yaml", markers: locks, argv: "yaml-language-server --stdio",
			init: `{"redhat":{"telemetry":{"enabled":false}}}`},
		{id: "lua-ls", files: "a.lua=lua", argv: "lua-language-server", init: `{"Lua":{"workspace":{"checkThirdParty":"Disable"}}}`,
			markers: ".luarc.json .luarc.jsonc .luacheckrc .stylua.toml stylua.toml selene.toml selene.yml"},
		{id: "php intelephense", files: "a.php=php", markers: "composer.json composer.lock .php-version", argv: "intelephense --stdio",
			init: `{"telemetry":{"enabled":false},"intelephense":{"telemetry":{"enabled":false}}}`},
		{id: "prisma", files: "a.prisma=prisma", markers: "schema.prisma prisma/schema.prisma prisma/x", argv: "prisma language-server", trust: true},
		{id: "dart", files: "a.dart=dart", markers: "pubspec.yaml analysis_options.yaml", argv: "dart language-server --lsp", trust: true},
		{id: "ocaml-lsp", files: "a.ml=ocaml a.mli=ocaml", markers: "dune-project dune-workspace .merlin opam", argv: "ocamllsp", trust: true},
		{id: "bash", files: "a.sh=shellscript a.bash=shellscript a.zsh=shellscript a.ksh=shellscript", argv: "bash-language-server start"},
		{id: "terraform", files: "a.tf=terraform a.tfvars=terraform-vars", markers: ".terraform.lock.hcl terraform.tfstate x.tf",
			argv: "terraform-ls serve", init: `{"experimentalFeatures":{"prefillRequiredFields":true,"validateOnSave":true}}`, trust: true},
		{id: "texlab", files: "a.tex=latex a.bib=bibtex", markers: ".latexmkrc latexmkrc .texlabroot texlabroot", argv: "texlab"},
		{id: "dockerfile", files: "a.dockerfile=dockerfile Dockerfile=dockerfile", argv: "docker-langserver --stdio"},
		{id: "gleam", files: "a.gleam=gleam", markers: "gleam.toml", argv: "gleam lsp", trust: true},
		{id: "clojure-lsp", files: "a.clj=clojure a.cljs=clojure a.cljc=clojure a.edn=clojure",
			markers: "deps.edn project.clj shadow-cljs.edn bb.edn build.boot", argv: "clojure-lsp listen", trust: true},
		{id: "nixd", files: "a.nix=nix", markers: "flake.nix", argv: "nixd"},
		{id: "tinymist", files: "a.typ=typst a.typc=typst", markers: "typst.toml", argv: "tinymist"},
		{id: "haskell-language-server", files: "a.hs=haskell a.lhs=haskell", markers: "stack.yaml cabal.project hie.yaml x.cabal",
			argv: "haskell-language-server-wrapper --lsp", trust: true},
	}
}

// A machine is a project and programs on a PATH, all made up.
type machine struct {
	testing.TB
	project, bin string
	env          map[string]string
}

func newMachine(t testing.TB) *machine {
	// Where the folder for temporary files is a link, names are as they are.
	base := actual(t.TempDir())
	m := &machine{t, filepath.Join(base, "project"), filepath.Join(base, "bin"), nil}
	m.env = map[string]string{"PATH": m.bin, "XDG_CACHE_HOME": filepath.Join(base, "cache")}
	write(t, base, map[string]string{"project/": "", "bin/": ""})
	return m
}

// program makes one, and returns its path.
func (m *machine) program(dir, name string) string {
	m.Helper()
	path := filepath.Join(dir, name)
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		m.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("#!/bin/sh\nexit 1\n"), 0o755); err != nil {
		m.Fatal(err)
	}
	return path
}

func (m *machine) place(trusted bool) environment {
	return environment{dir: m.project, worktree: m.project, trusted: trusted, getenv: func(name string) string { return m.env[name] }}
}

// in returns a path of the project.
func (m *machine) in(name string) string { return filepath.Join(m.project, filepath.FromSlash(name)) }

func TestEveryRow(t *testing.T) {
	all := Builtin()
	var known []string
	for _, r := range rows() {
		known = append(known, r.id)
		t.Run(r.id, func(t *testing.T) {
			s := byID(t, all, r.id)
			r.checkFiles(t, s)
			r.checkRoots(t, s)
			r.checkLaunch(t, s)
			r.checkMissing(t, s)
		})
	}
	if d := cmp.Diff(known, ids(all)); d != "" {
		t.Error(d)
	}
}

func (r row) checkFiles(t *testing.T, s Server) {
	words := strings.Fields(r.files)
	if len(words) != len(s.Extensions) {
		t.Errorf("%d extensions are expected, and there are %q", len(words), s.Extensions)
	}
	for _, w := range words {
		name, language, _ := strings.Cut(w, "=")
		file := filepath.Join(t.TempDir(), name)
		if !s.matches(file) || languageID(file) != language {
			t.Errorf("%s: matches %v, language %s", name, s.matches(file), languageID(file))
		}
	}
	if s.matches("a.unknown") || s.matches("unknown") {
		t.Error("it takes any file")
	}
}

func (r row) checkRoots(t *testing.T, s Server) {
	name, _, _ := strings.Cut(r.files, "=")
	for _, marker := range strings.Fields(r.markers) {
		m := newMachine(t)
		m.flags(r.id)
		write(t, m.project, map[string]string{"sub/" + marker: ""})
		if got, ok := s.root(m.in("sub/a/b/"+name), m.place(false)); !ok || got != m.in("sub") {
			t.Errorf("%s: %s, %v", marker, got, ok)
		}
	}
	m := newMachine(t)
	m.flags(r.id)
	got, ok := s.root(m.in("sub/a/"+name), m.place(false))
	if want := r.id != "deno" && r.id != "jdtls"; ok != want || ok && got != m.project {
		t.Errorf("with no marker: %s, %v", got, ok)
	}
}

func (m *machine) flags(id string) {
	if id == "ty" {
		m.env["OPENCODE_EXPERIMENTAL_LSP_TY"] = "1"
	}
}

func (r row) checkLaunch(t *testing.T, s Server) {
	m := newMachine(t)
	words := strings.Fields(r.argv)
	program := m.program(m.bin, words[0])
	for _, name := range strings.Fields(r.others) {
		m.program(m.bin, name)
	}
	write(t, m.project, map[string]string{
		"sub/": "", "node_modules/typescript/lib/tsserver.js": "", "node_modules/eslint/package.json": "{}",
	})
	l, err := s.launch(m.in("sub"), m.place(true))
	if err != nil {
		t.Fatal(err)
	}
	want := append([]string{program}, words[1:]...)
	if r.id == "jdtls" {
		want = append(want, l.argv[1:]...)
	}
	if d := cmp.Diff(want, l.argv); d != "" {
		t.Error(d)
	}
	sameJSON(t, l.init, strings.NewReplacer("$PROJECT", strings.ReplaceAll(m.project, `\`, `\\`), "$URI", uriOf(m.in("sub"))).Replace(r.init))

	// A TypeScript that is not the project's lets its server start anyway.
	write(t, filepath.Dir(m.bin), map[string]string{"node_modules/typescript/lib/tsserver.js": ""})
	_, err = s.launch(m.in("sub"), m.place(false))
	if !r.trust {
		if err != nil {
			t.Errorf("without trust: %v", err)
		}
		return
	}
	if missing := new(Missing); !errors.As(err, &missing) || missing.Server != r.id || !strings.Contains(missing.Why, "'helve trust'") {
		t.Errorf("without trust: %v", err)
	}
}

// checkMissing wants a sentence that says what is not there and what to do.
func (r row) checkMissing(t *testing.T, s Server) {
	words := strings.Fields(r.argv)
	m := newMachine(t)
	missing := new(Missing)
	for _, trusted := range []bool{true, false} {
		_, err := s.launch(m.project, m.place(trusted))
		if !errors.As(err, &missing) || missing.Server != r.id || !strings.HasPrefix(missing.Why, words[0]+" is not on the PATH: ") ||
			!strings.HasSuffix(missing.Why, ", or set lsp."+r.id+".command in the config.") || s.get == "" {
			t.Errorf("%v", err)
		}
	}
	if r.others == "" {
		return
	}
	m.program(m.bin, words[0])
	_, err := s.launch(m.project, m.place(true))
	if !errors.As(err, &missing) || !strings.Contains(strings.ToLower(missing.Why), "needs "+r.others) {
		t.Errorf("without %s: %v", r.others, err)
	}
}

func TestOneServerForPython(t *testing.T) {
	all := Builtin()
	takers := func(p environment, servers []Server) (got []string) {
		for _, s := range servers {
			if _, ok := s.root(filepath.Join(p.dir, "a.py"), p); ok && s.matches("a.py") {
				got = append(got, s.Name)
			}
		}
		return got
	}
	for value, want := range map[string]string{"": "pyright", "0": "pyright", "false": "pyright", "1": "ty", "TRUE": "ty"} {
		for _, name := range []string{"HELVE_EXPERIMENTAL_LSP_TY", "OPENCODE_EXPERIMENTAL_LSP_TY"} {
			m := newMachine(t)
			m.env[name] = value
			if d := cmp.Diff([]string{want}, takers(m.place(false), all)); d != "" {
				t.Errorf("%s=%s: %s", name, value, d)
			}
		}
	}
	// Naming it in the config is asking for it too.
	named, err := Merge([]lsp.Server{{Name: "ty", Command: []string{"ty", "server"}}, {Name: "pyright", Disabled: true}})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"ty"}, takers(newMachine(t).place(false), named)); d != "" {
		t.Error(d)
	}
}

func TestFallbackCommands(t *testing.T) {
	for _, c := range []struct{ id, program, argv string }{
		{"elixir-ls", "language_server.sh", "language_server.sh"},
		{"sourcekit-lsp", "xcrun", "xcrun sourcekit-lsp"},
		{"kotlin-ls", "kotlin-lsp.sh", "kotlin-lsp.sh --stdio"},
		{"oxlint", "oxc_language_server", "oxc_language_server"},
	} {
		m := newMachine(t)
		want := append([]string{m.program(m.bin, c.program)}, strings.Fields(c.argv)[1:]...)
		l, err := byID(t, Builtin(), c.id).launch(m.project, m.place(true))
		if err != nil {
			t.Errorf("%s: %v", c.id, err)
		}
		if d := cmp.Diff(want, l.argv); d != "" {
			t.Errorf("%s: %s", c.id, d)
		}
	}
}

func TestOlderOxlint(t *testing.T) {
	m := newMachine(t)
	m.program(m.bin, "oxlint")
	older := m.program(m.bin, "oxc_language_server")
	l, err := byID(t, Builtin(), "oxlint").launch(m.project, m.place(true))
	if err != nil || !slices.Equal(l.argv, []string{older}) {
		t.Errorf("%q, %v", l.argv, err)
	}
}

func TestJavaKeepsItsData(t *testing.T) {
	m := newMachine(t)
	program := m.program(m.bin, "jdtls")
	home := filepath.Join(filepath.Dir(m.bin), "jdk")
	m.program(filepath.Join(home, "bin"), "java")
	m.env["JAVA_HOME"] = home
	jdtls := byID(t, Builtin(), "jdtls")
	seen := map[string]bool{}
	for _, root := range []string{m.in("a"), m.in("b"), m.in("a")} {
		l, err := jdtls.launch(root, m.place(true))
		if err != nil || len(l.argv) != 3 || l.argv[0] != program || l.argv[1] != "-data" || !disk.Within(m.env["XDG_CACHE_HOME"], l.argv[2]) {
			t.Fatalf("%q, %v", l.argv, err)
		}
		seen[l.argv[2]] = true
	}
	if len(seen) != 2 {
		t.Errorf("two roots have the folders %v", seen)
	}
	// A cache in the project would put files there.
	m.env["XDG_CACHE_HOME"] = m.in(".cache")
	if l, err := jdtls.launch(m.project, m.place(true)); err != nil || len(l.argv) != 1 {
		t.Errorf("%q, %v", l.argv, err)
	}
}

func TestESLintOfTheProject(t *testing.T) {
	m := newMachine(t)
	m.program(m.bin, "vscode-eslint-language-server")
	_, err := byID(t, Builtin(), "eslint").launch(m.project, m.place(true))
	if missing := new(Missing); !errors.As(err, &missing) || !strings.Contains(missing.Why, "no ESLint") {
		t.Error(err)
	}
}

// The whole table is asked about a file before each first use: it must not be
// felt.
func BenchmarkRoots(b *testing.B) {
	m := newMachine(b)
	write(b, m.project, map[string]string{"package-lock.json": "", "a/b/c/d/e/f/x.ts": ""})
	all, p, file := Builtin(), m.place(false), m.in("a/b/c/d/e/f/x.ts")
	for b.Loop() {
		for _, s := range all {
			if s.matches(file) {
				s.root(file, p)
			}
		}
	}
}
