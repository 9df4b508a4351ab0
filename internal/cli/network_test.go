package cli

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"helve"
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
