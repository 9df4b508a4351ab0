package loop

import (
	"context"

	"github.com/helve-dev/helve/message"
	"github.com/helve-dev/helve/model"
	"github.com/helve-dev/helve/tool"
)

// Mended reports what was found when a conversation was repaired.
type Mended struct {
	Unanswered  bool     // something is left to be answered
	Interrupted []string // the calls whose outcome is unknown
	Agent       string   // the agent of the last prompt
	Model       model.Ref
}

// Mend repairs a conversation whose turn broke off, so that it can be continued. Calls that were
// running are not made again: a recorded outcome becomes their result, and otherwise they count as
// interrupted.
func (r *Runner) Mend(ctx context.Context, session string) (out Mended, err error) {
	msgs, err := r.deps.Keeper.Messages(ctx, session)
	if err != nil {
		return out, err
	}
	for _, m := range msgs {
		lost, err := r.mendCalls(ctx, session, m)
		if err != nil {
			return out, err
		}
		out.Interrupted = append(out.Interrupted, lost...)
	}
	t := &turn{r: r, msgs: msgs}
	asked := t.lastUserMessage()
	if asked >= 0 {
		out.Agent, out.Model = msgs[asked].Info.Agent, msgs[asked].Info.Model
	}
	cutOff := asked >= 0 && asked < len(msgs)-1 && msgs[len(msgs)-1].Info.Finish == string(model.Length)
	out.Unanswered = asked >= 0 && !t.isAnswered(asked) || cutOff
	return out, nil
}

// mendCalls ends the unfinished calls of a message. It returns those whose outcome is unknown.
func (r *Runner) mendCalls(ctx context.Context, session string, m message.Message) (lost []string, err error) {
	var mended []message.Part
	for _, p := range m.Parts {
		if p.Type != message.Tool || p.State.Status == message.Completed || p.State.Status == message.Failed {
			continue
		}
		state, err := r.deps.Keeper.Recorded(ctx, session, p.CallID)
		if err != nil {
			return nil, err
		}
		p.State = r.recordedState(p.State, state)
		if state == nil {
			lost = append(lost, p.Tool+" "+string(p.State.Input))
		}
		mended = append(mended, p)
	}
	if len(mended) == 0 {
		return nil, nil
	}
	return lost, r.deps.Keeper.Save(ctx, nil, mended...)
}

// recordedState is how a call ended that its message takes for running.
func (r *Runner) recordedState(was, recorded *message.State) *message.State {
	out := *was
	if recorded != nil {
		out = *recorded
		out.Input, out.Raw = was.Input, was.Raw
		return &out
	}
	now := r.deps.Now().UnixMilli()
	out.Status, out.Error, out.Kind = message.Failed, interrupted, tool.Canceled
	out.Time = &message.Span{Start: now, End: now}
	if was.Time != nil {
		out.Time.Start = was.Time.Start
	}
	return &out
}
