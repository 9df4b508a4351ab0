package agent

import (
	"encoding/json"
	"time"

	"github.com/helve-dev/helve/model"
)

// Models select the models that answer prompts, for runtimes that serve several by name.
type Models struct {
	// Find returns the model with a name, or an error that says what to do.
	Find func(model.Ref) (model.Model, error)
	// SignIn is called before a provider's model is looked up. ask lets plugins that have an auth
	// hook for this provider sign in, and returns what their loader produced: {"apiKey", "baseURL",
	// "headers"} as JSON. When SignIn is nil, no plugin is asked.
	SignIn func(provider string, ask func() (json.RawMessage, error)) error
	// Default is the model used where nothing else selects one. Small writes the titles of
	// sessions; without it, the first words of the first prompt are the title.
	Default, Small model.Ref
}

// A Loop configures how agents work on prompts. The zero value is the default.
type Loop struct {
	// NoPrune keeps the output of old calls in what the model is sent. NoCompact lets a
	// conversation that has become too long fail instead of summarizing it.
	NoPrune, NoCompact bool
	// ContinueAfterReject lets the model continue after a person rejected a request.
	ContinueAfterReject bool
	// Instructions returns further texts for the start of the conversation, such as those of
	// AGENTS.md. It may be nil.
	Instructions func(agent string) []string
	// PlanTools offers the tools that start and end planning.
	PlanTools bool
	// Depth limits how deeply subagents may nest. At 1, which 0 also means, only the agents that
	// people talk to may start others; below 0, none may.
	Depth int
	// PrimaryTools are tools that subagents never get.
	PrimaryTools []string
	// Child limits one subagent (to 30 minutes where its Time is 0). Session limits one prompt
	// together with all subagents it starts.
	Child, Session Budget
}

// A Budget limits work. A field that is 0 sets no limit.
type Budget struct {
	Time   time.Duration
	Idle   time.Duration // without anything from the model
	Tokens int
	Cost   float64 // in US dollars
	Steps  int     // answers from the model
	Calls  int     // tool calls
}
