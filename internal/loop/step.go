package loop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/message"
	"github.com/helve-dev/helve/model"
	"github.com/helve-dev/helve/tool"
)

// A step is one answer of the model, as received so far.
type step struct {
	t     *turn
	asked int // the message it answers
	last  bool
	prof  Profile
	model model.Model
	req   model.Request

	info    message.Info
	first   string // id of the part that it begins with
	parts   []message.Part
	open    int              // the text or reasoning that grows; -1 for none
	grown   grown            // its text
	pending []int            // the calls
	coming  map[string][]int // those whose input has not come yet, by their ids
	size    int              // bytes of all that came
	tries   []message.Part
	reason  model.Reason
	usage   model.Usage
}

// buildStep makes the request of a step.
func (t *turn) buildStep(ctx context.Context, asked int) (*step, error) {
	d, info := t.r.deps, t.msgs[asked].Info
	prof, err := d.Profile(ctx, t.work.Session, info.Agent, info.Model)
	if err != nil {
		return nil, err
	}
	m, err := d.Model(t.work.Session, info.Model)
	if err != nil {
		return nil, err
	}
	s := &step{t: t, asked: asked, prof: prof, model: m, open: -1}
	s.last = prof.Steps > 0 && t.out.Steps+1 >= prof.Steps
	s.info, s.first = t.newAnswer(asked, prof.Name), d.NewID("prt")
	s.req = model.Request{
		Model: info.Model.Model, System: prof.System, Messages: forModel(t.msgs, info.Model), Session: t.work.Session,
		Temperature: prof.Temperature, TopP: prof.TopP, Options: prof.Options, MaxTokens: answerRoom(m.Info),
	}
	s.remind(t.msgs[:asked+1])
	s.req.Tools = t.tools(ctx, prof.Name, info.Model, m)
	return s, d.Shape(ctx, info, &s.req)
}

// answerRoom is the maximal length of an answer.
func answerRoom(info model.Info) int {
	if info.Output <= 0 {
		return 0
	}
	return min(info.Output, maxAnswer)
}

func (t *turn) newAnswer(asked int, agent string) message.Info {
	to := t.msgs[asked].Info
	return message.Info{
		ID: t.r.deps.NewID("msg"), Session: t.work.Session, Role: message.Assistant, Agent: agent, Model: to.Model, Parent: to.ID,
		Time: message.Times{Created: t.r.deps.Now().UnixMilli()}, Path: &message.Path{Cwd: t.work.Dir, Root: t.work.Root},
	}
}

// remind adds the current reminders to what the model certainly reads: the last prompt, or the last
// results.
func (s *step) remind(before []message.Message) {
	var texts []string
	if s.prof.Reminder != nil {
		texts = append(texts, s.prof.Reminder(before))
	}
	if s.last {
		texts = append(texts, s.prof.LastStep)
	}
	for _, said := range texts {
		if said == "" {
			continue
		}
		for i, m := range slices.Backward(s.req.Messages) {
			if m.Role == model.User {
				s.req.Messages[i].Parts = append(slices.Clip(m.Parts), model.Part{Text: said})
				break
			}
		}
	}
}

// tools returns the tools that the model may call. A tool whose schema the model does not accept is
// left out, with a notice to the person.
func (t *turn) tools(ctx context.Context, agent string, ref model.Ref, m model.Model) []model.Tool {
	specs := t.r.deps.Tools(ctx, t.work.Session, audience(t.work, agent, ref))
	out := make([]model.Tool, 0, len(specs))
	for _, spec := range specs {
		schema, err := t.schema(spec, ref, m)
		if err != nil {
			t.r.deps.Watch(t.work.Session, Status{Type: "notice", Message: fmt.Sprintf(
				"the tool %s is not offered to %s: %v", spec.Name, ref, err)})
			continue
		}
		out = append(out, model.Tool{Name: spec.Name, Description: spec.Description, Schema: schema})
	}
	return out
}

// schema is a tool's schema for a model; each is made once a turn.
func (t *turn) schema(spec tool.Spec, ref model.Ref, m model.Model) (json.RawMessage, error) {
	key := fitted{spec.Schema, ref}
	if raw, ok := t.schemas[key]; ok && spec.Schema != nil {
		return raw, nil
	}
	raw, err := json.Marshal(spec.Schema)
	if err == nil && m.Fit != nil {
		raw, err = m.Fit(raw)
	}
	if err != nil {
		return nil, err
	}
	t.schemas[key] = raw
	return raw, nil
}

