// Package agentconfig edits config files of other agents and of helve. It adds helve, as an MCP
// server, to the config of another agent and removes it again, and it adds servers to helve's own
// config files and removes them.
//
// An edit changes as few bytes as possible: comments, order, indentation, line ends and a byte
// order mark stay as they are. Every edit is read back before it is offered, and must differ from
// the file only in the entry. A file that cannot be edited safely is refused, with what to add by
// hand.
package agentconfig

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Client is an agent or editor that can use MCP servers.
type Client string

// The clients that are known.
const (
	ClaudeCode Client = "claude-code"
	Codex      Client = "codex"
	Gemini     Client = "gemini"
	OpenCode   Client = "opencode"
	Cursor     Client = "cursor"
	Zed        Client = "zed"
	VSCode     Client = "vscode"
)

// Clients returns the clients that are known, in the order to show them in.
func Clients() []Client {
	return []Client{ClaudeCode, Codex, Gemini, OpenCode, Cursor, Zed, VSCode}
}

// The scopes of a [Request].
const (
	User    = "user"    // the config of the person, for all projects
	Project = "project" // the config in the project's folder, for all who have it
)

// A Request says which entry to put into which file.
type Request struct {
	Client  Client
	Scope   string            // User or Project
	Name    string            // of the entry; letters, digits, - and _
	Command []string          // absolute path of the program, and its arguments
	Env     map[string]string // further variables of the program
	Home    string            // of the person
	Dir     string            // of the project
	Getenv  func(string) string
	GOOS    string
	Force   bool // replace or remove also an entry that is not of this program
}

// ErrTaken says that an entry of that name starts another program. [Request.Force] and [File.Force]
// override it.
var ErrTaken = errors.New("the name is taken")

// ErrChanged says that a file has changed since the plan was made.
var ErrChanged = errors.New("the file has changed meanwhile")

// A Refusal says that a file is not edited, why, and what to add by hand.
type Refusal struct {
	Path   string
	Reason string
	Add    string // empty if there is nothing to add
	Err    error  // ErrTaken, or what the system said
}

// Error returns all of it, over several lines if there is something to add.
func (r *Refusal) Error() string {
	s := r.Path + ": " + r.Reason
	if r.Add != "" {
		s += "; to do it by hand, have this in the file:\n" + r.Add
	}
	return s
}

// Unwrap returns Err.
func (r *Refusal) Unwrap() error { return r.Err }

// Prepare plans the change of the client's config file that adds the entry. It writes nothing. An
// entry that already starts this program is updated, keeping its other fields; the plan is
// [Plan.Same] if there is nothing to do.
func Prepare(r Request) (Plan, error) {
	c, err := planChange(r)
	if err != nil {
		return Plan{}, err
	}
	return c.plan(func(t text) (text, error) { return t.put(c.entry) })
}

// Remove works out how the config file is to change for the entry to be gone.
// An object that is left empty at the end of a JSON file goes with it. A file
// goes too if it holds nothing but what [Prepare] writes into a new one, or,
// of TOML, if nothing is left in it.
func Remove(r Request) (Plan, error) {
	c, err := planChange(r)
	if err != nil {
		return Plan{}, err
	}
	c.hand, c.notes = "", nil
	return c.plan(func(t text) (text, error) { return t.take(c.entry) })
}

// Snippet returns the file and its content if the entry were the only one, to be shown to a person.
func Snippet(r Request) (path, contents string, err error) {
	c, err := planChange(r)
	if err != nil {
		return "", "", err
	}
	return c.path, c.hand, nil
}

// A change is a file, and the entry to add or remove.
type change struct {
	target
	entry serverEntry
	hand  string   // what to add by hand
	notes []string // what to do after the entry was put
}

// planChange checks a request and finds its file.
func planChange(r Request) (*change, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	c, err := r.locate()
	if err != nil {
		return nil, err
	}
	c.entry.force = r.Force
	empty := text(&jsonText{})
	if c.toml {
		empty = &tomlText{}
	}
	whole, err := empty.put(c.entry)
	if err != nil {
		return nil, err
	}
	c.hand = string(whole.bytes())
	return c, nil
}

func (r Request) check() error {
	if !slices.Contains(Clients(), r.Client) {
		clients := Clients()
		var words []string
		for _, c := range clients {
			words = append(words, string(c))
		}
		return fmt.Errorf("client %q is not known; known are %s", r.Client, strings.Join(words, ", "))
	}
	if r.Scope != User && r.Scope != Project {
		return fmt.Errorf("scope %q is neither %s nor %s", r.Scope, User, Project)
	}
	if !isPlainName(r.Name) {
		return fmt.Errorf("server name %q: only letters, digits, - and _ are possible, at most 64", r.Name)
	}
	if r.Home == "" && r.Scope == User || r.Dir == "" && r.Scope == Project {
		return fmt.Errorf("the folder of scope %s is not known", r.Scope)
	}
	// The path has to reach the system as it is.
	if len(r.Command) == 0 || !isAbsolute(r.Command[0]) {
		return errors.New("the command needs an absolute path: clients start it from anywhere")
	}
	marks := []string{"${"}
	switch r.Client {
	case Gemini:
		marks = []string{"$"}
	case OpenCode:
		marks = []string{"{env:", "{file:"}
	}
	for _, mark := range marks {
		if strings.Contains(r.Command[0], mark) {
			return fmt.Errorf("the path %s holds what %s would replace by a variable; move the program", r.Command[0], r.Client)
		}
	}
	// A config file holds text only.
	words := slices.Clone(r.Command)
	for _, k := range slices.Sorted(maps.Keys(r.Env)) {
		if k == "" || strings.Contains(k, "=") {
			return fmt.Errorf("environment variable %q cannot have that name", k)
		}
		words = append(words, k, r.Env[k])
	}
	for _, w := range words {
		if !utf8.ValidString(w) || strings.Contains(w, "\x00") {
			return fmt.Errorf("%q is not text that a config file can hold", w)
		}
	}
	return nil
}

func isPlainName(s string) bool {
	for _, c := range []byte(s) {
		if !bareByte(c) {
			return false
		}
	}
	return s != "" && len(s) <= 64
}

// bareByte reports whether a byte may be in a name, and in a key of TOML that
// has no quotes.
func bareByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_'
}

// isAbsolute reports whether a path is absolute on this system or on Windows.
func isAbsolute(path string) bool {
	return filepath.IsAbs(path) || len(path) > 2 && path[1] == ':' && (path[2] == '\\' || path[2] == '/')
}
