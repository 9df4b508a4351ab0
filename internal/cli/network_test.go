package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helve-dev/helve"
)

// Every key of the config arrives where it is meant to.
func TestNetworkSettings(t *testing.T) {
	home := t.TempDir()
	env := map[string]string{"HOME": home, "HELVE_DATA_DIR": filepath.Join(home, "data"), "EXA_API_KEY": "k", "HELVE_CONFIG_CONTENT": `{
		"web": {"user_agent": "me", "proxy": "http://127.0.0.1:1", "timeout_ms": 1, "max_timeout_ms": 2, "max_bytes": 3, "cache": false},
		"websearch": {"provider": "brave", "endpoint": "https://b.example", "key": "s", "timeout_ms": 4},
		"codesearch": {"provider": "command", "command": ["a", "b"]}
	}`}
	a := &app{Env: Env{Stderr: os.Stderr, Getenv: func(name string) string { return env[name] }}, dirFlag: home}
	s, err := a.load()
	if err != nil {
		t.Fatal(err)
	}
	want := helve.Web{
		UserAgent: "me", Proxy: "http://127.0.0.1:1", Timeout: time.Millisecond, MaxTimeout: 2 * time.Millisecond, Limit: 3, NoCache: true, ExaKey: "k",
		Search: helve.Finder{Provider: "brave", Endpoint: "https://b.example", Key: "s", Timeout: 4 * time.Millisecond},
		Code:   helve.Finder{Provider: "command", Command: []string{"a", "b"}},
	}
	if diff := cmp.Diff(want, a.options(s).Web); diff != "" {
		t.Error(diff)
	}
	env["HELVE_CONFIG_CONTENT"] = "{}"
	if s, err = a.load(); err != nil {
		t.Fatal(err)
	}
	if got := a.options(s).Web.UserAgent; got != "helve/"+version() {
		t.Errorf("servers are told %q", got)
	}
	for _, name := range []string{"", "HELVE_ENABLE_EXA", "OPENCODE_ENABLE_EXA", "OPENCODE_EXPERIMENTAL", "OPENCODE_EXPERIMENTAL_EXA"} {
		env[name] = "True"
		if got := a.options(s).Flags["exa"]; got != (name != "") {
			t.Errorf("%s: exa is %t", name, got)
		}
		delete(env, name)
	}
}

// A number that is too large for a time means a long one.
func TestTimesOfTheConfigAreBounded(t *testing.T) {
	home := t.TempDir()
	const many = "9223372036854775807"
	env := map[string]string{"HOME": home, "HELVE_DATA_DIR": filepath.Join(home, "data"), "HELVE_CONFIG_CONTENT": strings.ReplaceAll(`{
		"web": {"timeout_ms": N, "max_timeout_ms": N}, "websearch": {"timeout_ms": N}, "search": {"budget_ms": N},
		"bash": {"timeout_ms": N, "max_timeout_ms": N}, "task": {"time_s": N, "idle_s": N},
		"experimental": {"mcp_timeout": N}, "mcp": {"a": {"type": "local", "command": ["a"], "timeout": N}},
		"lsp": true, "language_servers": {"wait_ms": N, "start_ms": N}
	}`, "N", many)}
	a := &app{Env: Env{Stderr: os.Stderr, Getenv: func(name string) string { return env[name] }}, dirFlag: home}
	s, err := a.load()
	if err != nil {
		t.Fatal(err)
	}
	o := a.options(s)
	servers, _ := s.mcp()
	languages, _ := a.languageServers(s)
	if len(servers.Servers) != 1 || languages == nil {
		t.Fatalf("the config is read as %v, %v", servers, languages)
	}
	for what, got := range map[string]time.Duration{
		"web": o.Web.Timeout, "web, the most": o.Web.MaxTimeout, "websearch": o.Web.Search.Timeout, "search": o.Search.Budget,
		"bash": o.Shell.Timeout, "bash, the most": o.Shell.MaxTimeout, "task": o.Loop.Child.Time, "task, idle": o.Loop.Child.Idle,
		"mcp": servers.Timeout, "an mcp server": servers.Servers[0].Timeout, "lsp": languages.Wait, "lsp, start": languages.Start,
	} {
		if got < 24*time.Hour || got > longest {
			t.Errorf("%s: %v", what, got)
		}
	}
	env["HELVE_CONFIG_CONTENT"], env["HELVE_BASH_TIMEOUT_MS"] = "{}", many
	if s, err = a.load(); err != nil {
		t.Fatal(err)
	}
	if got := a.options(s).Shell.Timeout; got != longest {
		t.Errorf("the environment: %v, want %v", got, longest)
	}
}
