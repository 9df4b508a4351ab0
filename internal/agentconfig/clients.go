package agentconfig

import (
	"os"
	"path/filepath"
	"strings"
)

// locate finds the file of a request and the form of its entry.
func (r Request) locate() (*change, error) {
	c := &change{target: target{path: r.path(), dirMode: 0o700, mode: 0o600}}
	if r.Scope == Project {
		c.within, c.dirMode, c.mode = r.Dir, 0o755, 0o644
	}
	c.entry = serverEntry{name: r.Name, program: programName(r.Command[0])}
	args := append([]string{}, r.Command[1:]...)
	kind := field{key: "type", value: "stdio", once: true}
	split := []field{{key: "command", value: r.Command[0]}, {key: "args", value: args}}
	env := field{key: "env", value: r.Env, merge: true}
	switch r.Client {
	case ClaudeCode:
		c.entry.table, c.entry.fields = []string{"mcpServers"}, append([]field{kind}, split...)
	case Codex:
		c.toml, c.entry.table, c.entry.fields = true, []string{"mcp_servers"}, split
	case Gemini, Cursor:
		c.entry.table, c.entry.fields = []string{"mcpServers"}, split
	case OpenCode:
		// Version 1 has the servers in "mcp", which version 2 still reads; a
		// file in the style of version 2 has them in "mcp.servers", and knows
		// no "enabled".
		env.key = "environment"
		c.entry.table, c.entry.nested = []string{"mcp"}, "servers"
		c.entry.fields = []field{
			{key: "type", value: "local", once: true},
			{key: "command", value: append([]string{}, r.Command...)},
			{key: "enabled", value: true, once: true, flat: true},
		}
	case Zed:
		c.entry.table, c.entry.fields = []string{"context_servers"}, split
	case VSCode:
		c.entry.table, c.entry.fields = []string{"servers"}, append([]field{kind}, split...)
	}
	if len(r.Env) > 0 {
		c.entry.fields = append(c.entry.fields, env)
	}
	c.notes = r.notes()
	return c, nil
}

// path returns the file that a client reads.
func (r Request) path() string {
	if r.Scope == Project {
		return r.projectPath()
	}
	in := func(elem ...string) string { return filepath.Join(append([]string{r.Home}, elem...)...) }
	switch r.Client {
	case ClaudeCode:
		return filepath.Join(r.env("CLAUDE_CONFIG_DIR", r.Home), ".claude.json")
	case Codex:
		return filepath.Join(r.env("CODEX_HOME", in(".codex")), "config.toml")
	case Gemini:
		return filepath.Join(r.env("GEMINI_CLI_HOME", r.Home), ".gemini", "settings.json")
	case OpenCode: // ~/.config on every system
		dir := filepath.Join(r.env("XDG_CONFIG_HOME", in(".config")), "opencode")
		return r.existing(filepath.Join(dir, "opencode.json"), filepath.Join(dir, "opencode.jsonc"))
	case Cursor:
		return in(".cursor", "mcp.json")
	case Zed:
		dir := in(".config", "zed")
		switch r.GOOS {
		case "windows":
			dir = filepath.Join(r.appData(), "Zed")
		case "darwin":
		default:
			dir = filepath.Join(r.env("XDG_CONFIG_HOME", in(".config")), "zed")
		}
		return filepath.Join(dir, "settings.json")
	case VSCode:
		dir := r.env("XDG_CONFIG_HOME", in(".config"))
		switch r.GOOS {
		case "windows":
			dir = r.appData()
		case "darwin":
			dir = in("Library", "Application Support")
		}
		return filepath.Join(dir, "Code", "User", "mcp.json")
	}
	return ""
}

func (r Request) projectPath() string {
	in := func(elem ...string) string { return filepath.Join(append([]string{r.Dir}, elem...)...) }
	switch r.Client {
	case ClaudeCode:
		return in(".mcp.json")
	case Codex:
		return in(".codex", "config.toml")
	case Gemini:
		return in(".gemini", "settings.json")
	case OpenCode:
		return r.existing(in("opencode.json"), in("opencode.jsonc"),
			in(".opencode", "opencode.json"), in(".opencode", "opencode.jsonc"))
	case Cursor:
		return in(".cursor", "mcp.json")
	case Zed:
		return in(".zed", "settings.json")
	case VSCode:
		return in(".vscode", "mcp.json")
	}
	return ""
}

// existing chooses among files that a client merges: one that already has the
// entry, else one that is there, else the first.
func (r Request) existing(paths ...string) string {
	found := ""
	for _, p := range paths {
		data, err := readRegular(p, maxProject)
		if os.IsNotExist(err) {
			continue
		}
		if found == "" {
			found = p
		}
		if err != nil {
			continue
		}
		e := serverEntry{name: r.Name, table: []string{"mcp"}, nested: "servers"}
		if t, err := parseJSON(data); err == nil && t.hasEntry(e) {
			return p
		}
	}
	if found == "" {
		return paths[0]
	}
	return found
}

func (r Request) env(name, other string) string {
	if r.Getenv != nil {
		if v := r.Getenv(name); filepath.IsAbs(v) {
			return v
		}
	}
	return other
}

func (r Request) appData() string {
	return r.env("APPDATA", filepath.Join(r.Home, "AppData", "Roaming"))
}

// notes says what remains to be done in the client.
func (r Request) notes() []string {
	project := r.Scope == Project
	var notes []string
	add := func(when bool, note string) {
		if when {
			notes = append(notes, note)
		}
	}
	switch r.Client {
	case ClaudeCode:
		add(!project, "Claude Code writes this file too: close it first, or let it make the entry itself: claude mcp add --scope user "+r.Name+" -- "+shell(r.Command))
		add(project, "Claude Code asks once whether to use the servers of .mcp.json")
		add(true, "start Claude Code again; /mcp shows the server")
	case Codex:
		add(project, "Codex reads this file only in a project that it trusts")
		add(true, "start Codex again; codex mcp list shows the server")
	case Gemini:
		add(true, "start Gemini CLI again; /mcp shows the server, as disabled in a folder that is not trusted")
	case OpenCode:
		add(true, "start OpenCode again; opencode mcp list shows the server")
	case Cursor:
		add(true, "restart Cursor, and switch the server on in its MCP settings")
	case Zed:
		add(project, "Zed starts servers of a project only if the folder is trusted")
		add(true, "Zed starts the server when the file changes; its settings list it under MCP servers")
	case VSCode:
		add(true, "run the command MCP: List Servers to start it; VS Code asks whether to trust it")
	}
	return notes
}

// programName returns the name of a program without folder and .exe, on whatever
// system the path was written.
func programName(path string) string {
	if i := strings.LastIndexAny(path, `/\`); i >= 0 {
		path = path[i+1:]
	}
	if n := len(path) - len(".exe"); n > 0 && strings.EqualFold(path[n:], ".exe") {
		path = path[:n]
	}
	return path
}

// shell writes a command so that a POSIX shell reads it back.
func shell(command []string) string {
	var words []string
	for _, w := range command {
		plain := w != "" && strings.IndexFunc(w, func(c rune) bool {
			return c > 127 || !bareByte(byte(c)) && !strings.ContainsRune("/.,:+@%", c)
		}) < 0
		if !plain {
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		words = append(words, w)
	}
	return strings.Join(words, " ")
}
