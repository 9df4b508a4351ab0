package plugin

import (
	"context"
	"encoding/json"
	"time"
)

// Options configure custom tools, plugins and hooks. Nothing of them is read before a call or a
// listing needs it, and nothing in an untrusted folder is run.
type Options struct {
	// Folders hold tools in tool/ and tools/, and plugins in plugin/ and plugins/. If two tools
	// have the same name, the one from the later folder wins. A folder may be missing and appear
	// later.
	Folders []Folder
	// Entries are further plugins: files, or installed packages.
	Entries []Entry
	// Commands are programs that see calls and events as hooks do.
	Commands HookCommands

	// Memory limits each script engine, 128 MiB when 0. LoadTimeout is how long a folder may take
	// to load, 30 seconds when 0. HookTimeout is how long the hooks of plugins may take, 10 seconds
	// when 0.
	Memory                   int64
	LoadTimeout, HookTimeout time.Duration

	// Full names tools that may do what rules would ask about. They still may not do what rules
	// deny, nor change files that decide what is run or allowed later.
	Full []string
	// Required names plugins that must be present for any call to be made: by file name, with or
	// without its ending, or by package.
	Required []string
	// Also are further folders that files may import from.
	Also []string
	// Worker is the program for files that need more than the embedded engine has: "bun", "node",
	// "off", or "auto" or "" for whichever is installed.
	Worker string
	// Watch is how often files are checked for changes between calls; 0 for never.
	Watch time.Duration

	// Config is the configuration that plugins are shown, as JSON.
	Config json.RawMessage
	// Client answers the requests that plugins send through their client and that the runtime does
	// not answer itself, such as session.prompt. When it is nil, those requests fail.
	Client func(ctx context.Context, method string, args json.RawMessage) (json.RawMessage, error)
}

// A Folder is a config folder of a user or a project.
type Folder struct {
	Path    string // such as .opencode; a relative one starts at the runtime's Dir
	Project bool   // it belongs to the project
	// Trusted reports whether code in the folder may run with its current contents; nil means
	// always. It is called before anything is read in order to run it, again after reading, and
	// when files have changed.
	Trusted func() bool
	// Stamp, if set, identifies the act by which the folder became trusted. The packages that its
	// files import must not change after that.
	Stamp func() string
}

// An Entry is a plugin that a config file names.
type Entry struct {
	Spec    string          // ./file.ts, file:///… or the name of a package, with or without a version
	Base    string          // the folder that relative names are relative to
	Options json.RawMessage // what the plugin is started with
	// Trusted reports whether it may run; nil means always.
	Trusted func() bool
}

// HookCommands are programs that see calls before and after they run, and events.
type HookCommands struct{ Before, After, Event []HookCommand }

// A HookCommand is a program that reads JSON and answers with JSON; see docs/custom-tools.md.
type HookCommand struct {
	Command  []string      // the program and its arguments
	Tools    []string      // which calls it sees, with * and ?; all when empty
	Events   []string      // which events it sees, likewise
	Timeout  time.Duration // 10 seconds when 0
	Required bool          // if it fails, the call is not made
	Dir      string        // its working directory; that of the call when empty
	From     string        // the config file that names it, for messages
	// Trusted reports whether it may run as it is now; nil means always.
	Trusted func() bool
}
