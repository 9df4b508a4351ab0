package loop

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/helve-dev/helve/message"
	"github.com/helve-dev/helve/model"
)

// lasting is how many answers in a row may overflow the model's context, although the conversation
// was compacted after each.
const lasting = 2

// A turn is the work on a conversation.
type turn struct {
	r    *Runner
	work Work
	msgs []message.Message
	ids  map[string]bool // of calls

	schemas   map[fitted]json.RawMessage // encoded
	overflows int                        // in a row
	out       Outcome
}

// A fitted schema is one as a model takes it: a turn may be handed to an agent
// whose model takes another form.
type fitted struct {
	schema *jsonschema.Schema
	model  model.Ref
}

// Run answers the last user message of a session, and those that arrive meanwhile. It returns
// within about a second after ctx has ended.
func (r *Runner) Run(ctx context.Context, w Work) Outcome {
	if w.Purse == nil {
		w.Purse = NewPurse(nil, Limit{})
	}
	ctx, cancel := w.Purse.Within(ctx)
	defer cancel()
	defer r.takeMessages(w.Session) // what was to be said after a turn that broke off is not
	t := &turn{r: r, work: w, ids: map[string]bool{}, schemas: map[fitted]json.RawMessage{}}
	r.deps.Watch(w.Session, Status{Type: "busy"})
	defer r.deps.Watch(w.Session, Status{Type: "idle"})
	t.finishTurn(ctx, t.run(ctx))
	if t.out.Error != nil {
		r.deps.Watch(w.Session, Status{Type: "failed", Failure: t.out.Error})
	}
	return t.out
}

// finishTurn sets the outcome of the turn, unless an answer has set it.
func (t *turn) finishTurn(ctx context.Context, err error) {
	if !t.r.deps.Rules.NoPrune && t.out.Failed == nil {
		if err := t.prune(context.WithoutCancel(ctx)); err != nil {
			t.out.Failed = err
		}
	}
	t.out.Text = lastText(t.msgs)
	over, isOver := errors.AsType[*OverError](cmp.Or(err, context.Cause(ctx)))
	switch {
	case isOver:
		t.out.End, t.out.Note = Spent, over.What
	case ctx.Err() != nil:
		t.out.End = Canceled
	case err != nil:
		t.out.End, t.out.Error = Failed, failureOf(err)
	}
}

// lastText returns the last text of the model in answer to the last prompt of a person.
func lastText(msgs []message.Message) string {
	for _, m := range slices.Backward(msgs) {
		if m.Info.Role == message.User {
			if !synthetic(m) {
				return ""
			}
			continue
		}
		if m.Info.Summary {
			continue
		}
		for _, p := range slices.Backward(m.Parts) {
			if p.Type == message.Text && p.Text != "" {
				return p.Text
			}
		}
	}
	return ""
}

// synthetic reports whether a message was written by no one.
func synthetic(m message.Message) bool {
	return !slices.ContainsFunc(m.Parts, func(p message.Part) bool {
		return p.Type != message.Compaction && !p.Synthetic
	})
}

func (t *turn) run(ctx context.Context) error {
	msgs, err := t.r.deps.Keeper.Messages(ctx, t.work.Session)
	if err != nil {
		return err
	}
	t.msgs = msgs
	for _, m := range msgs {
		for _, p := range m.Parts {
			if p.Type == message.Tool {
				t.ids[p.CallID] = true
			}
		}
	}
	for {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		if err := t.acceptMessages(ctx); err != nil {
			return err
		}
		asked := t.lastUserMessage()
		if asked < 0 || t.isAnswered(asked) {
			t.out.End = cmp.Or(t.out.End, Done)
			return nil
		}
		if err := t.work.Purse.Over(); err != nil {
			return err
		}
		ended, err := t.forward(ctx, asked)
		if err != nil {
			return err
		}
		if ended && !t.more() {
			return nil
		}
	}
}

// forward performs the next action: it compacts the conversation, or takes a step.
func (t *turn) forward(ctx context.Context, asked int) (ended bool, err error) {
	if wish := compactionOf(t.msgs[asked]); wish != nil {
		return t.compact(ctx, asked, wish.Auto)
	}
	if !t.r.deps.Rules.NoCompact && t.crowded() {
		return false, t.wishCompaction(ctx, asked)
	}
	return t.step(ctx, asked)
}

