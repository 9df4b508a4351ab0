package agentconfig

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "write the results of the archives anew")

// request is the one that the archives are made with.
func request(t testing.TB, c Client) Request {
	dir := t.TempDir()
	r := Request{
		Client: c, Scope: User, Name: "helve", Command: []string{"/opt/bin/helve", "mcp"},
		Home: filepath.Join(dir, "home"), Dir: filepath.Join(dir, "project"),
		Getenv: func(string) string { return "" }, GOOS: "linux",
	}
	ok(t, os.MkdirAll(r.Home, 0o755))
	ok(t, os.MkdirAll(r.Dir, 0o755))
	return r
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func put(t testing.TB, path, data string) {
	t.Helper()
	ok(t, os.MkdirAll(filepath.Dir(path), 0o755))
	ok(t, os.WriteFile(path, []byte(data), 0o644))
}

func read(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return "(no file)\n"
	}
	ok(t, err)
	return string(data)
}

// TestClients goes through an archive for each client. A case has a file
// before, and what comes of it: the file after the entry was put, with the
// notes of the plan where it was an old entry, and after it was removed; or
// the error, which must leave the file alone.
func TestClients(t *testing.T) {
	for _, c := range Clients() {
		t.Run(string(c), func(t *testing.T) {
			name := filepath.Join("testdata", "adopt", "clients", string(c)+".txtar")
			ar, err := txtar.ParseFile(name)
			ok(t, err)
			want := map[string]string{}
			var now txtar.Archive
			for _, f := range ar.Files {
				want[f.Name] = string(f.Data)
			}
			cases := 0
			for _, f := range ar.Files {
				label, part, _ := strings.Cut(f.Name, "/")
				if part != "before" {
					continue
				}
				cases++
				add := func(part, data string) {
					now.Files = append(now.Files, txtar.File{Name: label + "/" + part, Data: []byte(data)})
					if part != "before" && !*update && want[label+"/"+part] != data {
						t.Errorf("%s/%s:\n%s", label, part, cmp.Diff(want[label+"/"+part], data))
					}
				}
				add("before", string(f.Data))
				golden(t, c, label, string(f.Data), add)
			}
			if cases < 15 {
				t.Errorf("only %d cases", cases)
			}
			if *update {
				ok(t, os.WriteFile(name, txtar.Format(&now), 0o644))
			} else if len(now.Files) != len(ar.Files) {
				t.Errorf("%d parts came of %d", len(now.Files), len(ar.Files))
			}
		})
	}
}

func golden(t *testing.T, c Client, label, before string, add func(part, data string)) {
	t.Helper()
	r := request(t, c)
	if strings.HasPrefix(label, "old") {
		r.Env = map[string]string{"A": "1"}
	}
	path := r.path()
	crlf, bom := strings.Contains(label, "crlf"), strings.Contains(label, "bom")
	if crlf {
		before = strings.ReplaceAll(before, "\n", "\r\n")
	}
	if bom {
		before = byteOrderMark + before
	}
	show := func() string {
		s := read(t, path)
		if bom {
			rest, found := strings.CutPrefix(s, byteOrderMark)
			if s = rest; !found {
				t.Errorf("%s: the byte order mark is gone", label)
			}
		}
		if crlf {
			if strings.Count(s, "\n") != strings.Count(s, "\r\n") {
				t.Errorf("%s: line ends are mixed: %q", label, s)
			}
			s = strings.ReplaceAll(s, "\r\n", "\n")
		}
		return s
	}
	if label != "none" {
		put(t, path, before)
	}
	p, err := Prepare(r)
	if err != nil {
		add("error", strings.ReplaceAll(err.Error(), path, "FILE")+"\n")
		if got := read(t, path); got != before {
			t.Errorf("%s: a refused file has changed: %q", label, got)
		}
		return
	}
	if got := read(t, path); label != "none" && got != before {
		t.Errorf("%s: Prepare has written", label)
	}
	ok(t, p.Apply())
	add("after", show())
	if strings.HasPrefix(label, "old") {
		add("notes", strings.ReplaceAll(strings.Join(p.Notes, "\n"), path, "FILE")+"\n")
	}
	again, err := Prepare(r)
	ok(t, err)
	if !again.Same {
		t.Errorf("%s: a second time changes something: %q", label, again.After)
	}
	p, err = Remove(r)
	ok(t, err)
	ok(t, p.Apply())
	add("removed", func() string {
		if p.Delete {
			return read(t, path)
		}
		return show()
	}())
	again, err = Remove(r)
	ok(t, err)
	if !again.Same {
		t.Errorf("%s: removing a second time changes something: %q", label, again.After)
	}
}

