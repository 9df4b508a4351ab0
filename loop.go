package helve

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/internal/loop"
	"github.com/helve-dev/helve/internal/prompt"
	"github.com/helve-dev/helve/message"
	"github.com/helve-dev/helve/model"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// continuePrompt is the message sent after an automatic summary.
func continuePrompt(wish string) string {
	said := "Go on with what is left to do, if anything is; otherwise say in a sentence that it is done."
	if wish != "" {
		said += "\n\nWhat the user said last, in their own words:\n\n" + wish
	}
	return said
}

// openLoop creates the runner of prompts.
func (r *Runtime) openLoop() {
	r.loop = loop.New(loop.Deps{
		Call: r.Call, Tools: r.toolsIn, Lasts: r.keepsResult, Profile: r.profile, Model: r.findModel, Shape: r.shape, Keeper: messageStore{r}, Watch: r.publishLoop,
		NewID: r.newID, Now: r.now,
		Rules: loop.Rules{NoPrune: r.opt.Loop.NoPrune, NoCompact: r.opt.Loop.NoCompact, ContinueAfterReject: r.opt.Loop.ContinueAfterReject},
		Words: loop.Words{SumUp: prompt.Compact(), GoOn: continuePrompt},
	})
}

// keepsResult reports whether the results of a tool are never pruned from the conversation.
func (r *Runtime) keepsResult(name string) bool {
	e, ok := r.registry.newest(name)
	return ok && e.spec.Lasts
}

// toolsIn returns the tools that an agent's model is shown in a session.
func (r *Runtime) toolsIn(ctx context.Context, session string, a tool.Audience) []tool.Spec {
	r.Ready(ctx)
	return r.shownTo(ctx, r.agentIn(session, a.Agent), a)
}

// hides reports whether the rules hide a tool from the agent.
func hides(a *agent.Spec, s tool.Spec) bool {
	return a.Policy.Of(s.Name, s.Permission).Hides(s.Permission)
}

// hidesTool reports whether a tool is hidden from a locked agent: one that makes forbidden changes,
// or whose changes are not known.
func hidesTool(a *agent.Spec, s tool.Spec) bool {
	if a == nil || !a.Locked || s.ReadOnly {
		return false
	}
	return s.External || a.Policy.Decide(s.Permission, "*").Action == permission.Deny
}

// profile returns how an agent works in a session.
func (r *Runtime) profile(_ context.Context, session, name string, ref model.Ref) (loop.Profile, error) {
	a := r.agentIn(session, name)
	if a == nil {
		return loop.Profile{}, fmt.Errorf("there is no agent called %q any more", name)
	}
	r.active.setActing(session, a)
	o := prompt.Options{
		Agent: a.Name, Own: a.Prompt, Model: ref.String(), Dir: r.dir, Worktree: r.worktree,
		Git: isGit(r.worktree), Platform: runtime.GOOS, Date: r.now().Format("2006-01-02"),
	}
	if r.opt.Loop.Instructions != nil && !a.Hidden {
		o.Instructions = r.opt.Loop.Instructions(a.Name)
	}
	return loop.Profile{
		Name: a.Name, Model: a.Model, System: prompt.System(o), Steps: a.Steps, Temperature: a.Temperature, TopP: a.TopP, Options: a.Options,
		Reminder: func(before []message.Message) string { return r.reminder(a, session, before) }, LastStep: prompt.LastStep(),
	}, nil
}

// reminder returns the note that goes with every prompt to an agent: that it may not change
// anything, or that it may again.
func (r *Runtime) reminder(a *agent.Spec, session string, before []message.Message) string {
	if a.Locked {
		shown, path, err := plans{r}.PlanFile(r.ctx, session)
		if err != nil || !r.opt.Loop.PlanTools {
			return prompt.PlanReminder("", false)
		}
		return prompt.PlanReminder(shown, exists(path))
	}
	for i, m := range slices.Backward(before) {
		if m.Info.Role != message.Assistant || m.Info.Summary {
			continue
		}
		if was := r.agent(m.Info.Agent); was != nil && was.Locked && i < len(before)-1 {
			return prompt.BuildReminder(r.writtenPlan(session))
		}
		return ""
	}
	return ""
}

// writtenPlan returns the plan of a session for display, if there is one.
func (r *Runtime) writtenPlan(session string) string {
	shown, path, err := plans{r}.PlanFile(r.ctx, session)
	if err != nil || !exists(path) {
		return ""
	}
	return shown
}

func isGit(worktree string) bool { return exists(filepath.Join(worktree, ".git")) }

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// publishLoop publishes how the work on a session is going.
func (r *Runtime) publishLoop(session string, s loop.Status) {
	switch s.Type {
	case "compacted":
		r.events.publish(event.SessionCompacted{Session: session})
	case "failed":
		r.events.publish(event.SessionError{Session: session, Error: *s.Failure})
	case "notice":
		r.log.Warn(s.Message, "session", session)
	default:
		st := event.Status{Type: s.Type, Attempt: s.Attempt, Message: s.Message}
		if !s.Next.IsZero() {
			st.Next = s.Next.UnixMilli()
		}
		r.events.publish(event.SessionStatus{Session: session, Status: st})
		if s.Type == "idle" {
			r.events.publish(event.SessionIdle{Session: session})
		}
	}
}