// acceptMessages adds the messages that arrived meanwhile.
func (t *turn) acceptMessages(ctx context.Context) error {
	for _, s := range t.r.takeMessages(t.work.Session) {
		if i := t.lastUserMessage(); i >= 0 {
			s.Agent = cmp.Or(s.Agent, t.msgs[i].Info.Agent)
			if s.Model == (model.Ref{}) {
				s.Model = t.msgs[i].Info.Model
			}
		}
		m, err := t.r.Say(ctx, t.work.Session, s)
		if err != nil {
			return err
		}
		t.msgs = append(t.msgs, m)
	}
	return nil
}

func (t *turn) more() bool {
	t.r.mu.Lock()
	defer t.r.mu.Unlock()
	return len(t.r.inbox[t.work.Session]) > 0
}

// lastUserMessage returns the index of the last user message.
func (t *turn) lastUserMessage() int {
	for i, m := range slices.Backward(t.msgs) {
		if m.Info.Role == message.User {
			return i
		}
	}
	return -1
}

// isAnswered reports whether the model has finished its answer.
func (t *turn) isAnswered(asked int) bool {
	last := t.msgs[len(t.msgs)-1]
	if len(t.msgs)-1 <= asked || last.Info.Error != nil {
		return false
	}
	calls := slices.ContainsFunc(last.Parts, func(p message.Part) bool { return p.Type == message.Tool })
	return last.Info.Finish != "" && last.Info.Finish != string(model.Calls) && !calls
}

// step asks the model for one answer and makes its calls.
func (t *turn) step(ctx context.Context, asked int) (ended bool, err error) {
	s, err := t.buildStep(ctx, asked)
	if err != nil {
		return false, err
	}
	t.out.Steps++
	if err := s.requestAnswer(ctx); err != nil {
		return false, t.broke(ctx, s, err)
	}
	t.overflows = 0
	if err := t.land(ctx, s); err != nil {
		return false, err
	}
	if !s.calls() {
		t.out.End = endOf(s.reason)
		return true, nil
	}
	t.out.End = ""
	return t.makeCalls(ctx, s, len(t.msgs)-1)
}

// land charges a complete answer and stores it.
func (t *turn) land(ctx context.Context, s *step) error {
	t.work.Purse.Spend(s.spent())
	m := s.message()
	if err := t.save(ctx, &m.Info, m.Parts...); err != nil {
		return err
	}
	t.msgs = append(t.msgs, m)
	return nil
}

// endOf is the end that a reason of the model makes.
func endOf(r model.Reason) string {
	switch r {
	case model.Length:
		return Length
	case model.Refused:
		return Refused
	}
	return Done
}

// broke stores an answer that broke off, and decides what to do: nil means that the conversation
// was compacted and the model is asked again.
func (t *turn) broke(ctx context.Context, s *step, err error) error {
	if e, ok := errors.AsType[*model.Error](err); ok && e.Kind == model.Overflow && !t.r.deps.Rules.NoCompact && t.overflows < lasting {
		t.overflows++
		t.r.deps.Keeper.Tell(News{Info: &s.info, Removed: true})
		return t.wishCompaction(ctx, s.asked)
	}
	if usage, cost := s.spent(); usage != (model.Usage{}) {
		t.work.Purse.Spend(usage, cost)
	}
	m := s.broken(ctx, err)
	if saved := t.save(ctx, &m.Info, m.Parts...); saved != nil {
		return errors.Join(err, saved)
	}
	t.msgs = append(t.msgs, m)
	return err
}

// save stores something even if ctx has ended.
func (t *turn) save(ctx context.Context, info *message.Info, parts ...message.Part) error {
	err := t.r.deps.Keeper.Save(context.WithoutCancel(ctx), info, parts...)
	if err != nil {
		t.out.Failed = err
	}
	return err
}

// failureOf is an error in the form that is kept.
func failureOf(err error) *message.Failure {
	f := &message.Failure{Name: "UnknownError", Data: message.FailureData{Message: err.Error()}}
	if e, ok := errors.AsType[*model.Error](err); ok {
		f.Name, f.Data.Kind, f.Data.Status = "APIError", string(e.Kind), e.Status
		switch e.Kind {
		case model.Auth:
			f.Name = "ProviderAuthError"
		case model.Overflow:
			f.Name = "ContextOverflowError"
		}
	}
	return f
}

// stopped is the failure of an answer that was stopped.
func stopped(ctx context.Context) *message.Failure {
	f := &message.Failure{Name: abortedName, Data: message.FailureData{Message: "The answer was stopped."}}
	if over, ok := errors.AsType[*OverError](context.Cause(ctx)); ok {
		f.Data.Message = "The answer was stopped: " + over.What + "."
	}
	return f
}
