package agent

import (
	"context"
	"errors"

	"github.com/helve-dev/helve/message"
	"github.com/helve-dev/helve/model"
	"github.com/helve-dev/helve/tool"
)

// Turns works on prompts, each until its end, for any number of sessions at
// once. An [Agent] does the same for one session and yields what happens.
type Turns interface {
	// Prompt lets an agent work on a prompt until it is done. The turn reports
	// the outcome; the error says that it could not begin, or, with a turn, that
	// not all of it could be kept. When Prompt returns, the subscribers of
	// Runtime.Events are done with all events of the turn, except one that takes
	// no event for half a second.
	Prompt(ctx context.Context, p Prompt) (*Turn, error)
	// Resume goes on with a turn that broke off: it was cancelled, or its
	// process ended. Calls that had begun are not made again: the model is told
	// which ones were interrupted.
	Resume(ctx context.Context, session string) (*Turn, error)
	// Compact sums a conversation up, so that it takes less of the model's
	// context.
	Compact(ctx context.Context, session string) (*Turn, error)
	// Cancel ends the work on a session that is under way in this runtime,
	// whoever asked for it. It reports whether there was any.
	Cancel(session string) bool
	// Lend lets the prompts of a session, and the agents that its calls start,
	// be answered by m where they name it or the runtime has no other model.
	Lend(session string, m model.Model) (remove func())
}

// A Prompt is what a person wants of an agent.
type Prompt struct {
	Session string    // to go on with; a new one when empty
	Agent   string    // the session's last one, or the default one, when empty
	Model   model.Ref // the agent's, the session's last one, or the default one, when empty
	Text    string
	Files   []tool.Attachment // images and files to look at
	Title   string            // of a new session; the first words of Text when empty
	// New is the id that a new session gets, made by Runtime.NewID, for a caller
	// that needs it before the turn is over; made up when empty.
	New string
}

// A Turn is what became of a prompt.
type Turn struct {
	Session string           `json:"session"`
	End     End              `json:"end"`
	Note    string           `json:"note,omitempty"` // which limit was reached, where End is that
	Text    string           `json:"text"`           // the last that the model said
	Error   *message.Failure `json:"error,omitempty"`
	Tokens  model.Tokens     `json:"tokens"` // of this turn, with those of the agents that it started
	Cost    float64          `json:"cost"`   // likewise, in US dollars
	Steps   int              `json:"steps"`
}

// Type is the name of a turn among the events of [Agent.Run].
func (*Turn) Type() string { return "turn" }

// An End says why a turn is over.
type End string

// The ends of a turn.
const (
	EndDone     End = "done"     // the model has said all it wanted to
	EndRejected End = "rejected" // a person said no
	EndCanceled End = "canceled" // whoever asked gave up; it can be resumed
	EndFailed   End = "failed"   // the model could not be asked; Error says why
	EndLength   End = "length"   // the model was cut off
	EndRefused  End = "refused"  // the model does not want to
	EndRepeats  End = "repeats"  // it repeated itself, and nobody was there to ask
	EndSteps    End = "steps"    // it took as many steps as its agent may
	EndBudget   End = "budget"   // it took all that it was given
)

// ErrBusy is a session that somebody works on already.
var ErrBusy = errors.New("this session is busy")
