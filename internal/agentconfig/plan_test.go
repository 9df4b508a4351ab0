package agentconfig

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

func isTaken(err error) bool { return errors.Is(err, ErrTaken) }

func mode(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	ok(t, err)
	return info.Mode().Perm()
}

func TestApplyKeepsModeAndLink(t *testing.T) {
	r := request(t, Zed)
	real := filepath.Join(r.Home, "dotfiles", "zed.json")
	put(t, real, "{}\n")
	ok(t, os.Chmod(real, 0o640))
	ok(t, os.MkdirAll(filepath.Dir(r.path()), 0o755))
	ok(t, os.Symlink(real, r.path()))
	p, err := Prepare(r)
	ok(t, err)
	if want, _ := filepath.EvalSymlinks(real); p.Target != want || p.Path != r.path() {
		t.Errorf("target %s, path %s", p.Target, p.Path)
	}
	ok(t, p.Apply())
	if link, err := os.Readlink(r.path()); err != nil || link != real {
		t.Errorf("the link is %q now: %v", link, err)
	}
	if !strings.Contains(read(t, real), "helve") {
		t.Error("the file behind the link has not changed")
	}
	if got := mode(t, real); got != 0o640 && runtime.GOOS != "windows" {
		t.Errorf("mode %o", got)
	}
	noLeftovers(t, filepath.Dir(real), "zed.json")
}

func noLeftovers(t *testing.T, dir string, want ...string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	ok(t, err)
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	if strings.Join(names, " ") != strings.Join(want, " ") {
		t.Errorf("%s holds %q, want %q", dir, names, want)
	}
}

func TestNewModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes are of Unix")
	}
	r := request(t, Cursor)
	p, err := Prepare(r)
	ok(t, err)
	ok(t, p.Apply())
	if mode(t, r.path()) != 0o600 || mode(t, filepath.Dir(r.path())) != 0o700 {
		t.Errorf("modes %o %o", mode(t, r.path()), mode(t, filepath.Dir(r.path())))
	}
	noLeftovers(t, filepath.Dir(r.path()), "mcp.json")
	r.Scope = Project
	p, err = Prepare(r)
	ok(t, err)
	ok(t, p.Apply())
	if got := mode(t, r.path()); got&0o600 != 0o600 || got&^0o644 != 0 {
		t.Errorf("mode %o", got)
	}
}

func TestLinkOutOfProject(t *testing.T) {
	r := request(t, VSCode)
	r.Scope = Project
	victim := filepath.Join(r.Home, "settings.json")
	put(t, victim, "{}\n")
	ok(t, os.MkdirAll(filepath.Join(r.Dir, ".vscode"), 0o755))
	ok(t, os.Symlink(victim, r.path()))
	_, err := Prepare(r)
	if err == nil || !strings.Contains(err.Error(), "leads out of the project") || !strings.Contains(err.Error(), `"servers"`) {
		t.Error(err)
	}
	// the folder is a link, and the file is not there yet
	ok(t, os.RemoveAll(filepath.Join(r.Dir, ".vscode")))
	ok(t, os.Symlink(r.Home, filepath.Join(r.Dir, ".vscode")))
	if _, err := Prepare(r); err == nil || !strings.Contains(err.Error(), "leads out") {
		t.Error(err)
	}
	// the link appears after the plan was made
	ok(t, os.Remove(filepath.Join(r.Dir, ".vscode")))
	p, err := Prepare(r)
	ok(t, err)
	ok(t, os.Symlink(r.Home, filepath.Join(r.Dir, ".vscode")))
	if err := p.Apply(); err == nil {
		t.Error("written through a link")
	}
	noLeftovers(t, r.Home, "settings.json")
	// a link that stays inside is followed
	ok(t, os.Remove(filepath.Join(r.Dir, ".vscode")))
	ok(t, os.Mkdir(filepath.Join(r.Dir, "shared"), 0o755))
	ok(t, os.Symlink("shared", filepath.Join(r.Dir, ".vscode")))
	p, err = Prepare(r)
	ok(t, err)
	ok(t, p.Apply())
	noLeftovers(t, filepath.Join(r.Dir, "shared"), "mcp.json")
}

