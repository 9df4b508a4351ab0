package tool

import (
	"github.com/google/jsonschema-go/jsonschema"
)

// A Spec describes a tool. Zero fields have defaults.
type Spec struct {
	Name        string             // the name that models call
	Description string             // for models; usually an embedded .md file
	Permission  string             // the permission it asks for; Name when empty
	ReadOnly    bool               // it changes nothing outside the session
	Schema      *jsonschema.Schema // of the input; derived from the input struct when nil

	// Destructive, Idempotent and OpenWorld are hints for programs about a tool that is not
	// ReadOnly: that it may overwrite or delete, that repeating a call with the same arguments
	// changes nothing more, and that it reaches beyond this machine. They decide nothing.
	Destructive, Idempotent, OpenWorld bool

	// Offer, if set, returns whether the tool is shown to a, and with which description. It may be
	// slow: the runtime asks all tools in parallel. If the tool is not shown, the description may
	// say why and what to do, for callers that call it all the same.
	Offer func(a Audience) (description string, ok bool)

	// Catches marks the tool that answers invalid calls. Its input is {"tool", "error"}. Models are
	// not shown it, and no rule hides it.
	Catches bool

	// Lasts keeps the tool's results in the conversation. Old results of other tools are removed
	// when they take too much space.
	Lasts bool

	// Delegates marks a tool that lets another agent do some work. Models that are offered one are
	// advised to use it for reading long outputs.
	Delegates bool

	// External marks a tool that comes from outside, such as from an MCP server. It cannot take the
	// name of a built-in tool.
	External bool

	// AsGiven passes valid arguments on unchanged: no defaults, no coercions, and unknown keys
	// stay.
	AsGiven bool

	// Explain, if set, returns the error text for invalid arguments.
	Explain func([]Issue) string
}

// An Audience is whom a list of tools is for.
type Audience struct {
	Client   string // the kind of program that the person uses: cli, app, desktop …
	Provider string
	Model    string
	Agent    string
	// Flags are the enabled feature flags, by name, such as "batch".
	Flags map[string]bool
}

// An Issue is one problem in the arguments of a call. Its JSON form is OpenCode's, which models
// know.
type Issue struct {
	Path     []any  // keys are strings, indexes are ints; empty for the whole
	Code     string // missing, type, range, enum or invalid-json
	Message  string // OpenCode's sentence
	Expected string // what was expected, in a word
	Received string // what was found, in a word

	raw []byte // OpenCode's JSON object
}
