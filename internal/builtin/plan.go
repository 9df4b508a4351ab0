package builtin

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"github.com/helve-dev/helve/tool"
)

//go:embed plan_enter.md
var planEnterDoc string

//go:embed plan_exit.md
var planExitDoc string

// Plans keep the plans of sessions, and switch the agent of a session.
type Plans interface {
	// PlanFile returns where the plan of a session is or will be. shown is relative to the
	// worktree.
	PlanFile(ctx context.Context, session string) (shown, path string, err error)
	// SavePlan writes the plan of a session.
	SavePlan(ctx context.Context, session, text string) error
	// Switch lets another agent continue the conversation after this call, with text as the
	// message.
	Switch(ctx context.Context, c *tool.Call, agent, text string) error
}

type planEnterInput struct{}

type planExitInput struct {
	Plan string `json:"plan,omitempty" jsonschema:"the whole plan, as Markdown; what was saved before stays when it is left out"`
}

// planTools ask the person whether another agent should continue.
type planTools struct {
	plans  Plans
	people People
}

// planEnter offers to plan first. It needs no permission of its own, because it asks the person.
func planEnter(s planTools) tool.Tool {
	spec := tool.Spec{Name: "plan_enter", Description: planEnterDoc, ReadOnly: true, Offer: s.offer}
	return tool.New(spec, func(ctx context.Context, c *tool.Call, _ planEnterInput) (*tool.Result, error) {
		shown, err := s.planFile(ctx, c)
		if err != nil {
			return nil, err
		}
		err = s.confirm(ctx, c, tool.Question{
			Question: fmt.Sprintf("Would you like to switch to the plan agent and create a plan saved to %s?", shown),
			Header:   "Plan Mode",
			Options: []tool.Choice{
				{Label: "Yes", Description: "Switch to plan agent for research and planning"},
				{Label: "No", Description: "Stay with build agent to continue making changes"},
			},
		})
		if err != nil {
			return nil, err
		}
		const wish = "User has requested to enter plan mode. Switch to plan mode and begin planning."
		if err := s.plans.Switch(ctx, c, "plan", wish); err != nil {
			return nil, err
		}
		return &tool.Result{
			Title: "Switching to plan agent",
			Output: fmt.Sprintf("User confirmed to switch to plan mode. A new message has been created to switch you to plan mode. "+
				"The plan file will be at %s. Begin planning.", shown),
		}, nil
	})
}

// planExit stores the plan and offers to carry it out. The plan belongs to the session, as todos
// do, and the model does not choose its path, so the file needs no permission, even where no other
// file may be written.
func planExit(s planTools) tool.Tool {
	spec := tool.Spec{Name: "plan_exit", Description: planExitDoc, ReadOnly: true, Offer: s.offer}
	return tool.New(spec, func(ctx context.Context, c *tool.Call, in planExitInput) (*tool.Result, error) {
		shown, err := s.planFile(ctx, c)
		if err != nil {
			return nil, err
		}
		if in.Plan != "" {
			if err := s.plans.SavePlan(ctx, c.Session, in.Plan); err != nil {
				return nil, err
			}
		}
		err = s.confirm(ctx, c, tool.Question{
			Question: fmt.Sprintf("Plan at %s is complete. Would you like to switch to the build agent and start implementing?", shown),
			Header:   "Build Agent",
			Options: []tool.Choice{
				{Label: "Yes", Description: "Switch to build agent and start implementing the plan"},
				{Label: "No", Description: "Stay with plan agent to continue refining the plan"},
			},
		})
		if err != nil {
			return nil, err
		}
		order := fmt.Sprintf("The plan at %s has been approved, you can now edit files. Execute the plan", shown)
		if err := s.plans.Switch(ctx, c, "build", order); err != nil {
			return nil, err
		}
		return &tool.Result{
			Title: "Switching to build agent", Output: "User approved switching to build agent. Wait for further instructions.",
		}, nil
	})
}

const (
	noPlans  = "There is no conversation here that another agent could go on with. Plan, or work, as you are."
	plansOff = "The tools that switch between planning and building are off; the flag \"plan\" switches them on. Until then, ask the user to switch."
)

func (s planTools) offer(a tool.Audience) (string, bool) {
	switch {
	case s.plans == nil:
		return noPlans, false
	case !a.Flags["plan"]:
		return plansOff, false
	}
	return "", true
}

// planFile returns where the plan of the call's session is or will be.
func (s planTools) planFile(ctx context.Context, c *tool.Call) (shown string, err error) {
	if s.plans == nil {
		return "", tool.Fail("no-plans", "%s", noPlans)
	}
	shown, _, err = s.plans.PlanFile(ctx, c.Session)
	if err != nil {
		return "", fmt.Errorf("finding the place of the plan: %w", err)
	}
	return shown, nil
}

// confirm returns nil when the person agrees. No answer is no consent, because the answer unlocks
// changes. The person's own words go to the model.
func (s planTools) confirm(ctx context.Context, c *tool.Call, q tool.Question) error {
	answers, err := s.people.Question(ctx, c, []tool.Question{q})
	if err != nil {
		return err
	}
	said := ""
	if len(answers) > 0 && len(answers[0]) > 0 {
		said = strings.TrimSpace(answers[0][0])
	}
	switch strings.ToLower(said) {
	case "yes":
		return nil
	case "", "no":
		no := tool.Fail("rejected", "The user dismissed this question")
		no.Kind = tool.Rejected
		return no
	default:
		return tool.Fail("answered", "The user did not agree yet, and said: %s\nGo on as you are, with that in mind.", said)
	}
}
