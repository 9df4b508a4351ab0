package lspclient

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helve-dev/helve/lsp"
)

// refused wants an error that names 'helve trust'.
func refused(t *testing.T, l launch, err error) {
	t.Helper()
	if missing := new(Missing); !errors.As(err, &missing) || !strings.Contains(missing.Why, "'helve trust'") || !strings.HasSuffix(missing.Why, ".") {
		t.Errorf("it was not refused: %q, %v", l.argv, err)
	}
}

func symlink(t *testing.T, to, name string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(to, name); err != nil {
		t.Skip("no links here:", err)
	}
}

func TestProgramsOfTheProject(t *testing.T) {
	m := newMachine(t)
	biome := byID(t, Builtin(), "biome")
	inside := m.program(m.in("node_modules/.bin"), "biome")
	deep := m.in("packages/one")
	write(t, deep, map[string]string{"biome.json": ""})

	l, err := biome.launch(deep, m.place(true))
	if err != nil || l.argv[0] != inside {
		t.Errorf("trusted: %q, %v", l.argv, err)
	}
	l, err = biome.launch(deep, m.place(false))
	refused(t, l, err)
	outside := m.program(m.bin, "biome")
	if l, err = biome.launch(deep, m.place(false)); err != nil || l.argv[0] != outside {
		t.Errorf("not trusted: %q, %v", l.argv, err)
	}
	if l, err = biome.launch(deep, m.place(true)); err != nil || l.argv[0] != inside {
		t.Errorf("trusted, with one outside: %q, %v", l.argv, err)
	}
}

func TestPathIntoTheProject(t *testing.T) {
	for name, look := range map[string]func(*machine) func(string) (string, error){
		"by itself": func(*machine) func(string) (string, error) { return nil },
		"by another": func(m *machine) func(string) (string, error) {
			return func(name string) (string, error) { return exec.LookPath(m.in("bin/" + name)) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t)
			clangd := byID(t, Builtin(), "clangd")
			inside := m.program(m.in("bin"), "clangd")
			m.env["PATH"] = strings.Join([]string{m.in("bin"), ".", "", "tools", m.bin}, string(filepath.ListSeparator))
			at := func(trusted bool) environment {
				p := m.place(trusted)
				p.lookPath = look(m)
				return p
			}
			l, err := clangd.launch(m.project, at(false))
			refused(t, l, err)
			if l, err = clangd.launch(m.project, at(true)); err != nil || l.argv[0] != inside || l.env["PATH"] != "" {
				t.Errorf("trusted: %q %q, %v", l.argv, l.env, err)
			}
			outside := m.program(m.bin, "clangd")
			if l, err = clangd.launch(m.project, at(false)); err != nil || l.argv[0] != outside {
				t.Errorf("with one further back: %q, %v", l.argv, err)
			}
			if l.env["PATH"] != m.bin {
				t.Errorf("the server is given the PATH %q", l.env["PATH"])
			}
		})
	}
}

func TestPathOfADot(t *testing.T) {
	m := newMachine(t)
	p := m.place(false)
	p.lookPath = func(name string) (string, error) { return filepath.Join(".", name), exec.ErrDot }
	l, err := byID(t, Builtin(), "clangd").launch(m.project, p)
	refused(t, l, err)
	p.lookPath = func(string) (string, error) { return "", exec.ErrNotFound }
	_, err = byID(t, Builtin(), "clangd").launch(m.project, p)
	if missing := new(Missing); !errors.As(err, &missing) || !strings.Contains(missing.Why, "not on the PATH") {
		t.Error(err)
	}
}

func TestLinkIntoTheProject(t *testing.T) {
	m := newMachine(t)
	symlink(t, m.program(m.in("bin"), "clangd"), filepath.Join(m.bin, "clangd"))
	l, err := byID(t, Builtin(), "clangd").launch(m.project, m.place(false))
	refused(t, l, err)
	if _, err = byID(t, Builtin(), "clangd").launch(m.project, m.place(true)); err != nil {
		t.Error(err)
	}
}

func TestPathOfALinkedProject(t *testing.T) {
	m := newMachine(t)
	m.program(m.in("bin"), "clangd")
	name := filepath.Join(filepath.Dir(m.project), "link")
	symlink(t, m.project, name)
	m.env["PATH"] = m.in("bin")
	p := m.place(false)
	p.dir, p.worktree = name, name
	l, err := byID(t, Builtin(), "clangd").launch(name, p)
	refused(t, l, err)
	m.env["PATH"] = filepath.Join(name, "bin")
	l, err = byID(t, Builtin(), "clangd").launch(m.project, m.place(false))
	refused(t, l, err)
}

// Where there is no project, the machine is not one.
func TestNoProject(t *testing.T) {
	m := newMachine(t)
	program := m.program(m.bin, "clangd")
	p := m.place(false)
	p.worktree = filepath.VolumeName(m.project) + string(filepath.Separator)
	if l, err := byID(t, Builtin(), "clangd").launch(m.project, p); err != nil || l.argv[0] != program {
		t.Errorf("%q, %v", l.argv, err)
	}
}

