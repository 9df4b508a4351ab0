// Package config reads the config files: it finds them, merges them, checks
// them and decides which of them are trusted. The result is a plain [Config]; the package
// fetches and runs nothing.
//
// Files are OpenCode's (opencode.json, opencode.jsonc) and helve's own
// (helve.json, helve.jsonc), in the same places; where both stand, helve's
// override. Later places override earlier ones: the global folder, the files
// named in the environment, the project's files, the config text in the
// environment, the config folders, the managed folder, and last the rules in
// the environment.
//
// Files of a project are not the user's. Until the user has trusted the exact
// contents of such a file (see [Trust]), its rules are ceilings that can only
// make answers stricter, and everything in it that would run code or loosen
// something is withheld.
//
// A mistake is a [Problem] with its place. A mistake in anything that decides
// about permissions makes the policy invalid: [Config.PolicyError] is set and
// everything is denied until it is fixed, because half a policy is a guess.
package config

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/helve-dev/helve/internal/disk"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/plugin"
)

// Options are the inputs of [Load].
type Options struct {
	Dir  string // the instance directory, absolute
	Home string // the home folder; needed for ~ in patterns and for defaults

	// Worktree is where the search for project files ends; Dir when empty.
	Worktree string

	// Defaults are the rules that come before those of the files. Examples are checked against
	// both.
	Defaults permission.Ruleset

	// Env looks up environment variables; nil is an empty environment.
	Env func(string) string

	// TrustFile is the file that records what the user trusts. When it is empty, nothing is
	// trusted.
	TrustFile string

	// Managed are the administrator's folders, lowest first; nil means those
	// of the platform, and an empty list none.
	Managed []string

	// LanguageServers are the names of the built-in language servers. When nil, they are not known,
	// and no configured server is reported as incomplete.
	LanguageServers []string
}

// A Config is the merged content of the files, as far as it may be used.
type Config struct {
	// Rules are the user's rules and those of trusted files, in order.
	Rules permission.Ruleset
	// Ceilings are the rules of untrusted sources, one list for each and, with a PolicyError, one
	// that denies everything.
	Ceilings []permission.Ruleset
	// PolicyError says why the policy is invalid, as one sentence with file and line; nil if it is
	// valid.
	PolicyError error

	Agents       []Agent // in config order
	DefaultAgent string

	Model, SmallModel string     // as provider/model; empty when no file says
	Providers         []Provider // in config order
	DisabledProviders []string
	EnabledProviders  []string // nil for all
	Compaction        Compaction
	SubagentDepth     *int   // how deep agents may start agents; nil when no file says
	Task, Session     Budget // of one subagent, and of a whole session

	Experimental Experimental
	ToolOutput   ToolOutput
	Repair       *bool // nil when no file says
	Durable      bool
	Edit         Edit
	Search       Search
	Bash         Bash
	Wall         Wall
	Web          Web
	Hooks        Hooks
	Custom       plugin.Options // without folders, entries and commands
	SkillPaths   []string       // absolute; Origins has where from, as skills.paths
	HistoryBytes int64          // that earlier contents of files may take; 0 when no file says

	LanguageServers LanguageServers // how those of LSP are treated

	// ProjectTrusted says that code of the project may run: some of its config is trusted, and none
	// of it is untrusted.
	ProjectTrusted bool

	// Sections that other packages parse; nil when absent.
	MCP, LSP, Formatter, Skills json.RawMessage
	Plugins, Instructions       []Entry

	// Raw is the merged config as JSON, including secrets.
	Raw json.RawMessage
	// Origins says where each key of Raw was written, by its name and, one level down, by a dotted
	// name. If several files contribute to a value, every key and element of it has an entry, at
	// any depth.
	Origins map[string]permission.Source

	Dirs     []string // config folders whose contents may be used, lowest first
	Folders  []Folder // all config folders, also those that may not or are not there yet, in the same order
	Sources  []Source // every file and folder that was found, lowest first
	Problems []Problem
	Withheld []Withheld
}

