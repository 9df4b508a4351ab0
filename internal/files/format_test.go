package files

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func names(s *Formatters) (names []string) {
	for _, it := range s.items {
		names = append(names, it.Name)
	}
	return names
}

const allNames = "gofmt mix prettier biome zig clang-format ktlint ruff air uv rubocop standardrb htmlbeautifier dart " +
	"ocamlformat terraform latexindent gleam shfmt nixfmt rustfmt pint"

func TestConfigured(t *testing.T) {
	t.Parallel()
	without := func(gone ...string) string {
		var left []string
		for _, name := range strings.Fields(allNames) {
			if !strings.Contains(" "+strings.Join(gone, " ")+" ", " "+name+" ") {
				left = append(left, name)
			}
		}
		return strings.Join(left, " ")
	}
	cmd := []string{"x", "$FILE"}
	for _, test := range []struct {
		name string
		opt  FormatterOptions
		want string
	}{
		{"off by default", FormatterOptions{}, ""},
		{"built-in", FormatterOptions{Builtin: true}, allNames},
		{"experimental", FormatterOptions{Builtin: true, Experimental: true}, strings.Replace(allNames, "prettier", "prettier oxfmt", 1)},
		{"disabled", FormatterOptions{Builtin: true, Formatters: []Formatter{{Name: "gofmt", Disabled: true}}}, without("gofmt")},
		{"ruff takes uv along", FormatterOptions{Builtin: true, Formatters: []Formatter{{Name: "ruff", Disabled: true}}}, without("ruff", "uv")},
		{"uv takes ruff along", FormatterOptions{Builtin: true, Formatters: []Formatter{{Name: "uv", Disabled: true}}}, without("ruff", "uv")},
		{"a configured uv is ruff", FormatterOptions{Builtin: true, Formatters: []Formatter{{Name: "uv", Command: cmd}}}, without("ruff")},
		{"both configured", FormatterOptions{Builtin: true, Formatters: []Formatter{{Name: "uv", Command: cmd}, {Name: "ruff", Command: cmd}}}, without("ruff") + " ruff"},
		{"added in order", FormatterOptions{Formatters: []Formatter{{Name: "b", Command: cmd}, {Name: "a", Command: cmd}}}, "b a"},
		{"in its place", FormatterOptions{Builtin: true, Formatters: []Formatter{{Name: "zig", Command: cmd}}}, allNames},
		{"no command", FormatterOptions{Builtin: true, Formatters: []Formatter{{Name: "zig", Extensions: []string{".x"}}, {Name: "new"}}}, allNames},
		{"disabled later", FormatterOptions{Formatters: []Formatter{{Name: "a", Command: cmd}, {Name: "a", Disabled: true}}}, ""},
	} {
		if diff := cmp.Diff(strings.Fields(test.want), append([]string{}, names(NewFormatters(test.opt))...)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

func TestConfiguredKeepsExtensions(t *testing.T) {
	t.Parallel()
	s := NewFormatters(FormatterOptions{Builtin: true, Formatters: []Formatter{{Name: "zig", Command: []string{"x"}}, {Name: "gofmt", Command: []string{"y"}, Extensions: []string{".foo"}}}})
	for path, want := range map[string]bool{"a.zig": true, "a.foo": true, "a.go": false, "a.zigs": false} {
		if got := s.For(path); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
}

func TestExtensions(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		extensions, yes, no string
	}{
		{".go", "a.go /x/a.b.go", "a.gox .go a.GO go a.go/b"},
		{".html.erb", "a.html.erb a.b.html.erb", "a.erb html.erb .html.erb"},
		{".erb .html.erb", "a.html.erb a.erb", "a.html"},
		{".R", "a.R", "a.r"},
		{".c++ .C", "a.c++ a.C", "a.c"},
		{"foo", "a.foo", "foo afoo"},
	} {
		it := &item{Formatter: Formatter{Extensions: strings.Fields(test.extensions)}}
		for want, paths := range map[bool]string{true: test.yes, false: test.no} {
			for path := range strings.FieldsSeq(paths) {
				if got := it.takes(path); got != want {
					t.Errorf("%s, %s: %v", test.extensions, path, got)
				}
			}
		}
	}
	bare := &item{Formatter: Formatter{Extensions: []string{""}}}
	if !bare.takes("x/Makefile") || !bare.takes(".bashrc") || bare.takes("a.go") {
		t.Error("names without extension")
	}
}

// TestTable pins the built-in formatters: what runs, for what.
func TestTable(t *testing.T) {
	t.Parallel()
	var got strings.Builder
	for _, b := range builtins() {
		got.WriteString(strings.Join(b.Command, " ") + ": " + strings.Join(b.Extensions, " ") + "\n")
	}
	want, err := os.ReadFile(filepath.Join("testdata", "format", "builtin.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTail(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		max    int
		writes string // separated by |
		want   string
	}{
		{10, "abc|def", "abcdef"},
		{4, "abc|def", "cdef"},
		{4, "abcdefgh", "efgh"},
		{6, "abc\nde|fg\n", "defg\n"},
		{4, "aé|é", "éé"},
		{3, "éé", "\uFFFDé"},
	} {
		out := &tail{max: test.max}
		for part := range strings.SplitSeq(test.writes, "|") {
			if n, err := out.Write([]byte(part)); n != len(part) || err != nil {
				t.Fatal(n, err)
			}
		}
		if got := out.String(); got != test.want {
			t.Errorf("%q in %d: %q, not %q", test.writes, test.max, got, test.want)
		}
	}
}

func TestEnvironment(t *testing.T) {
	t.Setenv("SOME_TOKEN", "secret")
	t.Setenv("LC_ALL", "C")
	env := environment(map[string]string{"LC_ALL": "other", "OWN": "1"})
	joined := "\n" + strings.Join(env, "\n") + "\n"
	if strings.Contains(joined, "secret") {
		t.Error("a token is passed on")
	}
	for _, want := range []string{"\nPATH=", "\nLC_ALL=C\n", "\nLC_ALL=other\n", "\nOWN=1\n"} {
		if !strings.Contains(joined, want) {
			t.Errorf("%q is missing in %s", want, joined)
		}
	}
	if strings.Index(joined, "LC_ALL=C\n") > strings.Index(joined, "LC_ALL=other") {
		t.Error("what is set must come last to count")
	}
}

// TestGofmt formats a real file with the real program, found by itself.
func TestGofmt(t *testing.T) {
	t.Parallel()
	if inPath("gofmt") == "" {
		t.Skip("gofmt is not installed")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "a.go")
	write(t, file, "package  a\nvar   x=1\n")
	s := NewFormatters(FormatterOptions{Builtin: true, Dir: dir, Logger: slog.New(slog.DiscardHandler)})
	if !s.For(file) || s.For("a.unknown") {
		t.Error("For is wrong")
	}
	reports, err := s.Run(context.Background(), "a.go") // relative to Dir
	if err != nil || len(reports) != 1 || reports[0].Name != "gofmt" || reports[0].Err != nil {
		t.Fatalf("%+v, %v", reports, err)
	}
	if text, _ := os.ReadFile(file); string(text) != "package a\n\nvar x = 1\n" {
		t.Errorf("%q", text)
	}
	write(t, file, "package {\n")
	reports, err = s.Run(context.Background(), file)
	if err != nil || len(reports) != 1 || reports[0].Err == nil || !strings.Contains(reports[0].Err.Error(), "a.go:1:9") {
		t.Errorf("%+v, %v", reports, err)
	}
}
