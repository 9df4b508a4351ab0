package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/helve-dev/helve/lab/internal/proof"
)

// An agent is one that people use, and how it is set up and started. In its
// config $URL is the model, $HELVE the command; programs are in the places that
// different versions of a package have them in.
type agent struct {
	name, pkg  string
	programs   []string
	configFile string
	config     string
	args       []string // that run one prompt without a person
	env        []string
}

func agents() []agent {
	const prompt = "Read note.txt, change it, look at it, and tidy up."
	return []agent{
		{
			name: "OpenCode", pkg: "opencode-ai",
			programs:   []string{"opencode-{os}-{arch}/bin/opencode", "opencode-{os}-{arch}-baseline/bin/opencode", "opencode-ai/bin/opencode.exe"},
			configFile: ".config/opencode/opencode.json",
			config: `{"model": "script/script-1", "small_model": "script/script-1", "autoupdate": false, "share": "disabled", "permission": "allow",
				"provider": {"script": {"npm": "@ai-sdk/openai-compatible", "name": "Script", "options": {"baseURL": "$URL/v1", "apiKey": "none"},
					"models": {"script-1": {"name": "script-1", "tool_call": true, "limit": {"context": 100000, "output": 4000}}}}},
				"mcp": {"helve": {"type": "local", "enabled": true, "command": ["$HELVE", "mcp"]}}}`,
			args: []string{"run", "--format", "json", "--model", "script/script-1", prompt},
			env:  []string{"OPENCODE_DISABLE_SHARE=1"},
		},
		{
			name: "Codex", pkg: "@openai/codex", programs: []string{"@openai/codex/bin/codex.js"}, configFile: ".codex/config.toml",
			config: `model = "script-1"
model_provider = "script"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.script]
name = "Script"
base_url = "$URL/v1"
wire_api = "responses"
[mcp_servers.helve]
command = "$HELVE"
args = ["mcp"]
`,
			args: []string{"exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", prompt},
		},
		{
			name: "Gemini CLI", pkg: "@google/gemini-cli", programs: []string{"@google/gemini-cli/bundle/gemini.js"}, configFile: ".gemini/settings.json",
			config: `{"security": {"auth": {"selectedType": "gemini-api-key"}}, "privacy": {"usageStatisticsEnabled": false}, "telemetry": {"enabled": false},
				"general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
				"mcpServers": {"helve": {"command": "$HELVE", "args": ["mcp"], "trust": true}}}`,
			args: []string{"--yolo", "--skip-trust", "--model", "gemini-2.5-flash", "--output-format", "json", "--prompt", prompt},
			env:  []string{"GEMINI_API_KEY=none", "GEMINI_CLI_TRUST_WORKSPACE=true", "GOOGLE_GEMINI_BASE_URL=$URL", "GEMINI_CLI_HOME=$HOME"},
		},
	}
}

// driveAgents runs every agent through the model's script.
func driveAgents(ctx context.Context, p *programs, helve string) section {
	s := section{title: "Real clients"}
	s.head("client", "version", "tools seen", "lists", "read", "edit", "bash", "denied one refused")
	for _, a := range agents() {
		m := &model{server: "helve"}
		right, err := a.drive(ctx, p, helve, m)
		if err != nil {
			s.fail("%s: %v", a.name, err)
		}
		row := []string{a.name, cmp.Or(p.version(a.pkg), "(not installed)"), fmt.Sprint(m.offered)}
		for i, name := range []string{"lists", "read", "edit", "bash", "denied"} {
			ok := i < len(right) && right[i]
			if row = append(row, tick(ok)); !ok {
				s.fail("%s, %s: the tools said %q, not offered: %q", a.name, name, m.results, m.missing)
			}
		}
		s.row(row...)
	}
	return s
}

// drive lets one agent work, and says what of the script came out right: that
// there are tools, and what each of its steps did.
func (a agent) drive(ctx context.Context, p *programs, helve string, m *model) (right []bool, err error) {
	program, err := p.find(a.programs...)
	if err != nil {
		return nil, err
	}
	argv := append([]string{program}, a.args...)
	if strings.HasSuffix(program, ".js") {
		argv = append([]string{p.node}, argv...)
	}
	w, err := newWorld()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	note := filepath.Join(w.Project, "note.txt")
	m.script = []step{
		{"read", map[string]any{"filePath": note}},
		{"edit", map[string]any{"filePath": note, "oldString": "the first line", "newString": "the second line"}},
		{"bash", map[string]any{"command": "cat note.txt && echo answer $((40+2))", "description": "Shows the note"}},
		{"bash", map[string]any{"command": "rm -rf keep", "description": "Removes a folder"}},
	}
	web := httptest.NewServer(m)
	defer web.Close()
	defer web.CloseClientConnections() // of one that was ended
	fill := strings.NewReplacer("$URL", web.URL, "$HELVE", helve, "$HOME", w.Home)
	if err := w.Write(filepath.Join("..", "home", a.configFile), fill.Replace(a.config)); err != nil {
		return nil, err
	}
	env := p.env(w)
	for _, e := range a.env {
		env = append(env, fill.Replace(e))
	}
	_, err = runProgram(ctx, w, 90*time.Second, env, argv...)
	return a.judge(w, m), err
}

// judge holds what the model saw and what is on disk against the script.
func (a agent) judge(w *proof.World, m *model) []bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	results := slices.Concat(m.results, make([]string, len(m.script)))
	note, _ := os.ReadFile(filepath.Join(w.Project, "note.txt"))
	_, gone := os.Stat(filepath.Join(w.Project, "keep", "file.txt"))
	return []bool{
		m.offered > 0, strings.Contains(results[0], "the first line"), string(note) == "the second line\n",
		strings.Contains(results[2], "the second line\nanswer 42"), gone == nil && strings.Contains(results[3], "rm *"),
	}
}

// texts returns all texts of a JSON value in order, whatever holds them: agents
// wrap what a tool said in objects and lists of their own.
func texts(raw json.RawMessage) string {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return string(raw)
	}
	var all []string
	var gather func(any)
	gather = func(v any) {
		switch v := v.(type) {
		case string:
			all = append(all, v)
		case []any:
			for _, e := range v {
				gather(e)
			}
		case map[string]any:
			for _, key := range []string{"output", "error", "content", "text", "result", "value"} {
				gather(v[key])
			}
		}
	}
	gather(v)
	return strings.Join(all, "\n")
}
