package config

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What is wrong with a language server is told, and costs nobody else.
func TestLanguageServerProblems(t *testing.T) {
	for _, tt := range []struct {
		text, want string
		problems   []string // after the file
	}{
		{`{"lsp": true}`, `true`, nil},
		{`{"lsp": {"gopls": {"env": {"A": "b"}, "wall": true}}}`, `{"gopls":{"env":{"A":"b"},"wall":true}}`, nil},
		{`{"lsp": {"mine": {"command": ["mine"], "extensions": []}}}`, `{"mine":{"command":["mine"],"extensions":[]}}`, nil},
		{`{"lsp": {"mine": {"disabled": true}}}`, `{"mine":{"disabled":true}}`, nil},
		{`{"lsp": {"mine": {"command": ["mine"]}, "gopls": {}}}`, `{"gopls":{}}`,
			[]string{`1:10: "lsp.mine": For custom LSP servers, 'extensions' array is required.`}},
		{`{"lsp": {"gopsl": {"disabled": false}}}`, `{}`,
			[]string{`1:10: "lsp.gopsl": For custom LSP servers, 'extensions' array is required; did you mean "gopls"?`}},
		{`{"lsp": {"mine": {"extensions": [".m"], "command": [" "]}}}`, `{}`,
			[]string{`1:10: "lsp.mine": a language server that helve does not know needs "command": the program and its arguments`}},
		{`{"lsp": {"": {"extensions": [".m"], "command": ["m"]}}}`, `{}`, []string{`1:10: "lsp.": a language server needs a name`}},
		// Without its settings it would not be what was asked for.
		{`{"lsp": {"gopls": {"wall": "yes", "command": ["x"]}}}`, `{"gopls":{"disabled":true}}`, []string{`1:28: "lsp.gopls.wall" is a string; want true or false`}},
		{`{"lsp": {"gopls": false}}`, `{"gopls":{"disabled":true}}`, []string{`1:19: "lsp.gopls" is false; want an object`}},
		{`{"lsp": "on"}`, ``, []string{`1:9: "lsp" is a string; want true or false or an object`}},
		{`{"language_servers": {"wait_ms": 0}}`, ``, []string{`1:34: "language_servers.wait_ms" is 0; want a whole number above 0`}},
		{`{"language_servers": {"memory_bytes": -1}}`, ``, []string{`1:39: "language_servers.memory_bytes" is -1; want a whole number above 0`}},
	} {
		_, opt := project(t)
		opt.LanguageServers = []string{"gopls", "clangd"}
		file := filepath.Join(opt.Home, ".config/helve/helve.json")
		write(t, file, tt.text)
		c := load(t, opt)
		if got := string(c.LSP); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.text, got, tt.want)
		}
		var got []string
		for _, p := range c.Problems {
			got = append(got, strings.TrimPrefix(p.Error(), file+":"))
		}
		if diff := cmp.Diff(tt.problems, got); diff != "" {
			t.Errorf("%s: %s", tt.text, diff)
		}
	}
}

// A server may be described by several files together, and where nobody knows
// which servers there are, none is held to be incomplete.
func TestLanguageServerInParts(t *testing.T) {
	_, opt := project(t)
	opt.LanguageServers = []string{}
	write(t, filepath.Join(opt.Home, ".config/opencode/opencode.json"), `{"lsp": {"mine": {"extensions": [".m"], "command": ["old"]}}}`)
	write(t, filepath.Join(opt.Home, ".config/helve/helve.json"), `{"lsp": {"mine": {"command": ["new"], "wall": true}}}`)
	c := load(t, opt)
	if got := string(c.LSP); got != `{"mine":{"extensions":[".m"],"command":["new"],"wall":true}}` || len(c.Problems) > 0 {
		t.Errorf("got %s, %v", got, c.Problems)
	}
	opt.LanguageServers = nil
	write(t, filepath.Join(opt.Home, ".config/opencode/opencode.json"), `{"lsp": {"mine": {}}}`)
	if c := load(t, opt); len(c.Problems) > 0 {
		t.Errorf("got %v", c.Problems)
	}
}

func TestLanguageServerSettings(t *testing.T) {
	_, opt := project(t)
	write(t, filepath.Join(opt.Home, ".config/helve/helve.json"), `{
		"language_servers": {"wait_ms": 1, "request_ms": 2, "start_ms": 3, "idle_ms": 99999999999999, "memory_bytes": 9000000000},
		"experimental": {"lsp_tool": true}
	}`)
	c := load(t, opt)
	want := LanguageServers{WaitMS: 1, RequestMS: 2, StartMS: 3, IdleMS: 1<<31 - 1, Memory: 9000000000}
	if c.LanguageServers != want || !c.Experimental.LSPTool || len(c.Problems) > 0 {
		t.Errorf("got %+v, %+v, %v", c.LanguageServers, c.Experimental, c.Problems)
	}
	// OpenCode's files may switch the tool on, and have no more of it.
	_, opt = project(t)
	file := filepath.Join(opt.Home, ".config/opencode/opencode.json")
	write(t, file, `{"experimental": {"lsp_tool": true}, "language_servers": {"wait_ms": 1}, "lsp": {"gopls": {"wall": true}}}`)
	c = load(t, opt)
	var lines []string
	for _, p := range c.Problems {
		lines = append(lines, p.Key)
	}
	if !c.Experimental.LSPTool || c.LanguageServers != (LanguageServers{}) || !slices.Equal(lines, []string{"language_servers", "lsp.gopls.wall"}) {
		t.Errorf("got %+v, %+v, %v", c.LanguageServers, c.Experimental, lines)
	}
}

