package main

import "strings"

// The tools that are measured.
const (
	opGrep = "grep"
	opGlob = "glob"
	opList = "list"
)

// limit is how many lines or names every flow shows.
const limit = 100

// A query is one call of a tool.
type query struct {
	Name    string
	Op      string
	Pattern string `json:",omitempty"`
	Include string `json:",omitempty"`
}

// queries are the twelve that everything is measured by: what agents ask for,
// from patterns that are everywhere to one that is nowhere.
func queries() []query {
	return []query{
		{"identifier", opGrep, `ServeHTTP`, ""},
		{"function", opGrep, `func \w+\(`, ""},
		{"either", opGrep, `TODO|FIXME`, ""},
		{"rare", opGrep, `runtime_pollWait`, ""},
		{"any case", opGrep, `(?i)deprecated`, ""},
		{"class", opGrep, `[A-Z]{3,}_\d+`, ""},
		{"anchored", opGrep, `^import \($`, ""},
		{"accents", opGrep, `naïve|façade`, ""},
		{"no match", opGrep, `zzqqxxnomatch`, ""},
		{"include", opGrep, `runtime_pollWait`, "*.go"},
		{"glob", opGlob, `**/*_test.go`, ""},
		{"list", opList, "", ""},
	}
}

// listGlobs are what the list tool leaves out, as ripgrep takes them.
func listGlobs() (globs []string) {
	const names = "node_modules/ __pycache__/ .git/ dist/ build/ target/ vendor/ bin/ obj/ .idea/ .vscode/ " +
		".zig-cache/ zig-out .coverage coverage/ tmp/ temp/ .cache/ cache/ logs/ .venv/ venv/ env/"
	for _, name := range strings.Fields(names) {
		globs = append(globs, "!"+name+"*")
	}
	return globs
}

// title is how a query is called in a table.
func (q query) title() string {
	switch {
	case q.Pattern == "":
		return q.Name
	case q.Include != "":
		return q.Name + " `" + q.Include + "`: `" + escaped(q.Pattern) + "`"
	default:
		return q.Name + " `" + escaped(q.Pattern) + "`"
	}
}

// escaped is a text as it can stand in a Markdown table.
func escaped(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
