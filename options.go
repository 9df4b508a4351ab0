package helve

import (
	"log/slog"
	"time"

	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/internal/plugins"
	"github.com/helve-dev/helve/lsp"
	"github.com/helve-dev/helve/mcp"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/plugin"
	"github.com/helve-dev/helve/skill"
)

// Options configure a [Runtime]. The zero value works in the current folder, keeps nothing on disk,
// and asks as the default rules say.
type Options struct {
	// Dir is the working directory, which must exist; the current folder when empty. Worktree is
	// the root of the project. When it is empty, it is the nearest folder from Dir up that holds
	// .git, or "/" if none does.
	Dir, Worktree string

	// DataDir holds the records: calls, approvals and long outputs. When it is empty, records stay
	// in memory, and long outputs in a private folder that Close removes.
	DataDir string

	// Unrecorded keeps no records of calls, for a single command of a person who needs only its
	// answer.
	Unrecorded bool

	// Durable makes every record survive a power failure, and not only the end of the process. Each
	// call then waits for the disk.
	Durable bool

	// Project identifies the project that approvals are kept for. When it is empty, it is derived
	// from Worktree.
	Project string

	// Rules are the user's rules, which come after the defaults of the built-in agents. They are
	// ignored if Agents is set.
	Rules permission.Ruleset

	// Agents are the agents that may make calls, each with its rules, as agent.Specs returns them.
	// When nil, they are the built-in agents with Rules. A call that names no agent is made by the
	// first.
	Agents []agent.Spec

	// PolicyError, if not empty, says why the rules are invalid. Every call is then denied with
	// this text.
	PolicyError string

	// RulesFile is the file with the user's rules, for messages that say which rule to add. It is
	// not read.
	RulesFile string

	// Unattended says that nobody can answer. Requests that would wait for a person fail at once.
	Unattended bool

	// Repair corrects arguments that are wrong in a lossless way: a key in another spelling, a
	// number or list as a string, a trailing comma. The result's metadata lists each repair.
	Repair bool

	// Strict refuses arguments with unknown keys. Otherwise such keys are dropped and listed in the
	// result's metadata. Strict switches Repair off.
	Strict bool

	// Matching selects how an edit finds its text: "safe", the default, or "seed", which matches as
	// loosely as OpenCode.
	Matching string

	// Unread allows changes of files that the session has not read, or that have changed since it
	// read them.
	Unread bool

	// Formatters format files after tools have changed them, in order; nil for none.
	Formatters *Formatters

	// LSP configures the language servers that check changed files; nil for none.
	LSP *lsp.Options

	// Models select the models that answer prompts; without any, [Runtime.Turns] fails.
	Models agent.Models

	// Loop configures how agents work on prompts.
	Loop agent.Loop

	// Search configures the tools that search for files and in files.
	Search Search

	// Shell configures how commands run.
	Shell Shell

	// MCP configures the MCP servers, whose tools are offered.
	MCP mcp.Options

	// Web configures how tools use the network and search the web.
	Web Web

	// Plugins configures the tools, plugins and hooks of users.
	Plugins plugin.Options

	// Scripts loads the Folders and Entries of Plugins, and is required if there are any.
	// scripts.Engine returns one; a program without it does not link a JavaScript engine.
	Scripts ScriptEngine

	// Skills configures where skills are searched; nil for nowhere.
	Skills *skill.Options

	// Protected are folders of the embedding program, such as that of its config. Only a rule that
	// names such a folder lets tools write there. DataDir is always protected.
	Protected []string

	// Flags enables tools that are off by default, by name: "batch".
	Flags map[string]bool

	// Client, Provider and Model are the defaults for calls that do not set them. Client is "cli"
	// when empty.
	Client, Provider, Model string

	// Limits bound the output that a model is shown.
	Limits Limits

	// Patience is how long a listing of tools waits for MCP servers and custom files that are still
	// starting; a second when 0. A call waits for the tool that it names, however long that takes
	// to start.
	Patience time.Duration

	// Hooks see every call, in order.
	Hooks []Hook

	// Logger receives what no caller sees: slow tools, failed clean-ups. When it is nil, nothing is
	// logged.
	Logger *slog.Logger

	// NewID generates identifiers; prefix is one such as "ses" or "per".
	NewID func(prefix string) string
}

// A ScriptEngine loads the tools and plugins of users. Package scripts has the only one.
type ScriptEngine func(plugin.Options, plugins.Services) plugins.Set

// Limits bound the output of a call and what is kept. Zero fields take their defaults.
type Limits struct {
	Lines     int           // most lines shown; 2,000
	Bytes     int           // most bytes shown; 51,200
	Retention time.Duration // how long a full output is kept; 7 days
	Quota     int64         // most bytes of all kept outputs; 1 GiB
	History   int64         // most bytes of kept earlier file contents; 1 GiB
}

// Formatters configure which programs format which files.
type Formatters struct {
	Builtin      bool        // enables the formatters that helve knows, where they are installed
	Experimental bool        // includes the experimental ones of these
	Own          []Formatter // an entry with the name of a known formatter changes that one
}

// A Formatter is a command that formats a file in place.
type Formatter struct {
	Name        string
	Command     []string // $FILE stands for the file
	Extensions  []string // with the dot
	Environment map[string]string
	Disabled    bool
}

func (l Limits) withDefaults() Limits {
	if l.Lines <= 0 {
		l.Lines = 2000
	}
	if l.Bytes <= 0 {
		l.Bytes = 50 << 10
	}
	if l.Retention <= 0 {
		l.Retention = 7 * 24 * time.Hour
	}
	if l.Quota <= 0 {
		l.Quota = 1 << 30
	}
	if l.History <= 0 {
		l.History = 1 << 30
	}
	return l
}
