package builtin

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/model"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

//go:embed task.md
var taskDoc string

const (
	taskAbout = 1024     // bytes of an agent's description in the list
	taskLong  = 32 << 10 // bytes of an answer that may be cut
	taskLines = 1000     // lines of one
)

// ErrNoAgent says that there is no agent with the given name.
var ErrNoAgent = errors.New("there is no such agent")

// Delegates run other agents for a call.
type Delegates interface {
	// Offered returns the agents that the caller's agent may delegate work to, in order; none if
	// there is no model to run them.
	Offered(agent string) []Delegate
	// Delegate runs an agent in a session of its own and returns its answer. The error wraps
	// [ErrNoAgent] if there is no agent with that name.
	Delegate(ctx context.Context, c *tool.Call, errand Errand) (*Report, error)
}

// A Delegate is an agent that work can be given to.
type Delegate struct{ Name, Description string }

// An Errand is a task for another agent.
type Errand struct {
	Agent       string
	Description string // a few words, for people
	Prompt      string
	Session     string // to go on with; a new one when empty, or when it is not known
	// Progress is called for every change, by one goroutine at a time, and never after Delegate has
	// returned.
	Progress func(Report)
}

// A Report is the progress, or the outcome, of a task.
type Report struct {
	Session string
	Text    string // the answer, once there is one
	Model   model.Ref
	Summary []Step
	End     string // why it is over, in a word
	Tokens  model.Tokens
	Cost    float64
	Note    string // why it is only part of the work; "" when it is whole
}

// A Step is a tool call that an agent made for a task.
type Step struct {
	ID    string    `json:"id"`
	Tool  string    `json:"tool"`
	State StepState `json:"state"`
}

// A StepState is the state of a step. Only one that succeeded has a title.
type StepState struct {
	Status string  `json:"status"`
	Title  *string `json:"title,omitempty"`
	Failed bool    `json:"failed,omitempty"` // it succeeded, but the command that it ran did not
}

type taskInput struct {
	Description string `json:"description" jsonschema:"the job in 3 to 5 words"`
	Prompt      string `json:"prompt" jsonschema:"the whole job"`
	Agent       string `json:"subagent_type" jsonschema:"the agent"`
	Task        string `json:"task_id,omitempty" jsonschema:"session_id of a job to go on with"`
	Session     string `json:"session_id,omitempty" jsonschema:"same as task_id"`
	Command     string `json:"command,omitempty" jsonschema:"the user's command behind it"`
}

// task delegates work to another agent.
func task(d Delegates) tool.Tool {
	spec := tool.Spec{Name: "task", Description: taskDoc, Destructive: true, OpenWorld: true, Delegates: true}
	spec.Offer = func(a tool.Audience) (string, bool) {
		if d == nil {
			return "There is no model here that could run another agent. Do the work yourself.", false
		}
		agents := d.Offered(a.Agent)
		if len(agents) == 0 {
			return "There is no agent here that work may be given to, or no model to run it. Do the work yourself.", false
		}
		return describeAgents(agents), true
	}
	return tool.New(spec, func(ctx context.Context, c *tool.Call, in taskInput) (*tool.Result, error) {
		if d == nil {
			return nil, tool.Fail("no-model", "There is no model here that could run another agent. Do the work yourself.")
		}
		err := c.Ask(ctx, permission.Request{
			Permission: spec.Name, Patterns: []string{in.Agent}, Always: []string{"*"},
			Metadata: map[string]any{"description": in.Description, "subagent_type": in.Agent},
		})
		if err != nil {
			return nil, err
		}
		errand := Errand{Agent: in.Agent, Description: in.Description, Prompt: in.Prompt, Session: in.resumed()}
		errand.Progress = func(r Report) { c.Progress(in.Description, r.live()) }
		report, err := d.Delegate(ctx, c, errand)
		switch {
		case errors.Is(err, ErrNoAgent):
			return nil, noAgent(in.Agent, d.Offered(c.Agent))
		case err != nil && ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err != nil:
			return nil, err
		}
		return report.toolResult(in.Description), nil
	})
}

// resumed returns the session to continue. Models also fill the field with text that is no session
// id.
func (in taskInput) resumed() string {
	for _, id := range []string{in.Task, in.Session} {
		if strings.HasPrefix(id, "ses_") {
			return id
		}
	}
	return ""
}

func noAgent(name string, agents []Delegate) error {
	names := make([]string, len(agents))
	for i, a := range agents {
		names[i] = a.Name
	}
	said, _ := text.Cut(name, 200)
	err := tool.Fail("unknown-agent", "Unknown agent type: %s is not a valid agent type", text.VisibleLine(said))
	err.Hint = fmt.Sprintf("The agents are: %s.", enumerated(names))
	if near, ok := text.Nearest(name, names); ok {
		err.Hint += fmt.Sprintf(" Did you mean %q?", near)
	}
	return err
}

// describeAgents is the description of the tool with the list of agents.
func describeAgents(agents []Delegate) string {
	var b strings.Builder
	b.WriteString(strings.TrimSpace(taskDoc) + "\n\nAgents:")
	for _, a := range agents {
		about := text.VisibleLine(strings.Join(strings.Fields(a.Description), " "))
		if about == "" {
			about = "This subagent should only be called manually by the user."
		}
		about, cut := text.Cut(about, taskAbout)
		if cut {
			about += "…"
		}
		b.WriteString("\n- " + text.VisibleLine(a.Name) + ": " + about)
	}
	return b.String()
}

// live returns the metadata while the task is running.
func (r Report) live() map[string]any {
	steps := r.Summary
	if steps == nil {
		steps = []Step{}
	}
	return map[string]any{"summary": steps, "sessionId": r.Session, "model": r.Model}
}

func (r Report) toolResult(title string) *tool.Result {
	metadata := r.live()
	metadata["cost"], metadata["tokens"] = r.Cost, r.Tokens
	output := r.Text
	if r.Note != "" {
		metadata["partial"], metadata["end"] = r.Note, r.End
		// Work is left: the model learns how to go on.
		done := 0
		for _, s := range r.Summary {
			if s.State.Status == "completed" {
				done++
			}
		}
		calls := text.Count(done, "tool call", "tool calls")
		output += "\n\n" + fmt.Sprintf("This is only part of the work: %s. The agent got through %s. To let it go on, call task with task_id %s.",
			strings.TrimRight(r.Note, "."), calls, r.Session)
	}
	block := "<task_metadata>\nsession_id: " + r.Session + "\n</task_metadata>"
	if len(output) > taskLong || strings.Count(output, "\n") > taskLines {
		output = block + "\n\n" + output // where no bound on the output can cut it off
	} else {
		output += "\n\n" + block
	}
	return &tool.Result{Title: title, Output: output, Metadata: metadata}
}