func TestTypeScriptThatIsUsed(t *testing.T) {
	const server = "node_modules/typescript/lib/tsserver.js"
	ts := byID(t, Builtin(), "typescript")
	used := func(l launch) string {
		var init struct{ TSServer struct{ Path string } }
		if len(l.init) > 0 {
			if err := json.Unmarshal(l.init, &init); err != nil {
				t.Fatal(err)
			}
		}
		return init.TSServer.Path
	}
	// Installed as npm does it: a link in bin to the package, TypeScript beside it.
	npm := func(t *testing.T, m *machine, name, file string) string {
		lib := filepath.Join(filepath.Dir(m.bin), "lib")
		symlink(t, m.program(filepath.Join(lib, "node_modules"), file), filepath.Join(m.bin, name))
		return lib
	}
	t.Run("of the project", func(t *testing.T) {
		m := newMachine(t)
		lib := npm(t, m, "typescript-language-server", "typescript-language-server/lib/cli.mjs")
		write(t, lib, map[string]string{server: ""})
		write(t, m.project, map[string]string{server: "", "sub/yarn.lock": ""})
		l, err := ts.launch(m.in("sub"), m.place(true))
		if err != nil || used(l) != m.in(server) {
			t.Errorf("trusted: %s, %v", used(l), err)
		}
		l, err = ts.launch(m.in("sub"), m.place(false))
		if err != nil || used(l) != filepath.Join(lib, filepath.FromSlash(server)) {
			t.Errorf("not trusted: %s, %v", used(l), err)
		}
	})
	t.Run("of yarn", func(t *testing.T) {
		m := newMachine(t)
		m.program(m.bin, "typescript-language-server")
		write(t, m.project, map[string]string{".yarn/sdks/typescript/lib/tsserver.js": ""})
		l, err := ts.launch(m.project, m.place(true))
		if err != nil || used(l) != m.in(".yarn/sdks/typescript/lib/tsserver.js") {
			t.Errorf("%s, %v", used(l), err)
		}
	})
	t.Run("of tsc", func(t *testing.T) {
		m := newMachine(t)
		m.program(m.bin, "typescript-language-server")
		lib := npm(t, m, "tsc", "typescript/bin/tsc")
		write(t, lib, map[string]string{server: ""})
		l, err := ts.launch(m.project, m.place(false))
		if err != nil || used(l) != filepath.Join(lib, filepath.FromSlash(server)) {
			t.Errorf("%s, %v", used(l), err)
		}
	})
	t.Run("only in the project", func(t *testing.T) {
		m := newMachine(t)
		m.program(m.bin, "typescript-language-server")
		write(t, m.project, map[string]string{server: ""})
		l, err := ts.launch(m.project, m.place(false))
		refused(t, l, err)
		// Another program in its place might take it from there as well.
		mine := ts
		mine.own = true
		l, err = mine.launch(m.project, m.place(false))
		refused(t, l, err)
		mine.Command = []string{m.program(m.in("node_modules/.bin"), "vtsls")}
		l, err = mine.launch(m.project, m.place(false))
		refused(t, l, err)
	})
	t.Run("nowhere", func(t *testing.T) {
		m := newMachine(t)
		m.program(m.bin, "typescript-language-server")
		for _, trusted := range []bool{true, false} {
			_, err := ts.launch(m.project, m.place(trusted))
			if missing := new(Missing); !errors.As(err, &missing) || !strings.Contains(missing.Why, "npm install typescript") {
				t.Error(err)
			}
		}
		mine := ts
		mine.own = true
		if l, err := mine.launch(m.project, m.place(true)); err != nil || used(l) != "" {
			t.Errorf("a server of one's own: %s, %v", used(l), err)
		}
	})
}

func TestPythonThatIsUsed(t *testing.T) {
	for _, c := range []struct {
		name    string
		make    []string // environments under the folder of the project's parent
		virtual string
		trusted bool
		want    string
	}{
		{"none", nil, "", true, ""},
		{"in the project", []string{"project/sub/.venv"}, "", true, "project/sub/.venv"},
		{"in the project, second name", []string{"project/sub/venv"}, "", true, "project/sub/venv"},
		{"both", []string{"project/sub/.venv", "project/sub/venv"}, "", true, "project/sub/.venv"},
		{"in the project, not trusted", []string{"project/sub/.venv", "project/sub/venv"}, "", false, ""},
		{"variable", []string{"mine", "project/sub/.venv"}, "mine", true, "mine"},
		{"variable, not trusted", []string{"mine"}, "mine", false, "mine"},
		{"variable into the project", []string{"project/.venv"}, "project/.venv", true, "project/.venv"},
		{"variable into the project, not trusted", []string{"project/.venv"}, "project/.venv", false, ""},
		{"variable to nothing", []string{"project/sub/.venv"}, "gone", true, "project/sub/.venv"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMachine(t)
			base := filepath.Dir(m.project)
			m.program(m.bin, "pyright-langserver")
			for _, dir := range c.make {
				m.program(filepath.Dir(filepath.Join(base, dir, programsOf("x"))), "python")
			}
			if c.virtual != "" {
				m.env["VIRTUAL_ENV"] = filepath.Join(base, c.virtual)
			}
			l, err := byID(t, Builtin(), "pyright").launch(m.in("sub"), m.place(c.trusted))
			if err != nil {
				t.Fatal(err)
			}
			var init struct {
				PythonPath string
				Python     struct{ PythonPath string }
			}
			if len(l.init) > 0 {
				if err := json.Unmarshal(l.init, &init); err != nil {
					t.Fatal(err)
				}
			}
			want := ""
			if c.want != "" {
				want = filepath.Join(base, c.want, programsOf("python"))
			}
			if init.PythonPath != want || init.Python.PythonPath != want {
				t.Errorf("%+v, not %s", init, want)
			}
		})
	}
}

