package cli

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helve-dev/helve/agent"
)

// pixel is the smallest picture.
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

func chatIn(t *testing.T) *chat {
	t.Helper()
	dir := t.TempDir()
	picture, err := base64.StdEncoding.DecodeString(pixel)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "src", "deep"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, body := range map[string]string{
		"pic.png": string(picture), "src/main.go": "package main\n", "src/make.go": "", ".hidden": "", "src/two words": "", "bad.png": "\x89PNG\r\n\x1a\nbroken",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return &chat{app: &app{Env: Env{Dir: dir}}, con: &console{out: &strings.Builder{}}, agents: []agent.Spec{
		{Name: "build", Mode: "primary"}, {Name: "plan", Mode: "primary"}, {Name: "explore", Mode: "subagent"}, {Name: "title", Mode: "primary", Hidden: true},
	}}
}

func TestChatAttach(t *testing.T) {
	c := chatIn(t)
	for _, tc := range []struct {
		line, want string
		files      []string
	}{
		{"look at @src/main.go, please", "look at src/main.go, please", nil},
		{"what is @pic.png?", "what is pic.png?", []string{"pic.png"}},
		{"in @src and @nowhere of me@example.com @", "in src and @nowhere of me@example.com @", nil},
	} {
		said, files, err := c.attach(t.Context(), tc.line)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, f := range files {
			names = append(names, f.Filename)
		}
		if diff := cmp.Diff(tc.files, names); diff != "" || said != tc.want {
			t.Errorf("%q: %q\n%s", tc.line, said, diff)
		}
	}
	if said := fmt.Sprint(c.con.out); said != "There is no such file: @nowhere. The words are sent as they are.\n" {
		t.Errorf("it was said: %q", said)
	}
	if _, _, err := c.attach(t.Context(), "see @bad.png"); err == nil {
		t.Error("a broken picture was sent")
	}
}

func TestChatComplete(t *testing.T) {
	c := chatIn(t)
	for _, tc := range []struct {
		before string
		start  int
		want   []string
	}{
		{"/ag", 0, []string{"/agent "}},
		{"/re", 0, []string{"/resume ", "/reasoning "}},
		{"say /ag", 4, nil},
		{"/agent p", 7, []string{"plan"}},
		{"see @", 4, []string{"@bad.png", "@pic.png", "@src/"}},
		{"see @.h", 4, []string{"@.hidden"}},
		{"see @src/ma", 4, []string{"@src/main.go", "@src/make.go"}},
		{"see @src/t", 4, nil},
		{"!cat src/d", 5, []string{"src/deep/"}},
		{"src/ma", 0, nil},
	} {
		start, got := c.completions(tc.before)
		if diff := cmp.Diff(tc.want, got); diff != "" && len(got)+len(tc.want) > 0 || start != tc.start {
			t.Errorf("%q: %d %s", tc.before, start, diff)
		}
	}
}

func TestIsCommand(t *testing.T) {
	for line, want := range map[string]bool{
		"/help": true, "/agent plan": true, "/nonsense": true, "/": false, "/etc/hosts is wrong": false, "/Users": false, "help": false, "/1": false,
	} {
		if isCommand(line) != want {
			t.Errorf("%q: %v", line, !want)
		}
	}
}

// A name of a project is one of a file.
func TestProjectName(t *testing.T) {
	a, b := projectName("/w/a", "/w/a/sub"), projectName("/", "/w/a")
	if a != b || len(a) != 16 || a == projectName("/w/b", "") {
		t.Errorf("%s, %s", a, b)
	}
}
