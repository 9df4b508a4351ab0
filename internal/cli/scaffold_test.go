package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tree is every file below a folder, with its mode.
func tree(t *testing.T, dir string) map[string]fs.FileMode {
	t.Helper()
	all := map[string]fs.FileMode{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		info, err := d.Info()
		if err == nil && d.IsDir() {
			all[filepath.ToSlash(path[len(dir)+1:])+"/"] = 0
		} else if err == nil {
			all[filepath.ToSlash(path[len(dir)+1:])] = info.Mode() & 0o100
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestWrite(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no modes")
	}
	const exec = 0o100
	for lang, want := range map[string]map[string]fs.FileMode{
		"ts": {"tool/": 0, "tool/say.ts": 0, "tool/say.test.json": 0},
		"py": {"tool/": 0, "tool/say.py": exec, "tool/say.test.json": 0},
		"sh": {"tool/": 0, "tool/say.sh": exec, "tool/say.test.json": 0},
		"go": {"tool/": 0, "tool-src/": 0, "tool-src/say/": 0, "tool-src/say/main.go": 0, "tool-src/say/go.mod": 0, "tool/say.test.json": 0},
	} {
		dir := t.TempDir()
		files, err := writeScaffold(dir, "say", lang)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, tree(t, dir)); diff != "" {
			t.Errorf("%s: %s", lang, diff)
		}
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil || strings.Contains(string(text), nameMark) || len(text) == 0 {
				t.Errorf("%s: %.40q, %v", f, text, err)
			}
		}
		if len(scaffoldNext(dir, "say", lang)) == 0 {
			t.Errorf("%s: nothing comes next", lang)
		}
	}
}

func TestNext(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("paths are written in another way")
	}
	if diff := cmp.Diff([]string{"helve tools test say"}, scaffoldNext(".opencode", "say", "py")); diff != "" {
		t.Error(diff)
	}
	want := []string{"go build -C '/my project/tool-src/say' -o ../../tool/say .", "helve tools test say"}
	if diff := cmp.Diff(want, scaffoldNext("/my project", "say", "go")); diff != "" {
		t.Error(diff)
	}
}

