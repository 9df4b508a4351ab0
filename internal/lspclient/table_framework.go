package lspclient

import "github.com/helve-dev/helve/lsp"

// frameworkServers are those of Svelte and Astro, as they stand in the table
// of the reference.
func frameworkServers() []Server {
	return []Server{{
		Server: lsp.Server{
			Name:       "svelte",
			Command:    []string{"svelteserver", "--stdio"},
			Extensions: []string{".svelte"},
		},
		steps: [][]string{lockfiles()},
		runs:  "svelte.config.js",
		npm:   true,
		get:   "npm install -g svelte-language-server",
	}, {
		Server: lsp.Server{
			Name:       "astro",
			Command:    []string{"astro-ls", "--stdio"},
			Extensions: []string{".astro"},
		},
		steps:   [][]string{lockfiles()},
		runs:    "its packages",
		npm:     true,
		get:     "npm install -g @astrojs/language-server",
		prepare: withTSDK,
	}}
}

// managedServers are those from Java to OCaml.
func managedServers() []Server {
	return []Server{{
		Server: lsp.Server{
			Name:       "jdtls",
			Command:    []string{"jdtls"},
			Extensions: []string{".java"},
		},
		locate:  java,
		runs:    "builds of Gradle and Maven",
		get:     "install the Eclipse JDT language server",
		prepare: withJava,
	}, {
		Server: lsp.Server{
			Name:       "kotlin-ls",
			Command:    []string{"kotlin-lsp", "--stdio"},
			Extensions: []string{".kt", ".kts"},
		},
		others: [][]string{{"kotlin-lsp.sh", "--stdio"}},
		steps: [][]string{
			{"settings.gradle.kts", "settings.gradle"}, {"gradlew", "gradlew.bat"},
			{"build.gradle.kts", "build.gradle"}, {"pom.xml"},
		},
		runs: "builds of Gradle and Maven",
		get:  "install the Kotlin language server of JetBrains",
	}, {
		Server: lsp.Server{
			Name:           "yaml-ls",
			Command:        []string{"yaml-language-server", "--stdio"},
			Extensions:     []string{".yaml", ".yml"},
			Initialization: options(map[string]any{"redhat": map[string]any{"telemetry": map[string]any{"enabled": false}}}),
		},
		steps: [][]string{lockfiles()},
		npm:   true,
		get:   "npm install -g yaml-language-server",
	}, {
		Server: lsp.Server{
			Name:       "lua-ls",
			Command:    []string{"lua-language-server"},
			Extensions: []string{".lua"},
			// It would ask the user about libraries that it thinks it sees.
			Initialization: options(map[string]any{"Lua": map[string]any{"workspace": map[string]any{"checkThirdParty": "Disable"}}}),
		},
		steps: [][]string{{".luarc.json", ".luarc.jsonc", ".luacheckrc", ".stylua.toml", "stylua.toml", "selene.toml", "selene.yml"}},
		get:   "install lua-language-server",
	}, {
		Server: lsp.Server{
			Name:       "php intelephense",
			Command:    []string{"intelephense", "--stdio"},
			Extensions: []string{".php"},
			Initialization: options(map[string]any{
				"telemetry":    map[string]any{"enabled": false},
				"intelephense": map[string]any{"telemetry": map[string]any{"enabled": false}},
			}),
		},
		steps: [][]string{{"composer.json", "composer.lock", ".php-version"}},
		npm:   true,
		get:   "npm install -g intelephense",
	}, {
		Server: lsp.Server{
			Name:       "prisma",
			Command:    []string{"prisma", "language-server"},
			Extensions: []string{".prisma"},
		},
		steps:   [][]string{{"schema.prisma", "prisma/schema.prisma", "prisma"}},
		without: []string{"package.json"},
		runs:    "its Prisma config and packages",
		npm:     true,
		get:     "npm install -g prisma",
	}, {
		Server: lsp.Server{
			Name:       "dart",
			Command:    []string{"dart", "language-server", "--lsp"},
			Extensions: []string{".dart"},
		},
		steps: [][]string{{"pubspec.yaml", "analysis_options.yaml"}},
		runs:  "plugins that analysis_options.yaml names",
		get:   "install the Dart SDK",
	}, {
		Server: lsp.Server{
			Name:       "ocaml-lsp",
			Command:    []string{"ocamllsp"},
			Extensions: []string{".ml", ".mli"},
		},
		steps: [][]string{{"dune-project", "dune-workspace", ".merlin", "opam"}},
		runs:  "dune files and preprocessors",
		get:   "opam install ocaml-lsp-server",
	}}
}
