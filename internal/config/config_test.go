package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/helve-dev/helve/permission"
)

// project makes a folder with a home and a project, and the options to load it.
func project(t testing.TB) (root string, opt Options) {
	t.Helper()
	root = t.TempDir()
	opt = Options{
		Dir: filepath.Join(root, "proj"), Worktree: filepath.Join(root, "proj"), Home: filepath.Join(root, "home"),
		TrustFile: filepath.Join(root, "state", "trust.json"), Managed: []string{},
	}
	for _, dir := range []string{opt.Dir, filepath.Join(opt.Home, ".config/opencode")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return root, opt
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func load(t testing.TB, opt Options) *Config {
	t.Helper()
	c, err := Load(opt)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestLoadNothing(t *testing.T) {
	_, opt := project(t)
	opt.Env = nil
	c := load(t, opt)
	if c.PolicyError != nil || len(c.Rules)+len(c.Ceilings)+len(c.Problems)+len(c.Sources) != 0 {
		t.Errorf("got %+v", c)
	}
	if _, err := Load(Options{Dir: "relative"}); err == nil {
		t.Error("a relative directory was accepted")
	}
}

func TestFields(t *testing.T) {
	_, opt := project(t)
	write(t, filepath.Join(opt.Home, ".config/helve/helve.jsonc"), `{
		"experimental": {"batch_tool": true, "continue_loop_on_deny": true, "openTelemetry": true,
			"primary_tools": ["a", "b"], "mcp_timeout": 7, "plan_mode": true},
		"compaction": {"auto": false, "prune": true, "reserved": 5}, "subagent_depth": 0,
		"tool_output": {"max_lines": 1, "max_bytes": 2, "retention_days": 3, "quota_bytes": 9000000000},
		"repair": true, "durable": true, "default_agent": "plan",
		"mcp": {"m": {"type": "remote", "url": "u"}}, "lsp": false, "formatter": {"g": {"disabled": true}}, "skills": {"paths": ["s"]},
		"agent": {"a": {"temperature": 0.5, "top_p": 1, "color": "#123456", "hidden": true}},
	}`)
	c := load(t, opt)
	yes, no, half, one, none := true, false, 0.5, 1.0, 0
	file := filepath.Join(opt.Home, ".config/helve/helve.jsonc")
	want := &Config{
		DefaultAgent: "plan", Repair: &yes, Durable: true,
		Compaction: Compaction{Auto: &no, Prune: &yes, Reserved: 5}, SubagentDepth: &none,
		Experimental: Experimental{BatchTool: true, ContinueLoopOnDeny: true, OpenTelemetry: true, PrimaryTools: []string{"a", "b"}, MCPTimeout: 7, PlanMode: true},
		ToolOutput:   ToolOutput{MaxLines: 1, MaxBytes: 2, RetentionDays: 3, QuotaBytes: 9000000000},
		MCP:          json.RawMessage(`{"m":{"type":"remote","url":"u"}}`), LSP: json.RawMessage(`false`),
		Formatter: json.RawMessage(`{"g":{"disabled":true}}`), Skills: json.RawMessage(`{"paths":["s"]}`), SkillPaths: []string{filepath.Join(opt.Dir, "s")},
		Agents: []Agent{{Name: "a", Temperature: &half, TopP: &one, Color: "#123456", Hidden: &yes, From: permission.Source{File: file, Line: 8}}},
	}
	if got := c.Origins["tool_output.max_bytes"]; got != (permission.Source{File: file, Line: 5}) {
		t.Errorf("origin of max_bytes: %v", got)
	}
	c.Raw, c.Origins, c.Sources, c.Dirs, c.Folders = nil, nil, nil, nil, nil
	if diff := cmp.Diff(want, c); diff != "" {
		t.Error(diff)
	}
}

// TestLayers holds the vectors about global and project rules together.
func TestLayers(t *testing.T) {
	for _, tc := range []struct {
		name, global, project string
		trust                 bool
		ask                   string
		want                  permission.Action
	}{
		{"a trusted project may loosen", `{"bash":{"rm *":"deny"}}`, `{"bash":{"*":"allow"}}`, true, "rm x", permission.Allow},
		{"an untrusted one may not", `{"bash":{"rm *":"deny"}}`, `{"bash":{"*":"allow"}}`, false, "rm x", permission.Deny},
		{"not where no rule is either", `{}`, `{"bash":{"*":"allow"}}`, false, "ls", permission.Ask},
		{"it restricts at once", `{"bash":"allow"}`, `{"bash":{"rm *":"deny"}}`, false, "rm x", permission.Deny},
		{"to asking too", `{"bash":"allow"}`, `{"bash":{"rm *":"ask"}}`, false, "rm x", permission.Ask},
		{"and only where it says so", `{"bash":"allow"}`, `{"bash":{"rm *":"deny"}}`, false, "ls", permission.Allow},
		{"one action", `"allow"`, `"deny"`, false, "ls", permission.Deny},
		{"a mistake denies", `"allow"`, `{"bash":"alow"}`, false, "ls", permission.Deny},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, opt := project(t)
			write(t, filepath.Join(opt.Home, ".config/opencode/opencode.json"), `{"permission":`+tc.global+`}`)
			write(t, filepath.Join(opt.Dir, "opencode.json"), `{"permission":`+tc.project+`}`)
			if tc.trust {
				if _, err := trustNow(opt); err != nil {
					t.Fatal(err)
				}
			}
			c := load(t, opt)
			got := permission.Policy{Rules: c.Rules, Ceilings: c.Ceilings}.Decide("bash", tc.ask)
			if got.Action != tc.want {
				t.Errorf("got %s, want %s", got.Action, tc.want)
			}
		})
	}
}

// TestKeyOrder has the keys of a real file, number-like ones among them.
func TestKeyOrder(t *testing.T) {
	_, opt := project(t)
	keys := []string{"*", "edit", "write", "external_directory", "read", "10", "todowrite", "2", "todoread", "thoughts_*", "reasoning_model_*", "tools_*", "pr_comments_*"}
	write(t, filepath.Join(opt.Home, ".config/opencode/opencode.json"), `{"permission":{"`+strings.Join(keys, `":"ask","`)+`":"ask"}}`)
	var got []string
	for _, r := range load(t, opt).Rules {
		got = append(got, r.Permission)
	}
	if diff := cmp.Diff(keys, got); diff != "" {
		t.Error(diff)
	}
}

func TestHostileFiles(t *testing.T) {
	for _, tc := range []struct {
		name string
		make func(t *testing.T, path string)
		want string
	}{
		{"deep", func(t *testing.T, p string) { write(t, p, strings.Repeat("[", 1<<20)) }, "nested deeper than 100 levels"},
		{"deep objects", func(t *testing.T, p string) { write(t, p, strings.Repeat(`{"a":`, 1<<18)) }, "nested deeper than 100 levels"},
		{"large", func(t *testing.T, p string) { write(t, p, `{"theme":"`+strings.Repeat("x", 10<<20)+`"}`) }, "cannot be read: too large: more than 4 MiB"},
		{"list", func(t *testing.T, p string) { write(t, p, `[{}]`) }, `the file as a whole is a list; want an object`},
		{"bare reference", func(t *testing.T, p string) { write(t, p, `{"a": {env:X}{env:X}}`) }, "not JSON"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, opt := project(t)
			tc.make(t, filepath.Join(opt.Dir, "opencode.json"))
			expectVoid(t, load(t, opt), tc.want)
		})
	}
}

