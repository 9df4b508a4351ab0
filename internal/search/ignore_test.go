package search

import (
	"strings"
	"testing"
)

func TestRules(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ file, path, want string }{
		{"a", "a", "ignored"},
		{"a", "x/a", "ignored"},
		{"/a", "x/a", "unnamed"},
		{"/a", "a", "ignored"},
		{"x/a", "x/a", "ignored"},
		{"x/a", "y/x/a", "unnamed"},
		{"a/", "a", "unnamed"},
		{"a/", "a/", "ignored"},
		{"a/", "x/a/", "ignored"},
		{"*.go", "x/a.go", "ignored"},
		{"*.go", ".go", "ignored"},
		{"*.b.go", "a.b.go", "ignored"},
		{"*.b.go", "a.go", "unnamed"},
		{"*go", "a.go", "ignored"},
		{"*.go\n!a.go", "a.go", "kept"},
		{"!a.go\n*.go", "a.go", "ignored"},
		{"a\n!a/", "a", "ignored"},
		{"a\n!a/", "a/", "kept"},
		{"a/\n!a\na/", "a", "kept"},
		{"!a/\na/\n!a/", "a", "unnamed"},
		{"# a\n\\#b", "#b", "ignored"},
		{"\\!b", "!b", "ignored"},
		{"a  ", "a", "ignored"},
		{"a\t\r\n", "a", "ignored"},
		{"a\\ ", "a ", "ignored"},
		{"a\\  ", "a ", "ignored"},
		{"a\\\\ ", `a\`, "ignored"},
		{" a", " a", "ignored"},
		{"\ufeffa", "a", "ignored"},
		{"[z-a]\nb", "b", "ignored"},
		{"a\\\nb", "b", "ignored"},
		{"x/**", "x/", "unnamed"},
		{"x/**", "x/y", "ignored"},
		{"**/", "x/", "ignored"},
		{"**/", "x", "unnamed"},
		{"a\\/", "a/", "ignored"},
		{"*.py{}", "a.py", "unnamed"},
	} {
		path, dir := strings.CutSuffix(test.path, "/")
		got := parseRules(test.file).match(new(machine), []byte(path), baseOf(path), dir)
		if name := [...]string{"unnamed", "ignored", "kept"}[got]; name != test.want {
			t.Errorf("%q on %q: %s, not %s", test.file, test.path, name, test.want)
		}
	}
}

// FuzzRules checks that looking rules up gives what trying all lines one by
// one gives, and that no text upsets the reader.
func FuzzRules(f *testing.F) {
	f.Add("*.go\n!a.go\n/x/**\nb/\n", "x/a.go", false)
	f.Add("a\n!a/\n# c\n\\ \n[a-", "a", true)
	f.Add("\ufeff!\n/\n**\n***/\r\n{a,b}\n", "b/{a,b}", false)
	f.Fuzz(func(t *testing.T, file, path string, dir bool) {
		if len(file) > 2000 || len(path) > 200 {
			return
		}
		path = strings.Trim(path, "/")
		var m machine
		got := parseRules(file).match(&m, []byte(path), baseOf(path), dir)
		want := unnamed
		lines := strings.Split(strings.TrimPrefix(file, "\ufeff"), "\n")
		for i := len(lines) - 1; i >= 0 && want == unnamed; i-- {
			var one rules
			if one.add(strings.TrimSuffix(lines[i], "\r"), gitDialect) == nil {
				want = one.match(&m, []byte(path), baseOf(path), dir)
			}
		}
		if got != want {
			t.Fatalf("%q on %q: %v, not %v", file, path, got, want)
		}
	})
}

func TestExcludesFile(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"[core]\n\texcludesFile = ~/x\n":                 "~/x",
		"[core]\nEXCLUDESFILE=\"/a b/c\"\n":              "/a b/c",
		"[core]\n\texcludesfile =\n[user]\n\tname = a\n": "",
		"": "",
	} {
		if got := excludesFile(text); got != want {
			t.Errorf("%q: %q, not %q", text, got, want)
		}
	}
}