// TestPlaces checks where each client has its file.
func TestPlaces(t *testing.T) {
	env := map[string]string{}
	r := Request{Home: "/h", Dir: "/p", Getenv: func(k string) string { return env[k] }}
	var got bytes.Buffer
	for _, c := range Clients() {
		r.Client = c
		for _, r.Scope = range []string{User, Project} {
			for _, r.GOOS = range []string{"linux", "darwin", "windows"} {
				fmt.Fprintln(&got, c, r.Scope, r.GOOS, filepath.ToSlash(r.path()))
			}
		}
	}
	env = map[string]string{
		"CLAUDE_CONFIG_DIR": "/e/claude", "CODEX_HOME": "/e/codex", "GEMINI_CLI_HOME": "/e/gemini",
		"XDG_CONFIG_HOME": "/e/xdg", "APPDATA": "/e/roaming",
	}
	r.Scope = User
	for _, c := range Clients() {
		r.Client = c
		for _, r.GOOS = range []string{"linux", "darwin", "windows"} {
			fmt.Fprintln(&got, "set:", c, r.GOOS, filepath.ToSlash(r.path()))
		}
	}
	name := filepath.Join("testdata", "adopt", "places.txt")
	if *update {
		ok(t, os.WriteFile(name, got.Bytes(), 0o644))
	}
	want, err := os.ReadFile(name)
	ok(t, err)
	if d := cmp.Diff(string(want), got.String()); d != "" {
		t.Error(d)
	}
}

// TestOpenCodeFile checks which of several files is edited.
func TestOpenCodeFile(t *testing.T) {
	for _, tt := range []struct {
		files map[string]string
		want  string
	}{
		{nil, "opencode.json"},
		{map[string]string{"opencode.jsonc": "{}"}, "opencode.jsonc"},
		{map[string]string{"opencode.jsonc": "{}", "opencode.json": "{}"}, "opencode.json"},
		{map[string]string{".opencode/opencode.json": "{}"}, ".opencode/opencode.json"},
		{map[string]string{".opencode/opencode.jsonc": `{"mcp":{"helve":{}}}`, "opencode.json": "{}"}, ".opencode/opencode.jsonc"},
		{map[string]string{"opencode.jsonc": `{"mcp":{"servers":{"helve":{}}}}`, "opencode.json": "{}"}, "opencode.jsonc"},
		{map[string]string{"opencode.jsonc": `{`}, "opencode.jsonc"},
	} {
		r := request(t, OpenCode)
		r.Scope = Project
		for name, data := range tt.files {
			put(t, filepath.Join(r.Dir, name), data)
		}
		got, err := filepath.Rel(r.Dir, r.path())
		ok(t, err)
		if got != filepath.FromSlash(tt.want) {
			t.Errorf("%v: %s, want %s", tt.files, got, tt.want)
		}
	}
}

func TestRequestRefused(t *testing.T) {
	for want, change := range map[string]func(*Request){
		"is not known":         func(r *Request) { r.Client = "emacs" },
		"neither user nor":     func(r *Request) { r.Scope = "world" },
		"server name":          func(r *Request) { r.Name = "a.b" },
		"server name \"\"":     func(r *Request) { r.Name = "" },
		"absolute path":        func(r *Request) { r.Command = []string{"helve"} },
		"needs an absolute":    func(r *Request) { r.Command = nil },
		"by a variable":        func(r *Request) { r.Command[0] = "/${x}/helve" },
		"cannot have that":     func(r *Request) { r.Env = map[string]string{"A=B": ""} },
		"is not text":          func(r *Request) { r.Env = map[string]string{"A": "\xff"} },
		"folder of scope user": func(r *Request) { r.Home = "" },
	} {
		r := request(t, Gemini)
		change(&r)
		_, err := Prepare(r)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func TestSnippet(t *testing.T) {
	for _, c := range Clients() {
		r := request(t, c)
		r.Env = map[string]string{"A B": "x\"\n"}
		path, text, err := Snippet(r)
		ok(t, err)
		p, err := Prepare(r)
		ok(t, err)
		if path != p.Path || text != string(p.After) || !strings.HasSuffix(text, "\n") {
			t.Errorf("%s: %s: %q is not %q", c, path, text, p.After)
		}
		if !slices.Contains(Clients(), c) || len(p.Notes) == 0 {
			t.Errorf("%s: no notes", c)
		}
	}
}

func TestForce(t *testing.T) {
	for _, c := range Clients() {
		r := request(t, c)
		before := "{\n  \"" + map[Client]string{ClaudeCode: "mcpServers", Gemini: "mcpServers", Cursor: "mcpServers", OpenCode: "mcp",
			Zed: "context_servers", VSCode: "servers"}[c] + "\": {\n    \"helve\": { \"command\": \"axe\" } // mine\n  }\n}\n"
		if c == Codex {
			before = "a = 1\n\n[mcp_servers.helve]\ncommand = \"axe\"\n\n[b]\n"
		}
		put(t, r.path(), before)
		for _, f := range []func(Request) (Plan, error){Prepare, Remove} {
			if _, err := f(r); !isTaken(err) {
				t.Errorf("%s: %v", c, err)
			}
		}
		r.Force = true
		p, err := Prepare(r)
		ok(t, err)
		if bytes.Contains(p.After, []byte("axe")) || !bytes.Contains(p.After, []byte("/opt/bin/helve")) {
			t.Errorf("%s: %s", c, p.After)
		}
		if p, err = Remove(r); err != nil || bytes.Contains(p.After, []byte("helve")) {
			t.Errorf("%s: %v %s", c, err, p.After)
		}
	}
}
