// Package loop runs a model with its tools: it sends the conversation to the model, makes the calls
// that the model requests through the runtime, and sends back their results, until the model has
// finished.
//
// A turn saves its progress as it goes. Every action is recorded before it is performed, so a turn
// that is interrupted at any point can be resumed, and no call is made twice.
package loop

import (
	"context"
	"sync"
	"time"

	"github.com/helve-dev/helve/message"
	"github.com/helve-dev/helve/model"
	"github.com/helve-dev/helve/tool"
)

// Deps are what the loop works with.
type Deps struct {
	// Call makes a tool call; Tools are those that a model is shown.
	Call  func(ctx context.Context, c tool.Call) (*tool.Result, error)
	Tools func(ctx context.Context, session string, a tool.Audience) []tool.Spec
	// Lasts reports whether the results of a tool stay in the model's context.
	Lasts func(tool string) bool
	// Profile returns how an agent works in a session.
	Profile func(ctx context.Context, session, agent string, m model.Ref) (Profile, error)
	// Model returns the model of a name.
	Model func(session string, m model.Ref) (model.Model, error)

	// Shape may change the request to the model that answers a message.
	Shape func(ctx context.Context, to message.Info, req *model.Request) error

	Keeper Keeper
	// Watch is called with the progress of the work.
	Watch func(session string, s Status)
	NewID func(prefix string) string
	Now   func() time.Time
	Rules Rules
	Words Words
}

// Words are the texts that the loop itself sends to models.
type Words struct {
	SumUp string                   // asks for a summary
	GoOn  func(wish string) string // after an automatic summary; wish is the last prompt
}

// Rules configure turns.
type Rules struct {
	NoPrune, NoCompact  bool
	ContinueAfterReject bool
}

// A Profile is an agent as its model meets it.
type Profile struct {
	Name              string
	Model             model.Ref // its own; none where it has none
	System            []string
	Reminder          func(before []message.Message) string // said to the model with the last prompt; "" for nothing
	LastStep          string                                // said when no more steps are left
	Steps             int
	Temperature, TopP *float64
	Options           map[string]any
}

// A Keeper stores conversations.
type Keeper interface {
	Messages(ctx context.Context, session string) ([]message.Message, error)
	// Save stores a message, unless info is nil, and parts, and notifies subscribers. It may fail
	// when ctx has ended: callers that must save pass a context that does not end.
	Save(ctx context.Context, info *message.Info, parts ...message.Part) error
	// Tell notifies subscribers without storing.
	Tell(n News)
	// Recorded returns the recorded outcome of a call that its message lacks.
	Recorded(ctx context.Context, session, call string) (*message.State, error)
}

// News is a change that is published but not stored yet: one field is set, and for Delta also Part,
// which it belongs to.
type News struct {
	Info    *message.Info
	Part    *message.Part
	Delta   string
	Removed bool // Part, or Info, is not to be
}

// A Status is the progress of the work on a session: "busy", "retry" or "idle"; also "failed",
// "compacted", and "notice", which is for the person.
type Status struct {
	Type    string
	Attempt int
	Message string
	Next    time.Time
	Failure *message.Failure
}

// Work is a turn to do: it answers the last user message of a session.
type Work struct {
	Session   string
	Dir, Root string
	Client    string
	Purse     *Purse
}

// An Outcome is how a turn ended.
type Outcome struct {
	End    string // as agent.End says
	Text   string // the last that the model said
	Note   string // why it ended, where End alone does not say it
	Error  *message.Failure
	Steps  int
	Failed error // what could not be kept
}

// The ends of a turn.
const (
	Done     = "done"
	Rejected = "rejected"
	Canceled = "canceled"
	Failed   = "failed"
	Length   = "length"
	Refused  = "refused"
	Repeats  = "repeats"
	Steps    = "steps"
	Spent    = "budget"
)

// A Runner does turns, of any number of sessions at once.
type Runner struct {
	deps Deps

	mu    sync.Mutex
	inbox map[string][]Said // by session: what is to be said next
}

// New returns a runner.
func New(d Deps) *Runner { return &Runner{deps: d, inbox: map[string][]Said{}} }

// Said is a user message, or one on the user's behalf.
type Said struct {
	Agent     string
	Model     model.Ref
	Text      string
	Synthetic bool
	Files     []tool.Attachment
	Compact   bool // sum the conversation up instead
	Auto      bool // not requested by the user
}

// Say stores a user message; [Runner.Run] answers it.
func (r *Runner) Say(ctx context.Context, session string, s Said) (message.Message, error) {
	m := message.Message{Info: message.Info{
		ID: r.deps.NewID("msg"), Session: session, Role: message.User, Agent: s.Agent, Model: s.Model,
		Time: message.Times{Created: r.deps.Now().UnixMilli()},
	}}
	part := func(t message.PartType) message.Part {
		return message.Part{ID: r.deps.NewID("prt"), Session: session, Message: m.Info.ID, Type: t}
	}
	if s.Compact {
		p := part(message.Compaction)
		p.Auto = s.Auto
		m.Parts = append(m.Parts, p)
	}
	if s.Text != "" {
		p := part(message.Text)
		p.Text, p.Synthetic = s.Text, s.Synthetic
		m.Parts = append(m.Parts, p)
	}
	for _, f := range s.Files {
		p := part(message.File)
		p.Mime, p.Filename, p.URL = f.Mime, f.Filename, f.URL
		m.Parts = append(m.Parts, p)
	}
	return m, r.deps.Keeper.Save(ctx, &m.Info, m.Parts...)
}

// Next queues s as the next user message, after the answer in progress.
func (r *Runner) Next(session string, s Said) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.inbox[session] = append(r.inbox[session], s)
}

func (r *Runner) takeMessages(session string) []Said {
	r.mu.Lock()
	defer r.mu.Unlock()
	said := r.inbox[session]
	delete(r.inbox, session)
	return said
}
