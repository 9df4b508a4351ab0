package helve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/internal/loop"
	"github.com/helve-dev/helve/internal/prompt"
	"github.com/helve-dev/helve/internal/store"
	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/model"
	"github.com/helve-dev/helve/record"
)

// maxCallShown limits how many bytes of an interrupted call a model is shown.
const maxCallShown = 200

// maxTitle limits how many bytes of a prompt make a title.
const maxTitle = 60

// turns implements agent.Turns, where its methods are documented.
type turns struct{ *Runtime }

// Turns runs prompts to their end. See [agent.New] for a stream of what happens.
func (r *Runtime) Turns() agent.Turns { return turns{r} }

// Prompt lets an agent work on a prompt.
func (r turns) Prompt(ctx context.Context, p agent.Prompt) (*agent.Turn, error) {
	if strings.TrimSpace(p.Text) == "" && len(p.Files) == 0 {
		return nil, errors.New("the prompt is empty: say what is to be done")
	}
	return r.turn(ctx, p.Session, p.New, func(ctx context.Context, s *store.Store, row turnStart) (turnStart, error) {
		said, err := r.resolvePrompt(&row.Session, p)
		if err != nil {
			return row, err
		}
		if row.Time.Created == 0 {
			row.Title = cmp.Or(strings.TrimSpace(p.Title), titleOf(p.Text))
			if row.Session, err = r.createSession(ctx, s, row.Session); err != nil {
				return row, err
			}
			if p.Title == "" {
				row.Untitled = p.Text
			}
		} else if err := r.reopen(ctx, s, row.Session); err != nil {
			return row, err
		}
		r.loops.removeSession(row.ID) // a person may want the same again
		if err := r.chatMessage(ctx, row.ID, &said); err != nil {
			return row, err
		}
		_, err = r.loop.Say(ctx, row.ID, said)
		return row, err
	})
}

// reopen prepares a session for another prompt, with the prompt's agent and model.
func (r *Runtime) reopen(ctx context.Context, s *store.Store, row record.Session) error {
	if _, err := r.loop.Mend(ctx, row.ID); err != nil {
		return err
	}
	now, err := s.UpdateSession(ctx, row.ID, func(v *record.Session) { v.Agent, v.Model = row.Agent, row.Model })
	if err == nil {
		r.events.publish(event.SessionUpdated{Info: now})
	}
	return err
}

// Resume continues an interrupted turn.
func (r turns) Resume(ctx context.Context, session string) (*agent.Turn, error) {
	return r.turn(ctx, session, "", func(ctx context.Context, _ *store.Store, row turnStart) (turnStart, error) {
		if row.Time.Created == 0 {
			return row, errors.New("there is no session to resume: name one")
		}
		found, err := r.loop.Mend(ctx, row.ID)
		if err != nil || !found.Unanswered {
			return row, err
		}
		said, err := r.resolvePrompt(&row.Session, agent.Prompt{Agent: found.Agent, Model: found.Model})
		if err != nil {
			return row, err
		}
		for i, call := range found.Interrupted {
			found.Interrupted[i], _ = text.Cut(call, maxCallShown)
		}
		said.Text, said.Synthetic = prompt.Resumed(found.Interrupted), true
		_, err = r.loop.Say(ctx, row.ID, said)
		return row, err
	})
}

// Compact summarizes a conversation.
func (r turns) Compact(ctx context.Context, session string) (*agent.Turn, error) {
	return r.turn(ctx, session, "", func(ctx context.Context, _ *store.Store, row turnStart) (turnStart, error) {
		if row.Time.Created == 0 {
			return row, errors.New("there is no session to sum up: name one")
		}
		found, err := r.loop.Mend(ctx, row.ID)
		if err != nil {
			return row, err
		}
		said, err := r.resolvePrompt(&row.Session, agent.Prompt{Agent: found.Agent, Model: found.Model})
		if err != nil {
			return row, err
		}
		said.Compact = true
		_, err = r.loop.Say(ctx, row.ID, said)
		return row, err
	})
}

// A turnStart is a session that is about to be worked on, with the prompt that will give it its
// title.
type turnStart struct {
	record.Session
	Untitled string
}

