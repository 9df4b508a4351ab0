package agent

import (
	"encoding/json"
	"time"

	"github.com/helve-dev/helve/model"
)

// Models say who answers prompts, for runtimes that serve several models by
// name.
type Models struct {
	// Find returns the model of a name, or an error that says what to do.
	Find func(model.Ref) (model.Model, error)
	// SignIn is called before a model of a provider is looked for. ask lets
	// plugins with a hook auth for this provider sign in: it gives what their
	// loader has made, {"apiKey", "baseURL", "headers"} as JSON. Nil: no plugin
	// is asked.
	SignIn func(provider string, ask func() (json.RawMessage, error)) error
	// Default is used where nothing else is said. Small gives sessions their
	// titles; without one the first words of the first prompt do.
	Default, Small model.Ref
}

// Loop says how agents work on prompts. The zero value is the default.
type Loop struct {
	// NoPrune keeps old outputs in the model's sight; NoCompact lets a
	// conversation that has become too long fail instead of being summed up.
	NoPrune, NoCompact bool
	// ContinueAfterReject lets the model go on after a person said no.
	ContinueAfterReject bool
	// Instructions are further texts that an agent's model is told first,
	// such as those of AGENTS.md; none when nil.
	Instructions func(agent string) []string
	// PlanTools offers the tools that begin and end planning.
	PlanTools bool
	// Depth is how deep agents may start agents: 1, when it is 0, is that only
	// those that people talk to may; below 0, that none may.
	Depth int
	// PrimaryTools are never for agents that others started.
	PrimaryTools []string
	// Child is what one agent that another started may take, 30 minutes where
	// Time is 0, and Session what one prompt may, with all agents below it.
	Child, Session Budget
}

// A Budget bounds work. A field that is 0 bounds nothing.
type Budget struct {
	Time   time.Duration
	Idle   time.Duration // without a sign of life of the model
	Tokens int
	Cost   float64 // in US dollars
	Steps  int     // answers of the model
	Calls  int     // of tools
}