// A project does not switch language servers on, or make them others, before
// it is trusted.
func TestLanguageServersOfOthers(t *testing.T) {
	for _, file := range []string{"opencode.json", "helve.json", ".helve/helve.json"} {
		_, opt := project(t)
		opt.LanguageServers = []string{"gopls"}
		write(t, filepath.Join(opt.Home, ".config/helve/helve.json"), `{"lsp": {"gopls": {"command": ["mine"]}}}`)
		write(t, filepath.Join(opt.Dir, file), `{
			"lsp": {"gopls": {"command": ["./evil"], "env": {"A": "b"}}, "evil": {"command": ["./evil"], "extensions": [".go"]}},
			"experimental": {"lsp_tool": true}, "language_servers": {"memory_bytes": 1}
		}`)
		c := load(t, opt)
		if got := string(c.LSP); got != `{"gopls":{"command":["mine"]}}` || c.Experimental.LSPTool || c.LanguageServers != (LanguageServers{}) {
			t.Errorf("%s: got %s, %+v, %+v", file, got, c.Experimental, c.LanguageServers)
		}
		var keys []string
		for _, w := range c.Withheld {
			keys = append(keys, w.Key)
		}
		if !slices.Contains(keys, "lsp") {
			t.Errorf("%s: withheld are %v", file, keys)
		}
		if _, err := trustNow(opt); err != nil {
			t.Fatal(err)
		}
		if got := string(load(t, opt).LSP); !strings.Contains(got, "./evil") {
			t.Errorf("%s: trusted, it is %s", file, got)
		}
	}
}

func TestProjectTrusted(t *testing.T) {
	_, opt := project(t)
	in := func(name, text string) func() {
		return func() { write(t, filepath.Join(opt.Dir, name), text) }
	}
	trust := func() {
		if _, err := trustNow(opt); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		name string
		do   func()
		want bool
	}{
		{"a project without config", func() {}, false},
		{"config of the user alone", func() { write(t, filepath.Join(opt.Home, ".config/helve/helve.json"), `{"lsp": true}`) }, false},
		{"a file", in("helve.json", `{"lsp": true}`), false},
		{"trusted", trust, true},
		{"a folder beside it", in(".opencode/tool/x.ts", "x"), false},
		{"trusted too", trust, true},
		{"a byte changed", in("helve.json", `{"lsp":  true}`), false},
		{"and back", in("helve.json", `{"lsp": true}`), true},
		{"a file of the other kind", in("opencode.json", `{}`), false},
	} {
		step.do()
		if got := load(t, opt).ProjectTrusted; got != step.want {
			t.Errorf("%s: %t", step.name, got)
		}
	}
	trust()
	below := opt
	below.Dir = filepath.Join(opt.Dir, "sub")
	write(t, filepath.Join(below.Dir, "x.go"), "")
	if !load(t, below).ProjectTrusted {
		t.Error("a folder of a trusted project is not trusted")
	}
	opt.Env = func(name string) string { return map[string]string{"HELVE_DISABLE_PROJECT_CONFIG": "1"}[name] }
	if load(t, opt).ProjectTrusted {
		t.Error("a project whose config does not count is trusted")
	}
}

// Without a repository, config of folders above counts, and says nothing about
// what lies below.
func TestProjectTrustedFromAbove(t *testing.T) {
	root, opt := project(t)
	opt.Worktree = string(filepath.Separator)
	opt.Home = filepath.Join(root, "elsewhere")
	write(t, filepath.Join(root, "helve.json"), `{}`)
	if _, err := trustNow(opt); err != nil {
		t.Fatal(err)
	}
	if load(t, opt).ProjectTrusted {
		t.Error("a file above a folder made it trusted")
	}
	write(t, filepath.Join(opt.Dir, "helve.json"), `{}`)
	if load(t, opt).ProjectTrusted {
		t.Error("a file that nobody trusts made its folder trusted")
	}
	if _, err := trustNow(opt); err != nil {
		t.Fatal(err)
	}
	if !load(t, opt).ProjectTrusted {
		t.Error("a folder with a trusted file is not trusted")
	}
}
