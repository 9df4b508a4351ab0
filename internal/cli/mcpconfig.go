package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/helve-dev/helve/internal/config"
	"github.com/helve-dev/helve/mcp"
	"github.com/helve-dev/helve/mcp/connect"
)

// An mcpEntry is a server as the config files describe it.
type mcpEntry struct {
	Type        string            `json:"type"`
	Command     []string          `json:"command"`
	Environment map[string]string `json:"environment"`
	Cwd         string            `json:"cwd"`
	URL         string            `json:"url"`
	Headers     map[string]string `json:"headers"`
	OAuth       json.RawMessage   `json:"oauth"`
	Enabled     *bool             `json:"enabled"`
	Timeout     int               `json:"timeout"` // milliseconds
	Limit       int               `json:"limit"`   // milliseconds
	Wall        bool              `json:"wall"`
	Roots       *bool             `json:"roots"`
}

// depthName is the variable with the nesting depth of helve processes that start each other.
const depthName = "HELVE_MCP_DEPTH"

// mostDepth is how many of them there may be. A helve that has itself as a
// server would start another for ever.
const mostDepth = 3

// deepen passes the nesting depth to the servers. If it is too deep there are none.
func deepen(m *mcp.Options, depth int) (note string) {
	if len(m.Servers) == 0 {
		return ""
	}
	if depth >= mostDepth {
		m.Servers = nil
		return fmt.Sprintf("no MCP server is started here: helve was started by helve %d times over. Does its config name helve itself?", depth)
	}
	for i := range m.Servers {
		if s := &m.Servers[i]; len(s.Command) > 0 {
			env := map[string]string{depthName: strconv.Itoa(depth + 1)}
			maps.Copy(env, s.Env)
			s.Env = env
		}
	}
	return ""
}

// itself reports whether a command starts this program to serve MCP.
func itself(command []string, self string) bool {
	command = started(command)
	if !slices.Contains(command, "mcp") {
		return false
	}
	path, err := exec.LookPath(command[0])
	if err != nil {
		return false
	}
	me, err := os.Stat(self)
	if err != nil {
		return false
	}
	info, err := os.Stat(path)
	return err == nil && os.SameFile(info, me)
}

// namesServing reports whether a command looks like one that runs helve as an MCP server, from any
// path.
func namesServing(command []string) bool {
	command = started(command)
	return len(command) > 1 && slices.Contains(command[1:], "mcp") &&
		strings.TrimSuffix(path.Base(filepath.ToSlash(command[0])), ".exe") == "helve"
}

// missed returns what is disabled because its file is not trusted, without the entries for helve
// itself, which would start no server. In a shared file the path of helve may differ.
func (a *app) missed(cfg *config.Config) []config.Withheld {
	self, err := a.ownPath()
	if err != nil {
		return cfg.Withheld
	}
	return slices.DeleteFunc(slices.Clone(cfg.Withheld), func(w config.Withheld) bool {
		var servers map[string]mcpEntry
		if w.Key != "mcp" || json.Unmarshal([]byte(w.Value), &servers) != nil {
			return false
		}
		for _, e := range servers {
			if !itself(e.Command, self) && !namesServing(e.Command) {
				return false
			}
		}
		return true
	})
}

// started is the command that is run in the end by one that begins with env, a
// shell with -c, or their like; the command itself where that is not plain.
func started(command []string) []string {
	for len(command) > 1 {
		rest := command[1:]
		switch name := strings.TrimSuffix(filepath.Base(command[0]), ".exe"); name {
		case "env":
			for len(rest) > 0 && (strings.Contains(rest[0], "=") || strings.HasPrefix(rest[0], "-")) {
				if slices.Contains([]string{"-u", "--unset"}, rest[0]) && len(rest) > 1 {
					rest = rest[1:]
				}
				rest = rest[1:]
			}
		case "exec", "command", "nohup", "setsid":
		case "sh", "bash", "dash", "zsh", "ksh", "fish":
			for len(rest) > 0 && strings.HasPrefix(rest[0], "-") && !strings.HasSuffix(rest[0], "c") {
				rest = rest[1:]
			}
			if len(rest) < 2 || strings.ContainsAny(rest[1], "\n;&|()<>`$\\") {
				return command
			}
			rest = strings.Fields(strings.NewReplacer(`"`, "", "'", "").Replace(rest[1]))
		default:
			return command
		}
		if len(rest) == 0 {
			return command
		}
		command = rest
	}
	return command
}

// mcp returns the MCP servers, in the order of the config. Unusable ones are left out, and reported
// in the second result.
func (s *setup) mcp() (out mcp.Options, notes []string) {
	out.Timeout = milliseconds(s.cfg.Experimental.MCPTimeout)
	out.Version, out.Client = version(), connect.Client()
	dec := json.NewDecoder(bytes.NewReader(s.cfg.MCP))
	if _, err := dec.Token(); err != nil { // there is none
		return out, nil
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return out, append(notes, fmt.Sprintf("mcp: %v", err))
		}
		var e mcpEntry
		if err := dec.Decode(&e); err != nil {
			notes = append(notes, fmt.Sprintf("mcp.%v: %v", name, err))
			continue
		}
		if e.Type == "" && e.Enabled != nil && !*e.Enabled {
			continue // it switches off what another file may have
		}
		server, why := e.server(name.(string))
		if why != "" {
			notes = append(notes, fmt.Sprintf("mcp.%v is not used: %s", name, why))
			continue
		}
		out.Servers = append(out.Servers, server)
	}
	return out, notes
}

// server converts an entry to a server, or says why it cannot.
func (e mcpEntry) server(name string) (out mcp.Server, why string) {
	out = mcp.Server{
		Name: name, Disabled: e.Enabled != nil && !*e.Enabled, NoRoots: e.Roots != nil && !*e.Roots,
		Timeout: milliseconds(e.Timeout), Limit: milliseconds(e.Limit),
	}
	switch e.Type {
	case "local":
		if len(e.Command) == 0 || e.Command[0] == "" {
			return out, `it has no "command"`
		}
		out.Command, out.Env, out.Dir, out.Wall = e.Command, e.Environment, e.Cwd, e.Wall
	case "remote":
		if e.URL == "" {
			return out, `it has no "url"`
		}
		out.URL, out.Headers = e.URL, e.Headers
		if string(e.OAuth) == "false" {
			out.NoOAuth = true
			break
		}
		var o struct{ ClientID, ClientSecret, Scope string }
		if len(e.OAuth) > 0 && e.OAuth[0] == '{' {
			if err := json.Unmarshal(e.OAuth, &o); err != nil {
				return out, err.Error()
			}
		}
		out.OAuth = mcp.OAuth{ClientID: o.ClientID, ClientSecret: o.ClientSecret, Scope: o.Scope}
	default:
		return out, `it has no "type": say "local", with a "command", or "remote", with a "url"`
	}
	return out, ""
}