// An Agent is an agent as configured. Zero fields were not set.
type Agent struct {
	Name        string // the key
	Title       string // the name to show, where it differs
	Description string
	Mode        string // subagent, primary, all or empty
	Disable     bool
	Hidden      *bool // nil when no file says
	Model       string
	Prompt      string
	Color       string
	Steps       int
	Temperature *float64
	TopP        *float64
	Options     json.RawMessage    // an object: options and every unknown key
	Permission  permission.Ruleset // from trusted sources
	Ceilings    []permission.Ruleset

	// Untrusted marks an agent that only untrusted sources mention: the ceilings apply if the agent
	// exists, but it must not be created.
	Untrusted bool
	From      permission.Source

	// Broken marks an agent whose policy is invalid: a ceiling denies it everything, and it must
	// not be offered.
	Broken bool
}

// Edit configures how files are changed. Zero fields were not set.
type Edit struct {
	Matching string // safe or seed
	Unread   bool   // files may be changed that were not read
}

// Search configures how files are searched. Zero fields were not set.
type Search struct {
	Order    string // newest, first or name
	Limit    int
	BudgetMS int
	Memory   int   // bytes of the index
	Keep     *bool // nil when no file says
}

// Bash configures how command lines run. Zero fields were not set.
type Bash struct {
	Shell        string // the key shell
	TimeoutMS    int
	MaxTimeoutMS int
	PassEnv      []string
	SetEnv       map[string]string
	Jobs         int
	JobBytes     int64
	JobsBytes    int64
	Detach       []string
	Checkpoint   *bool // nil when no file says
}

// Wall configures the sandbox of commands. Zero fields were not set.
type Wall struct {
	Level              string // off, write or strict
	Required           *bool  // nil when no file says
	Writable, Readable []string
}

// Web configures network access and web search. Zero fields were not set.
type Web struct {
	UserAgent    string
	Proxy        string
	TimeoutMS    int
	MaxTimeoutMS int
	MaxBytes     int64
	Cache        *bool  // nil when no file says
	Search, Code Finder // the keys websearch and codesearch
}

// A Finder configures a search service.
type Finder struct {
	Provider, Endpoint, Key string
	Command                 []string
	TimeoutMS               int
}

// Experimental holds the settings under that key.
type Experimental struct {
	BatchTool          bool
	ContinueLoopOnDeny bool
	OpenTelemetry      bool
	PrimaryTools       []string
	MCPTimeout         int // milliseconds; 0 when not set
	LSPTool            bool
	PlanMode           bool
}

// ToolOutput holds the limits for the output of a tool; 0 means the default.
type ToolOutput struct {
	MaxLines      int
	MaxBytes      int
	RetentionDays int
	QuotaBytes    int64
}

// An Entry is an element of a list that several files contribute to.
type Entry struct {
	Value json.RawMessage
	Dir   string // where relative paths start: the folder of the file
	From  permission.Source
}

// A Kind is the kind of place in which a source was found.
type Kind string

// The kinds of places.
const (
	ofUser    Kind = "global"
	ofProject Kind = "project"
	ofEnv     Kind = "env"
	ofFolder  Kind = "dir"
	ofMachine Kind = "managed"
)

// A Source is a file or folder that config was read from.
type Source struct {
	Path    string `json:"path"`
	Kind    Kind   `json:"kind"`
	Guarded bool   `json:"guarded"` // it comes with the project and needs trust
	Trusted bool   `json:"trusted"`
	Changed bool   `json:"changed,omitempty"` // it was trusted with other contents
	Hash    string `json:"sha256,omitempty"`  // of the contents; empty when it was not needed

	// Files are the files whose trust depends on this source, for [TrustStatus].
	Files []TrustFile `json:"files,omitempty"`
}