// take adds an event of the stream to the answer.
func (s *step) take(e model.Event) error {
	s.size += len(e.Text) + len(e.Seal)
	if e.Call != nil {
		s.size += len(e.Call.ID) + len(e.Call.Name) + len(e.Call.Input) + len(e.Call.Seal)
	}
	if s.size > maxSize || len(s.pending) > maxCalls {
		return &model.Error{Kind: model.Invalid, Message: fmt.Sprintf(
			"the answer is longer than %d MiB, or has more than %d calls: ask for less at a time", maxSize>>20, maxCalls)}
	}
	switch e.Kind {
	case model.TextDelta:
		s.grow(message.Text, e.Text)
	case model.ReasoningDelta:
		s.grow(message.Reasoning, e.Text)
	case model.ReasoningEnd:
		if s.open < 0 || s.parts[s.open].Type != message.Reasoning {
			s.openPart(message.Reasoning)
		}
		s.parts[s.open].Seal = e.Seal
		s.close()
	case model.CallStart:
		s.close()
		s.addCall(e.Call)
	case model.CallEnd:
		s.close()
		p := &s.parts[s.arrived(e.Call)]
		p.Tool, p.Seal = e.Call.Name, e.Call.Seal
		p.State.Input, p.State.Raw = inputObject(e.Call.Input)
	case model.Done:
		s.close()
		s.reason, s.usage = e.Reason, e.Usage
		if e.Usage == (model.Usage{}) { // some servers do not say
			s.usage = model.Usage{Input: asksFor(s.req), Output: s.saysAbout()}
		}
	default:
		return fmt.Errorf("the model's client gave an event of the unknown kind %q", e.Kind)
	}
	return nil
}

// asksFor is about how many tokens a request takes.
func asksFor(req model.Request) (n int) {
	for _, said := range req.System {
		n += text.Tokens(said)
	}
	for _, t := range req.Tools {
		n += text.Tokens(t.Name) + text.Tokens(t.Description) + text.Tokens(string(t.Schema))
	}
	for _, m := range req.Messages {
		for _, p := range m.Parts {
			n += text.Tokens(p.Text)
			if p.Call != nil {
				n += text.Tokens(p.Call.Name) + text.Tokens(string(p.Call.Input))
			}
			if p.Result != nil {
				n += text.Tokens(p.Result.Output)
			}
		}
	}
	return n
}

// saysAbout estimates the number of tokens of the answer.
func (s *step) saysAbout() (n int) {
	for _, p := range s.parts {
		n += text.Tokens(p.Text) + text.Tokens(p.Tool)
		if p.State != nil {
			n += text.Tokens(string(p.State.Input)) + text.Tokens(p.State.Raw)
		}
	}
	return n
}

func (s *step) openPart(t message.PartType) *message.Part {
	s.close()
	s.parts = append(s.parts, message.Part{
		ID: s.t.r.deps.NewID("prt"), Session: s.info.Session, Message: s.info.ID, Type: t,
		Time: &message.Span{Start: s.t.r.deps.Now().UnixMilli()},
	})
	s.open = len(s.parts) - 1
	return &s.parts[s.open]
}

func (s *step) grow(t message.PartType, more string) {
	if more == "" {
		return
	}
	if s.open < 0 || s.parts[s.open].Type != t {
		p := s.openPart(t)
		s.publishPart(*p, "")
	}
	s.grown.WriteString(more)
	s.publishPart(s.parts[s.open], more)
}

// close ends the text that grows.
func (s *step) close() {
	if s.open < 0 {
		return
	}
	p := &s.parts[s.open]
	p.Text = s.grown.String()
	s.grown.Reset()
	p.Time.End = s.t.r.deps.Now().UnixMilli()
	s.open = -1
	s.publishPart(*p, "")
}

// addCall adds a call whose input is still to come.
func (s *step) addCall(c *model.Call) {
	s.parts = append(s.parts, message.Part{
		ID: s.t.r.deps.NewID("prt"), Session: s.info.Session, Message: s.info.ID, Type: message.Tool,
		CallID: c.ID, Tool: c.Name, State: &message.State{Status: message.Pending, Input: json.RawMessage("{}")},
	})
	i := len(s.parts) - 1
	s.pending = append(s.pending, i)
	if s.coming == nil {
		s.coming = map[string][]int{}
	}
	s.coming[c.ID] = append(s.coming[c.ID], i)
	s.publishPart(s.parts[i], "")
}

