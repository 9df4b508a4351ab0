package lspclient

import (
	"slices"

	"github.com/helve-dev/helve/lsp"
)

// compiledServers are those from Go to C, as they stand in the table of the
// reference.
func compiledServers() []Server {
	return slices.Concat([]Server{{
		Server: lsp.Server{
			Name:       "gopls",
			Command:    []string{"gopls"},
			Extensions: []string{".go"},
			// It answers for the text that it has; what it publishes comes when it comes.
			Initialization: options(map[string]any{"pullDiagnostics": true}),
			Environment:    map[string]string{"GOTOOLCHAIN": "local"}, // another one would be downloaded
		},
		steps: [][]string{{"go.work"}, {"go.mod", "go.sum"}},
		needs: []string{"go"},
		get:   "go install golang.org/x/tools/gopls@latest",
	}, {
		Server: lsp.Server{
			Name:       "ruby-lsp",
			Command:    []string{"rubocop", "--lsp"},
			Extensions: []string{".rb", ".rake", ".gemspec", ".ru"},
		},
		steps: [][]string{{"Gemfile"}},
		runs:  "what .rubocop.yml requires",
		get:   "gem install rubocop",
	}}, pythonServers(), []Server{{
		Server: lsp.Server{
			Name:       "elixir-ls",
			Command:    []string{"elixir-ls"},
			Extensions: []string{".ex", ".exs"},
		},
		others: [][]string{{"language_server.sh"}},
		steps:  [][]string{{"mix.exs", "mix.lock"}},
		runs:   "mix.exs",
		get:    "install ElixirLS",
	}, {
		Server: lsp.Server{
			Name:       "zls",
			Command:    []string{"zls"},
			Extensions: []string{".zig", ".zon"},
		},
		steps: [][]string{{"build.zig"}},
		runs:  "build.zig",
		needs: []string{"zig"},
		get:   "install ZLS for the version of your Zig",
	}}, dotnetServers(), []Server{{
		Server: lsp.Server{
			Name:       "sourcekit-lsp",
			Command:    []string{"sourcekit-lsp"},
			Extensions: []string{".swift", ".objc", ".objcpp"},
		},
		others: [][]string{{"xcrun", "sourcekit-lsp"}},
		steps:  [][]string{{"Package.swift", "*.xcodeproj", "*.xcworkspace"}},
		runs:   "Package.swift",
		get:    "install a Swift toolchain, which brings it along",
	}, {
		Server: lsp.Server{
			Name:        "rust",
			Command:     []string{"rust-analyzer"},
			Extensions:  []string{".rs"},
			Environment: map[string]string{"RUSTUP_AUTO_INSTALL": "0"},
		},
		locate: cargo,
		pushes: true, // what the compiler says is only published
		runs:   "build scripts, macros, and the compiler that files of it name",
		get:    "rustup component add rust-analyzer",
	}, {
		Server: lsp.Server{
			Name:       "clangd",
			Command:    []string{"clangd", "--background-index", "--clang-tidy"},
			Extensions: []string{".c", ".cpp", ".cc", ".cxx", ".c++", ".h", ".hpp", ".hh", ".hxx", ".h++"},
		},
		steps:   [][]string{{"compile_commands.json", "compile_flags.txt", ".clangd", "CMakeLists.txt", "Makefile"}},
		get:     "install clangd with the package manager of your system",
		prepare: noIndexElsewhere,
	}})
}

// pythonServers are two of which one is used: ty where it is asked for.
func pythonServers() []Server {
	markers := []string{"pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "Pipfile", "pyrightconfig.json"}
	asksForTy := func(p environment) bool {
		return p.flag("HELVE_EXPERIMENTAL_LSP_TY") || p.flag("OPENCODE_EXPERIMENTAL_LSP_TY")
	}
	return []Server{{
		Server: lsp.Server{
			Name:       "ty",
			Command:    []string{"ty", "server"},
			Extensions: []string{".py", ".pyi"},
		},
		steps:  [][]string{append([]string{"ty.toml"}, markers...)},
		wanted: func(s Server, p environment) bool { return s.named || asksForTy(p) },
		venv:   true,
		get:    "install ty (uv tool install ty)",
	}, {
		Server: lsp.Server{
			Name:       "pyright",
			Command:    []string{"pyright-langserver", "--stdio"},
			Extensions: []string{".py", ".pyi"},
		},
		steps:   [][]string{markers},
		wanted:  func(s Server, p environment) bool { return s.named || !asksForTy(p) },
		npm:     true,
		venv:    true,
		get:     "npm install -g pyright",
		prepare: withPython,
	}}
}

// dotnetServers load a solution as a whole where there is one.
func dotnetServers() []Server {
	solution := []string{"*.slnx", "*.sln"}
	return []Server{{
		Server: lsp.Server{
			Name:       "csharp",
			Command:    []string{"csharp-ls"},
			Extensions: []string{".cs"},
		},
		steps: [][]string{solution, {"*.csproj", "global.json"}},
		runs:  "targets of MSBuild",
		get:   "dotnet tool install --global csharp-ls",
	}, {
		Server: lsp.Server{
			Name:           "fsharp",
			Command:        []string{"fsautocomplete"},
			Extensions:     []string{".fs", ".fsi", ".fsx", ".fsscript"},
			Initialization: options(map[string]any{"AutomaticWorkspaceInit": true}),
		},
		steps: [][]string{solution, {"*.fsproj", "global.json"}},
		runs:  "targets of MSBuild",
		get:   "dotnet tool install --global fsautocomplete",
	}}
}
