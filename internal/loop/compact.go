package loop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/message"
	"github.com/helve-dev/helve/model"
)

const (
	// pruneKeep and pruneLeast are, in tokens, how much of old outputs stays in the model's
	// context, and how much beyond that makes pruning worthwhile.
	pruneKeep, pruneLeast = 40_000, 20_000
	// pruneTurns is how many of the last turns are not pruned.
	pruneTurns = 2

	// retold bounds the input of a summary, in bytes, if the model's context size is unknown, and
	// retoldOutput one output in it.
	retold, retoldOutput = 400_000, 4000
	retoldLeast          = 8000
	// maxWish is how many bytes of the last prompt are repeated after a summary.
	maxWish = 8000
)

// crowded reports whether the next answer may not fit into the model's context.
func (t *turn) crowded() bool {
	msgs := sinceSummary(t.msgs)
	last := -1
	for i, m := range slices.Backward(msgs) {
		if m.Info.Role == message.Assistant && m.Info.Error == nil && m.Info.Tokens.Usage().Total() > 0 {
			last = i
			break
		}
	}
	if last < 0 || msgs[last].Info.Summary {
		return false
	}
	m, err := t.r.deps.Model(t.work.Session, msgs[last].Info.Model)
	if err != nil || m.Info.Context <= 0 {
		return false
	}
	room := m.Info.Context - min(max(answerRoom(m.Info), maxAnswer/4), m.Info.Context/4)
	used := msgs[last].Info.Tokens.Usage().Total()
	for _, m := range msgs[last:] {
		for _, p := range m.Parts {
			if p.State != nil {
				used += text.Tokens(p.State.Output) + text.Tokens(p.State.Error)
			}
		}
	}
	return used > room
}

func compactionOf(m message.Message) *message.Part {
	i := slices.IndexFunc(m.Parts, func(p message.Part) bool { return p.Type == message.Compaction })
	if i < 0 {
		return nil
	}
	return &m.Parts[i]
}

// wishCompaction requests a summary before the conversation continues.
func (t *turn) wishCompaction(ctx context.Context, asked int) error {
	info := t.msgs[asked].Info
	m, err := t.r.Say(ctx, t.work.Session, Said{Agent: info.Agent, Model: info.Model, Compact: true, Auto: true})
	if err != nil {
		return err
	}
	t.msgs = append(t.msgs, m)
	return nil
}

// compact has the model summarize the conversation.
func (t *turn) compact(ctx context.Context, asked int, auto bool) (ended bool, err error) {
	s, err := t.prepareSummary(ctx, asked)
	if err != nil {
		return false, err
	}
	if err := t.sumUp(ctx, s); err != nil {
		t.overflows = lasting // a summary of the summary would not help
		return false, t.broke(ctx, s, fmt.Errorf("%w: %w", errNoSummary, err))
	}
	if err := t.land(ctx, s); err != nil {
		return false, err
	}
	t.r.deps.Watch(t.work.Session, Status{Type: "compacted"})
	if !auto {
		t.out.End = Done
		return true, nil
	}
	info := t.msgs[asked].Info
	t.r.Next(t.work.Session, Said{
		Agent: info.Agent, Model: info.Model, Text: t.r.deps.Words.GoOn(t.lastWish(asked)), Synthetic: true,
	})
	return false, nil
}

// sumUp asks for a summary: of less if the whole is too long, and once more if the answer is empty.
func (t *turn) sumUp(ctx context.Context, s *step) (err error) {
	room := retold
	if c := s.model.Info.Context; c > 0 {
		room = min(room, c*2) // a token is rarely shorter than three bytes
	}
	for tries := 0; tries < 2 && room >= retoldLeast; {
		s.reset()
		s.req.Messages = []model.Message{{Role: model.User, Parts: []model.Part{
			{Text: retell(t.msgs[:s.asked], room)}, {Text: t.r.deps.Words.SumUp},
		}}}
		err = s.requestAnswer(ctx)
		switch {
		case isOverflow(err):
			room /= 2
		case err != nil:
			return err
		case s.isSummary():
			return nil
		default:
			err = errors.New("the model gave no summary")
			tries++
		}
	}
	return err
}

// isSummary reports whether the answer is a complete text.
func (s *step) isSummary() bool {
	said := slices.ContainsFunc(s.parts, func(p message.Part) bool { return p.Type == message.Text && strings.TrimSpace(p.Text) != "" })
	return said && !s.calls() && s.reason != model.Refused
}