// arrived returns the call of an id whose input has arrived; one that was not announced before
// begins now.
func (s *step) arrived(c *model.Call) int {
	if len(s.coming[c.ID]) == 0 {
		s.addCall(c)
	}
	i := s.coming[c.ID][0]
	s.coming[c.ID] = s.coming[c.ID][1:]
	return i
}

// calls reports whether the model made calls.
func (s *step) calls() bool { return len(s.pending) > 0 }

// publishPart notifies subscribers of the growing answer.
func (s *step) publishPart(p message.Part, delta string) {
	if delta != "" {
		p.Text = ""
	}
	p = copyPart(p)
	s.t.r.deps.Keeper.Tell(News{Part: &p, Delta: delta})
}

// copyPart returns a copy of a part without shared mutable data: subscribers read it while the
// answer continues.
func copyPart(p message.Part) message.Part {
	if p.State != nil {
		state := *p.State
		if state.Time != nil {
			state.Time = new(*state.Time)
		}
		p.State = &state
	}
	if p.Time != nil {
		p.Time = new(*p.Time)
	}
	return p
}

// spent returns the usage and cost of the answer.
func (s *step) spent() (model.Usage, float64) { return s.usage, s.model.Info.Price.Cost(s.usage) }

// message returns the whole answer. Its calls count as running from now on.
func (s *step) message() message.Message {
	now := s.t.r.deps.Now().UnixMilli()
	usage, cost := s.spent()
	tokens := model.TokensOf(usage)
	s.info.Tokens, s.info.Cost, s.info.Finish = tokens, cost, string(s.reason)
	s.info.Time.Completed = now
	if s.calls() {
		s.info.Finish = string(model.Calls)
	}
	for _, i := range s.pending {
		p := &s.parts[i]
		s.name(p)
		p.Tool = s.resolveTool(p.Tool)
		p.State.Status, p.State.Time = message.Running, &message.Span{Start: now}
	}
	parts := slices.Concat(s.begun(), s.tries, s.parts, []message.Part{{
		ID: s.t.r.deps.NewID("prt"), Session: s.info.Session, Message: s.info.ID, Type: message.StepFinish,
		Reason: s.info.Finish, Cost: &cost, Tokens: &tokens,
	}})
	return message.Message{Info: s.info, Parts: parts}
}

// name ensures that a call's id is unique in the session.
func (s *step) name(p *message.Part) {
	if p.CallID == "" || s.t.ids[p.CallID] {
		p.CallID = s.t.r.deps.NewID("call")
	}
	s.t.ids[p.CallID] = true
}

// resolveTool returns the tool that a name means: if there is none of that name, the one in lower
// case.
func (s *step) resolveTool(name string) string {
	has := func(name string) bool {
		return slices.ContainsFunc(s.req.Tools, func(t model.Tool) bool { return t.Name == name })
	}
	if lower := strings.ToLower(name); !has(name) && has(lower) {
		return lower
	}
	return name
}

// broken returns an answer that broke off: what there is of it, and why.
func (s *step) broken(ctx context.Context, err error) message.Message {
	s.close()
	now := s.t.r.deps.Now().UnixMilli()
	for _, i := range s.pending {
		p := &s.parts[i]
		p.State.Status, p.State.Error = message.Failed, aborted
		p.State.Time = &message.Span{Start: now, End: now}
		s.name(p)
	}
	s.info.Time.Completed = now
	usage, cost := s.spent()
	s.info.Tokens, s.info.Cost = model.TokensOf(usage), cost
	s.info.Error = failureOf(err)
	if ctx.Err() != nil {
		s.info.Error = stopped(ctx)
	}
	return message.Message{Info: s.info, Parts: slices.Concat(s.begun(), s.tries, s.parts)}
}

// begun returns the first parts of an answer.
func (s *step) begun() []message.Part {
	return []message.Part{{ID: s.first, Session: s.info.Session, Message: s.info.ID, Type: message.StepStart}}
}

// errNoEnd reports a stream that ended without an end event.
var errNoEnd = errors.New("the model's client ended the answer without saying that it is whole")
