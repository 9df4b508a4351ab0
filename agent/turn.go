package agent

import (
	"context"
	"errors"

	"github.com/helve-dev/helve/message"
	"github.com/helve-dev/helve/model"
	"github.com/helve-dev/helve/tool"
)

// Turns runs prompts to their end, for any number of sessions at once. An [Agent] does the same for
// one session and yields what happens.
type Turns interface {
	// Prompt lets an agent work on a prompt until it is done. The turn reports the outcome. An
	// error says that the turn could not begin or, where a turn is returned too, that not all of it
	// could be recorded. When Prompt returns, every subscriber of Runtime.Events has received all
	// events of the turn, except a subscriber that took no event for half a second.
	Prompt(ctx context.Context, p Prompt) (*Turn, error)
	// Resume continues a turn that was cancelled or whose process ended. Calls that had started are
	// not repeated: the model is told which ones were interrupted.
	Resume(ctx context.Context, session string) (*Turn, error)
	// Compact summarizes a conversation so that it takes less of the model's context.
	Compact(ctx context.Context, session string) (*Turn, error)
	// Cancel ends the work on a session in this runtime, whoever started it. It reports whether
	// there was any.
	Cancel(session string) bool
	// Lend makes m available to a session: it answers the prompts, and the subagents of its calls,
	// that name m or that have no other model. remove ends that.
	Lend(session string, m model.Model) (remove func())
}

// A Prompt is a person's message to an agent, with its settings.
type Prompt struct {
	Session string    // the session to continue; a new one when empty
	Agent   string    // when empty, the session's last one, else the default one
	Model   model.Ref // when empty, the agent's, else the session's last one, else the default one
	Text    string
	Files   []tool.Attachment // images and files for the model
	Title   string            // of a new session; when empty, the first words of Text
	// New is the id for a new session, made by Runtime.NewID, for a caller that needs it before the
	// turn is over. When it is empty, one is generated.
	New string
}

// A Turn is the outcome of a prompt.
type Turn struct {
	Session string           `json:"session"`
	End     End              `json:"end"`
	Note    string           `json:"note,omitempty"` // the limit that was reached, where End says that one was
	Text    string           `json:"text"`           // the model's last text
	Error   *message.Failure `json:"error,omitempty"`
	Tokens  model.Tokens     `json:"tokens"` // of this turn, including its subagents
	Cost    float64          `json:"cost"`   // likewise, in US dollars
	Steps   int              `json:"steps"`
}

// Type returns "turn", the name among the events of [Agent.Run].
func (*Turn) Type() string { return "turn" }

// An End is the reason why a turn is over.
type End string

// The reasons why a turn ends.
const (
	EndDone     End = "done"     // the model has finished
	EndRejected End = "rejected" // a person said no
	EndCanceled End = "canceled" // whoever asked gave up; it can be resumed
	EndFailed   End = "failed"   // the request to the model failed; Error says why
	EndLength   End = "length"   // the model's answer was cut off
	EndRefused  End = "refused"  // the model refused
	EndRepeats  End = "repeats"  // the model kept repeating itself, and nobody was there to ask
	EndSteps    End = "steps"    // the agent's limit of steps was reached
	EndBudget   End = "budget"   // the budget was spent
)

// ErrBusy says that a prompt is already being worked on in the session.
var ErrBusy = errors.New("this session is busy")