func TestOddFiles(t *testing.T) {
	r := request(t, Cursor)
	for want, make := range map[string]func(path string) error{
		"not there":          func(path string) error { return os.Symlink("nowhere", path) },
		"not a regular file": func(path string) error { return os.Mkdir(path, 0o755) },
		"not UTF-8":          func(path string) error { return os.WriteFile(path, []byte("{\"\xff\":1}"), 0o600) },
		"too deeply": func(path string) error {
			return os.WriteFile(path, []byte(strings.Repeat("[", 1<<20)), 0o600)
		},
		"larger than":          func(path string) error { return os.WriteFile(path, make([]byte, maxFile+1), 0o600) },
		"line 1, column 2":     func(path string) error { return os.WriteFile(path, []byte(byteOrderMark+"{x}"), 0o600) },
		"not hold a JSON":      func(path string) error { return os.WriteFile(path, []byte("[]"), 0o600) },
		"the file is not JSON": func(path string) error { return os.WriteFile(path, []byte("{}{}"), 0o600) },
		"read-only":            func(path string) error { return os.WriteFile(path, []byte("{}"), 0o400) },
	} {
		ok(t, os.RemoveAll(filepath.Dir(r.path())))
		ok(t, os.Mkdir(filepath.Dir(r.path()), 0o755))
		ok(t, make(r.path()))
		_, err := Prepare(r)
		var refusal *Refusal
		if !errors.As(err, &refusal) || !strings.Contains(refusal.Reason, want) || !strings.Contains(refusal.Add, "/opt/bin/helve") {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func TestChangedMeanwhile(t *testing.T) {
	r := request(t, Gemini)
	plan := func() Plan {
		p, err := Prepare(r)
		ok(t, err)
		return p
	}
	made := plan()
	put(t, r.path(), "{}")
	if err := made.Apply(); !errors.Is(err, ErrChanged) {
		t.Error("made:", err)
	}
	edited := plan()
	put(t, r.path(), `{"a":1}`)
	if err := edited.Apply(); !errors.Is(err, ErrChanged) {
		t.Error("edited:", err)
	}
	gone := plan()
	ok(t, os.Remove(r.path()))
	if err := gone.Apply(); !errors.Is(err, ErrChanged) {
		t.Error("gone:", err)
	}
	ok(t, plan().Apply())
	remove, err := Remove(r)
	ok(t, err)
	if !remove.Delete || remove.After != nil {
		t.Error("a file that is all ours stays")
	}
	put(t, r.path(), `{"a":1}`)
	if err := remove.Apply(); !errors.Is(err, ErrChanged) {
		t.Error("delete:", err)
	}
	if read(t, r.path()) != `{"a":1}` {
		t.Error("somebody's change is lost")
	}
}

// TestManyAtOnce has processes, as it were, put entries into one file. None
// is lost: who comes too late is told so, and tries again.
func TestManyAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "helve.json")
	var group sync.WaitGroup
	names := strings.Split("abcdefgh", "")
	for _, name := range names {
		group.Go(func() {
			for {
				p, err := SetServer(File{Path: path}, name, map[string]any{"type": "local"})
				if err == nil {
					err = p.Apply()
				}
				if !errors.Is(err, ErrChanged) {
					if err != nil {
						t.Error(err)
					}
					return
				}
			}
		})
	}
	group.Wait()
	for _, name := range names {
		if !strings.Contains(read(t, path), `"`+name+`": {`) {
			t.Errorf("%s is lost: %s", name, read(t, path))
		}
	}
}

// TestBounds makes sure that size is asked before anything is read in full.
func TestBounds(t *testing.T) {
	for _, c := range []Client{Codex, Cursor} {
		r := request(t, c)
		r.Scope = Project
		put(t, r.path(), strings.Repeat(" ", maxProject+1))
		if _, err := Prepare(r); err == nil || !strings.Contains(err.Error(), "larger than") {
			t.Errorf("%s: %v", c, err)
		}
	}
	r := request(t, Cursor)
	put(t, r.path(), strings.Repeat(" ", maxProject+1))
	_, err := Prepare(r)
	ok(t, err)
	put(t, r.path(), strings.Repeat("/*", 1<<20)) // linear, or this never ends
	if _, err := Prepare(r); err == nil {
		t.Error("a comment without an end is accepted")
	}
}

func TestServers(t *testing.T) {
	dir := t.TempDir()
	f := File{Path: filepath.Join(dir, "helve.jsonc"), Within: dir}
	server := func(command ...string) any {
		return struct {
			Type    string   `json:"type"`
			Command []string `json:"command"`
		}{"local", command}
	}
	step := func(want string, p Plan, err error) {
		t.Helper()
		ok(t, err)
		ok(t, p.Apply())
		if got := read(t, f.Path); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
	first := "{\n  \"mcp\": {\n    \"a.b\": {\n      \"type\": \"local\",\n      \"command\": [\n        \"x\",\n        \"<&>\"\n      ]\n    }\n  }\n}\n"
	p, err := SetServer(f, "a.b", server("x", "<&>"))
	step(first, p, err)
	if p, err = SetServer(f, "a.b", server("x", "<&>")); err != nil || !p.Same {
		t.Error("not the same", err)
	}
	if _, err = SetServer(f, "a.b", server("y")); !isTaken(err) {
		t.Error(err)
	}
	forced := f
	forced.Force = true
	p, err = SetServer(forced, "a.b", server("y"))
	step(strings.Replace(first, "\"x\",\n        \"<&>\"", `"y"`, 1), p, err)
	p, err = RemoveServer(f, "nothing")
	if err != nil || !p.Same {
		t.Error(err)
	}
	p, err = RemoveServer(f, "a.b")
	step("(no file)\n", p, err)
	p, err = RemoveServer(f, "a.b")
	if err != nil || !p.Same {
		t.Error(err)
	}
	put(t, f.Path, "{ // mine\n\t\"mcp\": {}, \"x\": 1 }")
	p, err = SetServer(f, "a", true)
	step("{ // mine\n\t\"mcp\": {\n\t\t\"a\": true\n\t}, \"x\": 1 }", p, err)
	p, err = RemoveServer(f, "a")
	step("{ // mine\n\t\"mcp\": {}, \"x\": 1 }", p, err)
	if _, err = SetServer(f, "", 1); err == nil {
		t.Error("no name")
	}
	if _, err = SetServer(f, "a", func() {}); err == nil {
		t.Error("a function is no config")
	}
}