// turn prepares a session, works on it, and reports the outcome. If session is empty, prepare makes
// a new one, with the id newID if that is set.
func (r *Runtime) turn(ctx context.Context, session, newID string,
	prepare func(context.Context, *store.Store, turnStart) (turnStart, error),
) (*agent.Turn, error) {
	if err := r.policyError(""); err != nil {
		return nil, err // no work was possible, so there is nothing to report
	}
	ctx, release, err := r.acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	defer r.events.flush()
	s, err := r.store.get()
	if err != nil {
		return nil, fmt.Errorf("opening the records: %w", err)
	}
	row := turnStart{Session: r.newSession()}
	if session != "" {
		if row.Session, err = s.Session(ctx, session); err != nil {
			return nil, notFoundError("session", session, err)
		}
	} else {
		row.ID = cmp.Or(newID, row.ID)
	}
	unclaim, err := s.ClaimTurn(ctx, row.ID, r.opt.Client)
	if errors.Is(err, store.ErrBusy) {
		return nil, fmt.Errorf("%w: another turn works on it; wait for its end, or stop it", agent.ErrBusy)
	}
	if err != nil {
		return nil, err
	}
	defer unclaim()
	st, err := r.activeSession(ctx, s, row.Session)
	if err != nil {
		return nil, err
	}
	defer r.active.add(st)()
	if row, err = prepare(ctx, s, row); err != nil {
		return nil, err
	}
	ctx, done := r.registerTurn(ctx, row.ID)
	defer done()
	named := r.makeTitle(ctx, row, st.budget)
	out := r.loop.Run(ctx, r.newWork(row.Session, st.budget))
	named()
	turn := turnOf(row.ID, st.budget, out)
	return turn, out.Failed
}

func (r *Runtime) newWork(row record.Session, purse *loop.Purse) loop.Work {
	return loop.Work{Session: row.ID, Dir: cmp.Or(row.Dir, r.dir), Root: r.worktree, Client: r.opt.Client, Purse: purse}
}

func turnOf(session string, purse *loop.Purse, o loop.Outcome) *agent.Turn {
	usage, cost := purse.Spent()
	return &agent.Turn{
		Session: session, End: agent.End(o.End), Note: o.Note, Text: o.Text, Error: o.Error,
		Tokens: model.TokensOf(usage), Cost: cost, Steps: o.Steps,
	}
}

// newSession returns a session that is not stored yet.
func (r *Runtime) newSession() record.Session {
	return record.Session{ID: r.newID("ses"), Dir: r.dir, Project: r.project, Slug: slug()}
}

func (r *Runtime) createSession(ctx context.Context, s *store.Store, row record.Session) (record.Session, error) {
	row.Time.Created = r.now().UnixMilli()
	row.Time.Updated = row.Time.Created
	if err := s.CreateSession(ctx, row); err != nil {
		return row, err
	}
	r.events.publish(event.SessionCreated{Info: row})
	return row, nil
}

// resolvePrompt decides which agent and model answer a prompt.
func (r *Runtime) resolvePrompt(row *record.Session, p agent.Prompt) (loop.Said, error) {
	name := cmp.Or(p.Agent, row.Agent)
	a := r.agent(name)
	if a == nil && p.Agent == "" {
		return loop.Said{}, fmt.Errorf("the agent %q, which this session was for, is no more: name one of %s to go on with it", name, strings.Join(r.agentNames(), ", "))
	}
	if a == nil {
		return loop.Said{}, fmt.Errorf("there is no agent called %q; there are %s", name, strings.Join(r.agentNames(), ", "))
	}
	ref, err := r.modelFor(row.ID, a, p.Model, row.Model)
	if err != nil {
		return loop.Said{}, err
	}
	if a.Hidden && p.Agent != "" {
		return loop.Said{}, fmt.Errorf("the agent %q does work behind the scenes and can not be talked to; there are %s", name, strings.Join(r.agentNames(), ", "))
	}
	row.Agent, row.Model = a.Name, ref
	r.active.setActing(row.ID, r.agentIn(row.ID, a.Name)) // before plugins see the message
	return loop.Said{Agent: a.Name, Model: ref, Text: p.Text, Files: p.Files}, nil
}

// modelFor returns the model of an agent: the requested one, its own, the previous one, the default
// one, or one that the client lends.
func (r *Runtime) modelFor(session string, a *agent.Spec, wished, before model.Ref) (model.Ref, error) {
	none := model.Ref{}
	for _, ref := range []model.Ref{wished, a.Model} {
		if ref != none {
			_, err := r.findModel(session, ref)
			return ref, err
		}
	}
	if before != none {
		if _, err := r.findModel(session, before); err == nil {
			return before, nil
		} // it is no more
	}
	if ref := r.opt.Models.Default; ref != none {
		_, err := r.findModel(session, ref)
		return ref, err
	}
	if l, ok := r.lent.sessionModel(session); ok {
		return l.ref(), nil
	}
	if r.opt.Models.Find == nil {
		return model.Ref{}, errNoModels
	}
	if _, err := r.opt.Models.Find(model.Ref{}); err != nil {
		return model.Ref{}, err // says what to do
	}
	return model.Ref{}, errNoDefault
}

// titleOf returns the beginning of a prompt.
func titleOf(prompt string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(prompt), "\n")
	title, cut := text.Cut(strings.Join(strings.Fields(line), " "), maxTitle)
	if cut {
		title += "…"
	}
	return title
}
