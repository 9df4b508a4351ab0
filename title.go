package helve

import (
	"context"
	"strings"
	"time"

	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/internal/loop"
	"github.com/helve-dev/helve/internal/prompt"
	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/model"
	"github.com/helve-dev/helve/record"
	"github.com/helve-dev/helve/tool"
)

const (
	// titleTime limits how long generating a title may take.
	titleTime = 30 * time.Second
	// titleGrace is how long the end of a turn waits for it.
	titleGrace = 2 * time.Second
	// titleFrom is how many bytes of a prompt the title is made from.
	titleFrom = 4000
)

// makeTitle lets the small model write the title of a new session while the agent works. If it
// fails, the first words of the prompt stay the title. wait waits briefly for it.
func (r *Runtime) makeTitle(ctx context.Context, o turnStart, purse *loop.Purse) (wait func()) {
	ref, who := r.opt.Models.Small, r.agent("title")
	if who != nil && who.Model != (model.Ref{}) {
		ref = who.Model
	}
	if ref == (model.Ref{}) || who == nil || strings.TrimSpace(o.Untitled) == "" {
		return func() {}
	}
	ctx, cancel := context.WithTimeout(ctx, titleTime)
	done := make(chan struct{})
	r.workers.run(func() { // Close waits for it, even if the turn no longer does
		defer close(done)
		_, err := guard(func() (*tool.Result, error) {
			title, err := r.askTitle(ctx, o.ID, o.Untitled, who, ref, purse)
			if err == nil && title != "" {
				err = r.retitle(ctx, o.ID, title)
			}
			return nil, err
		})
		if err != nil && ctx.Err() == nil {
			r.log.Warn("the session keeps the beginning of its prompt for a title", "session", o.ID, "error", err)
		}
	})
	return func() {
		defer cancel()
		timer := time.NewTimer(titleGrace)
		defer timer.Stop()
		select {
		case <-done:
		case <-timer.C:
		}
	}
}

// askTitle asks the small model for a title of one line, charged to budget.
func (r *Runtime) askTitle(ctx context.Context, session, asked string, a *agent.Spec, ref model.Ref, budget *loop.Purse) (string, error) {
	m, err := r.findModel(session, ref)
	if err != nil {
		return "", err
	}
	words, _ := text.Cut(asked, titleFrom)
	req := model.Request{
		Model: ref.Model, System: prompt.System(prompt.Options{Agent: a.Name, Own: a.Prompt}), Temperature: a.Temperature, Session: session,
		Messages: []model.Message{{Role: model.User, Parts: []model.Part{{Text: prompt.TitleOf(words)}}}},
	}
	var said strings.Builder
	for e, err := range m.Provider.Stream(ctx, req) {
		if err != nil {
			return "", err
		}
		switch {
		case e.Kind == model.TextDelta && said.Len() < titleFrom:
			said.WriteString(e.Text)
		case e.Kind == model.Done:
			budget.Pay(e.Usage, m.Info.Price.Cost(e.Usage))
		}
	}
	if _, after, thought := strings.Cut(said.String(), "</think>"); thought { // some servers do not remove it
		return strings.Trim(titleOf(after), "\"\x60* "), nil
	}
	return strings.Trim(titleOf(said.String()), "\"\x60* "), nil
}

func (r *Runtime) retitle(ctx context.Context, session, title string) error {
	s, err := r.store.get()
	if err != nil {
		return err
	}
	row, err := s.UpdateSession(ctx, session, func(v *record.Session) { v.Title = title })
	if err == nil {
		r.events.publish(event.SessionUpdated{Info: row})
	}
	return err
}
