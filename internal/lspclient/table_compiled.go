package lspclient

import "slices"

// compiledServers are those from Go to C, as they stand in the table of the
// reference.
func compiledServers() []Server {
	return slices.Concat([]Server{{
		ID:         "gopls",
		Command:    []string{"gopls"},
		Extensions: []string{".go"},
		// It answers for the text that it has; what it publishes comes when it comes.
		Initialization: options(map[string]any{"pullDiagnostics": true}),
		Env:            map[string]string{"GOTOOLCHAIN": "local"}, // another one would be downloaded
		steps:          [][]string{{"go.work"}, {"go.mod", "go.sum"}},
		needs:          []string{"go"},
		get:            "go install golang.org/x/tools/gopls@latest",
	}, {
		ID:         "ruby-lsp",
		Command:    []string{"rubocop", "--lsp"},
		Extensions: []string{".rb", ".rake", ".gemspec", ".ru"},
		steps:      [][]string{{"Gemfile"}},
		runs:       "what .rubocop.yml requires",
		get:        "gem install rubocop",
	}}, pythonServers(), []Server{{
		ID:         "elixir-ls",
		Command:    []string{"elixir-ls"},
		others:     [][]string{{"language_server.sh"}},
		Extensions: []string{".ex", ".exs"},
		steps:      [][]string{{"mix.exs", "mix.lock"}},
		runs:       "mix.exs",
		get:        "install ElixirLS",
	}, {
		ID:         "zls",
		Command:    []string{"zls"},
		Extensions: []string{".zig", ".zon"},
		steps:      [][]string{{"build.zig"}},
		runs:       "build.zig",
		needs:      []string{"zig"},
		get:        "install ZLS for the version of your Zig",
	}}, dotnetServers(), []Server{{
		ID:         "sourcekit-lsp",
		Command:    []string{"sourcekit-lsp"},
		others:     [][]string{{"xcrun", "sourcekit-lsp"}},
		Extensions: []string{".swift", ".objc", ".objcpp"},
		steps:      [][]string{{"Package.swift", "*.xcodeproj", "*.xcworkspace"}},
		runs:       "Package.swift",
		get:        "install a Swift toolchain, which brings it along",
	}, {
		ID:         "rust",
		Command:    []string{"rust-analyzer"},
		Extensions: []string{".rs"},
		Env:        map[string]string{"RUSTUP_AUTO_INSTALL": "0"},
		locate:     cargo,
		pushes:     true, // what the compiler says is only published
		runs:       "build scripts, macros, and the compiler that files of it name",
		get:        "rustup component add rust-analyzer",
	}, {
		ID:         "clangd",
		Command:    []string{"clangd", "--background-index", "--clang-tidy"},
		Extensions: []string{".c", ".cpp", ".cc", ".cxx", ".c++", ".h", ".hpp", ".hh", ".hxx", ".h++"},
		steps:      [][]string{{"compile_commands.json", "compile_flags.txt", ".clangd", "CMakeLists.txt", "Makefile"}},
		get:        "install clangd with the package manager of your system",
		prepare:    noIndexElsewhere,
	}})
}

// pythonServers are two of which one is used: ty where it is asked for.
func pythonServers() []Server {
	markers := []string{"pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "Pipfile", "pyrightconfig.json"}
	asksForTy := func(p environment) bool {
		return p.flag("HELVE_EXPERIMENTAL_LSP_TY") || p.flag("OPENCODE_EXPERIMENTAL_LSP_TY")
	}
	return []Server{{
		ID:         "ty",
		Command:    []string{"ty", "server"},
		Extensions: []string{".py", ".pyi"},
		steps:      [][]string{append([]string{"ty.toml"}, markers...)},
		wanted:     func(s Server, p environment) bool { return s.named || asksForTy(p) },
		venv:       true,
		get:        "install ty (uv tool install ty)",
	}, {
		ID:         "pyright",
		Command:    []string{"pyright-langserver", "--stdio"},
		Extensions: []string{".py", ".pyi"},
		steps:      [][]string{markers},
		wanted:     func(s Server, p environment) bool { return s.named || !asksForTy(p) },
		npm:        true,
		venv:       true,
		get:        "npm install -g pyright",
		prepare:    withPython,
	}}
}

// dotnetServers load a solution as a whole where there is one.
func dotnetServers() []Server {
	solution := []string{"*.slnx", "*.sln"}
	return []Server{{
		ID:         "csharp",
		Command:    []string{"csharp-ls"},
		Extensions: []string{".cs"},
		steps:      [][]string{solution, {"*.csproj", "global.json"}},
		runs:       "targets of MSBuild",
		get:        "dotnet tool install --global csharp-ls",
	}, {
		ID:             "fsharp",
		Command:        []string{"fsautocomplete"},
		Extensions:     []string{".fs", ".fsi", ".fsx", ".fsscript"},
		Initialization: options(map[string]any{"AutomaticWorkspaceInit": true}),
		steps:          [][]string{solution, {"*.fsproj", "global.json"}},
		runs:           "targets of MSBuild",
		get:            "dotnet tool install --global fsautocomplete",
	}}
}
