package builtin_test

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// A pathVector is a tree, rules and a name, and what has to become of a call.
type pathVector struct {
	ID        string            `json:"id"`
	Tool      string            `json:"tool"`
	Untouched []string          `json:"untouched"`
	Workspace string            `json:"workspace"`
	Home      string            `json:"home"`
	Setup     []setup           `json:"setup"`
	Rules     [][3]string       `json:"rules"`
	Path      json.RawMessage   `json:"path"`
	Expect    string            `json:"expect"`
	Code      string            `json:"code"`
	Platform  string            `json:"platform"`
	Needs     string            `json:"needs"`
	Reason    string            `json:"reason"`
	Args      map[string]string `json:"args"`
	Without   []string          `json:"must_not_contain"`
}

type setup struct {
	File     string `json:"file"`
	Content  string `json:"content"`
	Hex      string `json:"bytes_hex"`
	Mode     string `json:"mode"`
	Dir      string `json:"dir"`
	Symlink  string `json:"symlink"`
	Hardlink string `json:"hardlink"`
	Fifo     string `json:"fifo"`
	To       string `json:"to"`
}

// strictlyWithin maps a symbolic absolute path below base.
func strictlyWithin(base, path string) string {
	if !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "/proc") || strings.HasPrefix(path, "/dev") {
		return path
	}
	return base + path
}

func (s setup) build(t *testing.T, base string) {
	t.Helper()
	path := strictlyWithin(base, s.File+s.Dir+s.Symlink+s.Hardlink+s.Fifo)
	mkdir(t, filepath.Dir(path))
	var err error
	switch {
	case s.Dir != "":
		mkdir(t, path)
	case s.Symlink != "":
		err = os.Symlink(strictlyWithin(base, s.To), path)
	case s.Fifo != "":
		err = mkfifo(path)
	case s.Hardlink != "":
		err = os.Link(strictlyWithin(base, s.To), path)
	default:
		data := []byte(s.Content)
		if s.Hex != "" {
			data, err = hex.DecodeString(s.Hex)
		}
		write(t, path, data)
	}
	if err == nil && s.Mode != "" {
		mode, _ := strconv.ParseUint(s.Mode, 8, 32)
		err = os.Chmod(path, os.FileMode(mode))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// skip says why a vector is not for this machine or for a later stage.
func (v pathVector) skip() string {
	switch {
	case v.Expect == "race":
		return "races have tests of their own"
	case v.Platform != "" && v.Platform != runtime.GOOS:
		return "not this platform: " + v.Platform
	case v.Needs == "non-root" && os.Geteuid() == 0:
		return "needs an ordinary user"
	}
	return ""
}

func TestPathVectors(t *testing.T) {
	file, err := os.Open("testdata/vectors/paths.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var v pathVector
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		t.Run(v.ID, func(t *testing.T) {
			if why := v.skip(); why != "" {
				t.Skip(why)
			}
			got, code, err := v.run(t)
			if code == "binary" && v.Expect == "allow" {
				got = "allow" // it was allowed, opened and looked at
			}
			if got != v.Expect || v.Code != "" && code != v.Code {
				t.Errorf("%s: got %s (%s), want %s (%s): %v", v.Reason, got, code, v.Expect, v.Code, err)
			}
		})
	}
}

// Published ways around other agents: each is tried, held by a test elsewhere,
// or not there to be tried.
func TestOtherBypasses(t *testing.T) {
	file, err := os.Open("testdata/vectors/bypasses-other.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var v struct {
			ID, Held, Not string
			Try           *pathVector
		}
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		switch {
		case v.Try != nil:
			if got, code, err := v.Try.run(t); got != v.Try.Expect {
				t.Errorf("%s: got %s (%s), want %s: %v", v.ID, got, code, v.Try.Expect, err)
			}
		case v.Held != "":
			dir, name, _ := strings.Cut(v.Held, " ")
			if !declares(t, filepath.Join("..", "..", dir), name) {
				t.Errorf("%s: there is no %s", v.ID, v.Held)
			}
		case v.Not == "":
			t.Errorf("%s: nothing holds it", v.ID)
		}
	}
}

// declares reports whether a package has a test of a name.
func declares(t *testing.T, dir, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(files, func(file string) bool {
		data, err := os.ReadFile(file)
		return err == nil && strings.Contains(string(data), "func "+name+"(")
	})
}

func (v pathVector) run(t *testing.T) (got, code string, err error) {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"/ws", "/out", "/home/u"} {
		if !slices.ContainsFunc(v.Setup, func(s setup) bool { return s.Symlink == dir }) {
			mkdir(t, base+dir)
		}
	}
	for _, s := range v.Setup {
		s.build(t, base)
	}
	var rules permission.Ruleset
	for _, r := range v.Rules {
		pattern := r[1]
		if rest, ok := strings.CutPrefix(pattern, "~"); ok {
			pattern = v.Home + rest
		}
		rules = append(rules, permission.Rule{Permission: r[0], Pattern: strictlyWithin(base, pattern), Action: permission.Action(r[2])})
	}
	ws := base + v.Workspace
	before := map[string]string{}
	for _, name := range v.Untouched {
		before[name] = contentsBelow(t, base+name)
	}
	defer func() {
		for name, was := range before {
			if now := contentsBelow(t, base+name); now != was {
				t.Errorf("%s was touched: %q", name, now)
			}
		}
	}()
	rt, err := helve.Open(helve.Options{Dir: ws, Worktree: ws, Unattended: true, Unread: true, Flags: map[string]bool{"lsp": true},
		Agents: []agent.Spec{{Name: "test", Policy: permission.Policy{Rules: rules}}}})
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	name, args := v.call(strictlyWithin(base, generated(t, v.Path)))
	input, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	res, err := rt.Call(t.Context(), tool.Call{Tool: name, Input: input})
	for _, word := range v.Without {
		if err == nil && strings.Contains(res.Output, word) {
			t.Errorf("the output holds %q:\n%s", word, res.Output)
		}
	}
	if err == nil {
		return "allow", "", nil
	}
	e, ok := errors.AsType[*tool.Error](err)
	if !ok {
		t.Fatal(err)
	}
	switch e.Kind {
	case tool.Denied:
		return "deny", e.Code, err
	case tool.Unattended:
		return "ask", e.Code, err
	}
	return "error", e.Code, err
}

// call is the tool of a vector with arguments that reach the file.
func (v pathVector) call(path string) (string, map[string]string) {
	name, _, _ := strings.Cut(v.Tool, ":")
	switch name {
	case "write":
		return name, map[string]string{"filePath": path, "content": "new"}
	case "edit":
		return name, map[string]string{"filePath": path, "oldString": "x", "newString": "y"}
	case "grep":
		return name, map[string]string{"path": path, "pattern": v.Args["pattern"]}
	case "glob":
		return name, map[string]string{"path": path, "pattern": strings.TrimPrefix(v.Tool, "glob:")}
	case "bash":
		return name, map[string]string{"command": strings.TrimPrefix(v.Tool, "bash:"), "workdir": path}
	case "lsp":
		return name, map[string]string{"operation": "documentSymbol", "filePath": path}
	case "apply_patch":
		return name, map[string]string{"patchText": "*** Begin Patch\n*** Add File: " + path + "\n+new\n*** End Patch"}
	}
	return name, map[string]string{"filePath": path}
}

// contentsBelow is everything in a file, or in a folder with its names.
func contentsBelow(t *testing.T, path string) string {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.IsDir() {
		return encoded(scan(t, path, nil))
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
