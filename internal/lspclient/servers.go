package lspclient

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/helve-dev/helve/lsp"
)

// A Server says how a language server is found and started. One of [Builtin] also knows the root of
// a file, what must be installed, and whether it runs code of the project; one that is only in a
// config does not.
type Server struct {
	lsp.Server

	named bool // the config names it
	own   bool // the config gives its command

	others  [][]string                                                  // commands to try where Command is not there
	steps   [][]string                                                  // markers of the root; a later step only where no earlier one finds one
	without []string                                                    // a marker of these keeps the server away
	strict  bool                                                        // no marker, no server
	locate  func(w walk) (string, bool)                                 // finds the root in place of steps
	wanted  func(s Server, p environment) bool                          // nil: always
	runs    string                                                      // the code of the project that it runs by its nature
	needs   []string                                                    // further programs that have to be there
	pushes  bool                                                        // it publishes more than it answers, so it is not asked for diagnostics
	looks   bool                                                        // it learns of files that are not open by looking from time to time, so changed ones are opened
	npm     bool                                                        // it may be installed in the project
	venv    bool                                                        // it may be installed in a virtual environment of Python
	get     string                                                      // how to get the program
	prepare func(l *launch, s Server, root string, p environment) error // adds what has to be looked up
}

// An environment is where servers run, and what they may use there.
type environment struct {
	dir, worktree string
	trusted       bool // programs and code of the project may run
	getenv        func(string) string
	lookPath      func(string) (string, error) // nil: the PATH of getenv
}

// A launch is a server made ready: argv[0] is an absolute path.
type launch struct {
	argv []string
	env  map[string]string
	init json.RawMessage
}

// A mistake is an error in a config, reported to its author.
type mistake string

func (m mistake) Error() string { return string(m) }

const (
	errExtensions = mistake("For custom LSP servers, 'extensions' array is required.")
	errCommand    = mistake("For custom LSP servers, 'command' is required: the program and its arguments.")
	errNoID       = mistake("A language server in the config has no name: give it one.")
)

// Merge returns the servers of [Builtin] with those of a config applied: one of the same id
// overrides the fields it sets, a new one is appended, and a disabled one is removed.
func Merge(own []lsp.Server) ([]Server, error) {
	all := Builtin()
	for _, o := range own {
		if o.Name == "" {
			return nil, errNoID
		}
		at := slices.IndexFunc(all, func(s Server) bool { return s.Name == o.Name })
		switch {
		case o.Disabled && at >= 0:
			all = slices.Delete(all, at, at+1)
		case o.Disabled:
		case at >= 0:
			merged, err := all[at].withOverrides(o)
			if err != nil {
				return nil, fmt.Errorf("lsp.%s: %w", o.Name, err)
			}
			all[at] = merged
		case o.Extensions == nil:
			return nil, fmt.Errorf("lsp.%s: %w", o.Name, errExtensions)
		case len(o.Command) == 0 || o.Command[0] == "":
			return nil, fmt.Errorf("lsp.%s: %w", o.Name, errCommand)
		default:
			all = append(all, Server{Server: o, named: true, own: true})
		}
	}
	return all, nil
}

// withOverrides returns s with what o names.
func (s Server) withOverrides(o lsp.Server) (Server, error) {
	s.named = true
	if len(o.Command) > 0 && o.Command[0] != "" {
		s.Command, s.own = slices.Clone(o.Command), true
	}
	if o.Extensions != nil {
		s.Extensions = slices.Clone(o.Extensions)
	}
	if len(o.Environment) > 0 {
		env := maps.Clone(s.Environment)
		if env == nil {
			env = map[string]string{}
		}
		maps.Copy(env, o.Environment)
		s.Environment = env
	}
	s.Wall = s.Wall || o.Wall
	var err error
	s.Initialization, err = mergeJSON(s.Initialization, o.Initialization)
	return s, err
}

// matches reports whether a file is one of the server's, by its name alone.
func (s Server) matches(file string) bool {
	if len(s.Extensions) == 0 {
		return s.Extensions != nil
	}
	base := strings.ToLower(filepath.Base(file))
	return slices.ContainsFunc(s.Extensions, func(e string) bool {
		e = strings.ToLower(e)
		switch {
		case e == "":
			return false
		case e[0] == '.':
			return strings.HasSuffix(base, e)
		default:
			return base == e || strings.HasSuffix(base, "."+e)
		}
	})
}

// mergeJSON merges over into base: objects are merged member by member, anything else is replaced.
func mergeJSON(base, over json.RawMessage) (json.RawMessage, error) {
	if len(bytes.TrimSpace(over)) == 0 {
		return base, nil
	}
	top, err := decode(over)
	if err != nil {
		return nil, fmt.Errorf("initialization: %w", err)
	}
	if len(base) == 0 {
		return over, nil
	}
	bottom, err := decode(base)
	if err != nil {
		return nil, fmt.Errorf("initialization: %w", err)
	}
	return json.Marshal(mergeValues(bottom, top))
}

// mergeValues does so for decoded values; base may be changed by it.
func mergeValues(base, over any) any {
	bottom, ok := base.(map[string]any)
	if !ok {
		return over
	}
	top, ok := over.(map[string]any)
	if !ok {
		return over
	}
	for name, value := range top {
		if known, ok := bottom[name]; ok {
			value = mergeValues(known, value)
		}
		bottom[name] = value
	}
	return bottom
}

// decode reads one JSON value and leaves its numbers as they are written.
func decode(raw json.RawMessage) (v any, err error) {
	if !json.Valid(raw) {
		return nil, errors.New("it is not JSON")
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	err = d.Decode(&v)
	return v, err
}
