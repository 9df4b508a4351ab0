package config

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What keeps calls from something, and is written so that it would not, denies
// everything: somebody thinks that it holds.
func TestGuardsFailClosed(t *testing.T) {
	for _, c := range []struct{ file, text, says string }{
		{"helve.json", `{"wall": {"level": "wirte"}}`, `"wall.level" is "wirte"; want "off", "write" or "strict"`},
		{"helve.json", `{"wall": "write"}`, `"wall" is a string; want an object such as {"level": "write"}`},
		{"helve.json", `{"wall": null}`, `"wall" is null; want an object such as {"level": "write"}`},
		{"helve.json", `{"wall": {"levl": "write"}}`, `"wall.levl" is not a setting; did you mean "level"?`},
		{"helve.json", `{"wall": {"level": "write", "network": false}}`, `"wall.network" is not a setting`},
		{"helve.json", `{"wall": {"level": "write", "required": "yes"}}`, `"wall.required" is a string; want true or false`},
		{"helve.json", `{"wall": {"level": "write", "writable": ["x", 1]}}`, `"wall.writable.1" is a number; want a string`},
		{"helve.json", `{"wall": {"level": "{file:missing}"}}`, `bad file reference`},
		{"helve.json", `{"wall": {"level": "write", "level": "off"}}`, `"wall.level" stands twice`},
		{"helve.json", `{"wal": {"level": "write"}}`, `"wal" is not a setting; did you mean "wall"?`},
		{"helve.json", `{"Wall": {"level": "write"}}`, `"Wall" is not a setting; did you mean "wall"?`},
		{"opencode.json", `{"wall": {"level": "write"}}`, `"wall" is a setting of helve; it has an effect only in helve.json or helve.jsonc`},
		{"opencode.json", `{"hooks": {"before": []}}`, `"hooks" is a setting of helve; it has an effect only in helve.json or helve.jsonc`},
		{"helve.json", `{"hook": {"before": [{"command": ["x"]}]}}`, `"hook" is not a setting; did you mean "hooks"?`},
		{"helve.json", `{"hooks": {"befor": [{"command": ["x"]}]}}`, `"hooks.befor" is not a setting; did you mean "before"?`},
		{"helve.json", `{"hooks": {"afte": [{"command": ["x"]}]}}`, `"hooks.afte" is not a setting; did you mean "after"?`},
		{"helve.json", `{"hooks": {"pre": [{"command": ["x"], "required": true}]}}`, `"hooks.pre" is not a setting`},
		{"helve.json", `{"hooks": {"before": [{"command": ["x"], "requird": true}]}}`, `"hooks.before.0.requird" is not a setting; did you mean "required"?`},
		{"helve.json", `{"custom": {"requird": ["x"]}}`, `"custom.requird" is not a setting; did you mean "required"?`},
		{"helve.json", `{"custom": {"required": [1]}}`, `"custom.required.0" is a number; want a string`},
		{"helve.json", `{"costum": {"required": ["x"]}}`, `"costum" is not a setting; did you mean "custom"?`},
		// Also where nobody would be told any more.
		{"helve.json", `{` + manyKeys(2*maxProblems) + `"wal": {"level": "write"}}`, ``},
	} {
		_, opt := project(t)
		write(t, filepath.Join(opt.Home, ".config", strings.TrimSuffix(c.file, ".json"), c.file), c.text)
		got := load(t, opt)
		if got.PolicyError == nil {
			t.Errorf("%s: nothing is denied", c.text)
		}
		if !slices.ContainsFunc(got.Problems, func(p Problem) bool { return p.Severity == Error && strings.Contains(p.Error(), c.says) }) && c.says != "" {
			t.Errorf("%s: got %v", c.text, got.Problems)
		}
		if about := strings.Contains(strings.ToLower(c.text), `"wal`); about != (got.Wall.Level == "strict") {
			t.Errorf("%s: the wall is %+v", c.text, got.Wall)
		}
	}
}

func manyKeys(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(`"` + strings.Repeat("z", 7+i%50) + strings.Repeat("y", 1+i/50) + `": 1, `)
	}
	return b.String()
}

// A slip elsewhere is told and denies nothing, and neither does one in a file
// whose wall and hooks would not hold anyhow. A check tells of it.
func TestGuardsOfOthers(t *testing.T) {
	_, opt := project(t)
	write(t, filepath.Join(opt.Home, ".config/helve/helve.json"),
		`{"bahs": {"jobs": 1}, "web": {"cach": true}, "custom": {"memry": 1}, "hooks": {"before": [{"command": ["x"], "requird": false}]}}`)
	if c := load(t, opt); c.PolicyError != nil || len(c.Problems) != 4 || len(c.Hooks.Before) != 0 {
		t.Errorf("got %v, %v, %v", c.PolicyError, c.Problems, c.Hooks)
	}
	for _, text := range []string{`{"wal": {"level": "write"}}`, `{"wall": "write"}`, `{"hooks": {"befor": []}}`, `{"custom": {"requird": ["x"]}}`} {
		_, opt := project(t)
		file := filepath.Join(opt.Dir, "helve.json")
		write(t, file, text)
		failed := func(p Problem) bool { return p.Severity == Error }
		if c := load(t, opt); c.PolicyError != nil || slices.ContainsFunc(c.Problems, failed) {
			t.Errorf("%s: got %v, %v", text, c.PolicyError, c.Problems)
		}
		if c, err := Check(opt); err != nil || c.PolicyError != nil || !slices.ContainsFunc(c.Problems, failed) {
			t.Errorf("%s: checked: %v, %v", text, c, err)
		}
		if _, err := trustNow(opt); err != nil {
			t.Fatal(err)
		}
		if c := load(t, opt); c.PolicyError == nil {
			t.Errorf("%s: nothing is denied though it is trusted", text)
		}
	}
}

// A server that was to run behind the wall does not run without.
func TestServersWithoutTheirWall(t *testing.T) {
	for _, helve := range []string{`"wal": true`, `"wall": "yes"`} {
		_, opt := project(t)
		opt.LanguageServers = []string{"gopls"}
		write(t, filepath.Join(opt.Home, ".config/opencode/opencode.json"),
			`{"mcp": {"a": {"type": "local", "command": ["x"]}}, "lsp": {"gopls": {"command": ["x"]}}}`)
		write(t, filepath.Join(opt.Home, ".config/helve/helve.json"), `{"mcp": {"a": {`+helve+`}}, "lsp": {"gopls": {`+helve+`}}}`)
		c := load(t, opt)
		if got := string(c.MCP) + string(c.LSP); got != `{"a":{"type":"local","command":["x"],"enabled":false}}{"gopls":{"command":["x"],"disabled":true}}` {
			t.Errorf("%s: got %s", helve, got)
		}
		if c.PolicyError != nil || len(c.Problems) != 2 {
			t.Errorf("%s: got %v, %v", helve, c.PolicyError, c.Problems)
		}
	}
}