func TestServerInAnEnvironment(t *testing.T) {
	m := newMachine(t)
	ty := byID(t, Builtin(), "ty")
	inside := m.program(filepath.Dir(m.in(filepath.Join(".venv", programsOf("x")))), "ty")
	if l, err := ty.launch(m.project, m.place(true)); err != nil || l.argv[0] != inside {
		t.Errorf("trusted: %q, %v", l.argv, err)
	}
	if l, err := ty.launch(m.project, m.place(false)); err == nil {
		t.Errorf("not trusted: %q", l.argv)
	}
	outside := m.program(m.bin, "ty")
	if l, err := ty.launch(m.project, m.place(true)); err != nil || l.argv[0] != outside {
		t.Errorf("on the PATH: %q, %v", l.argv, err)
	}
}

func TestConfiguredCommand(t *testing.T) {
	m := newMachine(t)
	inside, outside := m.program(m.in("tools"), "mine"), m.program(m.bin, "mine")
	mine := func(command ...string) Server {
		merged, err := Merge([]lsp.Server{{Name: "mine", Command: command, Extensions: []string{".mine"},
			Environment: map[string]string{"A": "b"}, Initialization: json.RawMessage(`{"x":1}`)}})
		if err != nil {
			t.Fatal(err)
		}
		return byID(t, merged, "mine")
	}
	for _, trusted := range []bool{true, false} {
		for _, c := range [][2]string{{"mine", outside}, {inside, inside}, {"./" + filepath.ToSlash(mustRel(t, m.project, inside)), inside}} {
			s := mine(c[0], "--stdio")
			if root, ok := s.root(m.in("a/b/x.mine"), m.place(trusted)); !ok || root != m.project {
				t.Errorf("root %s, %v", root, ok)
			}
			l, err := s.launch(m.in("a"), m.place(trusted))
			if c[1] == inside && !trusted { // also where the user's own config names it
				refused(t, l, err)
				continue
			}
			if err != nil {
				t.Fatal(c, err)
			}
			if d := cmp.Diff([]string{c[1], "--stdio"}, l.argv); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff(map[string]string{"A": "b"}, l.env); d != "" && !slices.Contains(os.Environ(), "OS=Windows_NT") {
				t.Error(d)
			}
			sameJSON(t, l.init, `{"x":1}`)
		}
		for _, gone := range []string{"gone", "./gone", m.in("gone")} {
			_, err := mine(gone).launch(m.project, m.place(trusted))
			if !trusted && gone != "gone" { // whatever lies in the project
				continue
			}
			if missing := new(Missing); !errors.As(err, &missing) || !strings.Contains(missing.Why, "lsp.mine.command") {
				t.Errorf("%s: %v", gone, err)
			}
		}
	}
	m.env["PATH"] = m.in("tools")
	l, err := mine("mine").launch(m.project, m.place(false))
	refused(t, l, err)
	if l, err = mine("mine").launch(m.project, m.place(true)); err != nil || l.argv[0] != inside {
		t.Errorf("%q, %v", l.argv, err)
	}
	if _, err = (Server{Server: lsp.Server{Name: "empty"}}).launch(m.project, m.place(true)); err == nil {
		t.Error("a server with no command was launched")
	}
}

// Another program in the place of a known server runs the same code.
func TestConfiguredCommandOfAKnownServer(t *testing.T) {
	m := newMachine(t)
	m.program(m.bin, "lexical")
	merged, err := Merge([]lsp.Server{{Name: "elixir-ls", Command: []string{"lexical", "start"}}})
	if err != nil {
		t.Fatal(err)
	}
	s := byID(t, merged, "elixir-ls")
	l, err := s.launch(m.project, m.place(false))
	refused(t, l, err)
	if l, err = s.launch(m.project, m.place(true)); err != nil || filepath.Base(l.argv[1]) != "start" {
		t.Errorf("%q, %v", l.argv, err)
	}
	write(t, m.project, map[string]string{"a/mix.exs": ""})
	if root, ok := s.root(m.in("a/lib/x.ex"), m.place(true)); !ok || root != m.in("a") {
		t.Errorf("%s, %v", root, ok)
	}
}

func mustRel(t *testing.T, base, path string) string {
	t.Helper()
	rel, err := filepath.Rel(base, path)
	if err != nil {
		t.Fatal(err)
	}
	return rel
}