// Every language that is offered has an example, on every system that can have
// one.
func TestParts(t *testing.T) {
	for _, goos := range []string{"linux", "windows"} {
		for _, lang := range scaffoldLanguages() {
			all, err := parts("tool", "say", lang, goos)
			if goos == "windows" && lang == "sh" {
				if err == nil {
					t.Error("a shell script on Windows")
				}
				continue
			}
			if err != nil {
				t.Error(err)
			}
			for _, p := range all {
				if _, err := templates.ReadFile("templates/" + p.template); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

// A folder that is there is used.
func TestWriteIntoTools(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "tools"), 0o755); err != nil {
		t.Fatal(err)
	}
	files, err := writeScaffold(dir, "say", "ts")
	if err != nil || files[0] != filepath.Join(dir, "tools", "say.ts") {
		t.Errorf("got %q, %v", files, err)
	}
}

func TestWriteRefuses(t *testing.T) {
	for _, c := range []struct{ name, lang, want string }{
		{"", "py", "the tool has no name"},
		{"a/b", "py", "other characters than letters"},
		{"..", "py", "other characters than letters"},
		{`a\b`, "py", "other characters than letters"},
		{"grüß", "py", "other characters than letters"},
		{"-x", "py", "begins with -"},
		{strings.Repeat("x", 65), "py", "has 65 characters"},
		{"say", "rb", `there is no example in "rb": take one of ts, py, sh, go`},
	} {
		dir := t.TempDir()
		if _, err := writeScaffold(dir, c.name, c.lang); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q, %s: got %v", c.name, c.lang, err)
		}
		if got := tree(t, dir); len(got) > 0 {
			t.Errorf("%q: wrote %v", c.name, got)
		}
	}
}

// Nothing is overwritten, and what cannot be written whole is not written at
// all.
func TestWriteIsAllOrNothing(t *testing.T) {
	for _, there := range []string{"tool/say.sh", "tools/say.ts", "tool/SAY", "tool/say.test.json", "tool/say.tool.json", "tool-src/say/go.mod", "tool-src/say/main.go"} {
		dir := t.TempDir()
		file := filepath.Join(dir, there)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
		before := tree(t, dir)
		if _, err := writeScaffold(dir, "say", "go"); err == nil || !strings.Contains(err.Error(), "already") {
			t.Errorf("%s: got %v", there, err)
		}
		if diff := cmp.Diff(before, tree(t, dir)); diff != "" {
			t.Errorf("%s: %s", there, diff)
		}
		if text, err := os.ReadFile(file); err != nil || string(text) != "mine" {
			t.Errorf("%s was overwritten: %q, %v", there, text, err)
		}
	}
}

// Who asks for a tool that there is is told its file, and not that of its test.
func TestTakenNamesTheTool(t *testing.T) {
	dir := t.TempDir()
	if _, err := writeScaffold(dir, "words", "ts"); err != nil {
		t.Fatal(err)
	}
	if _, err := writeScaffold(dir, "words", "py"); err == nil || !strings.Contains(err.Error(), filepath.Join(dir, "tool", "words.ts")+".") {
		t.Errorf("got %v", err)
	}
}

// caseText is a pointer to a text.
func caseText(s string) *string { return &s }

func TestReadCases(t *testing.T) {
	got, err := readToolCases([]byte(`{"cases": [{"args": {"a": 1}, "output": "x"}, {"name": "n", "tool": "t", "error": ""}, {"contains": "y", "args": null}]}`))
	if err != nil {
		t.Fatal(err)
	}
	want := []toolCase{{Args: []byte(`{"a": 1}`), Output: caseText("x")}, {Name: "n", Tool: "t", Args: []byte("{}"), Error: caseText("")}, {Args: []byte("{}"), Contains: caseText("y")}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got[0].String() != `{"a":1}` || got[1].String() != "n" {
		t.Errorf("they are called %q and %q", got[0], got[1])
	}
	for data, want := range map[string]string{
		``:                                "the test can not be read: EOF",
		`{"cases": []}`:                   `the test has 0 "cases"`,
		`{}`:                              `the test has 0 "cases"`,
		`{"cases": [{"output": "x"}]} {}`: "something stands behind its end",
		`{"cases": [{"outputs": "x"}]}`:   `unknown field "outputs"`,
		`{"cases": [{"args": {}}]}`:       `cases[0]: it has none of "output", "contains" and "error"`,
		`{"cases": [{"args": [], "output": ""}]}`:  `cases[0]: its "args" are not an object`,
		`{"cases": [{"output": "", "error": ""}]}`: `cases[0]: it has both an "error" and an "output"`,
		`{"cases": [{"contains": ""}]}`:            `cases[0]: its "contains" is empty`,
		`{"cases": [{"output": 5}]}`:               "the test can not be read: ",
	} {
		if _, err := readToolCases([]byte(data)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", data, err)
		}
	}
}

func TestCheck(t *testing.T) {
	no := errors.New("there is no such file")
	for _, c := range []struct {
		of     toolCase
		output string
		err    error
		want   string
	}{
		{of: toolCase{Output: caseText("x")}, output: "x"},
		{of: toolCase{Output: caseText("x")}, output: "x\n"},
		{of: toolCase{Output: caseText("x\n")}, output: "x"},
		{of: toolCase{Output: caseText("x")}, output: "x\n\n", want: `got:    "x\n"`},
		{of: toolCase{Output: caseText("")}, output: "x", want: `wanted: ""`},
		{of: toolCase{Output: caseText("x")}, err: no, want: "it failed: there is no such file"},
		{of: toolCase{Contains: caseText("b")}, output: "abc"},
		{of: toolCase{Contains: caseText("d")}, output: "abc", want: "does not contain"},
		{of: toolCase{Output: caseText("abc"), Contains: caseText("d")}, output: "abc", want: "does not contain"},
		{of: toolCase{Error: caseText("no such")}, err: no},
		{of: toolCase{Error: caseText("")}, err: no},
		{of: toolCase{Error: caseText("other")}, err: no, want: "it failed with another error"},
		{of: toolCase{Error: caseText("")}, output: "fine", want: "it did not fail"},
	} {
		err := c.of.Check(c.output, c.err)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v, %q, %v: got %v", c.of, c.output, c.err, err)
		}
	}
}

// What is read as a case can be held against any end.
func FuzzReadCases(f *testing.F) {
	f.Add([]byte(`{"cases": [{"args": {"a": 1}, "output": "x"}]}`), "x")
	f.Add([]byte(`{"cases": [{"error": "x"}]}`), "")
	f.Fuzz(func(t *testing.T, data []byte, output string) {
		all, err := readToolCases(data)
		if err != nil {
			return
		}
		for _, c := range all {
			if c.Args[0] != '{' && !strings.HasPrefix(strings.TrimSpace(string(c.Args)), "{") {
				t.Fatalf("%+v", c)
			}
			_ = c.String()
			failed, passed := c.Check(output, errors.New(output)), c.Check(output, nil)
			if failed == nil && passed == nil {
				t.Fatalf("%+v is content with anything", c)
			}
		}
	})
}
