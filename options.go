package helve

import (
	"log/slog"
	"time"

	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/lsp"
	"github.com/helve-dev/helve/mcp"
	"github.com/helve-dev/helve/permission"
)

// Options set up a [Runtime]. The zero value is a runtime in the current
// folder that keeps nothing on disk and asks as the default rules say.
type Options struct {
	// Dir is the folder that relative paths start from, which has to be there;
	// the current folder when empty. Worktree is the root of the project; the nearest folder
	// above Dir that holds .git when empty, and "/" when there is none.
	Dir, Worktree string

	// DataDir is where calls, approvals and long outputs are kept. When
	// empty, they are kept in memory, and long outputs in a private folder
	// that Close removes.
	DataDir string

	// Unrecorded keeps no record of calls: for a command of a person's own,
	// whose answer is all that is wanted of it.
	Unrecorded bool

	// Durable makes every record survive a power failure too, and not only
	// the end of the process. Each call then waits for the disk.
	Durable bool

	// Project names the project that approvals are kept for; derived from
	// Worktree when empty.
	Project string

	// Rules are the user's: they stand after the defaults of the built-in
	// agents. They do not count where Agents are given.
	Rules permission.Ruleset

	// Agents are who may call, each with its rules, as agent.Specs makes them;
	// the built-in agents with Rules when nil. A call that names none is by the
	// first.
	Agents []agent.Spec

	// PolicyError, if not empty, says why the rules are broken.
	// Every call is then denied, with this sentence.
	PolicyError string

	// RulesFile is where the user's own rules are written: texts that say which
	// rule to add name it. It is not read.
	RulesFile string

	// Unattended says that there is nobody to ask. What would wait for a
	// person fails at once.
	Unattended bool

	// Repair lets arguments that are wrong in a lossless way through: a key
	// in another spelling, a number or list as a string, a trailing comma.
	// Each repair is named in the result's metadata.
	Repair bool

	// Strict refuses arguments with a key that the tool does not know. Without
	// it such a key is left out, and named in the result's metadata. Nothing is
	// repaired then, whatever Repair says.
	Strict bool

	// Matching says how an edit looks for its text: "safe", which is also
	// meant by "", or "seed", which is as loose as the reference's.
	Matching string

	// Unread lets files be changed that the session has not read, or that
	// have changed since it did.
	Unread bool

	// Formatters go over files after tools have changed them, in order; nil
	// for none.
	Formatters *Formatters

	// LSP says which language servers look at files that tools change; nil for
	// none.
	LSP *lsp.Options

	// Models says who answers prompts; without one, [Runtime.Turns] fails.
	Models agent.Models

	// Loop says how agents work on prompts.
	Loop agent.Loop

	// Search says how the tools that look for files and in files work.
	Search Search

	// Shell says how command lines are run.
	Shell Shell

	// MCP says which other programs offer tools here.
	MCP mcp.Options

	// Web says how tools reach the network, and where they search it.
	Web Web

	// Custom says what users bring: tools, plugins and hooks of their own.
	Custom Custom

	// Skills say where skills are looked for; nil for nowhere.
	Skills *Skills

	// Protected are folders of the host's own, such as those of its config:
	// only a rule that names one lets tools write there. DataDir is always
	// among them.
	Protected []string

	// Flags switches on tools that are off by default, by name: "batch".
	Flags map[string]bool

	// Client, Provider and Model are what a call that does not say is taken
	// to come from. Client is "cli" when empty.
	Client, Provider, Model string

	// Limits bound the output that a model is shown.
	Limits Limits

	// Patience is how long a list of tools waits for what still starts: MCP
	// servers, and files of users. A second when 0. A call waits for the tool
	// that it names, however long that takes to start.
	Patience time.Duration

	// Hooks see every call, in order.
	Hooks []Hook

	// Logger is told what no caller is: slow tools, failed clean-ups.
	// Nothing is logged when nil.
	Logger *slog.Logger

	// NewID makes identifiers of its own; prefix is such as "ses" or "per".
	NewID func(prefix string) string
}

// Limits bound the output of a call. Zero fields take their defaults.
type Limits struct {
	Lines     int           // shown at the most; 2,000
	Bytes     int           // shown at the most; 51,200
	Retention time.Duration // how long a full output is kept; 7 days
	Quota     int64         // bytes that all kept outputs may take; 1 GiB
	History   int64         // bytes that kept earlier contents of files may take; 1 GiB
}

// Formatters say what formats which file.
type Formatters struct {
	Builtin      bool        // also those that helve knows, where they are installed
	Experimental bool        // and of these those that are still being tried out
	Own          []Formatter // a name that helve knows changes that one
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
