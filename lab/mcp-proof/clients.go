package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// serverName is what clients call helve in their config.
const serverName = "helve"

// A client is an agent that people use, and how it is set up and started.
type client struct {
	name    string
	pkg     string // of npm
	command func(*toolbox) ([]string, error)
	// prepare writes the client's config: the model at url, and the server.
	prepare func(w *world, url string, server []string) error
	args    []string // that run one prompt without a person
	env     []string
}

// The three clients.
func clients() []client {
	const prompt = "Read note.txt, change it, look at it, and tidy up."
	return []client{
		{
			name: "OpenCode", pkg: "opencode-ai",
			command: func(t *toolbox) ([]string, error) {
				return t.binary("opencode-{os}-{arch}/bin/opencode", "opencode-{os}-{arch}-baseline/bin/opencode", "opencode-ai/bin/opencode.exe")
			},
			prepare: prepareOpenCode,
			args:    []string{"run", "--format", "json", "--model", "script/" + modelName, prompt},
			env: []string{
				"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_DEFAULT_PLUGINS=1",
				"OPENCODE_DISABLE_LSP_DOWNLOAD=1", "OPENCODE_DISABLE_SHARE=1",
			},
		},
		{
			name: "Codex", pkg: "@openai/codex",
			command: func(t *toolbox) ([]string, error) { return t.script("@openai/codex", "bin/codex.js") },
			prepare: prepareCodex,
			args:    []string{"exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", prompt},
		},
		{
			name: "Gemini CLI", pkg: "@google/gemini-cli",
			command: func(t *toolbox) ([]string, error) { return t.script("@google/gemini-cli", "bundle/gemini.js") },
			prepare: prepareGemini,
			args:    []string{"--yolo", "--skip-trust", "--model", "gemini-2.5-flash", "--output-format", "json", "--prompt", prompt},
			env:     []string{"GEMINI_API_KEY=none", "GEMINI_CLI_TRUST_WORKSPACE=true"},
		},
	}
}

func prepareOpenCode(w *world, url string, server []string) error {
	text, err := json.MarshalIndent(map[string]any{
		"model": "script/" + modelName, "small_model": "script/" + modelName,
		"autoupdate": false, "share": "disabled", "permission": "allow",
		"provider": map[string]any{"script": map[string]any{
			"npm": "@ai-sdk/openai-compatible", "name": "Script",
			"options": map[string]any{"baseURL": url + "/v1", "apiKey": "none"},
			"models": map[string]any{modelName: map[string]any{
				"name": modelName, "tool_call": true, "limit": map[string]any{"context": 100000, "output": 4000},
			}},
		}},
		"mcp": map[string]any{serverName: map[string]any{"type": "local", "enabled": true, "command": server}},
	}, "", "\t")
	if err != nil {
		return err
	}
	return w.write("home/.config/opencode/opencode.json", string(text))
}

func prepareCodex(w *world, url string, server []string) error {
	var args []string
	for _, a := range server[1:] {
		args = append(args, strconv.Quote(a))
	}
	return w.write("home/.codex/config.toml", fmt.Sprintf(`model = %q
model_provider = "script"
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.script]
name = "Script"
base_url = %q
wire_api = "responses"

[mcp_servers.%s]
command = %q
args = [%s]
`, modelName, url+"/v1", serverName, server[0], strings.Join(args, ", ")))
}

