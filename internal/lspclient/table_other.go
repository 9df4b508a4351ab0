package lspclient

import "github.com/helve-dev/helve/lsp"

// otherServers are those from shell scripts to Haskell, as they stand in the
// table of the reference.
func otherServers() []Server {
	return []Server{{
		Server: lsp.Server{
			Name:       "bash",
			Command:    []string{"bash-language-server", "start"},
			Extensions: []string{".sh", ".bash", ".zsh", ".ksh"},
		},
		locate: instance,
		npm:    true,
		get:    "npm install -g bash-language-server",
	}, {
		Server: lsp.Server{
			Name:        "terraform",
			Command:     []string{"terraform-ls", "serve"},
			Extensions:  []string{".tf", ".tfvars"},
			Environment: map[string]string{"CHECKPOINT_DISABLE": "1"},
			Initialization: options(map[string]any{
				"experimentalFeatures": map[string]any{"prefillRequiredFields": true, "validateOnSave": true},
			}),
		},
		steps: [][]string{{".terraform.lock.hcl", "terraform.tfstate", "*.tf"}},
		runs:  "providers in .terraform",
		get:   "install terraform-ls",
	}, {
		Server: lsp.Server{
			Name:       "texlab",
			Command:    []string{"texlab"},
			Extensions: []string{".tex", ".bib"},
		},
		steps: [][]string{{".latexmkrc", "latexmkrc", ".texlabroot", "texlabroot"}},
		get:   "install texlab",
	}, {
		Server: lsp.Server{
			Name:       "dockerfile",
			Command:    []string{"docker-langserver", "--stdio"},
			Extensions: []string{".dockerfile", "Dockerfile"},
		},
		locate: instance,
		npm:    true,
		get:    "npm install -g dockerfile-language-server-nodejs",
	}, {
		Server: lsp.Server{
			Name:       "gleam",
			Command:    []string{"gleam", "lsp"},
			Extensions: []string{".gleam"},
		},
		steps: [][]string{{"gleam.toml"}},
		runs:  "builds of its dependencies",
		get:   "install Gleam",
	}, {
		Server: lsp.Server{
			Name:       "clojure-lsp",
			Command:    []string{"clojure-lsp", "listen"},
			Extensions: []string{".clj", ".cljs", ".cljc", ".edn"},
		},
		steps: [][]string{{"deps.edn", "project.clj", "shadow-cljs.edn", "bb.edn", "build.boot"}},
		runs:  "its build files",
		get:   "install clojure-lsp",
	}, {
		Server: lsp.Server{
			Name:       "nixd",
			Command:    []string{"nixd"},
			Extensions: []string{".nix"},
		},
		locate: flake,
		get:    "install nixd",
	}, {
		Server: lsp.Server{
			Name:       "tinymist",
			Command:    []string{"tinymist"},
			Extensions: []string{".typ", ".typc"},
		},
		steps: [][]string{{"typst.toml"}},
		get:   "install tinymist",
	}, {
		Server: lsp.Server{
			Name:       "haskell-language-server",
			Command:    []string{"haskell-language-server-wrapper", "--lsp"},
			Extensions: []string{".hs", ".lhs"},
		},
		steps: [][]string{{"stack.yaml", "cabal.project", "hie.yaml", "*.cabal"}},
		runs:  "its build files and Template Haskell",
		get:   "ghcup install hls",
	}}
}
