package tool

import (
	"github.com/google/jsonschema-go/jsonschema"
)

// A Spec says what a tool is. Zero fields take their defaults.
type Spec struct {
	Name        string             // what the model calls
	Description string             // what the model reads; usually an embedded .md
	Permission  string             // the permission it asks for; Name when empty
	ReadOnly    bool               // it changes nothing outside the session
	Schema      *jsonschema.Schema // of the input; derived from the input struct when nil

	// Destructive, Idempotent and OpenWorld tell programs more about a tool
	// that is not ReadOnly: that it may overwrite or delete, that a second
	// call with the same arguments changes nothing more, and that it reaches
	// beyond this machine. They are hints: nothing is decided by them.
	Destructive, Idempotent, OpenWorld bool

	// Offer, if set, says whether and in what words the tool is shown to a.
	// It may be slow: the runtime asks all tools at once. Where the tool is not
	// shown, the words may say why and what to do about it, for who calls it
	// all the same.
	Offer func(a Audience) (description string, ok bool)

	// Catches marks the tool that answers for calls that could not be
	// understood. Its input is {"tool", "error"}; models are not shown it, and
	// no rule hides it.
	Catches bool

	// Lasts keeps the tool's results in the model's sight for a whole
	// conversation; old ones of other tools are hidden where they take too much.
	Lasts bool

	// Delegates marks a tool that lets another agent do some work. Who is
	// offered one is told to let a long output be read by it.
	Delegates bool

	// External marks a tool that comes from outside, such as an MCP server's:
	// it may not take the name of a built-in tool.
	External bool

	// AsGiven passes arguments on as they came once they were found good: no
	// defaults, no coercions, and keys that the schema does not name stay.
	AsGiven bool

	// Explain, if set, words the error for arguments that do not fit.
	Explain func([]Issue) string
}

// An Audience is who a set of tools is made for.
type Audience struct {
	Client   string // the kind of program the person uses: cli, app, desktop …
	Provider string
	Model    string
	Agent    string
	// Flags are the switches that are on, by name, such as "batch".
	Flags map[string]bool
}

// An Issue is one thing wrong with the arguments of a call. Its JSON form is
// the one models of the reference know.
type Issue struct {
	Path     []any  // keys are strings, indexes are ints; empty for the whole
	Code     string // ours: missing, type, range, enum, invalid-json
	Message  string // the reference's sentence
	Expected string // what was wanted, in a word
	Received string // what was there, in a word

	raw []byte // the reference's JSON object
}