// TestEmptyFolders: an empty folder in a config file's place is no file, as
// the wall of another process puts it there. One that a variable names has to
// be a file all the same.
func TestEmptyFolders(t *testing.T) {
	_, opt := project(t)
	for _, name := range []string{"helve.json", "helve.jsonc", "opencode.json", "opencode.jsonc"} {
		if err := os.Mkdir(filepath.Join(opt.Dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if c := load(t, opt); c.PolicyError != nil || len(c.Problems) != 0 || len(c.Sources) != 0 {
		t.Errorf("problems %+v, policy %v, sources %+v", c.Problems, c.PolicyError, c.Sources)
	}
	write(t, filepath.Join(opt.Dir, "helve.json", "x"), "")
	if c := load(t, opt); c.PolicyError != nil || len(c.Problems) != 1 || c.Problems[0].Message != "is a folder; no settings are read from it, so rename it" {
		t.Errorf("problems %+v, policy %v", c.Problems, c.PolicyError)
	}
	if err := os.Remove(filepath.Join(opt.Dir, "helve.json", "x")); err != nil {
		t.Fatal(err)
	}
	opt.Env = func(name string) string {
		if name == "OPENCODE_CONFIG" {
			return filepath.Join(opt.Dir, "opencode.json")
		}
		return ""
	}
	expectVoid(t, load(t, opt), "cannot be read: an empty folder, not a regular file (named by OPENCODE_CONFIG)")
}

// expectVoid wants one problem, for which everything is denied.
func expectVoid(t *testing.T, c *Config, message string) {
	t.Helper()
	if c.PolicyError == nil || len(c.Problems) != 1 || c.Problems[0].Message != message {
		t.Fatalf("problems %+v, policy %v", c.Problems, c.PolicyError)
	}
	got := permission.Policy{Rules: c.Rules, Ceilings: c.Ceilings}.Decide("bash", "ls")
	if got.Action != permission.Deny {
		t.Errorf("a void policy gives %s", got.Action)
	}
}

// TestReferencesAreBounded names a large file many times in a small text.
func TestReferencesAreBounded(t *testing.T) {
	_, opt := project(t)
	dir := filepath.Join(opt.Home, ".config/opencode")
	write(t, filepath.Join(dir, "big"), strings.Repeat("x", 3<<20))
	write(t, filepath.Join(dir, "opencode.json"), `{"username":"`+strings.Repeat("{file:big}", 10000)+`","theme":"t"}`)
	c := load(t, opt)
	if len(c.Problems) != 1 || !strings.Contains(c.Problems[0].Message, "larger than 16 MiB") || string(c.Raw) != `{"theme":"t"}` {
		t.Errorf("problems %v, raw of %d bytes", c.Problems, len(c.Raw))
	}
}

// TestBareReferences has references without quotes, as OpenCode puts them into
// the text before it reads it.
func TestBareReferences(t *testing.T) {
	_, opt := project(t)
	vars := map[string]string{"ON": "true", "N": "7", "RULES": `{"rm *": "deny"}`, "BAD": "{", "WORD": "deny"}
	opt.Env = func(name string) string { return vars[name] }
	dir := filepath.Join(opt.Home, ".config/opencode")
	write(t, filepath.Join(dir, "list"), `["{env:N}.md", "b.md"]`)
	write(t, filepath.Join(dir, "opencode.jsonc"), `{
	// {env:NOBODY} "{
	"snapshot": {env:ON}, "subagent_depth": {env:N}, "instructions": {file:list}, "username": "{env:WORD} {file:list}",
	"autoshare": {env:BAD}, "share": {env:NOBODY},
	"permission": {"bash": {env:RULES}, "edit": {env:WORD}}}`)
	c := load(t, opt)
	if got, want := string(c.Raw), `{"snapshot":true,"subagent_depth":7,"instructions":["{env:N}.md","b.md"],"username":"deny [\"{env:N}.md\", \"b.md\"]","permission":{"bash":{"rm *":"deny"}}}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := restrictions(c); got != "edit * deny" || len(c.Problems) != 3 || c.PolicyError != nil {
		t.Errorf("restricts %s, told %v, %v", got, c.Problems, c.PolicyError)
	}
	write(t, filepath.Join(opt.Dir, "opencode.json"), `{"permission": {"bash": {env:RULES}, "read": "ask"}, "username": {env:WORD}}`)
	if c := load(t, opt); restrictions(c) != "edit * deny, read * ask" || c.PolicyError != nil {
		t.Errorf("a project that is not trusted: %s, %v", restrictions(c), c.PolicyError)
	}
}

func TestProblemsAreBounded(t *testing.T) {
	_, opt := project(t)
	var b strings.Builder
	for i := range 20000 {
		fmt.Fprintf(&b, `"thema%d":1,`, i)
	}
	write(t, filepath.Join(opt.Home, ".config/opencode/opencode.json"), "{"+b.String()+"}")
	write(t, filepath.Join(opt.Dir, "opencode.json"), "{"+b.String()+"\n\"permission\":{\"bash\":1}}")
	c := load(t, opt)
	if got := restrictions(c); got != "bash * deny" || c.Ceilings[0][0].From.Line != 2 {
		t.Errorf("a mistake behind many warnings: %v", c.Ceilings)
	}
	if n := len(c.Problems); n != 2*(maxProblems+1) || !strings.HasPrefix(c.Problems[n-1].Message, "more problems") {
		t.Errorf("%d problems", n)
	}
}

// TestExamplesCountTheDefaults: an example is held against the decision that
// a call would get, and there the defaults come first.
func TestExamplesCountTheDefaults(t *testing.T) {
	_, opt := project(t)
	opt.Defaults = permission.Ruleset{
		{Permission: "*", Pattern: "*", Action: permission.Allow},
		{Permission: "read", Pattern: "*.env", Action: permission.Ask, From: permission.Source{File: "default rules"}},
	}
	file := filepath.Join(opt.Home, ".config/helve/helve.json")
	write(t, file, `{"permission":{"bash":"ask"},"permission_examples":{"bash":{"ls":"ask"},"edit":{"a":"allow"},"read":{".env":"ask"}}}`)
	if c := load(t, opt); c.PolicyError != nil || len(c.Rules) != 1 {
		t.Errorf("got %v and %d rules", c.PolicyError, len(c.Rules))
	}
	write(t, file, `{"permission_examples":{"read":{".env":"allow"}}}`)
	const want = `should be "allow" but is "ask": the rule "read *.env": "ask" at default rules decides`
	if c := load(t, opt); c.PolicyError == nil || !strings.Contains(c.PolicyError.Error(), want) {
		t.Errorf("got %v", c.PolicyError)
	}
	write(t, file, `{"permission":{"read":"allow"},"permission_examples":{"read":{".env":"allow"}}}`)
	if c := load(t, opt); c.PolicyError != nil {
		t.Errorf("got %v", c.PolicyError)
	}
}

func TestNearest(t *testing.T) {
	names := []string{"permission", "provider", "plugin", "theme", "mcp", "lsp"}
	for key, want := range map[string]string{
		"permision": "permission", "permissions": "permission", "Theme": "theme", "thmee": "theme", "plugins": "plugin",
		"mpc": "mcp", "x": "", "something": "", "submission": "", strings.Repeat("a", 100): "",
	} {
		if got := nearest(key, names); got != want {
			t.Errorf("nearest(%q) = %q, want %q", key, got, want)
		}
	}
}

// TestMergeLaws checks a merge against the same merge of plain maps, and that
// keys keep the order of their first appearance.
func TestMergeLaws(t *testing.T) {
	value := rapid.Custom(func(t *rapid.T) any {
		if rapid.Bool().Draw(t, "leaf") {
			return rapid.SampledFrom([]string{"allow", "ask", "deny"}).Draw(t, "action")
		}
		return rapid.MapOfN(rapid.StringMatching(`[a-d]`), rapid.SampledFrom([]any{"allow", "ask", "deny"}), 0, 4).Draw(t, "map")
	})
	object := rapid.MapOfN(rapid.StringMatching(`[a-d]`), value, 0, 4)
	rapid.Check(t, func(t *rapid.T) {
		merged := &node{kind: 'o', owned: true}
		want := map[string]any{}
		var order []string
		for i := range rapid.IntRange(1, 4).Draw(t, "files") {
			file := object.Draw(t, "file")
			text, err := json.Marshal(file)
			if err != nil {
				t.Fatal(err)
			}
			n, doubles, err := parse(&input{path: fmt.Sprint(i), data: text})
			if err != nil || len(doubles) > 0 {
				t.Fatal(err, doubles)
			}
			for _, m := range n.members {
				if _, ok := want[m.key]; !ok {
					order = append(order, m.key)
				}
				want[m.key] = plainMerge(want[m.key], file[m.key])
			}
			merged.merge(n)
		}
		var got map[string]any
		if err := json.Unmarshal(encode(merged), &got); err != nil {
			t.Fatal(err)
		}
		plain, _ := json.Marshal(want)
		var norm map[string]any
		json.Unmarshal(plain, &norm)
		if diff := cmp.Diff(norm, got); diff != "" {
			t.Fatal(diff)
		}
		var keys []string
		for _, m := range merged.members {
			keys = append(keys, m.key)
		}
		if diff := cmp.Diff(order, keys); diff != "" {
			t.Fatal(diff)
		}
	})
}

func plainMerge(old, add any) any {
	if _, patterns := add.(map[string]any); patterns && (old == "ask" || old == "deny") {
		old = map[string]any{"*": old} // patterns are exceptions to it
	}
	a, ok1 := old.(map[string]any)
	b, ok2 := add.(map[string]any)
	if !ok1 || !ok2 {
		return add
	}
	out := map[string]any{}
	for k, v := range a {
		out[k] = v
	}
	for k, v := range b {
		out[k] = v
	}
	return out
}

// FuzzLoad gives one file any contents: nothing panics, places lie within the
// file, and the policy is void, a problem is told, or the file was understood.
func FuzzLoad(f *testing.F) {
	for _, s := range []string{
		`{"permission":{"bash":{"~/x":"deny"}}}`, `{"agent":{"a":{"tools":{"write":false},"permission":"ask"}},"mode":{"b":{}}}`,
		"\xef\xbb\xbf{// c\n\"theme\":\"{env:X}{file:y}\",}", `{"permission_examples":{"bash":{"x":"ask"}},"tools":{"x":true}}`,
		`{"a":1,"a":2}`, "{\n\n", `{"plugin":[1,[2]],"instructions":["x"]}`,
	} {
		f.Add([]byte(s), false)
		f.Add([]byte(s), true)
	}
	_, opt := project(f)
	opt.Env = func(name string) string { return "v" }
	f.Fuzz(func(t *testing.T, data []byte, guarded bool) {
		l, err := newLoader(opt)
		if err != nil {
			t.Fatal(err)
		}
		in := &input{path: "f", dir: opt.Dir, helve: true, guarded: guarded, data: append([]byte(nil), data...)}
		l.text(in)
		c := l.buildConfig()
		lines := 1 + strings.Count(string(data), "\n")
		inside := func(line int) {
			if line < 0 || line > lines {
				t.Fatalf("line %d of %d", line, lines)
			}
		}
		for _, p := range c.Problems {
			inside(p.Line)
			if p.Line > 0 && (p.Col < 1 || p.Col > len(data)+1) {
				t.Fatalf("column %d", p.Col)
			}
		}
		for _, r := range c.Rules {
			inside(r.From.Line)
		}
		if guarded && len(c.Rules)+len(c.Plugins)+len(c.MCP) > 0 {
			t.Fatalf("an untrusted file gave %v", c)
		}
		if !json.Valid(c.Raw) {
			t.Fatalf("raw is %q", c.Raw)
		}
		if c.PolicyError == nil && len(c.Problems) == 0 && !understood(data) {
			t.Fatalf("%q was accepted without a word", data)
		}
	})
}

// understood reports whether a text opens like an object, the least a config
// file that was accepted must do.
func understood(data []byte) bool {
	if onlyComments(bytes.ToValidUTF8(bytes.TrimPrefix(data, []byte("\ufeff")), []byte("?"))) || strings.Trim(string(data), "[] \t\r\n") == "" {
		return true // nothing is said
	}
	s := strings.TrimPrefix(string(data), "\ufeff")
	return strings.Contains(s, "{") && strings.Contains(s, "}")
}

func FuzzDocument(f *testing.F) {
	f.Add([]byte("---\na: b\nc:\n  - d\n  - e\nf: |\n  g\n---\nbody"))
	f.Add([]byte("---\npermission:\n  bash:\n    \"*\": ask\n---\n"))
	f.Add([]byte("---\na: [b, c]\nd: {\"e\": 1}\nf: >-\n  x\n\n  y\n---"))
	f.Fuzz(func(t *testing.T, data []byte) {
		in := &input{path: "f", data: data}
		doc := readDocument(in)
		for _, f := range doc.faults {
			if f.at < 0 || f.at > len(in.data) {
				t.Fatalf("offset %d of %d", f.at, len(in.data))
			}
		}
		if b := encode(doc.agent); !json.Valid(b) {
			t.Fatalf("%q", b)
		}
	})
}

func BenchmarkLoad(b *testing.B) {
	root, opt := project(b)
	opt.Dir = filepath.Join(root, "proj/a/b/c")
	write(b, filepath.Join(opt.Home, ".config/opencode/opencode.json"), `{"permission":{"bash":{"*":"ask","git *":"allow","rm *":"deny"},"edit":"ask"}}`)
	write(b, filepath.Join(root, "proj/opencode.json"), `{"permission":{"bash":{"npm *":"allow"}},"mcp":{"x":{"type":"local","command":["x"]}}}`)
	write(b, filepath.Join(opt.Dir, "x"), "")
	if _, err := trustNow(opt); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if c := load(b, opt); len(c.Rules) != 5 {
			b.Fatal(c.Problems)
		}
	}
}

// BenchmarkLoadOneLine has a megabyte of rules in one line: the time must grow
// with the size, not with its square.
func BenchmarkLoadOneLine(b *testing.B) {
	_, opt := project(b)
	var text strings.Builder
	for i := 0; text.Len() < 1<<20; i++ {
		fmt.Fprintf(&text, `"k%d":"ask",`, i)
	}
	write(b, filepath.Join(opt.Dir, "opencode.json"), `{"permission":{"bash":{`+text.String()+`}}}`)
	for b.Loop() {
		load(b, opt)
	}
}

func BenchmarkLoadAgents(b *testing.B) {
	root, opt := project(b)
	for i := range 20 {
		write(b, filepath.Join(root, fmt.Sprintf("proj/.opencode/agent/a%d.md", i)), "---\ndescription: x\npermission:\n  bash: ask\n---\nPrompt.\n")
	}
	if _, err := trustNow(opt); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if c := load(b, opt); len(c.Agents) != 20 {
			b.Fatal(c.Problems)
		}
	}
}

// What one of two equal keys switches off is off, however far below them.
func TestTwiceOff(t *testing.T) {
	const off, on = `{"x": {"type": "local", "command": ["a"], "enabled": false}}`, `{"x": {"type": "local", "command": ["b"]}}`
	for _, text := range []string{
		`{"mcp": ` + off + `, "mcp": ` + on + `}`,
		`{"mcp": ` + on + `, "mcp": ` + off + `}`,
		`{"mcp": {` + strings.Trim(off, "{}") + `}, ` + strings.Trim(on, "{}") + `}}}`,
	} {
		_, opt := project(t)
		write(t, filepath.Join(opt.Home, ".config/opencode/opencode.json"), text)
		if c := load(t, opt); !strings.Contains(string(c.MCP), `"enabled":false`) {
			t.Errorf("%s: %s, problems %v", text, c.MCP, c.Problems)
		}
	}
}
