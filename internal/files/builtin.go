package files

import "strings"

// A builtin is a built-in formatter.
type builtin struct {
	Formatter
	experimental bool
	// find returns the program if it is installed and the project uses it, and else "". It starts
	// nothing.
	find func(p projectDirs) string
	// ask are arguments that make the program identify itself, and probe checks the answer. Without
	// probe, the program is not asked.
	ask   []string
	probe func(output string, err error) bool
}

// builtins returns the built-in formatters, in the order in which they run.
func builtins() []builtin {
	script := []string{".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts"}
	web := append(script[:len(script):len(script)], ".html", ".htm", ".css", ".scss", ".sass", ".less", ".vue", ".svelte",
		".json", ".jsonc", ".yaml", ".yml", ".toml", ".xml", ".md", ".mdx", ".graphql", ".gql")
	ruby := []string{".rb", ".rake", ".gemspec", ".ru"}
	python := []string{".py", ".pyi"}
	return []builtin{
		installed("gofmt -w $FILE", ".go"),
		offline(installed("mix format $FILE", ".ex", ".exs", ".eex", ".heex", ".leex", ".neex", ".sface"), "HEX_OFFLINE=1"),
		withFind(installed("prettier --write $FILE", web...), prettier),
		experimental(withFind(installed("oxfmt $FILE", script...), oxfmt)),
		withFind(installed("biome check --write $FILE", web...), biome),
		installed("zig fmt $FILE", ".zig", ".zon"),
		withFind(installed("clang-format -i $FILE", ".c", ".cc", ".cpp", ".cxx", ".c++", ".h", ".hh", ".hpp", ".hxx", ".h++", ".ino", ".C", ".H"), clangFormat),
		installed("ktlint -F $FILE", ".kt", ".kts"),
		withFind(installed("ruff format $FILE", python...), ruff),
		withProbe(installed("air format $FILE", ".R"), isAir, "--help"),
		offline(withProbe(withFind(installed("uv format -- $FILE", python...), uv), succeeds, "format", "--help"), "UV_OFFLINE=1"),
		installed("rubocop --autocorrect $FILE", ruby...),
		installed("standardrb --fix $FILE", ruby...),
		installed("htmlbeautifier $FILE", ".erb", ".html.erb"),
		installed("dart format $FILE", ".dart"),
		withFind(installed("ocamlformat -i $FILE", ".ml", ".mli"), ocamlformat),
		offline(installed("terraform fmt $FILE", ".tf", ".tfvars"), "CHECKPOINT_DISABLE=1"),
		installed("latexindent -w -s $FILE", ".tex"),
		installed("gleam format $FILE", ".gleam"),
		installed("shfmt -w $FILE", ".sh", ".bash"),
		installed("nixfmt $FILE", ".nix"),
		offline(installed("rustfmt $FILE", ".rs"), "RUSTUP_AUTO_INSTALL=0"),
		withFind(installed("pint $FILE", ".php"), pint),
	}
}

// installed returns a formatter that is enabled if its program is in PATH. Its name is the
// program's.
func installed(command string, extensions ...string) builtin {
	words := strings.Fields(command)
	return builtin{
		Formatter: Formatter{Name: words[0], Command: words, Extensions: extensions},
		find:      func(projectDirs) string { return inPath(words[0]) },
	}
}

// withFind replaces how the program is found.
func withFind(b builtin, find func(projectDirs) string) builtin {
	b.find = find
	return b
}

// withProbe lets the program itself say whether it is the right one.
func withProbe(b builtin, probe func(string, error) bool, args ...string) builtin {
	b.probe, b.ask = probe, args
	return b
}

// offline sets a variable that keeps the program from downloading anything.
func offline(b builtin, setting string) builtin {
	key, value, _ := strings.Cut(setting, "=")
	b.Environment = map[string]string{key: value}
	return b
}

func experimental(b builtin) builtin {
	b.experimental = true
	return b
}

func succeeds(_ string, err error) bool { return err == nil }

// isAir distinguishes the R formatter from other programs named air.
func isAir(output string, err error) bool {
	line, _, _ := strings.Cut(output, "\n")
	return err == nil && strings.Contains(line, "R language") && strings.Contains(line, "formatter")
}

func prettier(p projectDirs) string { return p.nodeTool("prettier") }

func oxfmt(p projectDirs) string { return p.nodeTool("oxfmt") }

func biome(p projectDirs) string {
	if len(p.up("biome.json", "biome.jsonc")) == 0 {
		return ""
	}
	return inPath("biome")
}

func clangFormat(p projectDirs) string {
	if len(p.up(".clang-format")) == 0 {
		return ""
	}
	return inPath("clang-format")
}

func ocamlformat(p projectDirs) string {
	if len(p.up(".ocamlformat")) == 0 {
		return ""
	}
	return inPath("ocamlformat")
}

// ruff is enabled if the project configures or requires it.
func ruff(p projectDirs) string {
	program := inPath("ruff")
	if program == "" || len(p.up("ruff.toml", ".ruff.toml")) > 0 {
		return program
	}
	for _, name := range p.up("pyproject.toml", "requirements.txt", "Pipfile") {
		if strings.Contains(read(name), "ruff") {
			return program
		}
	}
	return ""
}

// uv includes ruff and replaces it.
func uv(p projectDirs) string {
	if ruff(p) != "" {
		return ""
	}
	return inPath("uv")
}

func pint(p projectDirs) string {
	for _, name := range p.up("composer.json") {
		if needs(name, "laravel/pint") {
			return inPath("pint")
		}
	}
	return ""
}
