package lspclient

// otherServers are those from shell scripts to Haskell, as they stand in the
// table of the reference.
func otherServers() []Server {
	return []Server{{
		ID:         "bash",
		Command:    []string{"bash-language-server", "start"},
		Extensions: []string{".sh", ".bash", ".zsh", ".ksh"},
		locate:     instance,
		npm:        true,
		get:        "npm install -g bash-language-server",
	}, {
		ID:         "terraform",
		Command:    []string{"terraform-ls", "serve"},
		Extensions: []string{".tf", ".tfvars"},
		Env:        map[string]string{"CHECKPOINT_DISABLE": "1"},
		Initialization: options(map[string]any{
			"experimentalFeatures": map[string]any{"prefillRequiredFields": true, "validateOnSave": true},
		}),
		steps: [][]string{{".terraform.lock.hcl", "terraform.tfstate", "*.tf"}},
		runs:  "providers in .terraform",
		get:   "install terraform-ls",
	}, {
		ID:         "texlab",
		Command:    []string{"texlab"},
		Extensions: []string{".tex", ".bib"},
		steps:      [][]string{{".latexmkrc", "latexmkrc", ".texlabroot", "texlabroot"}},
		get:        "install texlab",
	}, {
		ID:         "dockerfile",
		Command:    []string{"docker-langserver", "--stdio"},
		Extensions: []string{".dockerfile", "Dockerfile"},
		locate:     instance,
		npm:        true,
		get:        "npm install -g dockerfile-language-server-nodejs",
	}, {
		ID:         "gleam",
		Command:    []string{"gleam", "lsp"},
		Extensions: []string{".gleam"},
		steps:      [][]string{{"gleam.toml"}},
		runs:       "builds of its dependencies",
		get:        "install Gleam",
	}, {
		ID:         "clojure-lsp",
		Command:    []string{"clojure-lsp", "listen"},
		Extensions: []string{".clj", ".cljs", ".cljc", ".edn"},
		steps:      [][]string{{"deps.edn", "project.clj", "shadow-cljs.edn", "bb.edn", "build.boot"}},
		runs:       "its build files",
		get:        "install clojure-lsp",
	}, {
		ID:         "nixd",
		Command:    []string{"nixd"},
		Extensions: []string{".nix"},
		locate:     flake,
		get:        "install nixd",
	}, {
		ID:         "tinymist",
		Command:    []string{"tinymist"},
		Extensions: []string{".typ", ".typc"},
		steps:      [][]string{{"typst.toml"}},
		get:        "install tinymist",
	}, {
		ID:         "haskell-language-server",
		Command:    []string{"haskell-language-server-wrapper", "--lsp"},
		Extensions: []string{".hs", ".lhs"},
		steps:      [][]string{{"stack.yaml", "cabal.project", "hie.yaml", "*.cabal"}},
		runs:       "its build files and Template Haskell",
		get:        "ghcup install hls",
	}}
}
