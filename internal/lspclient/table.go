package lspclient

import (
	"slices"

	"github.com/helve-dev/helve/lsp"
)

// Builtin returns the built-in servers, in the order in which they are queried. Whether one is
// installed is checked when it is needed.
func Builtin() []Server {
	return slices.Concat(scriptServers(), compiledServers(), frameworkServers(), managedServers(), otherServers())
}

// scripts returns the extensions of JavaScript and TypeScript, and more.
func scripts(more ...string) []string {
	return append([]string{".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts"}, more...)
}

// lockfiles mark the root of a JavaScript project, with more.
func lockfiles(more ...string) []string {
	return append(more, "package-lock.json", "bun.lockb", "bun.lock", "pnpm-lock.yaml", "yarn.lock")
}

// scriptServers are those for JavaScript and TypeScript.
func scriptServers() []Server {
	return []Server{{
		Server: lsp.Server{
			Name:        "deno",
			Command:     []string{"deno", "lsp"},
			Extensions:  []string{".ts", ".tsx", ".js", ".jsx", ".mjs"},
			Environment: map[string]string{"DENO_NO_UPDATE_CHECK": "1"},
		},
		steps:  [][]string{{"deno.json", "deno.jsonc"}},
		strict: true,
		get:    "install Deno",
	}, {
		Server: lsp.Server{
			Name:       "typescript",
			Command:    []string{"typescript-language-server", "--stdio"},
			Extensions: scripts(),
			// Otherwise it has npm install types of packages, and renames what is
			// imported in one file only.
			Initialization: options(map[string]any{
				"disableAutomaticTypingAcquisition": true,
				"preferences":                       map[string]any{"providePrefixAndSuffixTextForRename": false},
			}),
		},
		steps:   [][]string{lockfiles()},
		without: []string{"deno.json", "deno.jsonc"},
		npm:     true,
		looks:   true,
		get:     "npm install -g typescript-language-server typescript",
		prepare: withTSServer,
	}, {
		Server: lsp.Server{
			Name:       "vue",
			Command:    []string{"vue-language-server", "--stdio"},
			Extensions: []string{".vue"},
			// By itself, without an editor that runs TypeScript beside it.
			Initialization: options(map[string]any{"vue": map[string]any{"hybridMode": false}}),
		},
		steps:   [][]string{lockfiles()},
		runs:    "its build config and packages",
		npm:     true,
		get:     "npm install -g @vue/language-server",
		prepare: withTSDK,
	}, {
		Server: lsp.Server{
			Name:       "eslint",
			Command:    []string{"vscode-eslint-language-server", "--stdio"},
			Extensions: scripts(".vue"),
		},
		steps:   [][]string{lockfiles()},
		runs:    "its ESLint config and plugins",
		npm:     true,
		get:     "npm install -g vscode-langservers-extracted",
		prepare: withESLint,
	}, {
		Server: lsp.Server{
			Name:       "oxlint",
			Command:    []string{"oxlint", "--lsp"},
			Extensions: scripts(".vue", ".astro", ".svelte"),
		},
		others:  [][]string{{"oxc_language_server"}},
		steps:   [][]string{lockfiles(".oxlintrc.json", "package.json")},
		runs:    "plugins that .oxlintrc.json names",
		npm:     true,
		get:     "npm install -g oxlint",
		prepare: olderOxlint,
	}, {
		Server: lsp.Server{
			Name:       "biome",
			Command:    []string{"biome", "lsp-proxy", "--stdio"},
			Extensions: scripts(".json", ".jsonc", ".vue", ".astro", ".svelte", ".css", ".graphql", ".gql", ".html"),
			// In a project that does not use it, it would find fault with everything.
			Initialization: options(map[string]any{"biome": map[string]any{"requireConfiguration": true}}),
		},
		steps: [][]string{lockfiles("biome.json", "biome.jsonc")},
		npm:   true,
		get:   "npm install -g @biomejs/biome",
	}}
}
