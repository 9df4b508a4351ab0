package loop

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/helve-dev/helve/message"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// atOnce is how many calls of one answer run concurrently.
const atOnce = 16

// RepeatsCode is the code of a call that was not made because it repeats others and there was no
// one to ask.
const RepeatsCode = "doom-loop"

// A callEnd is how a call ended, for the turn.
type callEnd struct {
	part    message.Part
	inner   []message.Part
	blocks  bool // a person said no
	repeats bool
	over    error // nothing was left for it
}

// makeCalls makes the calls of an answer, concurrently, and stores the outcome of each as soon as
// it ends. It reports whether the turn is over.
func (t *turn) makeCalls(ctx context.Context, s *step, at int) (ended bool, err error) {
	var (
		mu    sync.Mutex
		group sync.WaitGroup
		turns = make(chan struct{}, atOnce)
		ends  = make([]callEnd, len(t.msgs[at].Parts))
		wrong error
	)
	for i, p := range t.msgs[at].Parts {
		if p.Type != message.Tool {
			continue
		}
		group.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			l := t.makeCall(ctx, s, p)
			err := t.r.deps.Keeper.Save(context.WithoutCancel(ctx), nil, append([]message.Part{l.part}, l.inner...)...)
			mu.Lock()
			defer mu.Unlock()
			ends[i], wrong = l, errors.Join(wrong, err)
		})
	}
	group.Wait()
	if wrong != nil {
		t.out.Failed = wrong
		return false, wrong
	}
	var blocks, repeats bool
	var over error
	for i, l := range ends {
		if l.part.ID != "" {
			t.msgs[at].Parts[i] = l.part
			t.msgs[at].Parts = append(t.msgs[at].Parts, l.inner...)
			blocks, repeats, over = blocks || l.blocks, repeats || l.repeats, cmp.Or(over, l.over)
		}
	}
	switch {
	case ctx.Err() != nil:
		return false, context.Cause(ctx)
	case over != nil:
		return false, over
	case blocks && !t.r.deps.Rules.ContinueAfterReject:
		t.out.End = Rejected
	case repeats:
		t.out.End = Repeats
	case s.last:
		t.out.End = Steps
	default:
		return false, nil
	}
	return true, nil
}

// makeCall makes one call.
func (t *turn) makeCall(ctx context.Context, s *step, p message.Part) callEnd {
	p = copyPart(p)
	state := p.State
	if s.last {
		t.setFailure(&p, tool.Failed, "no more steps are left, so this call was not made")
		return callEnd{part: p}
	}
	if err := t.work.Purse.TakeCall(); err != nil {
		t.setFailure(&p, tool.Failed, err.Error()+", so this call was not made")
		return callEnd{part: p, over: err}
	}
	input := state.Input
	if state.Raw != "" {
		input = json.RawMessage(state.Raw)
	}
	ref := s.info.Model
	res, err := t.r.deps.Call(ctx, tool.Call{
		ID: p.CallID, Session: p.Session, Message: p.Message, Agent: s.prof.Name, Client: t.work.Client,
		Provider: ref.Provider, Model: ref.Model, Tool: p.Tool, Input: input, Dir: t.work.Dir,
	})
	if err == nil {
		inner := t.completeCall(&p, res)
		return callEnd{part: p, inner: inner}
	}
	return t.failCall(p, err)
}

// completeCall stores the result of a call. It returns the calls that the tool itself made, which
// the model must see too.
func (t *turn) completeCall(p *message.Part, res *tool.Result) (inner []message.Part) {
	s := p.State
	s.Status, s.Output, s.Title, s.Metadata, s.Attachments = message.Completed, res.Output, res.Title, res.Metadata, res.Attachments
	s.Time.End = t.r.deps.Now().UnixMilli()
	if cost, ok := res.Metadata["cost"].(float64); ok {
		s.Cost = cost
	}
	for _, in := range res.Inner {
		part := message.Part{
			ID: t.r.deps.NewID("prt"), Session: p.Session, Message: p.Message, Type: message.Tool, CallID: in.ID, Tool: in.Tool,
			State: &message.State{Time: &message.Span{Start: s.Time.Start, End: s.Time.End}},
		}
		part.State.Input, part.State.Raw = inputObject(in.Input)
		if in.Result != nil && in.Status == string(message.Completed) {
			t.completeCall(&part, in.Result)
		} else {
			part.State.Status, part.State.Error = message.Failed, in.Error
		}
		inner = append(inner, part)
	}
	return inner
}

// failCall stores the error of a call, or what another tool answered for it.
func (t *turn) failCall(p message.Part, err error) callEnd {
	e, ok := errors.AsType[*tool.Error](err)
	if !ok {
		t.setFailure(&p, tool.Failed, err.Error())
		return callEnd{part: p}
	}
	if e.Answer != nil {
		if e.Tool != "" && e.Tool != p.Tool {
			p.State.Input, _ = json.Marshal(map[string]string{"tool": p.Tool, "error": e.Error()})
			p.State.Raw, p.Tool = "", e.Tool
		}
		inner := t.completeCall(&p, e.Answer)
		p.State.Kind = e.Kind // it is an answer for the model, and a failure for people
		return callEnd{part: p, inner: inner}
	}
	words := e.Error()
	if e.Hint != "" && e.Kind != tool.Denied {
		words += "\n" + e.Hint
	}
	t.setFailure(&p, e.Kind, words)
	p.State.Reason = e.Reason()
	l := callEnd{part: p, repeats: e.Kind == tool.Unattended && e.Code == RepeatsCode}
	if e.Kind == tool.Rejected {
		no, asked := errors.AsType[*permission.RejectedError](err)
		l.blocks = !asked || no.Message == ""
	}
	return l
}

func (t *turn) setFailure(p *message.Part, kind tool.Kind, words string) {
	p.State.Status, p.State.Error, p.State.Kind = message.Failed, words, kind
	p.State.Time.End = t.r.deps.Now().UnixMilli()
}