// lastWish returns the last user message before a message.
func (t *turn) lastWish(before int) string {
	for _, m := range slices.Backward(t.msgs[:before]) {
		if m.Info.Role != message.User || synthetic(m) {
			continue
		}
		var said []string
		for _, p := range m.Parts {
			if p.Type == message.Text && !p.Synthetic {
				said = append(said, p.Text)
			}
		}
		wish, cut := text.Cut(strings.Join(said, "\n\n"), maxWish)
		if cut {
			wish += " …"
		}
		return wish
	}
	return ""
}

var errNoSummary = errors.New("the conversation could not be summed up")

func isOverflow(err error) bool {
	e, ok := errors.AsType[*model.Error](err)
	return ok && e.Kind == model.Overflow
}

func (t *turn) prepareSummary(ctx context.Context, asked int) (*step, error) {
	info := t.msgs[asked].Info
	prof, err := t.r.deps.Profile(ctx, t.work.Session, "compaction", info.Model)
	if err != nil {
		prof = Profile{Name: "compaction", System: []string{t.r.deps.Words.SumUp}}
	}
	ref := info.Model
	if prof.Model != (model.Ref{}) {
		ref = prof.Model
	}
	m, err := t.r.deps.Model(t.work.Session, ref)
	if err != nil {
		return nil, err
	}
	s := &step{t: t, asked: asked, prof: prof, model: m, open: -1, info: t.newAnswer(asked, prof.Name), first: t.r.deps.NewID("prt")}
	s.info.Summary, s.info.Model = true, ref
	s.req = model.Request{
		Model: ref.Model, System: prof.System, Session: t.work.Session, Options: prof.Options, MaxTokens: answerRoom(m.Info),
		Temperature: prof.Temperature, TopP: prof.TopP,
	}
	return s, t.r.deps.Shape(ctx, s.info, &s.req)
}

// retell writes the newest part of a conversation as text of at most room bytes, with long outputs
// cut. Calls are written as text, because a provider would require the definitions of their tools.
func retell(msgs []message.Message, room int) string {
	var told []string
	size := 0
	for _, m := range slices.Backward(sinceSummary(msgs)) {
		var b strings.Builder
		fmt.Fprintf(&b, "[%s]\n", m.Info.Role)
		for _, p := range m.Parts {
			retellPart(&b, p)
		}
		if size += b.Len(); size > room && len(told) > 0 {
			told = append(told, "[what was said before this is left out]\n")
			break
		}
		said, _ := text.Cut(b.String(), room)
		told = append(told, said)
	}
	slices.Reverse(told)
	return strings.Join(told, "\n")
}

func retellPart(b *strings.Builder, p message.Part) {
	switch p.Type {
	case message.Text:
		fmt.Fprintln(b, p.Text)
	case message.File:
		fmt.Fprintf(b, "(a file: %s %s)\n", p.Filename, p.Mime)
	case message.Tool:
		input, _ := text.Cut(string(p.State.Input), retoldOutput)
		output := p.State.Output
		if p.State.Status == message.Failed {
			output = forModelError(p.State)
		}
		output, cut := text.Cut(output, retoldOutput)
		if cut {
			output += " …"
		}
		fmt.Fprintf(b, "(called %s %s)\n%s\n", p.Tool, input, output)
	}
}

// prune removes old outputs from the model's context.
func (t *turn) prune(ctx context.Context) error {
	var (
		old          []*message.Part
		total, freed int
		turns        int
	)
walk:
	for i, m := range slices.Backward(t.msgs) {
		if m.Info.Role == message.User {
			turns++
		}
		if turns < pruneTurns {
			continue
		}
		if m.Info.Summary {
			break
		}
		for j, p := range slices.Backward(m.Parts) {
			if p.Type != message.Tool || p.State.Status != message.Completed || t.r.deps.Lasts(p.Tool) {
				continue
			}
			if p.State.Time != nil && p.State.Time.Compacted > 0 {
				break walk
			}
			n := (len(p.State.Output) + 2) / 4 // as the reference counts, so that the same is hidden
			if total += n; total > pruneKeep {
				freed += n
				old = append(old, &t.msgs[i].Parts[j])
			}
		}
	}
	if freed <= pruneLeast {
		return nil
	}
	parts := make([]message.Part, 0, len(old))
	for _, p := range old {
		*p = copyPart(*p)
		if p.State.Time == nil {
			p.State.Time = &message.Span{}
		}
		p.State.Time.Compacted = t.r.deps.Now().UnixMilli()
		parts = append(parts, *p)
	}
	return t.r.deps.Keeper.Save(ctx, nil, parts...)
}