func prepareGemini(w *world, url string, server []string) error {
	text, err := json.MarshalIndent(map[string]any{
		"security":  map[string]any{"auth": map[string]any{"selectedType": "gemini-api-key"}},
		"privacy":   map[string]any{"usageStatisticsEnabled": false},
		"telemetry": map[string]any{"enabled": false},
		"general":   map[string]any{"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
		"mcpServers": map[string]any{serverName: map[string]any{
			"command": server[0], "args": server[1:], "trust": true,
		}},
	}, "", "\t")
	if err != nil {
		return err
	}
	return w.write("home/.gemini/settings.json", string(text))
}

// clientRow is what came of one client.
type clientRow struct {
	Name, Version string
	Offered       int // tools of the server that the model was shown
	Checks        []check
	Took          time.Duration
	Why           string // the client could not be driven to the end
}

// A check is one thing that has to hold.
type check struct {
	Name string
	Pass bool
	Why  string // what was there
}

// script is what the model does to the project, and files says what is in it.
func (w *world) script() []step {
	note := filepath.Join(w.project, "note.txt")
	return []step{
		{"read", map[string]any{"filePath": note}},
		{"edit", map[string]any{"filePath": note, "oldString": "the first line", "newString": "the second line"}},
		{"bash", map[string]any{"command": "cat note.txt && echo answer $((40+2))", "description": "Shows the note"}},
		{"bash", map[string]any{"command": "rm -rf keep", "description": "Removes a folder"}},
	}
}

// furnish fills the project, and writes the rules that hold in it.
func (w *world) furnish() error {
	for name, text := range map[string]string{
		"project/note.txt":      "the first line\n",
		"project/keep/file.txt": "kept\n",
		"home/.config/helve/helve.json": `{"permission": {"read": "allow", "edit": "allow",
	"bash": {"*": "allow", "rm *": "deny"}}}`,
	} {
		if err := w.write(name, text); err != nil {
			return err
		}
	}
	return nil
}

// driveClient runs one client through the script.
func driveClient(ctx context.Context, t *toolbox, c client, server []string) (row clientRow) {
	row = clientRow{Name: c.name, Version: t.version(c.pkg)}
	argv, err := c.command(t)
	if err != nil {
		row.Why = err.Error()
		return row
	}
	w, err := newWorld()
	if err != nil {
		row.Why = err.Error()
		return row
	}
	defer func() {
		if err := w.close(); err != nil && row.Why == "" {
			row.Why = err.Error()
		}
	}()
	m := &model{server: serverName, script: w.script()}
	url, stop, err := serveModel(m)
	if err != nil {
		row.Why = err.Error()
		return row
	}
	defer stop()
	if err = w.furnish(); err == nil {
		err = c.prepare(w, url, server)
	}
	if err != nil {
		row.Why = err.Error()
		return row
	}
	end, err := child{
		argv: slices.Concat(argv, c.args), dir: w.project, limit: 90 * time.Second,
		env: w.env(t.node, append(c.env, "GOOGLE_GEMINI_BASE_URL="+url, "GEMINI_CLI_HOME="+w.home)...),
	}.run(ctx)
	row.Took = end.took
	if err != nil {
		row.Why = err.Error()
		return row
	}
	row.judge(w, m)
	if end.late || end.code != 0 {
		row.Why = end.why()
	}
	return row
}

// judge holds what the model saw and what is on disk against the script.
func (row *clientRow) judge(w *world, m *model) {
	offers, results, missing := m.seen()
	for _, o := range offers {
		if strings.Contains(o.full(), serverName) {
			row.Offered++
		}
	}
	result := func(i int) string {
		switch {
		case i < len(results):
			return results[i]
		case missing != "":
			return "the tool " + missing + " was not offered"
		}
		return "there was no such call"
	}
	says := func(name string, i int, want string) {
		text := result(i)
		row.Checks = append(row.Checks, check{name, strings.Contains(text, want), clip(text, 200)})
	}
	row.Checks = append(row.Checks, check{"lists", row.Offered > 0, fmt.Sprintf("%d tools", row.Offered)})
	says("read", 0, "the first line")
	note, err := os.ReadFile(filepath.Join(w.project, "note.txt"))
	row.Checks = append(row.Checks, check{"edit", err == nil && string(note) == "the second line\n", clip(result(1), 200)})
	says("bash", 2, "the second line\nanswer 42")
	_, err = os.Stat(filepath.Join(w.project, "keep", "file.txt"))
	denied := result(3)
	row.Checks = append(row.Checks, check{"denied", err == nil && len(results) > 3 && strings.Contains(denied, "rm *"), clip(denied, 200)})
}

// clip shortens a text for a report.
func clip(text string, n int) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > n {
		return strings.ToValidUTF8(text[:n], "") + "…"
	}
	return text
}