// Withheld is a setting that has no effect, or only part of its effect, because its file is not
// trusted.
type Withheld struct {
	File string `json:"file"`
	Key  string `json:"key"`
	Why  string `json:"why"`
	// Value is the value in the file as JSON, cut if it is long.
	Value string `json:"value,omitempty"`

	// Rules is the number of allowing rules withheld at Key. They have no effect beyond exceptions
	// to what the file itself restricts. It is 0 when the key itself is withheld.
	Rules int `json:"rules,omitempty"`
}

// String returns on one line what is withheld and why.
func (w Withheld) String() string {
	switch w.Rules {
	case 0:
		return fmt.Sprintf("%s: %q is not in force: %s", w.File, w.Key, w.Why)
	case 1:
		return w.File + ": its 1 rule that allows loosens nothing until you trust the file"
	}
	return fmt.Sprintf("%s: its %d rules that allow loosen nothing until you trust the file", w.File, w.Rules)
}

// Check is [Load] with every mistake reported: Problems also has those in withheld settings, which
// nobody else looks at before they are trusted, and rules that cannot mean what was intended.
// Nothing more takes effect than after Load.
//
// References in untrusted files are not followed here either, so what they stand for is not
// checked.
func Check(opt Options) (*Config, error) {
	c, err := Load(opt)
	if err != nil {
		return nil, err
	}
	c.weak(opt.Defaults)
	doubted := slices.DeleteFunc(slices.Clone(c.Sources), func(s Source) bool { return s.Trusted || !s.Guarded })
	if len(doubted) > 0 {
		l, err := newLoader(opt)
		if err != nil {
			return nil, err
		}
		l.believe = true
		l.load()
		known := map[Problem]bool{}
		for _, p := range c.Problems {
			known[p] = true
		}
		for _, p := range l.buildConfig().Problems {
			of := func(s Source) bool { return p.File == s.Path || disk.Within(s.Path, p.File) }
			if !known[p] && slices.ContainsFunc(doubted, of) {
				known[p] = true
				c.Problems = append(c.Problems, p)
			}
		}
	}
	slices.SortStableFunc(c.Problems, func(a, b Problem) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return c, nil
}

// Load reads the configuration for a directory. Mistakes in files are in the Config; an error says
// that the options themselves cannot be used.
func Load(opt Options) (*Config, error) {
	l, err := newLoader(opt)
	if err != nil {
		return nil, err
	}
	l.load()
	return l.buildConfig(), nil
}

func newLoader(opt Options) (*loader, error) {
	if !filepath.IsAbs(opt.Dir) {
		return nil, errors.New("config directory: the instance directory must be absolute")
	}
	opt.Dir = filepath.Clean(opt.Dir)
	if opt.Env == nil {
		opt.Env = func(string) string { return "" }
	}
	if opt.Worktree == "" {
		opt.Worktree = opt.Dir
	}
	opt.Worktree = filepath.Clean(opt.Worktree)
	return &loader{
		opt:    opt,
		cfg:    &Config{Origins: map[string]permission.Source{}},
		merged: &node{kind: 'o', owned: true},
		seen:   map[string]bool{},
		broken: map[string]bool{},
	}, nil
}

// A loader holds the state of one Load.
type loader struct {
	opt    Options
	cfg    *Config
	merged *node           // of everything that may be used
	seen   map[string]bool // files and folders already taken
	refs   references

	// The ceilings of agents from untrusted sources, in the order found.
	agentCeilings []agentCeiling
	broken        map[string]bool // agents whose policy cannot be read

	trust    map[string]trustEntry // nil until first needed
	hashAll  bool                  // hash also what nobody has trusted yet
	believe  bool                  // check untrusted files as if they were trusted; for Check only
	unwalled bool                  // there is a mistake in what is said about the sandbox
}

type agentCeiling struct {
	name  string
	rules permission.Ruleset
	from  permission.Source
}
