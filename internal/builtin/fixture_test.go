package builtin_test

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A fixture is a file that a recording starts with.
type fixture struct {
	Path    string  `json:"path"`
	Root    string  `json:"root"` // "out": beside the workspace
	Text    string  `json:"text"`
	Base64  string  `json:"base64"`
	Symlink string  `json:"symlink"`
	Dir     bool    `json:"dir"`
	Age     float64 `json:"age"`
	Mode    string  `json:"mode"`
	Lines   *struct {
		Count  int    `json:"count"`
		Format string `json:"format"`
		Final  *bool  `json:"final_newline"`
	} `json:"lines"`
	Repeat *struct {
		Text  string `json:"text"`
		Count int    `json:"count"`
	} `json:"repeat"`
}

// A place is where a recording is run.
type place struct {
	base, top, ws, out, data string
	worktree                 string
}

// names pairs each folder with what recordings call it, the longest first.
func (p place) names() []string {
	names := []string{p.ws, "{{WS}}", p.ws[1:], "{{WS_NO_SLASH}}"}
	if p.top != p.ws {
		names = append(names, p.top, "{{TOP}}")
	}
	return append(names, "http://"+recordedHost, "{{HTTP}}", p.out, "{{OUT}}", p.data, "{{DATA}}", p.base, "{{BASE}}", "../data/", "{{DATA_FROM_TOP}}/")
}

// expand puts the folders into a text of a recording.
func (p place) expand(s string) string {
	names := p.names()
	for i := 0; i < len(names); i += 2 {
		names[i], names[i+1] = names[i+1], names[i]
	}
	return strings.NewReplacer(names...).Replace(s)
}

// normalised takes the folders out of what happened, and gives it the types
// that JSON has.
func (p place) normalised(t *testing.T, e encounter) encounter {
	t.Helper()
	text, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	var out encounter
	named := regexp.MustCompile(`(tool-output/)tool_\w+`).ReplaceAllString(strings.NewReplacer(p.names()...).Replace(string(text)), "$1{{TOOL_ID}}")
	named = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`).ReplaceAllString(named, "{{TIME}}")
	named = regexp.MustCompile(`\b(chg|job)_[0-9a-zA-Z]{20,}`).ReplaceAllString(named, "{{${1}_ID}}")
	named = regexp.MustCompile(`: sleep \(\d+\)`).ReplaceAllString(named, ": sleep ({{PID}})")
	if err := json.Unmarshal([]byte(named), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// build lays out the folders and files of a recording.
func build(t *testing.T, r recording) place {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := place{base: base, top: filepath.Join(base, "workspace"), out: filepath.Join(base, "out"), data: filepath.Join(base, "data")}
	p.ws = filepath.Join(p.top, r.Subdir)
	p.worktree = p.top
	for _, dir := range []string{p.ws, p.out, p.data} {
		mkdir(t, dir)
	}
	if r.Git == nil || *r.Git {
		buildGit(t, filepath.Join(p.top, ".git"))
	} else {
		p.worktree = "/"
	}
	for _, f := range r.Fixture {
		f.build(t, p)
	}
	return p
}

func buildGit(t *testing.T, git string) {
	t.Helper()
	for _, dir := range []string{"objects/info", "objects/pack", "refs/heads", "refs/tags"} {
		mkdir(t, filepath.Join(git, dir))
	}
	write(t, filepath.Join(git, "HEAD"), []byte("ref: refs/heads/main\n"))
	write(t, filepath.Join(git, "config"),
		[]byte("[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n"))
	aged(t, filepath.Join(git, "HEAD"), 9000)
	aged(t, filepath.Join(git, "config"), 9100)
}

func (f fixture) build(t *testing.T, p place) {
	t.Helper()
	root := p.top
	if f.Root == "out" {
		root = p.out
	}
	path := filepath.Join(root, filepath.FromSlash(f.Path))
	mkdir(t, filepath.Dir(path))
	switch {
	case f.Dir:
		mkdir(t, path)
	case f.Symlink != "":
		if err := os.Symlink(p.expand(f.Symlink), path); err != nil {
			t.Fatal(err)
		}
		return // the age is that of its target
	default:
		write(t, path, f.contents(t, p))
	}
	if f.Mode != "" {
		mode, err := strconv.ParseUint(f.Mode, 8, 32)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, os.FileMode(mode)); err != nil {
			t.Fatal(err)
		}
	}
	if f.Age == 0 {
		f.Age = 1000
	}
	aged(t, path, f.Age)
}

func (f fixture) contents(t *testing.T, p place) []byte {
	t.Helper()
	switch {
	case f.Base64 != "":
		data, err := base64.StdEncoding.DecodeString(f.Base64)
		if err != nil {
			t.Fatal(err)
		}
		return data
	case f.Lines != nil:
		lines := make([]string, f.Lines.Count)
		for i := range lines {
			lines[i] = strings.ReplaceAll(f.Lines.Format, "%d", strconv.Itoa(i+1))
		}
		text := strings.Join(lines, "\n")
		if f.Lines.Final == nil || *f.Lines.Final {
			text += "\n"
		}
		return []byte(text)
	case f.Repeat != nil:
		return []byte(strings.Repeat(f.Repeat.Text, f.Repeat.Count))
	}
	return []byte(p.expand(f.Text))
}

// A hostOp is something that the host did between two calls.
type hostOp struct {
	Op   string `json:"op"`
	Path string `json:"path"`
	Text string `json:"text"`
}

func (o hostOp) do(t *testing.T, p place) {
	t.Helper()
	path := filepath.Join(p.top, filepath.FromSlash(o.Path))
	var err error
	switch o.Op {
	case "write":
		write(t, path, []byte(o.Text))
	case "append":
		var old []byte
		if old, err = os.ReadFile(path); err == nil {
			write(t, path, append(old, o.Text...))
		}
	case "delete":
		err = os.Remove(path)
	case "touch":
		aged(t, path, 0)
	default:
		t.Fatalf("a recording wants %q, which is not known here", o.Op)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func mkdir(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

func aged(t *testing.T, path string, seconds float64) {
	t.Helper()
	when := time.Now().Add(-time.Duration(seconds * float64(time.Second)))
	if err := os.Chtimes(path, when, when); err != nil {
		t.Fatal(err)
	}
}
